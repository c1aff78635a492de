-- claim_one: the oldest claimable job, the most urgent lane first; work that came back before fresh work.
begin;
\ir ../../_clock.sql
select plan(38);

create function pg_temp.claims(p_operation text, p_what text) returns text language sql as $$
    select is((select operation from plane.claim_one('claim_one', 'w1')), p_operation, p_what)
$$;
create function pg_temp.add(p_operation text, p_priority integer = 0, p_at timestamptz = null) returns bigint language sql as $$
    select job_id from plane.enqueue('claim_one', p_operation, p_priority => p_priority, p_available_at => p_at)
$$;

-- given a queue with nothing in it, and another one that has a job
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('claim_one', p_lease => '1 min', p_max_dequeues => 3, p_backoff => '30 s');
select plane.create_queue('claim_one-other');
select plane.enqueue('claim_one-other', 'stranger') \g /dev/null
select is_empty($$ select plane.claim_one('claim_one', 'w1') $$, 'from an empty queue nothing is claimed');

-- when a job is there
select job_id from plane.enqueue('claim_one', 'send', '{"to": "ann"}', '{"client": "acme"}', 'key', 'line', 7,
    p_max_dequeues => 5, p_version => 2) \gset
select pg_temp.later('10 s');
select results_eq(
    $$ select job_id, attempt, queue, operation, version, params, envelope, dedupe_key, serial_key, max_dequeues,
        lease_expires_at, created_at, cache_key, fresh from plane.claim_one('claim_one', 'w1') $$,
    format($$ values (%s::bigint, 1, 'claim_one', 'send', 2, '{"to": "ann"}'::jsonb, '{"client": "acme"}'::jsonb, 'key', 'line',
        5, timestamptz '2030-01-01 12:01:10+00', timestamptz '2030-01-01 12:00+00', null::text, false) $$, :job_id),
    'a claim hands out all that a worker needs');
select results_eq(
    format('select status, priority, dequeue_count, locked_by, lease_expires_at, claimed_at from plane.jobs where id = %s', :job_id),
    $$ values ('in_progress', 7, 1, 'w1', timestamptz '2030-01-01 12:01:10+00', timestamptz '2030-01-01 12:00:10+00') $$,
    'the job is in progress, its lease as long as its queue says');
select is_empty($$ select plane.claim_one('claim_one', 'w2') $$, 'what is held is not handed out again');
select is(plane.complete_job(:job_id, 1), true, 'its attempt holds it');

-- when the queue's lease changes
select plane.create_queue('claim_one', p_lease => '2 min');
select pg_temp.add('longer') \g /dev/null
select is(
    (select lease_expires_at from plane.claim_one('claim_one', 'w1')), '2030-01-01 12:02:10+00',
    'the next claim goes by the new one');
select plane.create_queue('claim_one', p_lease => '1 min');

-- given jobs of several priorities
select pg_temp.add('b'), pg_temp.add('c'), pg_temp.add('patient', 10), pg_temp.add('urgent 1', -10),
    pg_temp.add('urgent 2', -10), pg_temp.add('most urgent', -11) \g /dev/null

-- then the lowest goes first, and within it the oldest
select pg_temp.claims('most urgent', 'the lowest priority goes first');
select pg_temp.claims('urgent 1', 'then the next one');
select pg_temp.claims('urgent 2', 'the oldest of it first');
select pg_temp.claims('b', 'then the default');
select job_id as c from plane.claim_one('claim_one', 'w1') \gset
select pg_temp.claims('patient', 'and the highest last');

-- when work comes back beside fresh work
select pg_temp.add('fresh') as fresh, pg_temp.add('fresh and urgent', -1) as urgent \gset
select plane.release_job(:c, 1);
select pg_temp.claims('fresh and urgent', 'more urgent work goes before work that came back');
select pg_temp.claims('c', 'a job that was released goes before fresh work');
select plane.fail_job(:c, 2, '{}', '10 s');
select pg_temp.add('second') \g /dev/null
select pg_temp.claims('fresh', 'a job in backoff is passed over');
select pg_temp.later('10 s');
select pg_temp.claims('c', 'and goes before fresh work when its pause is over');
select pg_temp.claims('second', 'after which the fresh work has its turn');

-- given a worker that died over its job, and fresh work
select plane.create_queue('claim_one-dead', p_lease => '1 min', p_max_dequeues => 2);
select job_id as orphan from plane.enqueue('claim_one-dead', 'orphan') \gset
select plane.claim_one('claim_one-dead', 'w1') \g /dev/null
select plane.enqueue('claim_one-dead', 'fresh'), plane.enqueue('claim_one-dead', 'fresh') \g /dev/null

-- when its lease has lapsed, with nobody sweeping
select pg_temp.later('59 s 999 ms');
select is(
    (select operation from plane.claim_one('claim_one-dead', 'w2')), 'fresh', 'a lease protects its job to the last moment');
