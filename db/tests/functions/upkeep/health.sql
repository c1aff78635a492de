-- health: every broken promise and every threat is found by its name and its rows, with nothing else beside it.
begin;
\ir ../../_clock.sql
select plan(60);

-- words: the problems that a predicate can find, as its text has them.
create function pg_temp.words(p_predicate text) returns setof text language sql as $$
    select word[1]
    from pg_proc p
    cross join regexp_matches(p.prosrc, 'select ''([a-z_]+)'',', 'g') as word
    where p.pronamespace = 'plane'::regnamespace and p.proname = p_predicate
$$;
-- plants: what is asserted of each fault, and that it was; the fault is taken away again.
create temporary table planted (problem text);
grant all on planted to public;
create function pg_temp.found() returns setof text language sql as $$
    select concat_ws(' ', problem, kind, queue, job_ids) from plane.health()
    -- what other sessions threaten is told by tests of several sessions
    where problem not in (select pg_temp.words('_threat_transactions'))
$$;
create function pg_temp.plants(p_fault text, p_found text, p_what text) returns text language plpgsql as $$
declare
    v_found text[];
begin
    begin
        execute p_fault;
        v_found := array(select pg_temp.found());
        raise exception 'taken away' using errcode = 'TAKEN';
    exception
        when sqlstate 'TAKEN' then null;
    end;
    insert into planted values (split_part(p_found, ' ', 1));
    return is(v_found, array[p_found], p_what);
end;
$$;

-- given jobs of every place, key and line
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('health', p_lease => '2 min', p_backoff => '1 h'), plane.create_queue('health-other') \g /dev/null
select id as queue_id from plane.queue where name = 'health' \gset
select id as other_id from plane.queue where name = 'health-other' \gset
select plane.register_worker('w1', 'health'), plane.register_worker('w1', 'health-other') \g /dev/null
select plane.enqueue('health', 'failing', p_dedupe_key => 'failing', p_serial_key => 'failing'), plane.claim_one('health', 'w1') \g /dev/null
select job_id as failing from plane.lease where queue_id = :queue_id \gset
select plane.fail_job(:failing, 1, '{}'), job_id as behind_failing from plane.enqueue('health', 'behind failing', p_serial_key => 'failing') \gset
select job_id as done from plane.enqueue('health', 'done', p_dedupe_key => 'done', p_serial_key => 'done') \gset
select plane.claim_one('health', 'w1'), plane.complete_job(:done, 1, '1') \g /dev/null
select job_id as cancelling from plane.enqueue('health', 'cancelling', p_dedupe_key => 'again') \gset
select plane.claim_one('health', 'w1'), plane.request_cancel(:cancelling, 'ann') \g /dev/null
select job_id as again from plane.enqueue('health', 'again', p_dedupe_key => 'again') \gset
select job_id as held from plane.enqueue('health', 'held', p_dedupe_key => 'held', p_serial_key => 'held', p_priority => -1) \gset
select plane.claim_one('health', 'w1') \g /dev/null
select plane.report_progress(:held, 1, 1, 2, null), job_id as behind_held from plane.enqueue('health', 'behind held', p_serial_key => 'held') \gset
select job_id as ready from plane.enqueue('health', 'ready', p_dedupe_key => 'ready') \gset
select job_id as head from plane.enqueue('health', 'head', p_serial_key => 'head') \gset
select job_id as scheduled from plane.enqueue('health', 'scheduled', p_serial_key => 'head', p_dedupe_key => 'later',
    p_available_at => '2030-01-02') \gset
select job_id as released from plane.enqueue('health', 'released', p_priority => -2) \gset
select plane.claim_one('health', 'w1'), plane.release_job(:released, 1) \g /dev/null
select job_id as other from plane.enqueue('health-other', 'other', p_serial_key => 'head', p_dedupe_key => 'ready') \gset

-- then all is well, whatever has just ended
select is_empty('select * from pg_temp.found()', 'a ledger at work is well');
savepoint working;
select plane.complete_job(:held, 1), plane.finish_cancel(:cancelling, 1) \g /dev/null
select pg_temp.later('2 h');
select plane.renew_leases('w1', '{}', '{}'), plane.sweep() \g /dev/null
select plane.claim('health', 'w1', 100) \g /dev/null
select is_empty('select * from pg_temp.found()', 'and so it is when time has gone by');
rollback to working;

