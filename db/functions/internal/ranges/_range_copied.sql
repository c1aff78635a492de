-- _range_copied: what stays of a range, copied and not yet in its place: tables named like partitions that are none.
-- The CHECK of the first has the bounds; its comment is written each time, so that the catalog knows by whom.
create or replace function plane._range_copied()
    returns table (
        number integer,
        lower  bigint,
        upper  bigint,
        xid    xid
    )
    language sql
    stable
    set standard_conforming_strings = on
as $$
    select substring(c.relname from '\d+$')::integer, b.bound[1]::bigint, b.bound[2]::bigint, d.xmin
    from pg_class c
    join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = c.oid and d.objsubid = 0
    join pg_constraint k on k.conrelid = c.oid and k.conname = c.relname || '_range_check'
    cross join regexp_match(pg_get_constraintdef(k.oid), '>= ''(\d+)''.* < ''(\d+)''') as b (bound)
    where c.relnamespace = 'plane'::regnamespace and c.relname ~ '^job_\d+$' and not c.relispartition;
$$;

revoke all on function plane._range_copied() from public;

comment on function plane._range_copied() is
'The copy of what stays of the ids from lower to below upper, until it takes their place, and which transaction last
changed it; mostly no row.';
