-- drop_queue: a queue goes with all that it has finished. Locks: queue, its jobs, then plane.ready for a moment: every enqueue
-- writes there, so whoever is enqueuing is waited for, and whoever comes later reads the queue after that lock, and finds none.
-- What is enqueued and finished between the deletion and the lock stays, unseen, until its id range leaves.
create or replace function plane.drop_queue(
    p_queue text
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '200ms'
    set jit = off
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    if plane._sees_past() then
        raise exception using
            errcode = 'PL409',
            message = 'a queue is dropped under READ COMMITTED only',
            detail = format('transaction_isolation=%s', current_setting('transaction_isolation')),
            hint = 'An older snapshot does not see which jobs have come since: drop it in a transaction of its own.';
    end if;
    perform from plane.queue q where q.id = v_queue.id for update;
    perform plane._check_idle(v_queue);
    with gone as (
        -- only what has ended: a job that ends meanwhile would leave us its key, if we had that locked
        delete from plane.job j
        where j.queue_id = v_queue.id and exists (select from plane.outcome o where o.job_id = j.id)
        returning j.id, j.dedupe_key
    ), outcomes as (
        delete from plane.outcome o using gone g where o.job_id = g.id
    ), attempts as (
        delete from plane.attempt a using gone g where a.job_id = g.id
    ), progress as (
        delete from plane.progress p using gone g where p.job_id = g.id
    ), waiters as (
        delete from plane.waiter w using gone g where w.job_id = g.id
    )
    delete from plane.live_key k using gone g where k.key = plane._hash_key(v_queue.id, g.dedupe_key) and k.job_id = g.id;

    lock table plane.ready in share row exclusive mode;
    perform plane._check_idle(v_queue);
    delete from plane.stalled_line s where s.queue_id = v_queue.id;
    delete from plane.line l where l.queue_id = v_queue.id;
    delete from plane.queue q where q.id = v_queue.id;
end;
$$;

revoke all on function plane.drop_queue(text) from public;
grant execute on function plane.drop_queue(text) to plane_admin;

comment on function plane.drop_queue(text) is
'Remove a queue, its workers and operations, and all of its finished jobs, poison included. Refused while it has live
jobs. It waits 200 ms at most, whatever the caller''s lock_timeout, for whoever is enqueuing into any queue, or beginning to
wait for a job of this one, or leaving it; on 55P03 try again.
Raises 55P03 canceling statement due to lock timeout.
Raises PL404 no such queue.
Raises PL409 a queue is dropped under READ COMMITTED only.
Raises PL409 the queue has live jobs.
Role: plane_admin.';
