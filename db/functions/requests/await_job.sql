-- await_job: get_job for one who has registered as a waiter in an earlier transaction.
-- It waits for a completion under way, through a lock on the lease; a later one will find the waiter.
create or replace function plane.await_job(
    p_queue     text,
    p_job_id    bigint,
    p_scope_key text
)
    returns setof plane.job_answer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '500ms'
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    perform from plane.lease l
    join plane.job j on j.id = l.job_id
    where l.job_id = p_job_id and j.queue_id = v_queue.id and j.scope_key = p_scope_key
    for key share of l;
    return query select * from plane._answers(v_queue, array[p_job_id], array[p_scope_key]);
end;
$$;

revoke all on function plane.await_job(text, bigint, text) from public;
grant execute on function plane.await_job(text, bigint, text) to plane_reader;

comment on function plane.await_job(text, bigint, text) is
'As get_job, after register_waiter has committed: either the row is final, or a notification
(plane_done) is still to come, unless the queue''s notify is never.
Waits at most half a second, whatever the caller''s lock_timeout, for a completion under way; on 55P03 try again.
Raises 55P03 canceling statement due to lock timeout.
Raises PL404 no such queue.
Role: plane_reader.';
