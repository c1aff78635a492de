-- leave_job: a caller wants its job no more; who leaves it last cancels it. Whom it meets takes two sessions to see.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(59);

create function pg_temp.own(p_actor text) returns text language sql as $$
    select plane.scope_key('acme', '["north"]', false, p_actor)
$$;
create function pg_temp.ask(p_actor text, p_n integer) returns bigint language sql as $$
    select job_id from plane.submit_request('leave_job', 'ask', jsonb_build_object('n', p_n), pg_temp.envelope(p_actor => p_actor))
$$;
create function pg_temp.waits(p_actor text, p_job_id bigint, p_for interval default '60 s') returns boolean language sql as $$
    select plane.register_waiter('leave_job', p_job_id, pg_temp.key(), pg_temp.own(p_actor), p_for)
$$;
create function pg_temp.leaves(p_actor text, p_job_id bigint, p_wanted text, p_what text) returns text language plpgsql as $$
declare
    v_answer text := plane.leave_job('leave_job', p_job_id, pg_temp.key(), pg_temp.own(p_actor));
begin
    return is(
        array[v_answer, (select status from plane.get_job('leave_job', p_job_id, pg_temp.key()))],
        array[p_wanted, p_wanted], p_what);
end;
$$;
create function pg_temp.noted(p_job_id bigint) returns text language sql as $$
    select coalesce(string_agg(concat_ws(' ', state, to_char(deadline at time zone 'UTC', 'HH24:MI:SS')), ', ' order by deadline, state), '')
    from plane.waiter where job_id = p_job_id
$$;

-- given a request that one caller has made
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('leave_job');
select pg_temp.surface('leave_job-other');
select pg_temp.ask('ann', 1) as job_id \gset
select is(pg_temp.noted(:job_id), '', 'who asks first is not noted');

-- when it leaves
select pg_temp.leaves('ann', :job_id, 'cancelled', 'who leaves last cancels a job that is pending');
select results_eq(
    format('select dequeue_count, result::text, error ->> ''code'', error ->> ''by'', finished_at from plane.jobs where id = %s', :job_id),
    $$ values (0, null::text, 'CANCELLED', 'leave_job', timestamptz '2030-01-01 12:00+00') $$, 'as an administrator would');
select is_empty($$ select plane.claim_one('leave_job', 'w1') $$, 'and nobody is handed it');
select pg_temp.leaves('ann', :job_id, 'cancelled', 'to leave it again changes nothing');
select pg_temp.ask('ann', 1) as again \gset
select isnt(:again::bigint, :job_id::bigint, 'who asks the same again has a new job');
select pg_temp.leaves('ann', :again, 'cancelled', 'and can leave that');

-- given a request that two callers have made
select pg_temp.ask('ann', 2) as job_id, pg_temp.ask('bob', 2) as joined \gset
select is(:joined::bigint, :job_id::bigint, 'the second one joins');
select is(pg_temp.noted(:job_id), 'wants 12:02:00', 'and is noted');

-- when one after the other leaves
select pg_temp.leaves('ann', :job_id, 'pending', 'as long as another wants it, it stays');
select is(pg_temp.noted(:job_id), 'left 12:02:00, wants 12:02:00', 'that the first one has left is noted');
select pg_temp.leaves('ann', :job_id, 'pending', 'who has left cannot leave for the other');
select pg_temp.leaves('cid', :job_id, 'pending', 'nor can who never came');
select pg_temp.leaves('bob', :job_id, 'cancelled', 'the last one cancels it');
select pg_temp.ask('ann', 3) as job_id, pg_temp.ask('bob', 3) as joined \gset
select pg_temp.leaves('bob', :job_id, 'pending', 'the order does not matter');
select is(pg_temp.noted(:job_id), '', 'of who joined and left nothing is kept');
select pg_temp.leaves('ann', :job_id, 'cancelled', 'the last one cancels it, whoever that is');

-- when who has left comes back
select pg_temp.ask('ann', 4) as job_id, pg_temp.ask('bob', 4) as joined \gset
select pg_temp.leaves('ann', :job_id, 'pending', 'the first one leaves');
select is(pg_temp.ask('ann', 4), :job_id::bigint, 'and asks again');
select pg_temp.leaves('bob', :job_id, 'pending', 'now it is wanted again');
select pg_temp.leaves('ann', :job_id, 'cancelled', 'until that one leaves again');
select pg_temp.ask('ann', 5) as job_id, pg_temp.ask('bob', 5) as joined \gset
select pg_temp.leaves('ann', :job_id, 'pending', 'the first one leaves');
select is(pg_temp.waits('ann', :job_id, '30 s'), true, 'and waits for it after all');
select is(pg_temp.noted(:job_id), 'waits 12:02:00, wants 12:02:00', 'for as long as if it never had left');
select pg_temp.leaves('bob', :job_id, 'pending', 'that counts as well');
select pg_temp.leaves('ann', :job_id, 'cancelled', 'until that one leaves again');

-- when the job is under way
select pg_temp.ask('ann', 6) as job_id \gset
select plane.claim_one('leave_job', 'w1') \g /dev/null
select pg_temp.leaves('ann', :job_id, 'cancelling', 'a job that is held is asked to stop');
select isnt(pg_temp.ask('ann', 6), :job_id::bigint, 'who asks the same now has a new one');
select results_eq(
    format('select state from plane.renew_leases(''w1'', array[%s]::bigint[], array[1])', :job_id), array['cancelling'],
    'its worker is told');
select is(plane.finish_cancel(:job_id, 1), true, 'and stops');
select pg_temp.ask('ann', 7) as paused \gset
select plane.claim('leave_job', 'w1', 2), plane.fail_job(:paused, 1, '{}') \g /dev/null
select pg_temp.leaves('ann', :paused, 'cancelled', 'a job in its pause is cancelled');

