-- _note_interest: who waits for a job, or wants it. Locks: the jobs, FOR KEY SHARE, so that nobody cancels one by leaving it
-- meanwhile; whoever does so already is not waited for: that came first. What is noted already is not written, nor locked,
-- again: so a deadline is rounded up to ten seconds, and who looks every second writes one row in ten.
create or replace function plane._note_interest(
    p_job_ids  bigint[],
    p_waiters  text[],
    p_deadline timestamptz,
    p_state    text
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_deadline timestamptz := date_bin('10 seconds', p_deadline + interval '9.999999 seconds', 'epoch');
    v_job_ids  bigint[];
    v_waiters  text[];
begin
    select array_agg(a.job_id order by a.job_id, a.waiter), array_agg(a.waiter order by a.job_id, a.waiter)
    into v_job_ids, v_waiters
    from (select distinct u.job_id, u.waiter from unnest(p_job_ids, p_waiters) as u (job_id, waiter)) as a
    where plane._sees_past() or (
        select w.deadline >= v_deadline and w.state in ('waits', p_state)
        from plane.waiter w
        where w.job_id = a.job_id and w.waiter = a.waiter) is not true;
    if v_job_ids is null then
        return;
    end if;
    perform from unnest(v_job_ids) as a (id)
    cross join lateral (select from plane.job j where j.id = a.id for key share skip locked) as j;
    insert into plane.waiter as w (job_id, waiter, deadline, state)
    select a.job_id, a.waiter, v_deadline, p_state
    from unnest(v_job_ids, v_waiters) as a (job_id, waiter)
    on conflict (job_id, waiter) do update
    set deadline = greatest(w.deadline, excluded.deadline),
        state = case when w.state = 'waits' then 'waits' else excluded.state end;
end;
$$;

revoke all on function plane._note_interest(bigint[], text[], timestamptz, text) from public;

comment on function plane._note_interest(bigint[], text[], timestamptz, text) is
'Notes that waiters[i] waits for job_ids[i] or wants it, as p_state says, until then at least.';
