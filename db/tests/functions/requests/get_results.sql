-- get_results: get_job for many pairs at once.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(28);

create function pg_temp.results(p_job_ids bigint[], p_scope_keys text[], p_wanted text, p_what text) returns text language sql as $$
    select is(
        (select coalesce(string_agg(job_id || ' ' || status || coalesce(' ' || result::text, ''), ', ' order by ord), '')
            from plane.get_results('get_results', p_job_ids, p_scope_keys) with ordinality as r (
                job_id, scope_key, status, progress, result, error, cache, "position", created_at, claimed_at, finished_at, left_out, ord)),
        p_wanted, p_what)
$$;

-- given jobs of two scopes, and one of a person
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('get_results');
select pg_temp.surface('get_results-other');
select pg_temp.asked('get_results', 1) as done, pg_temp.asked('get_results', 2) as held, pg_temp.asked('get_results', 3) as pending,
    pg_temp.asked('get_results-other', 4) as elsewhere, pg_temp.key() as north,
    plane.scope_key('acme', '["south"]', false) as south, plane.scope_key('acme', '["north"]', false, 'ann') as ann \gset
select job_id as souths from plane.submit_request('get_results', 'ask', '{}', pg_temp.envelope(p_scope => '["south"]')) \gset
select job_id as anns from plane.submit_request('get_results', 'mine', '{}', pg_temp.envelope()) \gset
select plane.claim('get_results', 'w1', 2), plane.complete_job(:done, 1, '[1.0]') \g /dev/null

-- when they are asked for, each with its reader's key
select pg_temp.results(array[:done, :held, :pending], array[:'north', :'north', :'north'],
    format('%s done [1.0], %s in_progress, %s pending', :done, :held, :pending), 'every job is told as it is');
select pg_temp.results(array[:pending, :done], array[:'north', :'north'],
    format('%s pending, %s done [1.0]', :pending, :done), 'in the order asked');
select pg_temp.results(array[:done, :souths], array[:'north', :'south'],
    format('%s done [1.0], %s pending', :done, :souths), 'readers of several scopes share one call');
select is(
    (select r::text from plane.get_results('get_results', array[:done], array[:'north']) as r),
    (select r::text from plane.get_job('get_results', :done, :'north') as r), 'each row is what get_job says');

-- when a reader gives both of its keys, with and without the person
select pg_temp.results(array[:done, :done, :anns, :anns], array[:'north', :'ann', :'north', :'ann'],
    format('%s done [1.0], %s pending', :done, :anns), 'a job comes back once');

-- when somebody reads what is not its own
select pg_temp.results(array[:souths, :done], array[:'north', :'south'], '', 'another scope''s job is no row');
select pg_temp.results(array[:anns, :done], array[:'north', :'ann'], '', 'nor is a person''s');
select pg_temp.results(array[:elsewhere], array[:'north'], '', 'nor is another surface''s');
select pg_temp.results(array[:done], array[null]::text[], '', 'no scope sees nothing');
select pg_temp.results(array[:souths, :done], array[:'north', :'north'],
    format('%s done [1.0]', :done), 'what one reader may not see does not hide what it may');
select pg_temp.results(array[null, 9223372036854775807, -1]::bigint[], array[:'north', :'north', :'north'], '',
    'NULL and jobs that do not exist are no rows');
select pg_temp.results('{}', '{}', '', 'nothing asked is nothing answered');

-- when many are asked for at once
select array_agg(pg_temp.asked('get_results', n)) as many from generate_series(100, 599) as n \gset
select is(
    (select count(*) from plane.get_results('get_results', :'many', array_fill(:'north'::text, array[500]))), 500::bigint,
    'hundreds are told in one call');

-- given answers of 10 bytes, a refusal among them, beside a job that has none yet
select array_agg(pg_temp.asked('get_results', 600 + n)) as sized from generate_series(1, 4) as n \gset
select plane.complete_job(c.job_id, c.attempt,
    case when c.job_id = (:'sized'::bigint[])[2] then null else '"12345678"' end::json,
    case when c.job_id = (:'sized'::bigint[])[2] then '{"a":"123"}' end::json)
from plane.claim('get_results', 'w2', 600) as c
where c.job_id = any ((:'sized'::bigint[])[1:3]) \g /dev/null
create function pg_temp.within(p_max_bytes integer, p_wanted text, p_what text) returns text language sql as $$
    select is(
        (select string_agg(
                status || coalesce(' ' || result::text, '') || coalesce(' ' || error::text, '') || case when left_out then ' left out' else '' end,
                ', ' order by ord)
            from plane.get_results('get_results', current_setting('get_results.sized')::bigint[],
                    array_fill(pg_temp.key(), array[4]), p_max_bytes) with ordinality as r (
                job_id, scope_key, status, progress, result, error, cache, "position", created_at, claimed_at, finished_at, left_out, ord)),
        p_wanted, p_what)
$$;
select set_config('get_results.sized', :'sized', true) \g /dev/null

-- when a reader has room for some of them
select pg_temp.within(null, 'done "12345678", done {"a":"123"}, done "12345678", in_progress', 'without a limit nothing is left out');
select pg_temp.within(0, 'done left out, done left out, done left out, in_progress', '0 tells how each stands and no more');
select pg_temp.within(1, 'done "12345678", done left out, done left out, in_progress', 'the first always fits');
select pg_temp.within(10, 'done "12345678", done left out, done left out, in_progress', 'what reaches the limit is the last');
select pg_temp.within(11, 'done "12345678", done {"a":"123"}, done left out, in_progress', 'the last is given whole');
select pg_temp.within(21, 'done "12345678", done {"a":"123"}, done left out, in_progress', 'a refusal counts as a result does');
select pg_temp.within(22, 'done "12345678", done {"a":"123"}, done "12345678", in_progress', 'what fits is all there');
select pg_temp.within(2147483647, 'done "12345678", done {"a":"123"}, done "12345678", in_progress', 'no limit is too large');

-- when an argument cannot be
select throws_ok(
    $$ select plane.get_results('get_results', '{}', '{}', -1) $$,
    '22023', 'max_bytes must not be negative', 'a limit below nothing is refused');
select throws_ok(
    $$ select plane.get_results('get_results-none', '{}', '{}') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok($$ select plane.get_results(null, '{}', '{}') $$, 'PL404', 'no such queue', 'NULL is no queue');
create function pg_temp.refuses(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok('select plane.get_results(''get_results'', ' || p_arguments || ')',
        '22023', 'job_ids and scope_keys must be arrays of one length', p_what)
$$;
select pg_temp.refuses($$ null, '{}' $$, 'NULL is no array of jobs');
select pg_temp.refuses($$ '{}', null $$, 'NULL is no array of keys');
select pg_temp.refuses($$ '{1}', '{}' $$, 'a job without its key is refused');
select pg_temp.refuses($$ '{1}', '{a,b}' $$, 'a key without its job is refused');

select * from finish();
rollback;
