-- finish_cancel: the worker's word that a job it was asked to stop has stopped.
begin;
\ir ../../_clock.sql
select plan(19);

create function pg_temp.held() returns bigint language plpgsql as $$
begin
    perform plane.enqueue('finish_cancel', 'send', p_serial_key => 'line');
    return (select job_id from plane.claim_one('finish_cancel', 'w1'));
end;
$$;

-- given a held job
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('finish_cancel', p_lease => '1 min');
select pg_temp.held() as job_id \gset
select job_id as behind from plane.enqueue('finish_cancel', 'send', p_serial_key => 'line') \gset

-- when nobody asked it to stop
select is(plane.finish_cancel(:job_id, 1), false, 'a job that nobody asked to stop cannot be cancelled by its worker');
select is((select status from plane.jobs where id = :job_id), 'in_progress', 'it stays held');

-- when somebody did
select plane.report_progress(:job_id, 1, 7, 9, 'rows') \g /dev/null
select plane.request_cancel(:job_id, 'ann') \g /dev/null
select pg_temp.later('5 s');
select is(plane.finish_cancel(:job_id, 2), false, 'only the holder can say that it stopped');
select is(plane.finish_cancel(:job_id, null), false, 'no attempt is no holder');
select is(plane.finish_cancel(null, 1), false, 'no job is no job');
select is(plane.finish_cancel(9223372036854775807, 1), false, 'nor is one that does not exist');
select is(plane.finish_cancel(:job_id, 1, '{"rows": 7.10}'), true, 'the holder can');
select results_eq(
    format('select status, result::text, error ->> ''code'', error ->> ''by'', locked_by, progress ->> ''done'', finished_at
        from plane.jobs where id = %s', :job_id),
    $$ values ('cancelled', '{"rows": 7.10}', 'CANCELLED', 'ann', 'w1', '7', timestamptz '2030-01-01 12:00:05+00') $$,
    'the job is cancelled, and what it had got done is kept');
select results_eq(
    format('select attempt, worker, claimed_at, ended_at, outcome, error::text from plane.attempts where job_id = %s', :job_id),
    $$ values (1, 'w1', timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00:05+00', 'cancelled', null::text) $$,
    'its attempt is on record as cancelled');
select is((select status from plane.jobs where id = :behind), 'pending', 'and its serial line goes on');
select is(plane.finish_cancel(:job_id, 1), false, 'it ends once');
select is(plane.complete_job(:job_id, 1, '1'), false, 'a cancelled job never is done');
select plane.complete_job(job_id, attempt) from plane.claim_one('finish_cancel', 'w1') \g /dev/null

-- when the lease had lapsed and somebody ended it
select pg_temp.held() as late \gset
select plane.request_cancel(:late, 'ann'), pg_temp.later('1 min'), plane.sweep() \g /dev/null
select is(plane.finish_cancel(:late, 1, '1'), false, 'who lost the job cannot say how it ended');
select is((select result::text from plane.jobs where id = :late), null, 'and adds no result');

-- when the result holds what no text can hold
select pg_temp.held() as nul \gset
select plane.request_cancel(:nul, 'ann') \g /dev/null
select is(plane.finish_cancel(:nul, 1, '"a\u0000b"'), true, 'a result with a NUL is taken');
select results_eq(
    format('select result #>> ''{}'', replaced from plane.outcome where job_id = %s', :nul),
    $$ values (E'a\ufffdb', true) $$, 'the NUL is replaced by U+FFFD and the outcome flagged');
select is((select replaced from plane.outcome where job_id = :job_id), false, 'others are not');

-- when the result is too large
select pg_temp.held() as large \gset
select plane.request_cancel(:large, 'ann') \g /dev/null
select throws_ok(
    format($$ select plane.finish_cancel(%s, 1, to_json(repeat('x', 1048576 - 1))) $$, :large),
    'PL413', 'a result or error is limited to 1 MiB', 'a result of 1 MiB and a byte is refused');
select is(
    plane.finish_cancel(:large, 1, to_json(repeat('x', 1048576 - 2))), true, 'one of 1 MiB is taken');

select * from finish();
rollback;
