-- complete_job: the answer and the ending in one; only the attempt that holds the job can give it.
begin;
\ir ../../_clock.sql
select plan(48);

-- a new job, claimed by w1: its id
create function pg_temp.held(p_dedupe_key text default null, p_serial_key text default null) returns bigint language plpgsql as $$
begin
    perform plane.enqueue('complete_job', 'send', p_dedupe_key => p_dedupe_key, p_serial_key => p_serial_key);
    return (select job_id from plane.claim_one('complete_job', 'w1'));
end;
$$;
create function pg_temp.kept(p_job_id bigint) returns table (result text, error text, replaced boolean) language sql as $$
    select o.result::text, o.error::text, o.replaced from plane.outcome o where o.job_id = p_job_id
$$;

-- given a job that w1 has held for 10 seconds
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('complete_job', p_lease => '1 min', p_max_dequeues => 5);
select pg_temp.held('key') as job_id \gset
select pg_temp.later('10 s');

-- when somebody else completes it
select is(plane.complete_job(:job_id, 2, '1'), false, 'an attempt that never was cannot complete');
select is(plane.complete_job(:job_id, 0, '1'), false, 'nor can attempt 0');
select is(plane.complete_job(:job_id, null, '1'), false, 'nor can no attempt');
select is(plane.complete_job(null, 1, '1'), false, 'no job is completed by NULL');
select is(plane.complete_job(9223372036854775807, 1, '1'), false, 'nor is a job that does not exist');
select is((select status from plane.jobs where id = :job_id), 'in_progress', 'the job stays held');

