-- maintain: ranges of ids are opened in time, and finished work leaves with them.
begin;
\ir ../../_clock.sql
select pg_temp.freeze('2030-01-01 12:00+00');
\ir ../../_alone.sql
select plan(40);

-- what is in which range
create function pg_temp.ranges() returns setof text language sql volatile as $$
    select format('%s-%s: %s', r.lower, r.upper, (select count(*) from plane.job j where j.id >= r.lower and (j.id < r.upper) is not false))
    from plane._ranges() r
    order by r.lower
$$;
-- everybody sees what this transaction does
create or replace function plane._older_snapshot(p_xid xid) returns text language sql volatile
    set search_path = pg_catalog, pg_temp as $$ select null::text $$;

-- given an empty ledger
select plane.create_queue('maintain', p_retention => '24 h', p_max_dequeues => 1);
select results_eq(
    'select * from pg_temp.ranges()', array['0-10000000000: 0', '10000000000-: 0'],
    'a new ledger has a range for ids, and an open-ended one after it');
select is_empty('select * from plane.maintain()', 'an empty ledger needs nothing');
select pg_temp.later('100 days');
select is_empty('select * from plane.maintain()', 'however old it is');

-- when jobs come
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.enqueue('maintain', 'fails'), plane.enqueue('maintain', 'works', p_dedupe_key => 'key'),
    plane.enqueue('maintain', 'stops') \g /dev/null
select job_id as waits from plane.enqueue('maintain', 'waits', p_available_at => '2031-01-01') \gset
select pg_temp.later('2 h');
select is_empty('select * from plane.maintain()', 'for two hours they come to one range');
select pg_temp.later('1 ms');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('opened', 'ids from 10000000000 on') $$,
    'then the next ones come to a new one');
select results_eq(
    'select * from pg_temp.ranges()', array['0-10000000000: 4', '10000000000-20000000000: 0', '20000000000-: 0'],
    'which is bounded, with an open-ended one after it');
select is_empty('select * from plane.maintain()', 'an empty range is not followed by another');
select job_id as next from plane.enqueue('maintain', 'next') \gset
select is(:next::bigint, 10000000000, 'the next id is the first of the new range');
select results_eq(
    $$ select operation from plane.claim('maintain', 'w1', 10) $$, array['fails', 'works', 'stops', 'next'],
    'jobs of either range are claimed in their order');

-- when they end
create function pg_temp.held(p_operation text) returns bigint language sql as $$
    select l.job_id from plane.lease l join plane.job j on j.id = l.job_id where j.operation = p_operation
$$;
select pg_temp.held('fails') as fails, pg_temp.held('works') as works, pg_temp.held('stops') as stops \gset
select plane.report_progress(:fails, 1, 1, 2, 'half'), plane.report_progress(:works, 1, 2, 2, 'all') \g /dev/null
select plane.fail_job(:fails, 1, '{"code": "X"}'), plane.complete_job(:works, 1, '{"answer": 42}'),
    plane.request_cancel(:stops, 'ann'), plane.finish_cancel(:stops, 1) \g /dev/null
select pg_temp.later('23 h 59 min 59 s');
select results_eq('select step from plane.maintain()', array['opened'], 'within its retention a range becomes too old');
select is_empty('select * from plane.maintain()', 'but nothing leaves');
select is((select count(*) from plane.jobs), 5::bigint, 'all of them are seen');

-- when their retention is over
select pg_temp.later('1 s');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('copied', '2 jobs that stay of ids 0 to 9999999999') $$,
    'half of a range being over, what stays of it is copied');
select is((select count(*) from plane.jobs), 5::bigint, 'until then all of them are seen');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('removed', 'ids 0 to 9999999999 but for 2 jobs that stay') $$,
    'and takes its place');
select results_eq(
    'select id, status from plane.jobs order by id',
    format($$ values (%s::bigint, 'poison'), (%s, 'pending'), (%s, 'in_progress') $$, :fails, :waits, :next),
    'done and cancelled jobs are gone, poison and live ones are there');
select results_eq(
    format($$ select error ->> 'code', progress ->> 'message' from plane.jobs where id = %s $$, :fails),
    $$ values ('X', 'half') $$, 'as they were');