select pg_temp.later('101 ms');
select results_eq(
    $$ select job_id, attempt from plane.claim_one('claim_one-dead', 'w2') $$,
    format('values (%s::bigint, 2)', :orphan), 'then the job is claimable at once, before fresh work, as a new attempt');
select is(plane.complete_job(:orphan, 1, '{}'), false, 'the first attempt has lost it');
select results_eq(
    format($$ select attempt, worker, outcome, error ->> 'code', error ->> 'worker' from plane.attempts
        where job_id = %s order by attempt $$, :orphan),
    $$ values (1, 'w1', 'lapsed', 'LEASE_LAPSED', 'w1'), (2, 'w2', 'in_progress', null, null) $$,
    'and is on record with its worker');

-- when its last lease lapses
select pg_temp.later('1 min');
select is(
    (select operation from plane.claim_one('claim_one-dead', 'w3') where job_id = :orphan), null,
    'a job without a try left is not handed out');
select results_eq(
    format($$ select status, error ->> 'code' from plane.jobs where id = %s $$, :orphan),
    $$ values ('poison', 'LEASE_LAPSED') $$, 'a claim makes poison of it by itself');

-- when somebody garbled what the session remembers of its last look
select plane.create_queue('claim_one-garbled', p_lease => '1 min');
create function pg_temp.lapses(p_setting text, p_what text, p_patience interval default '0') returns text language plpgsql as $$
declare
    v_job_id  bigint := (select job_id from plane.enqueue('claim_one-garbled', 'send'));
    v_claimed bigint;
begin
    perform plane.claim_one('claim_one-garbled', 'w1');
    perform pg_temp.later('1 min');
    perform set_config('plane.looked_' || q.id, p_setting, true) from plane.queue q where q.name = 'claim_one-garbled';
    perform pg_temp.later(p_patience);
    select job_id into v_claimed from plane.claim_one('claim_one-garbled', 'w1');
    perform plane.complete_job(v_job_id, 2);
    return is(v_claimed, v_job_id, p_what);
end;
$$;
select pg_temp.lapses('', 'a lapsed job is found although the setting was emptied');
select pg_temp.lapses('nonsense', 'although it holds nonsense');
select pg_temp.lapses('999999999999999|999999999999999', 'although it is not signed');
create function pg_temp.signed(p_note text) returns text language sql as $$ select hashtext(p_note) || '#' || p_note $$;
select pg_temp.lapses(
    pg_temp.signed('999999999999999|999999999999999'), 'although it says that everything has been looked at for ever');
select pg_temp.lapses(pg_temp.signed('1|2'), 'although it says that nothing ever was');
select pg_temp.lapses(
    pg_temp.signed(format('%s|%s', ms + 60000, ms + 660000)), 'although it is a plausible lie, within ten minutes', '10 min')
from (select (extract(epoch from plane._now()) * 1000)::bigint as ms) as now;

-- given a queue that wakes only workers that sleep
select plane.create_queue('claim_one-sleep', p_notify => 'waiters');
select plane.register_worker('w1', 'claim_one-sleep'), plane.register_worker('w2', 'claim_one-sleep') \g /dev/null

-- when a worker comes away with empty hands
select plane.claim_one('claim_one-sleep', 'w1');
select results_eq(
    $$ select worker, asleep from plane.workers where queue = 'claim_one-sleep' order by worker $$,
    $$ values ('w1', true), ('w2', false) $$, 'it is noted to sleep');
select plane.enqueue('claim_one-sleep', 'send') \g /dev/null
select plane.claim_one('claim_one-sleep', 'w1') \g /dev/null
select is(
    (select asleep from plane.workers where queue = 'claim_one-sleep' and worker = 'w1'), false,
    'and is awake when it has claimed');
select lives_ok(
    $$ select plane.claim_one('claim_one-sleep', 'nobody') $$, 'a worker that never registered may claim all the same');
select plane.create_queue('claim_one-sleep', p_notify => 'always');
select plane.claim_one('claim_one-sleep', 'w2');
select is(
    (select asleep from plane.workers where queue = 'claim_one-sleep' and worker = 'w2'), false,
    'where everybody is always told, no note is taken');

-- when an argument cannot be
select throws_ok(
    $$ select plane.claim_one('claim_one-none', 'w1') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok($$ select plane.claim_one(null, 'w1') $$, 'PL404', 'no such queue', 'NULL is no queue');
select throws_ok(
    $$ select plane.claim_one('claim_one', null) $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a worker without a name is refused');
select throws_ok(
    $$ select plane.claim_one('claim_one', '') $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'an empty name is refused');
select throws_ok(
    $$ select plane.claim_one('claim_one', repeat('w', 201)) $$,
    '22023', 'a worker needs a name of 1 to 200 characters', 'a name of 201 characters is refused');
select is(
    (select status from plane.jobs where queue = 'claim_one-other'), 'pending',
    'through all of this another queue''s job was left alone');

select * from finish();
rollback;
