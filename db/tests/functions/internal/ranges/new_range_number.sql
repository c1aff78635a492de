-- _new_range_number: a range gets a number that nothing in its way has.
begin;
select plan(6);

-- given tables made one after another
create function pg_temp.after(p_name text) returns integer language plpgsql as $$
begin
    execute format('create table plane.%I ()', p_name);
    return plane._new_range_number();
end;
$$;
select is(plane._new_range_number(), 2, 'a new ledger has the ranges 0 and 1');
select is(pg_temp.after(c.name), c.number, c.what)
from (values
    ('job_9', 10, 'what was copied beside the ranges has a number, too'),
    ('job_10', 11, 'numbers are counted as such'),
    ('job_7', 11, 'a gap is left'),
    ('outcome_50', 11, 'all tables of a range have the number of its jobs'),
    ('job_6_80', 11, 'another name is no number')
) as c (name, number, what);

select * from finish();
rollback;