-- when a job is lost, or is twice
select pg_temp.plants(format('delete from plane.ready where job_id = %s', :ready),
    format('job_in_no_place broken health {%s}', :ready), 'a job that is neither live nor ended');
select pg_temp.plants(format('delete from plane.outcome where job_id = %s', :done),
    format('job_in_no_place broken health {%s}', :done), 'an outcome that went missing');
select pg_temp.plants(format('insert into plane.due values (%s, %s, 0, ''2031-01-01'', ''scheduled'', 0, 5, false)', :ready, :queue_id),
    format('job_in_two_places broken health {%s}', :ready), 'a job in two places');
select pg_temp.plants(format('insert into plane.ready values (%s, 1, %s, %s, 0, 5, false)', :queue_id, :again + 1, :ready),
    format('job_in_two_places broken health {%s}', :ready), 'and one that is ready twice');
select pg_temp.plants(format('insert into plane.outcome select %s, 1, 5, null, now(), false, ''done''', :ready),
    format('ended_job_live broken health {%s}', :ready), 'a job that has ended and can be claimed');
select pg_temp.plants(format('insert into plane.ready values (%s, 1, %2$s, %2$s, 0, 5, false)', :queue_id, :other - :ready),
    format('place_without_job broken health {%s}', :other - :ready), 'a place without a job');
select pg_temp.plants(format('alter table plane.queue disable trigger all; delete from plane.queue where id = %s', :other_id),
    format('place_without_queue broken {%s}', :other), 'a place without a queue');

-- when a place says something else than its job
select pg_temp.plants(format('update plane.due set queue_id = %s where job_id = %s', :other_id, :scheduled),
    format('place_unlike_job broken health-other {%s}', :scheduled), 'a place in another queue');
select pg_temp.plants(format('update plane.ready set lane = -3 where job_id = %s', :ready),
    format('place_unlike_job broken health {%s}', :ready), 'a lane where nobody looks for a job by its id');
select pg_temp.plants(format('update plane.lease set live_key = null where job_id = %s', :held),
    format('place_unlike_job broken health {%s}', :held), 'a lease that will not free its dedupe key');
select pg_temp.plants(format('update plane.lease set serial_key = null where job_id = %s', :held),
    format('place_unlike_job broken health {%s}', :held), 'a lease that will not hand on its line');
select pg_temp.plants(format('update plane.lease set serial_key = ''x'' where job_id = %s', :cancelling),
    format('place_unlike_job broken health {%s}', :cancelling), 'or will hand on another');
select pg_temp.plants(format('update plane.queue set lanes = ''{-4,-3,-2,-1}'' where id = %s', :other_id),
    format('lane_unlisted broken health-other {%s}', :other), 'a lane that no claim looks at');

-- when attempts are not what was counted
select pg_temp.plants(format('update plane.ready set max_dequeues = 1 where job_id = %s', :released),
    format('budget_overspent broken health {%s}', :released), 'a job that had all its attempts and can be claimed');
select pg_temp.plants(format('update plane.lease set max_dequeues = 0 where job_id = %s', :held),
    format('budget_overspent broken health {%s}', :held), 'or is held for one too many');
select pg_temp.plants(format('update plane.ready set dequeue_count = 0 where job_id = %s', :released),
    format('attempts_miscounted broken health {%s}', :released), 'an attempt number that will come again');
select pg_temp.plants(format('update plane.lease set attempt = 3 where job_id = %s', :held),
    format('attempts_miscounted broken health {%s}', :held), 'attempts that left no record');
select pg_temp.plants(format('update plane.attempt set attempt = 2 where job_id = %s', :failing),
    format('attempts_miscounted broken health {%s}', :failing), 'a record of an attempt that never was');
select pg_temp.plants(format('update plane.ready set dequeue_count = -1 where job_id = %s', :ready),
    format('attempts_miscounted broken health {%s}', :ready), 'a negative count');

-- when dedupe keys and jobs part
select pg_temp.plants(format('delete from plane.live_key where job_id = %s', :held),
    format('job_without_key broken health {%s}', :held), 'a live job whose key is free');
