-- await_jobs: await_job for many pairs at once. That no ending slips past takes two sessions to see.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(17);

create function pg_temp.as_get_results(p_job_ids bigint[], p_scope_keys text[], p_wanted text[], p_what text) returns text language sql as $$
    select is(
        (select array[array_agg(a.status), array_agg(a::text)]::text
            from plane.await_jobs('await_jobs', p_job_ids, p_scope_keys) as a),
        (select array[p_wanted, array_agg(g::text)]::text from plane.get_results('await_jobs', p_job_ids, p_scope_keys) as g),
        p_what)
$$;
create function pg_temp.locked() returns bigint[] language sql as $$
    select array_agg(l.job_id order by l.job_id) from plane.lease l where l.xmax <> 0
$$;

-- given jobs that are wherever a job can be
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('await_jobs');
select pg_temp.surface('await_jobs-other');
select pg_temp.asked('await_jobs', 1) as done, pg_temp.asked('await_jobs', 2) as held, pg_temp.asked('await_jobs', 3) as too,
    pg_temp.asked('await_jobs', 4) as pending, pg_temp.asked('await_jobs-other', 5) as elsewhere, pg_temp.key() as north,
    plane.scope_key('acme', '["south"]', false) as south \gset
select plane.claim('await_jobs', 'w1', 3), plane.claim_one('await_jobs-other', 'w1'), plane.complete_job(:done, 1, '{"n": 1.50}') \g /dev/null

-- when they are read by those who may not
select is_empty(
    format('select plane.await_jobs(''await_jobs'', array[%s, %s], array_fill(%L::text, array[2]))', :held, :too, :'south'),
    'another scope sees nothing');
select is_empty(
    format('select plane.await_jobs(''await_jobs'', array[%s, null, 9223372036854775807], array_fill(%L::text, array[3]))', :elsewhere, :'north'),
    'another surface''s job and none are no rows');
select is_empty(format('select plane.await_jobs(''await_jobs'', array[%s], array[null])', :held), 'no scope sees nothing');
select is(pg_temp.locked(), null, 'and nothing is locked');

-- when their callers read them
select pg_temp.as_get_results(array[:pending, :done], array[:'north', :'north'], array['pending', 'done'], 'each is told as it is, in the order asked');
select is(pg_temp.locked(), null, 'what nobody holds is not locked');
select pg_temp.as_get_results(array[:too, :held, :done], array[:'north', :'south', :'north'], array['in_progress', 'done'],
    'what one reader may not see does not hide what it may');
select is(pg_temp.locked(), array[:too]::bigint[], 'a lease is locked where its job is seen, so that it cannot end unseen');
select pg_temp.as_get_results(array[:held, :too, :held], array[:'north', :'north', :'north'], array['in_progress', 'in_progress', 'in_progress'],
    'a job may be asked for twice');
select is(pg_temp.locked(), array[:held, :too]::bigint[], 'each lease is');
select is_empty($$ select plane.await_jobs('await_jobs', '{}', '{}') $$, 'nothing asked is nothing answered');

-- when a reader has room for none, or one of them
select results_eq(
    format('select status, result::text, left_out from plane.await_jobs(''await_jobs'', array[%s, %s], array_fill(%L::text, array[2]), 0)',
        :done, :held, :'north'),
    $$ values ('done', null, true), ('in_progress', null, false) $$, 'answers are left out as by get_results');
select results_eq(
    format('select status, result::text, left_out from plane.await_jobs(''await_jobs'', array[%s], array[%L], 1)', :done, :'north'),
    $$ values ('done', '{"n": 1.50}', false) $$, 'and the first one fits');

-- when an argument cannot be
select throws_ok(
    $$ select plane.await_jobs('await_jobs', '{}', '{}', -1) $$,
    '22023', 'max_bytes must not be negative', 'a limit below nothing is refused');
select throws_ok(
    $$ select plane.await_jobs('await_jobs', '{1}', '{}') $$,
    '22023', 'job_ids and scope_keys must be arrays of one length', 'a job without its key is refused');
select throws_ok(
    $$ select plane.await_jobs('await_jobs', null, '{}') $$,
    '22023', 'job_ids and scope_keys must be arrays of one length', 'NULL is no array');
select throws_ok(
    $$ select plane.await_jobs('await_jobs-none', '{}', '{}') $$, 'PL404', 'no such queue', 'a queue that does not exist is refused');

select * from finish();
rollback;