-- when its holder completes it
select is(plane.complete_job(:job_id, 1, '{"sent": true}'), true, 'the holder completes its job');
select results_eq(
    format('select status, result::text, error::text, cache, dequeue_count, locked_by, lease_expires_at, claimed_at,
        finished_at from plane.jobs where id = %s', :job_id),
    $$ values ('done', '{"sent": true}', null::text, null::text, 1, 'w1', null::timestamptz,
        timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 12:00:10+00') $$,
    'the job is done, with its result and its times');

-- then that is its end
select is(plane.complete_job(:job_id, 1, '{"sent": false}'), false, 'a job is completed once');
select is((select result::text from pg_temp.kept(:job_id)), '{"sent": true}', 'its result stays');
select is_empty($$ select plane.claim_one('complete_job', 'w2') $$, 'it is not handed out again');
select is(
    (select coalesced from plane.enqueue('complete_job', 'send', p_dedupe_key => 'key')), false,
    'and its dedupe key is free');
select is_empty(
    format('select from plane.live_key where job_id = %s', :job_id), 'of which nothing stays behind');

-- when the answer is a refusal
select job_id as refused from plane.claim_one('complete_job', 'w1') \gset
select is(
    plane.complete_job(:refused, 1, p_error => '{"status": 404, "code": "NO_FLIGHT", "message": "no such flight"}'), true,
    'a refusal completes a job as any answer does');
select results_eq(
    format($$ select status, result::text, error ->> 'code' from plane.jobs where id = %s $$, :refused),
    $$ values ('done', null::text, 'NO_FLIGHT') $$, 'which is done, with an error');

-- when there is nothing to say
select pg_temp.held() as silent \gset
select is(plane.complete_job(:silent, 1), true, 'a job may be done without a word');
select results_eq(
    format('select * from pg_temp.kept(%s)', :silent), $$ values (null::text, null::text, false) $$, 'and has none then');

-- when the answer did not need an execution of its own
select pg_temp.held() as hit, pg_temp.held() as coalesced \gset
select plane.complete_job(:hit, 1, '1', p_cache => 'hit'), plane.complete_job(:coalesced, 1, '1', p_cache => 'coalesced') \g /dev/null
select results_eq(
    format('select cache from plane.jobs where id in (%s, %s) order by id', :hit, :coalesced),
    array['hit', 'coalesced'], 'where an answer came from is kept');
select pg_temp.held() as wrong \gset
select throws_ok(
    format($$ select plane.complete_job(%s, 1, '1', p_cache => 'warm') $$, :wrong),
    '22023', 'cache is hit, coalesced or NULL',
    'no other origin can be given');
select is(
    (select status from plane.jobs where id = :wrong), 'in_progress', 'and the job stays held');
select plane.complete_job(:wrong, 1) \g /dev/null

-- then content is kept as it was given
create function pg_temp.keeps(p_content text, p_what text, p_kept text default null) returns text language plpgsql as $$
declare
    v_job_id bigint := pg_temp.held();
begin
    perform plane.complete_job(v_job_id, 1, p_content::json, p_content::json);
    return results_eq(
        format('select * from pg_temp.kept(%s)', v_job_id),
        format('values (%L::text, %1$L::text, %L::boolean)', coalesce(p_kept, p_content), p_kept is not null),
        p_what);
end;
$$;
select pg_temp.keeps('[9007199254740993, 0.10, 1e400, -0.0, 123456789012345678901234567890.123456789]',
    'numbers are kept digit for digit');
select pg_temp.keeps('{"b":1,  "a" : 2, "a": 3}', 'so are blanks, the order of keys and a key that comes twice');
select pg_temp.keeps('null', 'so is a null');
select pg_temp.keeps('"text"', 'so is a lone value');
select pg_temp.keeps('"\u00e4 ä \ud83d\ude00 😀 \n \\ \/"', 'so are characters however they are written');

-- but for a NUL
select pg_temp.keeps('{"message": "a\u0000b"}', 'a NUL is replaced by U+FFFD and the outcome flagged', '{"message": "a\ufffdb"}');
select pg_temp.keeps('{"a\u0000": ["\u0000\u0000", "\\\u0000"]}', 'every one of them, in keys too', '{"a\ufffd": ["\ufffd\ufffd", "\\\ufffd"]}');
select pg_temp.keeps('{"path": "C:\\u0000"}', 'a backslash before the letters u0000 is no NUL');
select is(
    (select count(*) from plane.jobs where queue = 'complete_job' and error ->> 'message' = E'a\ufffdb'), 1::bigint,
    'and what was kept can be read');

-- when the content is at the edge of its size
select pg_temp.held() as large \gset
select throws_ok(
    format($$ select plane.complete_job(%s, 1, to_json(repeat('x', 1048576 - 1))) $$, :large),
    'PL413', 'a result or error is limited to 1 MiB', 'a result of 1 MiB and a byte is refused');
select throws_ok(
    format($$ select plane.complete_job(%s, 1, null, to_json(repeat('x', 1048576 - 1))) $$, :large),
    'PL413', 'a result or error is limited to 1 MiB', 'so is such an error');
select throws_ok(
    format($$ select plane.complete_job(%s, 1, to_json(repeat('ä', 524288))) $$, :large),
    'PL413', 'a result or error is limited to 1 MiB', 'bytes count, not characters');
select is(
    (select status from plane.jobs where id = :large), 'in_progress', 'and the job stays held');
select is(
    plane.complete_job(:large, 1, to_json(repeat('x', 1048576 - 2)), to_json(repeat('x', 1048576 - 2))), true,
    'a result and an error of 1 MiB each are taken');

-- given a job that its first attempt has lost
select pg_temp.held() as lost \gset
select plane.release_job(:lost, 1) \g /dev/null

-- then the late answer is refused, wherever the job now is
select is(plane.complete_job(:lost, 1, '"late"'), false, 'who gave a job back cannot complete it');
select is((select attempt from plane.claim_one('complete_job', 'w2')), 2, 'another attempt has it');
select is(plane.complete_job(:lost, 1, '"late"'), false, 'who lost it to another attempt cannot complete it');
select plane.fail_job(:lost, 2, '{}') \g /dev/null
select is(plane.complete_job(:lost, 2, '"late"'), false, 'who failed cannot complete it afterwards');
select pg_temp.later('1 h');
select is((select attempt from plane.claim_one('complete_job', 'w3') ), 3, 'a third attempt has it');
select pg_temp.later('1 min');
select is((select attempt from plane.claim_one('complete_job', 'w4')), 4, 'its lease lapses, a fourth has it');
select is(plane.complete_job(:lost, 3, '"late"'), false, 'who lost it by time cannot complete it');
select is(plane.complete_job(:lost, 4, '"in time"'), true, 'its holder can');
select is((select result::text from plane.jobs where id = :lost), '"in time"', 'and that is the answer');

-- given a lease that lapsed, with nobody who took the job over
select pg_temp.held() as slow \gset
select pg_temp.later('2 min');
select is(plane.complete_job(:slow, 1, '"slow"'), true, 'a late answer is welcome while nobody else has the job');

-- given a job that was asked to stop
select pg_temp.held() as cancelling \gset
update plane.lease set cancelled_by = 'ann' where job_id = :cancelling;
select is(plane.complete_job(:cancelling, 1, '"done all the same"'), true, 'an answer that came first counts');
select is((select status from plane.jobs where id = :cancelling), 'done', 'and the job is done');

-- given jobs of one serial key
select pg_temp.held(p_serial_key => 'line') as head \gset
select job_id as next from plane.enqueue('complete_job', 'send', p_serial_key => 'line') \gset
select is((select status from plane.jobs where id = :next), 'waiting', 'while the first is held the next one waits');
select plane.complete_job(:head, 1) \g /dev/null
select is((select status from plane.jobs where id = :next), 'pending', 'and is ready in the transaction that completes it');

select * from finish();
rollback;
