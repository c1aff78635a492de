-- enqueue_many with keys: at most one live job a dedupe key, in the batch as before it; serial lines in the order given.
begin;
\ir ../../_clock.sql
select plan(27);

create function pg_temp.add(p_jobs jsonb) returns table (ordinality bigint, job_id bigint, coalesced boolean) language sql as $$
    select * from plane.enqueue_many('many-keys', p_jobs)
$$;
create function pg_temp.job(p_job_id bigint) returns text language sql as $$
    select concat_ws(' ', operation, status, priority, to_char(available_at at time zone 'UTC', 'HH24:MI'))
    from plane.jobs where id = p_job_id
$$;
create function pg_temp.line(p_key text) returns text language sql as $$
    select coalesce(string_agg(operation || ' ' || status, ', ' order by id), '')
    from plane.jobs
    where queue = 'many-keys' and serial_key = p_key and status in ('pending', 'waiting', 'in_progress')
$$;
create function pg_temp.claims(p_operations text[], p_what text) returns text language sql as $$
    select is(array(select operation from plane.claim('many-keys', 'w1', 1000)), p_operations, p_what)
$$;

-- given a live job of key a, and one of key d in backoff
select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('many-keys', p_backoff => '1 min');
select plane.create_queue('many-keys-other');
select job_id as d from plane.enqueue('many-keys', 'd', p_dedupe_key => 'd') \gset
select count(*) from plane.claim_one('many-keys', 'w1') \g /dev/null
select plane.fail_job(:d, 1, '{}') \g /dev/null
select job_id as a from plane.enqueue('many-keys', 'a', p_dedupe_key => 'a') \gset

-- when a batch has new keys, live ones, one twice, and jobs without
select job_id as b from pg_temp.add('[{"operation": "z", "dedupe_key": "z"}, {"operation": "b", "dedupe_key": "b"},
    {"operation": "a2", "dedupe_key": "a"}, {"operation": "plain"}, {"operation": "b2", "dedupe_key": "b"},
    {"operation": "d2", "dedupe_key": "d"}, {"operation": "plain", "dedupe_key": null}]')
where ordinality = 2 \gset
select results_eq(
    format('select ordinality, job_id, coalesced from pg_temp.add(''[{"operation": "a3", "dedupe_key": "a"}, {"operation": "b3", "dedupe_key": "b"},
        {"operation": "d3", "dedupe_key": "d"}, {"operation": "a4", "dedupe_key": "a"}]'')'),
    format('values (1::bigint, %s::bigint, true), (2, %s, true), (3, %s, true), (4, %1$s, true)', :a, :b, :d),
    'elements join the live jobs of their keys');
select results_eq(
    $$ select operation, count(*) from plane.jobs where queue = 'many-keys' group by operation order by operation $$,
    $$ values ('a', 1::bigint), ('b', 1), ('d', 1), ('plain', 2), ('z', 1) $$,
    'the first element of a key is its job, others join it, and none without a key is joined');
select is(pg_temp.job(:d), 'd pending 0 12:01', 'a job in backoff keeps its pause');
select pg_temp.claims(array['a', 'z', 'b', 'plain', 'plain'], 'jobs are claimed in the order given, not in that of their keys');
select results_eq(
    $$ select coalesced from plane.enqueue_many('many-keys-other', '[{"operation": "a", "dedupe_key": "a"}]') $$, array[false],
    'the same key in another queue is another key');

-- when a job of a key is held, has ended, or a claim to the key was undone after its job had ended
select results_eq(
    $$ select job_id from pg_temp.add('[{"operation": "a", "dedupe_key": "a"}]') $$, array[:a]::bigint[], 'a held job is joined');
select plane.complete_job(:a, 1), plane.complete_job(:b, 1) \g /dev/null
insert into plane.live_key values (plane._hash_key((select id from plane.queue where name = 'many-keys'), 'b'), :b);
select results_eq(
    $$ select coalesced from pg_temp.add('[{"operation": "b", "dedupe_key": "b"}, {"operation": "c", "dedupe_key": "c"},
        {"operation": "a", "dedupe_key": "a"}, {"operation": "a", "dedupe_key": "a"}]') $$,
    array[false, false, false, true], 'an ended one is not');
select pg_temp.claims(array['b', 'c', 'a'], 'whatever happened to its key');
select is(
    (select count(*) from plane.live_key k join plane.job j on j.id = k.job_id where j.dedupe_key in ('a', 'b', 'c')
        and j.queue_id = (select id from plane.queue where name = 'many-keys')), 3::bigint,
    'and each key is one job''s');

