-- why: the first reason why a job is not running, as a claim would come upon it.
begin;
\ir ../../_clock.sql
select plan(38);

-- says: asserts reason and sentence of a job; parts of the evidence are asserted where they are the point.
create temporary table asserted (reason text);
create function pg_temp.says(p_job_id bigint, p_reason text, p_says text, p_what text) returns text language sql as $$
    insert into asserted values (p_reason);
    select results_eq(format('select reason, says from plane.why(%s)', p_job_id),
        format('values (%L, %L)', p_reason, p_says), p_what)
$$;
create function pg_temp.evidence(p_job_id bigint) returns jsonb language sql as $$
    select evidence from plane.why(p_job_id)
$$;

set local timezone = 'UTC';
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('why', p_lease => '2 min', p_max_dequeues => 2, p_backoff => '30 s') \g /dev/null
select id as queue_id from plane.queue where name = 'why' \gset

-- when nobody has ever served the queue
select job_id as first from plane.enqueue('why', 'first', p_serial_key => 's') \gset
select pg_temp.says(:first, 'no_worker', 'no worker has been seen for queue why', 'a job waits for a first worker');
select is(pg_temp.evidence(:first), '{"queue": "why", "seen_at": null, "registered": 0}', 'seen never, as the evidence has it');
select plane.register_worker('w1', 'why') \g /dev/null
select pg_temp.says(:first, 'next', 'the next claim takes it', 'with a worker there, it is next');

-- when it is held
select plane.claim_one('why', 'w1'), plane.report_progress(:first, 1, 1, 2, 'half') \g /dev/null
select pg_temp.says(:first, 'running', 'held by w1 until 2030-01-01 12:02:00+00', 'a held job runs');
select is(
    pg_temp.evidence(:first) -> 'progress', '{"done": 1, "total": 2, "message": "half"}', 'how far it is, is evidence');

-- when others come behind it on its serial key
select job_id as second from plane.enqueue('why', 'second', p_serial_key => 's') \gset
select job_id as third from plane.enqueue('why', 'third', p_serial_key => 's') \gset
select pg_temp.says(:third, 'in_line',
    format('behind job %s and 1 more on serial key s; job %1$s: held by w1 until 2030-01-01 12:02:00+00', :first),
    'a waiting job is behind the head, which has a reason of its own');
