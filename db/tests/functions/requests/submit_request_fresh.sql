-- submit_request with p_fresh: the answer comes from no cache, and from no attempt that may use one.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(31);

create function pg_temp.ask(p_n integer, p_fresh boolean, out job_id bigint, out coalesced boolean) language sql as $$
    select job_id, coalesced from plane.submit_request('submit_request_fresh', 'ask', jsonb_build_object('n', p_n), pg_temp.envelope(), p_fresh => p_fresh)
$$;
create function pg_temp.joins(p_n integer, p_fresh boolean, p_job_id bigint, p_what text) returns text language sql as $$
    select is(a::text, format('(%s,t)', p_job_id), p_what) from pg_temp.ask(p_n, p_fresh) as a
$$;
create function pg_temp.claims(p_job_id bigint, p_attempt integer, p_fresh boolean, p_what text) returns text language sql as $$
    select results_eq(
        $c$ select job_id, attempt, fresh from plane.claim_one('submit_request_fresh', 'w1') $c$,
        format('values (%s::bigint, %s, %L::boolean)', p_job_id, p_attempt, p_fresh), p_what)
$$;

-- given a surface
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('submit_request_fresh');

-- when somebody asks for a fresh answer
select job_id as fresh, coalesced from pg_temp.ask(1, true) \gset
select is(:'coalesced'::boolean, false, 'the first who asks has a job made');
select pg_temp.joins(1, true, :fresh, 'who asks for a fresh answer as well joins it');
select pg_temp.joins(1, false, :fresh, 'and who does not care joins it too');
select pg_temp.joins(1, null, :fresh, 'not to say is not to care');
select pg_temp.claims(:fresh, 1, true, 'its worker is told to use no cache');
select pg_temp.joins(1, true, :fresh, 'a fresh attempt under way is joined');
select pg_temp.joins(1, false, :fresh, 'by all');

-- when it comes back
select plane.release_job(:fresh, 1);
select pg_temp.claims(:fresh, 2, true, 'a job that was released stays fresh');
select plane.fail_job(:fresh, 2, '{}');
select pg_temp.later('30 s');
select pg_temp.claims(:fresh, 3, true, 'so does one that failed');
select pg_temp.later('1 min');
select pg_temp.claims(:fresh, 4, true, 'and one whose lease lapsed');
select plane.complete_job(:fresh, 4) \g /dev/null

-- given a pending job that may use caches, when a fresh answer is wanted
select job_id as pending from pg_temp.ask(2, false) \gset
select pg_temp.joins(2, true, :pending, 'a job that nobody holds is joined');
select pg_temp.claims(:pending, 1, true, 'and becomes fresh');
select plane.complete_job(:pending, 1) \g /dev/null

-- given a job that came back, when a fresh answer is wanted
select job_id as back from pg_temp.ask(3, false) \gset
select pg_temp.claims(:back, 1, false, 'a job whose attempt may use caches');
select plane.release_job(:back, 1);
select pg_temp.joins(3, true, :back, 'that was released, is joined');
select pg_temp.claims(:back, 2, true, 'and becomes fresh');
select plane.complete_job(:back, 2) \g /dev/null

-- given a job in backoff, when a fresh answer is wanted
select job_id as failed from pg_temp.ask(4, false) \gset
select plane.claim_one('submit_request_fresh', 'w1'), plane.fail_job(:failed, 1, '{}') \g /dev/null
select pg_temp.joins(4, true, :failed, 'a job in backoff is joined');
select is_empty($$ select plane.claim_one('submit_request_fresh', 'w1') $$, 'and keeps its pause');
select pg_temp.later('30 s');
select pg_temp.claims(:failed, 2, true, 'after which it is fresh');
select plane.complete_job(:failed, 2) \g /dev/null

-- given a job that waits behind its serial line, when a fresh answer is wanted
select plane.enqueue('submit_request_fresh', 'ask', p_serial_key => 'line') \g /dev/null
select job_id as waiting from plane.enqueue('submit_request_fresh', 'ask', p_serial_key => 'line',
    p_dedupe_key => plane.dedupe_key('submit_request_fresh', 'ask', 2, 'acme', pg_temp.key(), '{"n": 5}')) \gset
select pg_temp.joins(5, true, :waiting, 'a waiting job is joined');
select plane.complete_job(job_id, 1) from plane.claim_one('submit_request_fresh', 'w1') \g /dev/null
select pg_temp.claims(:waiting, 1, true, 'and is fresh when its turn comes');
select plane.complete_job(:waiting, 1) \g /dev/null

-- given a job whose attempt may use caches, when a fresh answer is wanted
select job_id as old from pg_temp.ask(6, false) \gset
select plane.claim_one('submit_request_fresh', 'w1') \g /dev/null
select job_id as new, coalesced from pg_temp.ask(6, true) \gset
select is(:'coalesced'::boolean, false, 'the attempt under way is not joined');
select isnt(:new::bigint, :old::bigint, 'another job is made');
select pg_temp.joins(6, false, :new, 'which has the question from now on');
select pg_temp.joins(6, true, :new, 'for all who ask it');

-- when the old one ends, or comes back
select plane.release_job(:old, 1);
select pg_temp.joins(6, false, :new, 'the old one does not take the question back');
select pg_temp.claims(:old, 2, false, 'it goes on by itself');
select is(plane.complete_job(:old, 2, '"old"'), true, 'and is answered');
select pg_temp.joins(6, false, :new, 'which leaves the question to the new one');
select pg_temp.claims(:new, 1, true, 'that is fresh');
select plane.complete_job(:new, 1, '"new"') \g /dev/null
select results_eq(
    format($$ select (plane.get_job('submit_request_fresh', id, pg_temp.key())).result::text from unnest(array[%s, %s]) as id $$, :old, :new),
    array['"old"', '"new"'], 'everybody finds the answer of the job that they were given');

-- when the new one has ended
select is((select a.coalesced from pg_temp.ask(6, false) as a), false, 'the question is free again');

select * from finish();
rollback;
