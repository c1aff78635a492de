-- _pull_forward: a coalesced call wants its live job no later and no less urgent than it asks.
-- A pause after a failure is not shortened, and a row that somebody has locked is passed over.
create or replace function plane._pull_forward(
    p_queue        plane.queue,
    p_job_id       bigint,
    p_priority     integer,
    p_available_at timestamptz
)
    returns void
    language plpgsql
    volatile
as $$
declare
    v_now   timestamptz := plane._now();
    v_at    timestamptz := coalesce(p_available_at, v_now);
    v_job   plane.job;
    v_due   plane.due;
    v_ready plane.ready;
begin
    select j.* into v_job from plane.job j where j.id = p_job_id;
    if p_priority < v_job.priority then
        p_priority := plane._open_priority(p_queue, p_priority);
    end if;

    if v_job.available_at > v_at then
        delete from plane.due d
        where d.ctid = (
            select f.ctid
            from plane.due f
            where f.job_id = p_job_id and f.reason = 'scheduled' and f.available_at > v_at
            for update skip locked)
        returning d.* into v_due;
        if found then
            v_due.available_at := v_at;
            v_due.priority := least(v_due.priority, p_priority);
            if v_at > v_now then
                insert into plane.due select v_due.*;
            else
                perform plane._place_due(v_due);
                perform plane._tell_ready(p_queue.id);
            end if;
        end if;
    end if;

    if p_priority < v_job.priority then
        delete from plane.ready r
        where r.ctid = (
            select f.ctid
            from plane.ready f
            where f.queue_id = p_queue.id and f.lane = plane._lane(v_job.priority, false) and f.pos = p_job_id
            for update skip locked)
        returning r.* into v_ready;
        if not found then
            delete from plane.ready r
            where r.ctid = (
                select f.ctid
                from plane.ready f
                where f.job_id = p_job_id and f.pos <> f.job_id and f.lane > plane._lane(p_priority, false)
                for update skip locked)
            returning r.* into v_ready;
        end if;
        if found then
            perform plane._make_ready(p_queue.id, p_job_id, p_priority, v_ready.dequeue_count > 0,
                v_ready.dequeue_count, v_ready.max_dequeues, v_ready.fresh);
        end if;
        update plane.due d
        set priority = p_priority
        where d.ctid = (
            select f.ctid from plane.due f
            where f.job_id = p_job_id and f.priority > p_priority and f.reason = 'scheduled' for update skip locked);
        update plane.waiting w
        set priority = p_priority
        where w.ctid = (
            select f.ctid from plane.waiting f
            where f.job_id = p_job_id and f.priority > p_priority for update skip locked);
    end if;
end;
$$;

revoke all on function plane._pull_forward(plane.queue, bigint, integer, timestamptz) from public;

comment on function plane._pull_forward(plane.queue, bigint, integer, timestamptz) is
'Makes a live job due earlier or more urgent, as a coalesced call asks.
Raises PL404 no such queue.';
