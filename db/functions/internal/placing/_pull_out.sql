-- _pull_out: takes a job that nobody holds out of its place. All places are asked in one statement, which waits for
-- whoever is moving the job; where it comes too late, it finds nothing and the caller looks again.
create or replace function plane._pull_out(
    p_job plane.job
)
    returns plane.lease
    language plpgsql
    volatile
as $$
declare
    v_out plane.lease;
begin
    with straight as (
        delete from plane.ready r
        where r.queue_id = p_job.queue_id and r.lane = plane._lane(p_job.priority, false) and r.pos = p_job.id
        returning r.dequeue_count, r.max_dequeues
    ), moved as (
        delete from plane.ready r
        where r.job_id = p_job.id and r.pos <> r.job_id
        returning r.dequeue_count, r.max_dequeues
    ), due as (
        delete from plane.due d
        where d.job_id = p_job.id
        returning d.dequeue_count, d.max_dequeues
    ), waiting as (
        delete from plane.waiting w
        where w.job_id = p_job.id
        returning w.dequeue_count, w.max_dequeues
    )
    select p_job.id, p_job.queue_id, o.dequeue_count, o.max_dequeues,
        plane._hash_key(p_job.queue_id, p_job.dedupe_key), p_job.serial_key
    into v_out.job_id, v_out.queue_id, v_out.attempt, v_out.max_dequeues, v_out.live_key, v_out.serial_key
    from (
        select * from straight
        union all
        select * from moved
        union all
        select * from due
        union all
        select * from waiting
    ) as o;
    return v_out;
end;
$$;

revoke all on function plane._pull_out(plane.job) from public;

comment on function plane._pull_out(plane.job) is
'Removes a pending or waiting job from its place and returns what its ending needs, as a lease; all NULL when it is not there.';