select pg_temp.plants(format('update plane.live_key set job_id = %1$s where job_id = %2$s;
        update plane.job set dedupe_key = ''ready'' where id = %1$s', :head, :ready),
    format('two_jobs_of_a_key broken health {%s}', :ready), 'two live jobs of one question');
select pg_temp.plants(format('insert into plane.live_key values (gen_random_uuid(), %s)', :other - :ready),
    format('key_without_job broken {%s}', :other - :ready), 'a key of no job');
select pg_temp.plants(format('insert into plane.live_key values (gen_random_uuid(), %s)', :head),
    format('key_of_another_question broken health {%s}', :head), 'a key of a job that has none');
select pg_temp.plants(format('insert into plane.live_key values (gen_random_uuid(), %s)', :done),
    format('key_of_another_question broken health {%s}', :done), 'or had another');
select pg_temp.plants(format('insert into plane.live_key values (plane._hash_key(%s, ''done''), %s)', :queue_id, :done),
    format('key_outlasts_job broken health {%s}', :done), 'a key that its job has kept');

-- given a request that is held, and a fresh one that has taken its key
savepoint taken;
select plane.register_manifest('health', '[{"name": "ask", "version": 1}]') \g /dev/null
create function pg_temp.ask(p_fresh boolean) returns bigint language sql as $$
    select job_id from plane.submit_request('health', 'ask', '{}',
        '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}', p_fresh => p_fresh)
$$;
select pg_temp.ask(false) as asked \gset
select plane.claim('health', 'w1', 100) \g /dev/null
select pg_temp.ask(true) as fresh \gset
select plane.fail_job(:asked, 1, '{}') \g /dev/null
select is_empty('select * from pg_temp.found()', 'two live jobs of one question, a fresh one and one that it could not join, are legal');
select plane.claim('health', 'w1', 100), plane.complete_job(:fresh, 1) \g /dev/null
select is_empty('select * from pg_temp.found()', 'and so is the one without a key when the other has ended');
insert into plane.live_key select plane._hash_key(j.queue_id, j.dedupe_key), j.id from plane.job j where j.id = :fresh;
select is_empty('select * from pg_temp.found()', 'and the key of one that ended while another fresh one had it locked');
rollback to taken;

-- when a serial line does not go on
select pg_temp.plants(format('delete from plane.line where serial_key = ''failing''; delete from plane.due where job_id = %1$s;
        delete from plane.live_key where job_id = %1$s; delete from plane.job where id = %1$s', :failing),
    format('waiting_without_line broken health {%s}', :behind_failing), 'a job that waits in no line');
select pg_temp.plants(format('insert into plane.line values (%s, ''done'', %s)', :queue_id, :done),
    format('line_without_head broken health {%s}', :done), 'a line whose head has ended, and no note of it');
select pg_temp.plants(format('delete from plane.line where queue_id = %s and serial_key = ''head''', :queue_id),
    format('serial_job_out_of_line broken health {%s}', :head), 'a job that can run beside the head of its line');
savepoint noted;
insert into plane.line values (:queue_id, 'done', :done);
insert into plane.stalled_line values (:queue_id, 'done', :done);
select is_empty('select * from pg_temp.found()', 'where a note says that the head has ended, all is well');
select plane.sweep() \g /dev/null
select is_empty('select from plane.line where serial_key = ''done''', 'for it is read');
rollback to noted;

-- when blobs are not what was written
select plane.put_blob(:held, 1, 'text/plain', null, 'abc'), plane.append_blob(:held, 1, 1, 'de'), plane.append_blob(:held, 1, 1, 'f'),
    plane.put_blob(:held, 1, 'text/plain', null, '') \g /dev/null
select pg_temp.plants(format('delete from plane.blob where job_id = %s', :held),
    format('chunk_without_blob broken health {%s}', :held), 'bytes of no blob');
select pg_temp.plants(format('delete from plane.blob_chunk where job_id = %s and start = 5', :held),
    format('blob_unlike_chunks broken health {%s}', :held), 'a blob that lacks its last bytes');
select pg_temp.plants(format('delete from plane.blob_chunk where job_id = %s and start = 3', :held),
    format('blob_unlike_chunks broken health {%s}', :held), 'or some before them');
select pg_temp.plants(format('delete from plane.blob_chunk where job_id = %s', :held),
    format('blob_unlike_chunks broken health {%s}', :held), 'or all');
select pg_temp.plants(format('update plane.blob_chunk set data = ''xyz'' where job_id = %s and start = 3', :held),
    format('blob_unlike_chunks broken health {%s}', :held), 'or has some twice');
savepoint written;
update plane.blob set reap_at = 'infinity' where job_id = :held and number = 2;
select plane.complete_job(:held, 1), pg_temp.later('2 days') \g /dev/null
select plane.reap_blobs(1) \g /dev/null
select results_eq(
    format('select array_agg(start order by start) from plane.blob_chunk where job_id = %s', :held), $$ values ('{3,5}'::bigint[]) $$,
    'when its first bytes have expired');
select is_empty($$ select from plane.health() where kind = 'broken' $$, 'it is well');
rollback to written;

-- when the sequence was set back
select pg_temp.plants(format('update plane.ready set pos = (select last_value + 1000 from plane.job_id_seq) where job_id = %s', :released),
    format('sequence_behind broken {%s}', last_value + 1000), 'a position that the sequence will draw again')
from plane.job_id_seq;

-- when nobody does what time asks for
select pg_temp.plants($$ select plane.pause_queue('health-other'), pg_temp.later('2 min 1 s') $$,
    format('queue_without_worker threat health {%s}', concat_ws(',', :again, :ready, :head, :released)),
    'a queue whose worker is gone, unless it is paused');
select pg_temp.plants($$ delete from plane.worker where name = 'w1'; select plane.pause_queue('health-other'), pg_temp.later('5 min');
        select count(*) from plane.claim('health', 'w2', 100); select plane.pause_queue('health-other'), pg_temp.later('4 min') $$,
    format('queue_without_worker threat health {%s}', concat_ws(',', :again, :held, :ready, :head, :released)),
    'and one whose workers never said that they are there');
select pg_temp.plants(format('update plane.lease set expires_at = ''2030-01-01 11:57+00'' where job_id = %s', :held),
    format('lease_unswept threat health {%s}', :held), 'a lease that nobody takes back');
select pg_temp.plants(format('update plane.due set available_at = ''2030-01-01 11:57+00'' where job_id = %s', :scheduled),
    format('due_unswept threat health {%s}', :scheduled), 'a time that nobody has noticed');
select pg_temp.plants(format('insert into plane.waiter values (%s, ''edge'', ''2030-01-01 11:49+00'')', :done),
    format('waiter_unswept threat health {%s}', :done), 'one who waits no more');
select pg_temp.plants(
    format('insert into plane.worker values (''w0'', %s, ''{}'', false, ''2029-12-01'', ''2029-12-30 11:59+00'')', :queue_id),
    'workers_unforgotten threat health {}', 'workers that nobody forgets');
select pg_temp.plants($$ select plane.create_queue('health', p_max_depth => 8) $$,
    'queue_nearly_full threat health {}', 'a queue that will soon refuse');

-- when the server is not as the ledger needs it
select pg_temp.plants('alter table plane.lease set (autovacuum_enabled = off)',
    'autovacuum_off threat {}', 'a table that is not vacuumed');
select pg_temp.plants('alter sequence plane.job_id_seq cache 10',
    'sequence_unfit threat {}', 'a sequence that draws out of order');
select pg_temp.plants('alter sequence plane.job_id_seq maxvalue 1000000000',
    'sequence_unfit threat {}', 'one that comes to its end');

-- when very many jobs have it
select plane.enqueue_many('health-other', (select jsonb_agg('{"operation": "lost"}'::jsonb) from generate_series(1, 101))) \g /dev/null
delete from plane.ready where job_id in (select id from plane.job where operation = 'lost');
select results_eq(
    $$ select cardinality(job_ids), substring(says from 'The first .*$') from plane.health() where kind = 'broken' $$,
    $$ values (100, 'The first 100 of 101.') $$, 'their number is said, and the first are named');
select results_eq(
    'select cardinality(job_ids) from plane.health(10) where kind = ''broken''',
    array[10], 'of what is neither live nor ended, as many jobs are looked through as one asks for');
select results_eq(
    'select cardinality(job_ids) from plane.health(null) where kind = ''broken''', array[100], 'or all of them');
delete from plane.job where operation = 'lost';

-- when it is asked for nonsense, or by somebody else
select throws_ok('select plane.health(-1)', '22023', 'the newest jobs are 0 or more', 'a negative number is refused');
set local role plane_worker;
select throws_ok('select plane.health()', '42501', 'permission denied for function health', 'what it says is not for everybody');
set local role plane_admin;
select is_empty('select from plane.health() where kind = ''broken''', 'it is for an admin');
reset role;

-- then every problem in the code has been planted here or, where it takes two sessions, elsewhere
select set_eq(
    $$ select pg_temp.words(proname) from pg_proc
       where pronamespace = 'plane'::regnamespace and proname ~ '^_(broken|threat)_' and proname <> '_threat_transactions' $$,
    'select problem from planted', 'every problem was planted and found');

select * from finish();
rollback;
