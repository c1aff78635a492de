-- enqueue with a serial key: jobs of one key run one at a time, in the order of joining.
begin;
\ir ../../_clock.sql
select plan(41);

create function pg_temp.add(p_what text, p_key text = 'k', p_priority integer = 0, p_at timestamptz = null)
    returns bigint language sql as $$
    select job_id from plane.enqueue('serial', p_what, p_serial_key => p_key, p_priority => p_priority, p_available_at => p_at)
$$;
create function pg_temp.claims(p_operations text[], p_what text) returns text language sql as $$
    select is(array(select operation from plane.claim('serial', 'w1', 100)), p_operations, p_what)
$$;
create function pg_temp.line(p_key text = 'k') returns text language sql as $$
    select coalesce(string_agg(operation || ' ' || status, ', ' order by id), '')
    from plane.jobs
    where queue = 'serial' and serial_key = p_key and status in ('pending', 'waiting', 'in_progress')
$$;
create function pg_temp.complete(p_job_id bigint, p_attempt integer = 1) returns boolean language sql as $$
    select plane.complete_job(p_job_id, p_attempt, '{}')
$$;

-- given three jobs of one serial key, the last the most urgent, and one of another key
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('serial', p_lease => '1 min', p_backoff => '30 s', p_max_dequeues => 2);
select plane.create_queue('serial-other');
select pg_temp.add('a') as a, pg_temp.add('b') as b, pg_temp.add('c', p_priority => -9) as c \gset
select pg_temp.add('x', 'other') as x, pg_temp.add('y', 'K') as y \gset
select is(pg_temp.line(), 'a pending, b waiting, c waiting', 'the first job is ready, the others wait behind it');

-- when a worker claims all it can
select pg_temp.claims(array['a', 'x', 'y'], 'one job of each serial key is handed out');
select is(pg_temp.line(), 'a in_progress, b waiting, c waiting', 'the others wait on');
select pg_temp.claims('{}', 'a key whose head is held hands out nothing');
select is(
    (select count(*) from plane.enqueue('serial-other', 'send', p_serial_key => 'k'), plane.claim_one('serial-other', 'w1')),
    1::bigint, 'another queue has a line of its own for the same key');

-- when the head ends
select pg_temp.complete(:a) \g /dev/null
select is(pg_temp.line(), 'b pending, c waiting', 'the next in the order of joining is ready, urgent or not');
select pg_temp.claims(array['b'], 'and is handed out');

-- when the head fails
select is(plane.fail_job(:b, 1, '{}'), 'pending', 'a head that fails pauses');
select is(pg_temp.line(), 'b pending, c waiting', 'and keeps the head');
select pg_temp.claims('{}', 'so its line pauses with it');
select pg_temp.add('d') as d \gset
select is(pg_temp.line(), 'b pending, c waiting, d waiting', 'who joins meanwhile joins behind');
select pg_temp.later('30 s');
select pg_temp.claims(array['b'], 'after its pause the head goes on');

-- when the head is released, or lapses
select is(plane.release_job(:b, 2), true, 'a head that is released');
select is(pg_temp.line(), 'b pending, c waiting, d waiting', 'keeps the head');
select pg_temp.claims(array['b'], 'and is claimed again');
select pg_temp.later('1 min');
select plane.sweep() \g /dev/null
select is((select status from plane.jobs where id = :b), 'poison', 'a head whose last lease lapses is poison');
select is(pg_temp.line(), 'c pending, d waiting', 'and its line goes on in the same transaction');
select pg_temp.claims(array['c', 'x', 'y'], 'by its urgency, the next goes before the jobs of other keys');
select pg_temp.later('1 min');
select plane.sweep() \g /dev/null
select is(pg_temp.line(), 'c pending, d waiting', 'a head whose lease lapses with tries left stays the head');
select pg_temp.claims(array['c'], 'and is claimed again');
select is(plane.fail_job(:c, 2, '{}'), 'poison', 'when a head fails for good');
select pg_temp.claims(array['d'], 'its line goes on');

-- when the line has run empty
select pg_temp.complete(:d) \g /dev/null
select is(pg_temp.line(), '', 'a line that ran empty is gone');
select pg_temp.add('e') as e \gset
select pg_temp.claims(array['e'], 'and the next job of the key is ready at once');
select pg_temp.complete(:e) \g /dev/null

