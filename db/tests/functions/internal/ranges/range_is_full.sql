-- _range_is_full: new ids are to have a range of their own, by age or by number, and seldom where there are many ranges.
begin;
\ir ../../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../../_alone.sql
select plan(14);

-- given a range with a job
select plane.create_queue('range_is_full');
select is(plane._range_is_full(), false, 'an empty range is never full');
select plane.enqueue('range_is_full', 'first') \g /dev/null
select is(plane._range_is_full(), false, 'nor is a new one');

-- when time goes by
select pg_temp.later('2 h');
select is(plane._range_is_full(), false, 'it may get two hours old');
select pg_temp.later('1 ms');
select is(plane._range_is_full(), true, 'and no older');

-- when many ids are drawn
select pg_temp.freeze('2030-01-01 12:00+00');
select setval('plane.job_id_seq', 9999999) \g /dev/null
select is(plane._range_is_full(), false, 'it may use 10 million ids');
select setval('plane.job_id_seq', 10000000) \g /dev/null
select is(plane._range_is_full(), true, 'and no more');

-- given more ranges
create function pg_temp.open_ranges(p_count integer) returns void language plpgsql as $$
begin
    for v_n in 1 .. p_count loop
        perform plane._open_range();
    end loop;
end;
$$;
select pg_temp.open_ranges(2);
select is((select count(*) from plane._ranges()), 4::bigint, 'four ranges');
select plane.enqueue('range_is_full', 'second') \g /dev/null
select pg_temp.later('2 h');
select is(plane._range_is_full(), false, 'are no reason to wait for longer');
select pg_temp.later('1 ms');
select is(plane._range_is_full(), true, 'than two hours');
select pg_temp.open_ranges(4);
select plane.enqueue('range_is_full', 'third') \g /dev/null
select pg_temp.later('8 h');
select is(plane._range_is_full(), false, 'with four more, one may get eight hours old');
select pg_temp.later('1 ms');
select is(plane._range_is_full(), true, 'and no older');
select pg_temp.freeze('2030-01-01 12:00+00');
select setval('plane.job_id_seq', last_value - 1 + 39999999) from plane.job_id_seq \g /dev/null
select is(plane._range_is_full(), false, 'or have forty million ids');
select nextval('plane.job_id_seq'), nextval('plane.job_id_seq') \g /dev/null
select is(plane._range_is_full(), true, 'and no more');

-- when ids got into the open-ended range
delete from plane.job;
select setval('plane.job_id_seq', lower - 1) from plane._ranges() where upper is null \g /dev/null
select is(plane._range_is_full(), true, 'the open-ended range is bounded, whatever is in it');

\ir ../../../_together.sql
select * from finish();
rollback;
