-- report_progress: how far an attempt is, said in the transaction of its batch.
begin;
\ir ../../_clock.sql
select plan(32);

create function pg_temp.seen(p_job_id bigint) returns jsonb language sql as $$
    select progress from plane.jobs where id = p_job_id
$$;
create function pg_temp.pushed(p_job_id bigint) returns timestamptz language sql as $$
    select pushed_at from plane.progress where job_id = p_job_id order by number desc limit 1
$$;

-- given a held job
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('report_progress', p_lease => '1 min', p_backoff => '0');
select job_id from plane.enqueue('report_progress', 'collect') \gset
select plane.claim_one('report_progress', 'w1') \g /dev/null
select is(pg_temp.seen(:job_id), null, 'who has said nothing has no progress');

-- when it reports
select is(plane.report_progress(:job_id, 1, 0, 10, 'begun'), 'held', 'the holder reports');
select is(pg_temp.seen(:job_id), '{"done": 0, "total": 10, "message": "begun"}', 'and everybody sees it');
select is((select lease_expires_at from plane.jobs where id = :job_id), '2030-01-01 12:01+00', 'a report renews no lease');
select is(plane.report_progress(:job_id, 1, 3, null, null), 'held', 'total and message may be unknown');
select is(pg_temp.seen(:job_id), '{"done": 3, "total": null, "message": null}', 'the newest report counts');
select is((select count(*) from plane.progress where job_id = :job_id), 1::bigint, 'and is the only one kept');

-- when it reports often
select is(pg_temp.pushed(:job_id), '2030-01-01 12:00+00', 'the first report is pushed, the next one at that moment is not');
select pg_temp.later('249 ms');
select plane.report_progress(:job_id, 1, 4, 10, null) \g /dev/null
select is(pg_temp.pushed(:job_id), '2030-01-01 12:00+00', 'nor is one within a quarter of a second');
select pg_temp.later('1 ms');
select plane.report_progress(:job_id, 1, 5, 10, null) \g /dev/null
select is(pg_temp.pushed(:job_id), '2030-01-01 12:00:00.25+00', 'after that one is pushed again');
select pg_temp.later('10 ms');
select plane.report_progress(:job_id, 1, 10, 10, null) \g /dev/null
select is(pg_temp.pushed(:job_id), '2030-01-01 12:00:00.26+00', 'the end is pushed at once');
select pg_temp.later('10 ms');
select plane.report_progress(:job_id, 1, 10, 10, 'tidying') \g /dev/null
select is(pg_temp.pushed(:job_id), '2030-01-01 12:00:00.26+00', 'but once');
select pg_temp.later('-1 h');
select plane.report_progress(:job_id, 1, 10, 10, 'tidying') \g /dev/null
select is(pg_temp.pushed(:job_id), plane._now(), 'a clock that was set back silences nobody');
select plane.report_progress(:job_id, 1, 4, 8, null), plane.report_progress(:job_id, 1, 9, 8, null) \g /dev/null
select is(pg_temp.seen(:job_id) ->> 'done', '9', 'more may be done than was expected');

-- when the queue tells nobody
select plane.create_queue('report_progress', p_notify => 'never');
select pg_temp.later('1 h');
select plane.report_progress(:job_id, 1, 1, 8, null) \g /dev/null
select isnt(pg_temp.pushed(:job_id), plane._now(), 'a queue that tells nobody pushes no progress');
select plane.create_queue('report_progress', p_notify => 'waiters');
select plane.report_progress(:job_id, 1, 2, 8, null) \g /dev/null
select isnt(pg_temp.pushed(:job_id), plane._now(), 'nor does one that tells those who wait, while nobody does');
insert into plane.waiter values (:job_id, 'edge', plane._now() + interval '1 min');
select plane.report_progress(:job_id, 1, 3, 8, null) \g /dev/null
select is(pg_temp.pushed(:job_id), plane._now(), 'it does while somebody waits');

-- when it was asked to stop
select plane.request_cancel(:job_id, 'ann') \g /dev/null
select is(plane.report_progress(:job_id, 1, 4, 8, 'rolling back'), 'cancelling', 'a holder that was asked to stop is told so');
select is(pg_temp.seen(:job_id) ->> 'done', '4', 'and its report counts');
select plane.finish_cancel(:job_id, 1) \g /dev/null
select is(pg_temp.seen(:job_id) ->> 'done', '4', 'how far it came is kept');

-- when it is not the holder, or not any more
create function pg_temp.refuses(p_job_id bigint, p_attempt integer, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.report_progress(%L, %L, 1, 2, null)', p_job_id, p_attempt),
        'PL409', 'the attempt no longer holds this job', p_what)
$$;
select pg_temp.refuses(:job_id, 1, 'who has ended a job reports no more');
select pg_temp.refuses(null, 1, 'no job is no job');
select pg_temp.refuses(9223372036854775807, 1, 'nor is one that does not exist');
select job_id as next from plane.enqueue('report_progress', 'collect') \gset
select pg_temp.refuses(:next, 1, 'a job that nobody holds has no reports');
select plane.claim_one('report_progress', 'w1') \g /dev/null
select pg_temp.refuses(:next, 2, 'a stranger reports nothing');
select plane.report_progress(:next, 1, 5, 6, 'first') \g /dev/null
select plane.fail_job(:next, 1, '{}'), plane.claim_one('report_progress', 'w2') \g /dev/null
select pg_temp.refuses(:next, 1, 'who lost a job reports no more');
select is(pg_temp.seen(:next), null, 'and the next attempt begins with nothing');

-- when an argument cannot be
create function pg_temp.out_of_range(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.report_progress(1, 1, %s)', p_arguments), '22023', 'progress is out of range', p_what)
$$;
select pg_temp.out_of_range('null, 2, null', 'NULL is not done');
select pg_temp.out_of_range('-1, 2, null', 'less than nothing is not done');
select pg_temp.out_of_range('1, -1, null', 'less than nothing is not to do');
select pg_temp.out_of_range('1, 2, repeat(''x'', 1001)', 'a message of 1001 characters is refused');
select lives_ok(
    format('select plane.report_progress(%s, 2, 9223372036854775807, 9223372036854775807, repeat(''x'', 1000))', :next),
    'the most of everything is taken');

select * from finish();
rollback;