-- when it has ended
select pg_temp.ask('ann', 8) as done \gset
select plane.claim_one('leave_job', 'w1'), plane.complete_job(:done, 1, '{}') \g /dev/null
select pg_temp.leaves('ann', :done, 'done', 'a job that is done stays done');

-- when time goes by
select pg_temp.ask('ann', 9) as job_id \gset
select pg_temp.later('1 min 59 s');
select pg_temp.leaves('cid', :job_id, 'pending', 'who asks wants the answer');
select pg_temp.later('1 s');
select pg_temp.leaves('cid', :job_id, 'cancelled', 'for two minutes');
select pg_temp.ask('ann', 10) as job_id \gset
select is(pg_temp.waits('ann', :job_id, '5 min'), true, 'one who waits for it longer');
select pg_temp.later('4 min 59 s');
select pg_temp.leaves('cid', :job_id, 'pending', 'wants it longer');
select pg_temp.later('1 s');
select pg_temp.leaves('cid', :job_id, 'cancelled', 'until the deadline');
select pg_temp.ask('ann', 11) as job_id \gset
select is(pg_temp.waits('bob', :job_id), true, 'another waits');
select pg_temp.leaves('ann', :job_id, 'pending', 'when the first one leaves');
select pg_temp.later('50 s');
select plane.sweep() \g /dev/null
select pg_temp.leaves('bob', :job_id, 'cancelled', 'whom a sweep does not forget');

-- given a request that an application has joined, one that a batch has, and one that was retried
create function pg_temp.dedupe_key(p_job_id bigint) returns text language sql as $$
    select dedupe_key from plane.jobs where id = p_job_id
$$;
select pg_temp.ask('ann', 12) as job_id \gset
select results_eq(
    format('select job_id from plane.enqueue(''leave_job'', ''ask'', p_dedupe_key => %L)', pg_temp.dedupe_key(:job_id)),
    array[:job_id]::bigint[], 'an application joins a request');
select pg_temp.leaves('ann', :job_id, 'pending', 'what an application asked for is not cancelled by leaving');
select plane.leave_job('leave_job', job_id, pg_temp.key(), waiter) from plane.waiter where job_id = :job_id \g /dev/null
select pg_temp.later('1 year');
select pg_temp.leaves('ann', :job_id, 'pending', 'by whomever, whenever');
select pg_temp.ask('ann', 13) as job_id \gset
select results_eq(
    format('select job_id from plane.enqueue_many(''leave_job'', jsonb_build_array(jsonb_build_object(''operation'', ''ask'', ''dedupe_key'', %L)))',
        pg_temp.dedupe_key(:job_id)),
    array[:job_id]::bigint[], 'so does a batch');
select pg_temp.leaves('ann', :job_id, 'pending', 'and it is not cancelled either');
select plane.complete_job(job_id, attempt) from plane.claim('leave_job', 'w1', 10) \g /dev/null
select plane.create_queue('leave_job', p_max_dequeues => 1);
select pg_temp.ask('ann', 14) as job_id \gset
select plane.claim_one('leave_job', 'w1'), plane.fail_job(:job_id, 1, '{}') \g /dev/null
select pg_temp.leaves('ann', :job_id, 'poison', 'poison stays poison');
select plane.retry_job(:job_id) \g /dev/null
select pg_temp.leaves('ann', :job_id, 'pending', 'who retries a job wants it');

-- when the answer depends on the person, or nobody knows who that is
select job_id as mine from plane.submit_request('leave_job', 'mine', '{}', pg_temp.envelope()) \gset
select is(plane.leave_job('leave_job', :mine, pg_temp.own('ann'), pg_temp.own('ann')), 'cancelled', 'a person leaves its own job');
select pg_temp.ask('', 15) as nobodys \gset
select is(
    plane.leave_job('leave_job', :nobodys, pg_temp.key(), pg_temp.key()), 'cancelled', 'who has no name leaves by that of the scope');

-- when somebody leaves what is not its own
select pg_temp.ask('ann', 16) as job_id \gset
create function pg_temp.hidden(p_queue text, p_job_id bigint, p_scope_key text, p_what text) returns text language sql as $$
    select is(plane.leave_job(p_queue, p_job_id, p_scope_key, pg_temp.own('ann')), null, p_what)
$$;
select pg_temp.hidden('leave_job', :job_id, plane.scope_key('acme', '["south"]', false), 'nobody leaves another scope''s job');
select pg_temp.hidden('leave_job-other', :job_id, pg_temp.key(), 'nor another surface''s');
select pg_temp.hidden('leave_job', :job_id, null, 'nor one without a scope');
select pg_temp.hidden('leave_job', 9223372036854775807, pg_temp.key(), 'nor one that does not exist');
select pg_temp.hidden('leave_job', null, pg_temp.key(), 'nor NULL');
select is(
    (select status from plane.jobs where id = :job_id) || pg_temp.noted(:job_id), 'pending', 'and nothing has changed');

-- when an argument cannot be
create function pg_temp.refuses(p_waiter text, p_what text) returns text language sql as $$
    select throws_ok(
        format('select plane.leave_job(''leave_job'', 1, pg_temp.key(), %L)', p_waiter),
        '22023', 'a waiter has a name of 1 to 200 characters', p_what)
$$;
select pg_temp.refuses(null, 'a waiter without a name is refused');
select pg_temp.refuses('', 'an empty name is refused');
select pg_temp.refuses(repeat('w', 201), 'a name of 201 characters is refused');
select throws_ok(
    $$ select plane.leave_job('leave_job-none', 1, 'key', 'ann') $$, 'PL404', 'no such queue', 'a queue that does not exist is refused');

select * from finish();
rollback;
