-- _new_range_number: a number that no range has, one that is copied included.
create or replace function plane._new_range_number()
    returns integer
    language sql
    stable
    set standard_conforming_strings = on
as $$
    select max(substring(c.relname from '\d+$')::integer) + 1
    from pg_class c
    where c.relnamespace = 'plane'::regnamespace and c.relkind = 'r' and c.relname ~ '^job_\d+$';
$$;

revoke all on function plane._new_range_number() from public;

comment on function plane._new_range_number() is
'The number of the next range.';
