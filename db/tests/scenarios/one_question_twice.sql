-- A dedupe key over the life of its jobs: joined while live, free again at every kind of end.
begin;
\ir ../_clock.sql
select plan(9);

select pg_temp.freeze('2030-01-01 12:00+00');
select plane.create_queue('one_question_twice', p_max_dequeues => 1);
create function pg_temp.ask(out job_id bigint, out coalesced boolean) language sql as $$
    select * from plane.enqueue('one_question_twice', 'ask', p_dedupe_key => 'question')
$$;

-- given a first question
select job_id as first from pg_temp.ask() \gset
select results_eq('select * from pg_temp.ask()', format('values (%s::bigint, true)', :first),
    'the same question joins the job that waits');

-- when it is being worked on
select attempt from plane.claim_one('one_question_twice', 'w') \gset
select results_eq('select * from pg_temp.ask()', format('values (%s::bigint, true)', :first),
    'the same question joins the job that is held');

-- when it is given back
select plane.release_job(:first, 1);
select results_eq('select * from pg_temp.ask()', format('values (%s::bigint, true)', :first),
    'the same question joins the job that came back');

-- when it is answered
select attempt from plane.claim_one('one_question_twice', 'w') \gset
select plane.complete_job(:first, :attempt, '{"answer": 42}');
select job_id as second, coalesced as joined from pg_temp.ask() \gset
select isnt(:second::bigint, :first::bigint, 'a question after the answer is a new job');
select is(:'joined'::boolean, false, 'and says so');

-- when the new one fails for good
select job_id, attempt from plane.claim_one('one_question_twice', 'w') \gset
select is(plane.fail_job(:job_id, :attempt, '{"message": "no"}'), 'poison', 'its budget is spent');
select job_id as third, coalesced as joined from pg_temp.ask() \gset
select is(:'joined'::boolean, false, 'a question after poison is a new job');

-- then each has its own end
select results_eq(
    $$ select status from plane.jobs where dedupe_key = 'question' order by id $$,
    array['done', 'poison', 'pending'], 'every job kept its own end');
select results_eq('select job_id from plane.live_key', array[:third]::bigint[], 'only the last holds the key');

select * from finish();
rollback;