-- when elements want a live job sooner
select job_id as night, array_agg(job_id) over () = array[job_id, job_id, job_id] as is_one
from pg_temp.add('[{"operation": "night", "dedupe_key": "night", "available_at": "2030-01-01T20:00Z", "priority": 3},
    {"operation": "x", "dedupe_key": "night", "available_at": "2030-01-01T22:00Z", "priority": 5},
    {"operation": "x", "dedupe_key": "night", "available_at": "2030-01-01T21:00Z", "priority": 2}]') limit 1 \gset
select is(:'is_one'::boolean, true, 'elements of one key are one job');
select is(pg_temp.job(:night), 'night pending 2 20:00', 'the earliest time and the most urgent priority count');
select count(*) from pg_temp.add('[{"operation": "x", "dedupe_key": "night", "available_at": "2030-01-01T19:00Z", "priority": 4},
    {"operation": "y"}]') \g /dev/null
select is(pg_temp.job(:night), 'night pending 2 19:00', 'a later batch pulls it forward');
select count(*) from pg_temp.add('[{"operation": "x", "dedupe_key": "night"}]') \g /dev/null
select pg_temp.claims(array['y', 'night'], 'and one that wants it at once has it ready');
select count(*) from pg_temp.add('[{"operation": "slow", "dedupe_key": "r", "priority": 9}, {"operation": "other", "priority": 8},
    {"operation": "x", "dedupe_key": "r", "priority": 1}]') \g /dev/null
select pg_temp.claims(array['slow', 'other'], 'a ready job is made as urgent as the batch asks');

-- given a serial line with a job at its head
select job_id as head from plane.enqueue('many-keys', 'head', p_serial_key => 's') \gset

-- when a batch has jobs of that line, of a new one, and of none
select count(*) from pg_temp.add('[{"operation": "s1", "serial_key": "s"}, {"operation": "t1", "serial_key": "t", "priority": 1},
    {"operation": "u"}, {"operation": "t2", "serial_key": "t", "priority": -1}, {"operation": "s2", "serial_key": "s"},
    {"operation": "s3", "serial_key": "s", "available_at": "2030-01-01T12:00:30Z"}]') \g /dev/null
select is(pg_temp.line('s'), 'head pending, s1 waiting, s2 waiting, s3 pending', 'jobs join the line in the order given');
select is(pg_temp.line('t'), 't1 pending, t2 waiting', 'the first of a new line is its head, urgent or not');
select set_eq(
    $$ select operation from plane.claim('many-keys', 'w1', 1000) $$, array['head', 'u', 't1'], 'one job of each line is handed out');
select pg_temp.later('30 s');
select plane.sweep() \g /dev/null
select is(pg_temp.line('s'), 'head in_progress, s1 waiting, s2 waiting, s3 waiting', 'a scheduled one joins when it is due');
select plane.complete_job(:head, 1) \g /dev/null
select pg_temp.claims(array['s1'], 'a line goes on in that order');
select plane.complete_job((select id from plane.jobs where operation = 's1'), 1) \g /dev/null
select pg_temp.claims(array['s2'], 'from job to job');
select plane.complete_job((select id from plane.jobs where operation = 's2'), 1) \g /dev/null
select pg_temp.claims(array['s3'], 'to the last');

-- when jobs have both keys
select results_eq(
    $$ select coalesced from pg_temp.add('[{"operation": "v1", "dedupe_key": "v", "serial_key": "v"},
        {"operation": "v2", "dedupe_key": "v", "serial_key": "v"}, {"operation": "v3", "serial_key": "v"}]') $$,
    array[false, true, false], 'an element that joins a job joins no line');
select is(pg_temp.line('v'), 'v1 pending, v3 waiting', 'the others do');

-- when a line has a thousand jobs, and a thousand lines have one each
select count(*) from pg_temp.add(
    (select jsonb_agg(jsonb_build_object('operation', 'w', 'serial_key', 'w')) from generate_series(1, 1000))) \g /dev/null
select is((select count(*) from plane.jobs where serial_key = 'w' and status = 'waiting'), 999::bigint, 'all but one wait in one line');
select is(
    (select count(*) from pg_temp.add(
        (select jsonb_agg(jsonb_build_object('operation', 'q', 'serial_key', 'q' || n)) from generate_series(1, 1000) as n))),
    1000::bigint, 'a thousand lines can be opened at once');
select is(
    (select count(*) from plane.claim('many-keys', 'w1', 10000) where operation in ('q', 'w')), 1001::bigint,
    'and each hands out its head');
select lives_ok(
    $$ select pg_temp.add(jsonb_build_array(
        jsonb_build_object('operation', 'long', 'dedupe_key', repeat('ß', 200), 'serial_key', repeat('ß', 200)))) $$,
    'keys of 200 characters are taken');

select * from finish();
rollback;
