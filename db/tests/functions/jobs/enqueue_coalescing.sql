-- enqueue with a dedupe key: at most one live job a queue and key, pulled forward by whoever joins it.
begin;
\ir ../../_clock.sql
select plan(50);

create function pg_temp.joins(p_key text, p_job_id bigint, p_what text, p_more text default '') returns text language sql as $$
    select results_eq(
        format('select job_id, coalesced from plane.enqueue(''coalesce'', ''other'', ''{"n": 2}'', p_dedupe_key => %L%s)',
            p_key, p_more),
        format('values (%s::bigint, true)', p_job_id), p_what)
$$;
create function pg_temp.job(p_job_id bigint) returns text language sql as $$
    select concat_ws(' ', status, priority, to_char(available_at at time zone 'UTC', 'HH24:MI'))
    from plane.jobs where id = p_job_id
$$;

-- given a live job with a dedupe key
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('coalesce', p_lease => '1 min', p_backoff => '30 s', p_max_dequeues => 3);
select plane.create_queue('coalesce-other');
select job_id, coalesced from plane.enqueue('coalesce', 'send', '{"n": 1}', p_dedupe_key => 'report') \gset
select is(:'coalesced'::boolean, false, 'the first job of a dedupe key is a new one');

-- when the key is asked for again
select pg_temp.joins('report', :job_id, 'a second call joins the live job');
select results_eq(
    format('select operation, params from plane.jobs where id = %s', :job_id),
    $$ values ('send', '{"n": 1}'::jsonb) $$,
    'which stays what it is');
select is(
    (select count(*) from plane.jobs where dedupe_key = 'report'), 1::bigint, 'no second job exists');

-- when it is another key, or another queue's
select is(
    (select coalesced from plane.enqueue('coalesce', 'send', p_dedupe_key => 'Report')), false,
    'a key in other letters is another key');
select is(
    (select coalesced from plane.enqueue('coalesce', 'send', p_dedupe_key => 'report ')), false,
    'a key with a blank more is another key');
select is(
    (select coalesced from plane.enqueue('coalesce-other', 'send', p_dedupe_key => 'report')), false,
    'the same key in another queue is another key');

-- when the job is held
select is((select job_id from plane.claim_one('coalesce', 'w1')), :job_id::bigint, 'the job is claimed');
select pg_temp.joins('report', :job_id, 'a call joins a job that is held');
select pg_temp.joins('report', :job_id, 'whatever its priority', ', p_priority => -9');
select is(pg_temp.job(:job_id), 'in_progress 0', 'a held job changes in nothing');

-- when the job comes back
select plane.fail_job(:job_id, 1, '{}');
select pg_temp.joins('report', :job_id, 'a call joins a job in backoff');
select is(pg_temp.job(:job_id), 'pending 0 12:00', 'and leaves it its pause');
select is_empty(
    format('select from plane.claim(''coalesce'', ''w1'', 10) where job_id = %s', :job_id),
    'which is not over yet');
select pg_temp.joins('report', :job_id, 'nor does an urgent call', ', p_priority => -9');
select is(
    (select priority from plane.jobs where id = :job_id), 0, 'make a job in backoff urgent');
select pg_temp.later('30 s');
select is((select attempt from plane.claim_one('coalesce', 'w1')), 2, 'after its pause it is claimed again');
select plane.release_job(:job_id, 2);
select pg_temp.joins('report', :job_id, 'a call joins a job that was released');
select is((select attempt from plane.claim_one('coalesce', 'w1')), 3, 'which is claimed again');
select pg_temp.later('1 min');
select pg_temp.joins('report', :job_id, 'a call joins a job whose lease lapsed');
select is(
    (select attempt from plane.claim('coalesce', 'w1', 10) where job_id = :job_id), 4, 'which is claimed again');

-- when the job ends
select plane.complete_job(:job_id, 4, '{}');
select job_id as second, coalesced from plane.enqueue('coalesce', 'send', p_dedupe_key => 'report') \gset
select is(:'coalesced'::boolean, false, 'a job that is done has given its key back');
select isnt(:second::bigint, :job_id::bigint, 'the next job of the key is another one');
select job_id as third, attempt from plane.claim_one('coalesce', 'w1') \gset
select is(:third::bigint, :second::bigint, 'it is claimed');
select plane.fail_job(:third, 1, '{}', '0'), plane.claim_one('coalesce', 'w1'), plane.fail_job(:third, 2, '{}', '0'),
    plane.claim_one('coalesce', 'w1'), plane.fail_job(:third, 3, '{}') \g /dev/null
