-- _backoff: base × factor^(n−1), capped; n counts the tries that were spent.
begin;
select plan(19);

select plane.create_queue('backoff');
select job_id from plane.enqueue('backoff', 'send', p_max_dequeues => 5) \gset
select plane.claim_one('backoff', 'w1') \g /dev/null

-- the pause after an attempt, in seconds; p_given_back tries of it were released
create function pg_temp.pause(p_attempt integer, p_given_back integer default 0) returns numeric language sql as $$
    select round(extract(epoch from plane._backoff(
        jsonb_populate_record(l, jsonb_build_object('attempt', p_attempt, 'max_dequeues', l.max_dequeues + p_given_back)))), 6)
    from plane.lease l join plane.queue q on q.id = l.queue_id where q.name = 'backoff'
$$;
create function pg_temp.pauses(p_attempt integer) returns setof numeric language sql as $$
    select pg_temp.pause(p_attempt + 0 * n) from generate_series(1, 200) as n
$$;

-- given a queue as it is made
select is(pg_temp.pause(1), 30.000000, 'the first pause is the base');
select is(pg_temp.pause(2), 30.000000, 'and so is the second');
select is(pg_temp.pause(1000000), 30.000000, 'and every other');
select is((select count(distinct p) from pg_temp.pauses(3) as p), 1::bigint, 'a fixed pause has no jitter');

-- given pauses that double
select plane.create_queue('backoff', p_backoff => '10 s', p_backoff_factor => 2);
select ok(
    (select bool_and(p between 10 * 2 ^ (n - 1) * 0.9 and 10 * 2 ^ (n - 1) * 1.1)
        from generate_series(1, 8) as n, pg_temp.pauses(n) as p),
    'each pause is twice the one before, 10 % more or less');
select cmp_ok(
    (select count(distinct p) from pg_temp.pauses(1) as p), '>', 100::bigint, 'jitter keeps a herd from coming back at once');
select ok(
    (select min(p) < 9.5 and max(p) > 10.5 from pg_temp.pauses(1) as p), 'to both sides');
select ok(
    (select bool_and(p between 3600 * 0.9 and 3600 * 1.1) from pg_temp.pauses(10) as p),
    'pauses grow to the cap');
select ok(
    (select bool_and(p between 3600 * 0.9 and 3600 * 1.1) from pg_temp.pauses(1000000) as p),
    'and never beyond, however often a job fails');

-- given tries that a release gave back
select ok(pg_temp.pause(3, 2) between 9 and 11, 'a try that was given back does not make the pause longer');
select ok(pg_temp.pause(5, 2) between 36 and 44, 'one that was spent does');

-- given other settings
select plane.create_queue('backoff', p_backoff => '10 s', p_backoff_factor => 1.5);
select ok(pg_temp.pause(3) between 22.5 * 0.9 and 22.5 * 1.1, 'a factor may be a fraction');
select plane.create_queue('backoff', p_backoff_factor => 1000, p_backoff_cap => '365 days');
select ok(
    (select bool_and(p between 31536000 * 0.9 and 31536000 * 1.1) from pg_temp.pauses(1000000) as p),
    'the largest factor does not overflow');
select plane.create_queue('backoff', p_backoff => '250 ms', p_backoff_factor => 1, p_backoff_cap => '1 h');
select is(pg_temp.pause(1), 0.250000, 'a base may be less than a second');
select plane.create_queue('backoff', p_backoff => '0', p_backoff_factor => 2);
select is(pg_temp.pause(1), 0.000000, 'a base of nothing is no pause');
select is(pg_temp.pause(9), 0.000000, 'ever');
select plane.create_queue('backoff', p_backoff => '2 h', p_backoff_factor => 1);
select is(pg_temp.pause(1), 3600.000000, 'a cap below the base is the pause');
select plane.create_queue('backoff', p_backoff => '1 day', p_backoff_cap => '2 days');
select is(pg_temp.pause(1), 86400.000000, 'days count as 24 hours');
select plane.create_queue('backoff', p_backoff => '1 h', p_backoff_factor => 2, p_backoff_cap => '0');
select is(pg_temp.pause(1), 0.000000, 'a cap of nothing is no pause');

select * from finish();
rollback;
