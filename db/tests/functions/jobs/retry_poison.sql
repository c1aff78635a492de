-- retry_poison: retry_job for the poison of a queue.
begin;
\ir ../../_clock.sql
select plan(28);

-- so many new jobs that are poison
create function pg_temp.poison(p_n integer, p_operation text default 'send', p_serial_key text default null, p_dedupe_key text default null)
    returns bigint[] language plpgsql as $$
declare
    v_jobs bigint[] := '{}';
    v_job  bigint;
begin
    for v_n in 1 .. p_n loop
        v_job := (select job_id from plane.enqueue('retry_poison', p_operation, p_serial_key => p_serial_key, p_dedupe_key => p_dedupe_key));
        perform plane.claim_one('retry_poison', 'w1'), plane.fail_job(v_job, 1, '{"message": "no"}');
        v_jobs := v_jobs || v_job;
    end loop;
    return v_jobs;
end;
$$;
create function pg_temp.statuses() returns text[] language sql as $$
    select array_agg(status || ' ' || n order by status)
    from (select status, count(*) as n from plane.jobs where queue = 'retry_poison' group by status) as s
$$;
create function pg_temp.done() returns bigint language sql as $$
    select count(plane.complete_job(job_id, attempt)) from plane.claim('retry_poison', 'w1', 100)
$$;

-- given a queue with poison of two operations, and what is not poison
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('retry_poison', p_max_dequeues => 1), plane.create_queue('retry_poison-other');
select is(plane.retry_poison('retry_poison'), 0, 'where there is no poison, none is retried');
select pg_temp.poison(3) as sends, pg_temp.poison(2, 'read') as reads \gset
select job_id from plane.enqueue('retry_poison', 'fine') \gset
select pg_temp.done() \g /dev/null
select is(plane.retry_poison('retry_poison-other'), 0, 'the poison of other queues stays');

-- when some of it is retried
select is(plane.retry_poison('retry_poison', 'none'), 0, 'of an operation that has none, none is retried');
select is(plane.retry_poison('retry_poison', 'read'), 2, 'the poison of one operation can be retried');
select is(pg_temp.statuses(), array['done 1', 'pending 2', 'poison 3'], 'and the rest stays');
select is(plane.retry_poison('retry_poison', p_limit => 1), 1, 'so can a limited number');
select results_eq(
    $$ select id from plane.jobs where queue = 'retry_poison' and operation = 'send' and status = 'pending' $$,
    format('select (%L::bigint[])[1]', :'sends'), 'the oldest first');
select is(plane.retry_poison('retry_poison'), 2, 'and all that is left');
select is(pg_temp.statuses(), array['done 1', 'pending 5'], 'nothing is poison any more');
select results_eq(
    $$ select distinct dequeue_count, max_dequeues from plane.jobs where queue = 'retry_poison' and status = 'pending' $$,
    $$ values (1, 2) $$, 'each has as many attempts more as it was given');
select is(pg_temp.done(), 5::bigint, 'and can be done');

-- when they share a dedupe key
select pg_temp.poison(3, p_dedupe_key => 'key') as same \gset
select is(plane.retry_poison('retry_poison'), 1, 'of those with one dedupe key one is retried');
select is(
    (select array_agg(status order by id) from plane.jobs where id = any (:'same')), array['pending', 'poison', 'poison'], 'the oldest');
select is(plane.retry_poison('retry_poison'), 0, 'while it lives the others stay');
select plane.request_cancel((:'same'::bigint[])[1], 'ann') \g /dev/null
select is(plane.retry_poison('retry_poison', p_limit => 1), 1, 'once it has ended one of them is');
select is(pg_temp.done(), 1::bigint, 'and can be done');
select plane.retry_poison('retry_poison'), pg_temp.done() \g /dev/null

-- when they share a serial key
select pg_temp.poison(3, p_serial_key => 'line') as line \gset
select is(plane.retry_poison('retry_poison'), 3, 'those of a serial key can be retried');
select is(
    (select array_agg(status order by id) from plane.jobs where id = any (:'line')), array['pending', 'waiting', 'waiting'],
    'they are in line, in their order');
select plane.request_cancel(l.id, 'ann') from unnest(:'line'::bigint[]) as l (id) \g /dev/null

-- when they are spread over a time
select pg_temp.poison(3, 'spread') || pg_temp.poison(1, 'spread', 'line') as spread \gset
select is(plane.retry_poison('retry_poison', 'spread', p_spread => '1 h'), 4, 'they can be spread over a time');
select results_eq(
    format('select available_at - plane._now() from plane.jobs where id = any (%L) order by id offset 1', :'spread'),
    $$ values (interval '15 min'), ('30 min'), ('45 min') $$, 'one by one, in equal steps');
select is(
    (select job_id from plane.claim_one('retry_poison', 'w1')), (:'spread'::bigint[])[1], 'the oldest at once');
select pg_temp.later('1 h');
select plane.enqueue('retry_poison', 'send') \g /dev/null
select set_eq(
    $$ select job_id from plane.claim('retry_poison', 'w1', 3) $$,
    format('select unnest((%L::bigint[])[2:4])', :'spread'), 'and all of them in the end, before fresh work');
select is(pg_temp.done(), 1::bigint, 'which is next');

-- when an argument cannot be
select throws_ok($$ select plane.retry_poison('retry_poison-none') $$, 'PL404', 'no such queue', 'an unknown queue is refused');
create function pg_temp.refuses(p_argument text, p_what text) returns text language sql as $$
    select throws_ok('select plane.retry_poison(''retry_poison'', ' || p_argument || ')',
        '22023', 'a retry is of 1 to 100000 jobs, spread over 0 to 365 days', p_what)
$$;
select pg_temp.refuses('p_limit => 0', 'nothing is no limit');
select pg_temp.refuses('p_limit => 100001', 'more than 100000 are refused');
select pg_temp.refuses('p_spread => ''-1 s''', 'a negative spread is refused');
select pg_temp.refuses('p_spread => ''366 days''', 'a spread beyond 365 days is refused');

select * from finish();
rollback;