select results_eq('select job_id from plane.attempt', array[:fails]::bigint[], 'of the others no attempt is left');
select results_eq('select job_id from plane.progress', array[:fails]::bigint[], 'and no progress');
select is((select count(*) from plane.live_key), 0::bigint, 'nor a key');
select is_empty('select * from plane.maintain()', 'and then there is nothing to do');

-- then the partitions are as good as new ones
select is_empty(
    $$ select c.oid::regclass, k.conname from pg_class c join pg_constraint k on k.conrelid = c.oid
       where c.relnamespace = 'plane'::regnamespace and k.conname ~ 'range_check' $$,
    'no constraint is left of the making');
select is_empty(
    $$ select c.oid::regclass from pg_class c
       where c.relnamespace = 'plane'::regnamespace and c.relname ~ '^(job|outcome|attempt)_\d+$' and not c.relispartition $$,
    'nor a table beside');
select is_empty(
    $$ select c.oid::regclass from pg_class c
       where c.relnamespace = 'plane'::regnamespace and c.relname ~ '^(job|outcome|attempt)_\d+$'
           and (c.relowner <> 'plane_owner'::regrole or obj_description(c.oid) is not null
               or exists (select from aclexplode(c.relacl) a where a.grantee <> c.relowner)) $$,
    'partitions are their owner''s alone');
select results_eq(
    $$ select i.inhparent::regclass::text, count(*) from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
       where i.inhparent in ('plane.job_pkey'::regclass, 'plane.outcome_poison_idx'::regclass) group by 1 order by 1 $$,
    $$ values ('plane.job_pkey', 4::bigint), ('plane.outcome_poison_idx', 4) $$, 'each has the indexes of its table');
select throws_ok(
    $$ insert into plane.job (id, queue_id, priority, by_request, max_dequeues, created_at, operation, params, envelope)
       select id, queue_id, priority, by_request, max_dequeues, created_at, operation, params, envelope from plane.job where operation = 'waits' $$,
    '23505', null, 'an id is taken once, as ever');

-- when poison may leave, too
select plane.create_queue('maintain', p_poison_retention => '7 days');
select pg_temp.later('5 days');
select is_empty('select * from plane.maintain()', 'poison is kept for as long as its queue says');
select is(plane.request_cancel(:waits, 'ann'), 'cancelled', 'then a live job is cancelled');
select pg_temp.later('2 days');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('removed', 'ids 0 to 9999999999') $$,
    'a range that nothing stays of goes without a copy');
select results_eq(
    'select * from pg_temp.ranges()', array['10000000000-20000000000: 1', '20000000000-30000000000: 0', '30000000000-: 0'], 'and leaves a gap');
select is((select count(*) from plane.attempt), 0::bigint, 'its attempts go with it');

-- given a note of a serial line whose head was cancelled since
insert into plane.stalled_line select q.id, 'gone', 1 from plane.queue q;
select plane.maintain() \g /dev/null
select is_empty('select * from plane.stalled_line', 'a note of no line is forgotten');

-- when workers were not seen for a day
select plane.register_worker('old', 'maintain') \g /dev/null
select plane.register_manifest('maintain', '[{"name": "send", "version": 1}]') \g /dev/null
select pg_temp.later('1 day');
select plane.register_worker('new', 'maintain') \g /dev/null
select is_empty('select * from plane.maintain()', 'a worker that was seen a day ago is remembered');
select pg_temp.later('1 s');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('forgot', '1 workers, not seen for a day') $$, 'not for longer');
select is((select count(*) from plane.operation), 1::bigint, 'operations stay, as long as the queue has a worker');
select pg_temp.later('1 day');
select plane.maintain() \g /dev/null
select is((select count(*) from plane.operation), 0::bigint, 'and go with its last one');

-- when telemetry is more than a week old
select plane.record_run('maintain', 'new', 1, 1, 'send', 'done', plane._now()) \g /dev/null
select pg_temp.later('7 days');
select is_empty('select * from plane.maintain()', 'telemetry of a week ago stays');
select pg_temp.later('1 day');
select results_eq(
    'select step, subject from plane.maintain()', $$ values ('forgot', 'a day of telemetry') $$, 'what is older goes, a day at once');
select is((select count(*) from plane.run), 0::bigint, 'and is there no more');
select is_empty('select * from plane.maintain()', 'which is done once');

\ir ../../_together.sql
select * from finish();
rollback;
