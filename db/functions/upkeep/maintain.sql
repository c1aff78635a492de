-- maintain: what finished long ago leaves, a bounded step a call. A call is one transaction and changes the tables last, so
-- nobody waits for it for longer than its own waits of 200 ms in all: call it alone, not within a transaction of yours.
create or replace function plane.maintain()
    returns table (
        step    text,
        subject text
    )
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '50ms'
as $$
begin
    if plane._sees_past() then
        raise exception using
            errcode = 'PL409',
            message = 'a ledger is maintained under READ COMMITTED only',
            detail = format('transaction_isolation=%s', current_setting('transaction_isolation')),
            hint = 'An older snapshot does not see what must stay: call it in a transaction of its own.';
    end if;
    step := 'left';
    if not pg_try_advisory_xact_lock(hashtext('pgplane maintain')) then
        subject := 'another session is at it';
        return next;
        return;
    end if;
    begin
        perform plane._forget_stalls();
        subject := nullif(plane._forget_workers(), 0) || ' workers, not seen for a day';
        if subject is null and plane._forget_runs() then
            subject := 'a day of telemetry';
        end if;
        if subject is not null then
            step := 'forgot';
        else
            select s.step, s.subject into step, subject from plane._range_step() s;
        end if;
    exception
        when lock_not_available then
            subject := 'a table was locked by somebody else for too long';
    end;
    if step is not null then
        return next;
    end if;
end;
$$;

revoke all on function plane.maintain() from public;
grant execute on function plane.maintain() to plane_worker, plane_admin;

comment on function plane.maintain() is
'Remove finished work that its queue keeps no longer (create_queue: p_retention, p_poison_retention), by whole ranges of job
ids, and give new ids a range of their own in time; forget workers not seen for a day, and telemetry of more than a week
ago. A bounded step a call; returns (step text, subject text) of what it did: opened, copied, removed or forgot, or left for
now, and why; no row when nothing is to be done. Call it every few minutes, from as many places as you like: one works, the
others return.
Raises PL409 a ledger is maintained under READ COMMITTED only.
Role: plane_worker, plane_admin.';
