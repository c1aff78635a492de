-- _ranges: the ranges of job ids, as the catalog has them. The partitions of a range carry its number: job_7, outcome_7, …
create or replace function plane._ranges()
    returns table (
        number integer,
        lower  bigint,
        upper  bigint
    )
    language sql
    stable
    set standard_conforming_strings = on
as $$
    select substring(c.relname from '\d+$')::integer, b.bound[1]::bigint, b.bound[2]::bigint
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join regexp_match(
        pg_get_expr(c.relpartbound, c.oid), 'FROM \(''?(\d+)''?\) TO \((?:''?(\d+)''?|MAXVALUE)\)') as b (bound)
    where i.inhparent = 'plane.job'::regclass
    order by 2;
$$;

revoke all on function plane._ranges() from public;

comment on function plane._ranges() is
'The ranges of job ids in their order, from lower to below upper (NULL: open-ended), and the number of their partitions.';
