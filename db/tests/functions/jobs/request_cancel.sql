-- request_cancel: somebody asks that a job be stopped.
begin;
\ir ../../_clock.sql
select plan(46);

create function pg_temp.told(p_job_id bigint) returns text language sql as $$
    select concat_ws(' ', status, dequeue_count, result, error ->> 'code', error ->> 'by', finished_at = plane._now())
    from plane.jobs where id = p_job_id
$$;
create function pg_temp.free(p_key text) returns boolean language sql as $$
    select not exists (
        select from plane.live_key k join plane.queue q on q.name = 'request_cancel' where k.key = plane._hash_key(q.id, p_key))
$$;

-- given a job that is ready
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('request_cancel', p_lease => '1 min', p_max_dequeues => 3, p_backoff => '30 s');
select job_id as ready from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'ready') \gset
select is(plane.request_cancel(:ready, 'ann'), 'cancelled', 'a job that is ready is cancelled at once');
select is(pg_temp.told(:ready), 'cancelled 0 CANCELLED ann t', 'its outcome says by whom');
select is((select error ->> 'message' from plane.jobs where id = :ready), 'the job was cancelled', 'in words too');
select is(pg_temp.free('ready'), true, 'its dedupe key is free');
select is_empty($$ select plane.claim_one('request_cancel', 'w1') $$, 'and it is never handed out');
select is_empty(format('select from plane.attempts where job_id = %s', :ready), 'nobody ever tried it');
select is(plane.request_cancel(:ready, 'bob'), 'cancelled', 'to cancel it again changes nothing');
select is(pg_temp.told(:ready), 'cancelled 0 CANCELLED ann t', 'the first one who asked counts');

-- given a job that is scheduled
select job_id as scheduled from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'scheduled', p_serial_key => 's',
    p_available_at => plane._now() + interval '1 h') \gset
select is(plane.request_cancel(:scheduled, 'ann'), 'cancelled', 'a scheduled job is cancelled at once');
select is(pg_temp.free('scheduled'), true, 'and its dedupe key is free');

-- given a job that came back, and one that was made urgent
select job_id as back from plane.enqueue('request_cancel', 'send') \gset
select plane.claim_one('request_cancel', 'w1'), plane.release_job(:back, 1) \g /dev/null
select is(plane.request_cancel(:back, 'ann'), 'cancelled', 'a job that came back is cancelled at once');
select is(pg_temp.told(:back), 'cancelled 1 CANCELLED ann t', 'with its attempts on record');
select job_id as urgent from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'u') \gset
select plane.enqueue('request_cancel', 'send', p_dedupe_key => 'u', p_priority => -5) \g /dev/null
select is(plane.request_cancel(:urgent, 'ann'), 'cancelled', 'so is one that was made urgent');

-- given a line of jobs whose head pauses after a failure
select job_id as head from plane.enqueue('request_cancel', 'send', p_serial_key => 'line') \gset
select job_id as second from plane.enqueue('request_cancel', 'send', p_serial_key => 'line', p_dedupe_key => 'second') \gset
select job_id as third from plane.enqueue('request_cancel', 'send', p_serial_key => 'line') \gset
select job_id as fourth from plane.enqueue('request_cancel', 'send', p_serial_key => 'line') \gset
select plane.claim_one('request_cancel', 'w1'), plane.fail_job(:head, 1, '{}') \g /dev/null
select is(plane.request_cancel(:second, 'ann'), 'cancelled', 'a job that waits in a line is cancelled at once');
select is(pg_temp.free('second'), true, 'and its dedupe key is free');
select is((select status from plane.jobs where id = :third), 'waiting', 'the line waits on');
select is(plane.request_cancel(:head, 'ann'), 'cancelled', 'a job in its pause is cancelled at once');
select is((select status from plane.jobs where id = :third), 'pending', 'and hands its line on');
select is(plane.request_cancel(:third, 'ann'), 'cancelled', 'a head that is ready is cancelled at once');
select is((select status from plane.jobs where id = :fourth), 'pending', 'and hands its line on too');
select is(plane.request_cancel(:fourth, 'ann'), 'cancelled', 'the last of a line is cancelled like any');
select job_id as fifth from plane.enqueue('request_cancel', 'send', p_serial_key => 'line') \gset
select is((select status from plane.jobs where id = :fifth), 'pending', 'and leaves the line to whoever comes next');
select plane.complete_job(job_id, attempt) from plane.claim_one('request_cancel', 'w1') \g /dev/null