select is(pg_temp.job(:third), 'poison 0', 'and fails for good');
select is(
    (select coalesced from plane.enqueue('coalesce', 'send', p_dedupe_key => 'report')), false,
    'poison has given its key back');

-- given a job scheduled for 20:00
select job_id as scheduled
from plane.enqueue('coalesce', 'send', p_dedupe_key => 'night', p_available_at => '2030-01-01 20:00+00') \gset

-- when callers want it at other times
select pg_temp.joins('night', :scheduled, 'a call for a later time joins', ', p_available_at => ''2030-01-01 22:00+00''');
select is(pg_temp.job(:scheduled), 'pending 0 20:00', 'and puts nothing off');
select pg_temp.joins('night', :scheduled, 'a call for an earlier time joins', ', p_available_at => ''2030-01-01 18:00+00''');
select is(pg_temp.job(:scheduled), 'pending 0 18:00', 'and pulls the job forward');
select pg_temp.joins('night', :scheduled, 'a call for a time between joins', ', p_available_at => ''2030-01-01 19:00+00''');
select is(pg_temp.job(:scheduled), 'pending 0 18:00', 'and leaves what was pulled forward');
select pg_temp.joins('night', :scheduled, 'a call that wants it more urgently joins', ', p_priority => -2, p_available_at => ''2030-01-01 19:00+00''');
select is(pg_temp.job(:scheduled), 'pending -2 18:00', 'and makes it urgent before its time');
select pg_temp.joins('night', :scheduled, 'a call for at once joins');
select is(
    (select job_id from plane.claim_one('coalesce', 'w1')), :scheduled::bigint, 'and it is claimed at once, urgent as it is');

-- given ready jobs
select count(*) from plane.claim('coalesce', 'w1', 100) \g /dev/null
select job_id as one from plane.enqueue('coalesce', 'send', p_dedupe_key => 'one', p_priority => 5) \gset
select job_id as two from plane.enqueue('coalesce', 'send', p_dedupe_key => 'two', p_priority => 5) \gset
select job_id as three from plane.enqueue('coalesce', 'send', p_priority => 4) \gset

-- when callers want one of them more, or less, urgently
select pg_temp.joins('two', :two, 'a call of less urgency joins', ', p_priority => 9');
select is(pg_temp.job(:two), 'pending 5 12:01', 'and changes nothing');
select pg_temp.joins('two', :two, 'a call of more urgency joins', ', p_priority => 4');
select is(
    (select priority from plane.jobs where id = :two), 4, 'and makes the job as urgent');
select pg_temp.joins('two', :two, 'a call of still more urgency joins', ', p_priority => 3');
select is(
    (select priority from plane.jobs where id = :two), 3, 'and makes it still more urgent');
select results_eq(
    'select job_id from plane.claim(''coalesce'', ''w1'', 10)', array[:two, :three, :one]::bigint[],
    'claims go by the urgency that was asked for last');

-- when the job wanted urgently came back, or became due
select plane.release_job(:one, 1);
select job_id as four from plane.enqueue('coalesce', 'send', p_dedupe_key => 'four', p_priority => 5,
    p_available_at => '2030-01-01 12:02+00') \gset
select job_id as five from plane.enqueue('coalesce', 'send', p_priority => 1) \gset
select pg_temp.later('30 s');
select is(plane.sweep(), 1, 'a scheduled job becomes due');
select pg_temp.joins('one', :one, 'a call joins the one that came back', ', p_priority => 1');
select pg_temp.joins('four', :four, 'and the one that became due', ', p_priority => 0');
select results_eq(
    'select job_id from plane.claim(''coalesce'', ''w1'', 10)', array[:four, :one, :five]::bigint[],
    'both are as urgent as was asked, and what came back goes before fresh work');
select results_eq(
    format('select priority from plane.jobs where id in (%s, %s) order by id', :one, :four), array[1, 0],
    'their attempts know the new priority');

-- when a job behind the head of its serial line is wanted more urgently
select plane.enqueue('coalesce', 'send', p_serial_key => 'line') \g /dev/null
select job_id as waiting from plane.enqueue('coalesce', 'send', p_dedupe_key => 'waiting', p_serial_key => 'line') \gset
select pg_temp.joins('waiting', :waiting, 'a call joins a waiting job', ', p_priority => -1');
select is(pg_temp.job(:waiting), 'waiting -1', 'which waits on, and will be urgent then');

select * from finish();
rollback;