select is(
    pg_temp.evidence(:second) #> '{head,evidence}', pg_temp.evidence(:first), 'with evidence of its own');

-- when it fails
select plane.fail_job(:first, 1, '{"code": "OUT_OF_INK"}') \g /dev/null
select pg_temp.says(:first, 'due', 'due in 30 s, at 2030-01-01 12:00:30+00, after failure 1', 'a job in backoff has its time');
select is(pg_temp.evidence(:first) ->> 'last_error', '{"code": "OUT_OF_INK"}', 'and what went wrong');
select pg_temp.says(:second, 'in_line',
    format('behind job %s and 0 more on serial key s; job %1$s: due in 30 s, at 2030-01-01 12:00:30+00, after failure 1', :first),
    'it keeps the head of its line');
select pg_temp.later('29 s 1 ms');
select is((select says from plane.why(:first)), 'due in 1 s, at 2030-01-01 12:00:30+00, after failure 1', 'to the last second');
select pg_temp.later('999 ms');
select pg_temp.says(:first, 'next', 'it was due at 2030-01-01 12:00:30+00: the next claim or sweep makes it ready', 'then a claim looks');

-- when its lease lapses
select plane.claim_one('why', 'w1') \g /dev/null
select pg_temp.later('2 min');
select plane.renew_leases('w2', '{}', '{}'), plane.renew_leases('w1', '{}', '{}') \g /dev/null
select pg_temp.says(:first, 'next', 'its last lease lapsed at 2030-01-01 12:02:30+00: the next claim or sweep makes it poison',
    'a lapsed lease holds nothing');
savepoint lapsed;
update plane.lease set max_dequeues = 3 where job_id = :first;
select is((select says from plane.why(:first)), 'its lease lapsed at 2030-01-01 12:02:30+00: the next claim hands it out again',
    'with tries left it is as good as ready');
rollback to lapsed;

-- when the head of a line has ended while somebody joined it
savepoint stalled;
insert into plane.stalled_line values (:queue_id, 's', :first);
delete from plane.lease where job_id = :first;
insert into plane.outcome select :first, 2, 2, null, plane._now(), false, 'done';
select pg_temp.says(:second, 'next', 'the head of its serial key has ended: the next claim or sweep hands the line on',
    'a stalled line goes on with the next claim');
rollback to stalled;

-- when it has ended
select plane.sweep() \g /dev/null
select pg_temp.says(:first, 'finished', 'it is poison since 2030-01-01 12:02:30+00, after 2 of 2 attempts', 'poison is an ending');
select is(pg_temp.evidence(:first) ->> 'status', 'poison', 'which one, is evidence');
select ok(pg_temp.evidence(:first) ->> 'error' ~ 'LEASE_LAPSED', 'and so is its error');
select plane.claim_one('why', 'w1') \g /dev/null
select plane.request_cancel(:third, 'ann') \g /dev/null
select is((select says from plane.why(:third)), 'it is cancelled since 2030-01-01 12:02:30+00, after 0 of 2 attempts', 'so is a cancel');
select plane.request_cancel(:second, 'ann') \g /dev/null
select pg_temp.says(:second, 'cancelling', 'held by w1 until 2030-01-01 12:04:30+00, asked to stop by ann', 'a held one is asked to stop');
select plane.complete_job(:second, 1) \g /dev/null
select is((select says from plane.why(:second)), 'it is done since 2030-01-01 12:02:30+00, after 1 of 2 attempts', 'an answer ends it');

-- when it is scheduled
select job_id as later from plane.enqueue('why', 'later', p_available_at => '2030-01-01 12:10+00') \gset
select pg_temp.says(:later, 'due', 'due in 450 s, at 2030-01-01 12:10:00+00, as it was scheduled', 'a scheduled job has its time');

-- when others are ahead
select job_id as patient from plane.enqueue('why', 'patient', p_priority => 5) \gset
select plane.enqueue('why', 'plain'), plane.enqueue('why', 'urgent', p_priority => -1) \g /dev/null
select pg_temp.says(:patient, 'behind', 'behind 2 jobs that are older or more urgent', 'more urgent jobs come first');
select count(*) from plane.enqueue_many('why', (select jsonb_agg('{"operation": "more"}'::jsonb) from generate_series(1, 1000))) \g /dev/null
select pg_temp.says(:patient, 'behind', 'behind at least 999 jobs that are older or more urgent', 'counting ends at 999');

-- when the workers are gone
select pg_temp.later('2 min');
select is((select reason from plane.why(:patient)), 'behind', 'a worker that was seen two minutes ago may be there');
select pg_temp.later('1 ms');
select pg_temp.says(:patient, 'no_worker', 'no worker has been seen for queue why since 2030-01-01 12:02:30+00', 'then it is gone');

-- when the queue is paused
select plane.pause_queue('why') \g /dev/null
select pg_temp.says(:patient, 'paused', 'queue why is paused since 2030-01-01 12:04:30.001+00', 'a paused queue hands out nothing');
select is((select reason from plane.why(:later)), 'paused', 'not even what will be due');
select is((select reason from plane.why(:first)), 'finished', 'what has ended has ended');
select plane.resume_queue('why') \g /dev/null

-- when a promise is broken
create function pg_temp.breaks(p_fault text, p_job_id bigint, p_problem text, p_what text) returns text language plpgsql as $$
declare
    v_said record;
begin
    begin
        execute p_fault;
        select reason, evidence ->> 'problem' as problem, says into v_said from plane.why(p_job_id);
        raise exception 'taken away' using errcode = 'TAKEN';
    exception
        when sqlstate 'TAKEN' then null;
    end;
    insert into asserted values (v_said.reason);
    return is(concat_ws('|', v_said.reason, v_said.problem, v_said.says),
        format('broken|%1$s|no claim will find it (%1$s): see plane.health', p_problem), p_what);
end;
$$;
select job_id as head from plane.enqueue('why', 'head', p_serial_key => 't') \gset
select job_id as behind from plane.enqueue('why', 'behind', p_serial_key => 't') \gset
select pg_temp.breaks(format('delete from plane.ready where job_id = %s', :patient), :patient, 'job_in_no_place', 'a job that is nowhere');
select pg_temp.breaks('update plane.queue set lanes = ''{0,1}''', :patient, 'lane_unlisted', 'a lane that no claim looks at');
select pg_temp.breaks('alter table plane.queue disable trigger all; delete from plane.queue', :patient, 'place_without_queue', 'no queue');
select pg_temp.breaks('delete from plane.line where serial_key = ''t''', :behind, 'waiting_without_line', 'a line that is not there');
select pg_temp.breaks(format('delete from plane.ready where job_id = %s', :head), :behind, 'line_without_head', 'a head that is nowhere');
select pg_temp.breaks(format('update plane.line set job_id = %s where serial_key = ''t''', :behind), :behind, 'line_without_head',
    'a job behind itself');

-- when there is no such job
select throws_ok('select plane.why(-1)', 'PL404', 'no such job', 'an unknown job is refused');
select throws_ok('select plane.why(null)', 'PL404', 'no such job', 'so is NULL');

-- then every reason in the code has been seen here; the locks of other sessions are told of elsewhere
insert into asserted values ('locked');
select set_eq(
    $$ select unnest(string_to_array(substring(obj_description(oid, 'pg_proc') from '^Reason ([a-z_ ]+):'), ' or ')) from pg_proc
       where pronamespace = 'plane'::regnamespace and proname ~ '^_why_' $$,
    'select reason from asserted', 'every reason was given');

select * from finish();
rollback;
