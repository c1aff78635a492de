-- complete_jobs, with results that use other jobs' blobs.
begin;
\ir ../blobs/_blobs.sql
select plan(10);

-- given two jobs that are done and have a blob, and a batch of held ones
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('complete_jobs_blobs');
select plane.create_queue('complete_jobs_blobs', p_lease => '3 days');
select pg_temp.finished('complete_jobs_blobs', 'one') as one, pg_temp.finished('complete_jobs_blobs', 'two') as two \gset
select array[pg_temp.held('complete_jobs_blobs'), pg_temp.held('complete_jobs_blobs'), pg_temp.held('complete_jobs_blobs'),
    pg_temp.held('complete_jobs_blobs'), pg_temp.held('complete_jobs_blobs')] as jobs \gset
create function pg_temp.complete(p_jobs bigint[], p_attempts integer[], p_blobs_of bigint[]) returns setof boolean language sql as $$
    select completed from plane.complete_jobs(p_jobs, p_attempts, p_blobs_of => p_blobs_of)
$$;
select pg_temp.put((:'jobs'::bigint[])[5], 'of the batch') \g /dev/null

-- when one of them uses blobs that are not there
select throws_ok(
    format('select pg_temp.complete(%L, array[1, 1, 1, 1, 1], array[%s, 9223372036854775807, null, null, null])', :'jobs', :one),
    'PL404', 'no such job to take blobs from', 'a batch is refused whole');
select is((select count(*) from plane.jobs where id = any (:'jobs') and status = 'in_progress'), 5::bigint, 'and nothing is changed');
select throws_ok(
    format('select pg_temp.complete(%L, array[1, 1, 1, 1, 1], array[%s])', :'jobs', :one),
    '22023', 'the arrays must be of one length', 'as one of too few is');

-- when each uses those it may, one of them a job of the batch itself; one is lost
select results_eq(
    format('select pg_temp.complete(%L, array[1, 1, 2, 1, 1], array[%s, %s, 9223372036854775807, (%1$L::bigint[])[5], null])', :'jobs', :two, :one),
    array[true, true, false, true, true], 'the others are done');
select is(pg_temp.text_of('complete_jobs_blobs', (:'jobs'::bigint[])[1]), 'two', 'each with the blobs of its own');
select is(pg_temp.text_of('complete_jobs_blobs', (:'jobs'::bigint[])[2]), 'one', 'in its place');
select is(pg_temp.text_of('complete_jobs_blobs', (:'jobs'::bigint[])[4]), 'of the batch', 'also of a job that was done with it');

-- when they have expired
select pg_temp.later('1 day 1 min');
select pg_temp.held('complete_jobs_blobs') as late \gset
select throws_ok(
    format('select pg_temp.complete(array[%s], array[1], array[%s])', :late, :two), 'PL410', 'the blobs have expired', 'they are used no more');
select results_eq(format('select pg_temp.complete(array[%s], array[1], array[null]::bigint[])', :late), array[true], 'an answer without is taken');
select is_empty($$ select pg_temp.complete('{}', '{}', '{}') $$, 'no jobs are none');

select * from finish();
rollback;