-- given a job that is held
select job_id as held from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'held') \gset
select plane.claim_one('request_cancel', 'w1') \g /dev/null
select is(plane.request_cancel(:held, 'ann'), 'cancelling', 'a held job is asked to stop');
select is((select status from plane.jobs where id = :held), 'cancelling', 'and shows it');
select is(pg_temp.free('held'), true, 'its dedupe key is free at once');
select is(plane.request_cancel(:held, 'bob'), 'cancelling', 'to ask again changes nothing');
select job_id as next, coalesced from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'held') \gset
select is(:'coalesced'::boolean, false, 'who asks for the same gets a job of its own');
select is(
    (select job_id from plane.claim_one('request_cancel', 'w2')), :next::bigint, 'which is handed out; the other one never is');
select is(plane.finish_cancel(:held, 1), true, 'its worker stops');
select is(pg_temp.told(:held), 'cancelled 1 CANCELLED ann t', 'and it is cancelled, by who asked first');
select is(
    (select job_id from plane.enqueue('request_cancel', 'send', p_dedupe_key => 'held')), :next::bigint,
    'the key stays with who has it now');
select plane.complete_job(:next, 1) \g /dev/null

-- given held jobs that end otherwise
create function pg_temp.cancelling(p_n integer) returns bigint[] language sql as $$
    select plane.enqueue('request_cancel', 'send', p_dedupe_key => 'c' || n) from generate_series(1, p_n) as n;
    select array_agg(job_id) from plane.claim('request_cancel', 'w1', p_n) where plane.request_cancel(job_id, 'ann') = 'cancelling'
$$;
select jobs[1] as done, jobs[2] as failed, jobs[3] as released, jobs[4] as lapsed from pg_temp.cancelling(4) as c (jobs) \gset
select is(plane.complete_job(:done, 1, '"all"'), true, 'an answer that comes first counts');
select is(pg_temp.told(:done), 'done 1 "all" t', 'and the job is done');
select is(plane.fail_job(:failed, 1, '{}'), 'cancelled', 'a failure ends it');
select is(plane.release_job(:released, 1), true, 'so does giving it back');
select is(pg_temp.told(:released), 'cancelled 1 CANCELLED ann t', 'which nobody takes up');
select pg_temp.later('1 min');
select is_empty($$ select plane.claim_one('request_cancel', 'w2') $$, 'a lapsed one is not handed out');
select is(pg_temp.told(:lapsed), 'cancelled 1 CANCELLED ann t', 'it is cancelled');
select is(plane.complete_job(:lapsed, 1, '1'), false, 'and a cancelled job never is done');

-- when a job has ended
select is(plane.request_cancel(:done, 'ann'), 'done', 'a job that is done stays done');
select job_id as poison from plane.enqueue('request_cancel', 'send', p_max_dequeues => 1) \gset
select plane.claim_one('request_cancel', 'w1'), plane.fail_job(:poison, 1, '{"code": "BAD"}') \g /dev/null
select is(plane.request_cancel(:poison, 'ann'), 'poison', 'poison stays poison');

-- when an argument cannot be
select throws_ok($$ select plane.request_cancel(9223372036854775807, 'ann') $$, 'PL404', 'no such job', 'an unknown job is refused');
select throws_ok($$ select plane.request_cancel(null, 'ann') $$, 'PL404', 'no such job', 'so is NULL');
select throws_ok(
    format('select plane.request_cancel(%s, null)', :done),
    '22023', 'a cancel names who asks for it, in 1 to 200 characters', 'nobody cannot ask');
select throws_ok(
    format('select plane.request_cancel(%s, '''')', :done),
    '22023', 'a cancel names who asks for it, in 1 to 200 characters', 'nor somebody without a name');
select throws_ok(
    format('select plane.request_cancel(%s, repeat(''a'', 201))', :done),
    '22023', 'a cancel names who asks for it, in 1 to 200 characters', 'a name of 201 characters is refused');

select * from finish();
rollback;