-- given jobs of one key that are scheduled, and one that is not
select pg_temp.add('night', p_at => plane._now() + interval '40 s') as night,
    pg_temp.add('noon', p_at => plane._now() + interval '20 s') as noon, pg_temp.add('now') as now \gset
select pg_temp.claims(array['now'], 'a scheduled job stands in nobody''s way before its time');

-- when they become due, one after the other
select pg_temp.later('20 s');
select pg_temp.claims('{}', 'a job that becomes due joins its line');
select is(pg_temp.line(), 'night pending, noon waiting, now in_progress', 'behind the head');
select pg_temp.add('afternoon') as afternoon \gset
select pg_temp.later('20 s');
select pg_temp.claims('{}', 'the other joins when it is due');
select is(pg_temp.line(), 'night waiting, noon waiting, now in_progress, afternoon waiting', 'at the end of the line');

-- then the line goes by the order of joining, not by that of asking
select pg_temp.complete(:now) \g /dev/null
select pg_temp.claims(array['noon'], 'first who was due first');
select pg_temp.complete(:noon) \g /dev/null
select pg_temp.claims(array['afternoon'], 'then who joined between');
select pg_temp.complete(:afternoon) \g /dev/null
select pg_temp.claims(array['night'], 'then who was due last');
select pg_temp.complete(:night) \g /dev/null

-- when several have become due before anybody looked
select pg_temp.add('third', p_at => plane._now() + interval '3 s'), pg_temp.add('first', p_at => plane._now() + interval '1 s'),
    pg_temp.add('second', p_at => plane._now() + interval '2 s') \g /dev/null
select pg_temp.later('10 s');
select pg_temp.claims(array['first'], 'they join in the order of becoming due');
select plane.complete_job(id, 1) from plane.jobs where queue = 'serial' and operation = 'first' \g /dev/null
select pg_temp.claims(array['second'], 'one after the other');
select plane.complete_job(id, 1) from plane.jobs where queue = 'serial' and operation = 'second' \g /dev/null
select plane.complete_job(job_id, attempt) from plane.claim_one('serial', 'w1') \g /dev/null

-- when other work is older than a job of a line
select pg_temp.add('old', null), pg_temp.add('head'), pg_temp.add('next') \g /dev/null
select pg_temp.claims(array['old', 'head'], 'a job that heads its line waits its turn among all others');
select pg_temp.add('older', null) \g /dev/null
select plane.complete_job(id, 1) from plane.jobs where queue = 'serial' and operation = 'head' \g /dev/null
select pg_temp.claims(array['older', 'next'], 'and so does one that the line is handed on to');
select plane.complete_job(id, 1) from plane.jobs where queue = 'serial' and operation = 'next' \g /dev/null

-- when scheduled jobs are pulled forward
select job_id as pulled from plane.enqueue('serial', 'pulled', p_serial_key => 'k', p_dedupe_key => 'pulled',
    p_available_at => '2031-01-01') \gset
select plane.enqueue('serial', 'pulled', p_dedupe_key => 'pulled') \g /dev/null
select is(pg_temp.line(), 'pulled pending', 'a job that is pulled forward to now takes the head of an empty line');
select job_id as behind from plane.enqueue('serial', 'behind', p_serial_key => 'k', p_dedupe_key => 'behind',
    p_available_at => '2031-01-01') \gset
select plane.enqueue('serial', 'behind', p_dedupe_key => 'behind') \g /dev/null
select is(pg_temp.line(), 'pulled pending, behind waiting', 'or a place behind it');
select pg_temp.claims(array['pulled'], 'the head is handed out');
select plane.complete_job(:pulled, 1, null, '{"status": 404, "code": "NONE", "message": "none"}') \g /dev/null
select pg_temp.claims(array['behind'], 'and a refusal hands the line on as any answer does');

-- then nobody is left over
select pg_temp.complete(:behind) \g /dev/null
select is_empty(
    $$ select serial_key from plane.line l join plane.queue q on q.id = l.queue_id where q.name = 'serial' and serial_key = 'k'
       union all
       select serial_key from plane.waiting w join plane.queue q on q.id = w.queue_id where q.name = 'serial' $$,
    'nothing of an ended line stays behind');

select * from finish();
rollback;
