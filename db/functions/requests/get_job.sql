-- get_job: what a caller of this scope on this surface may see of one job.
create or replace function plane.get_job(
    p_queue     text,
    p_job_id    bigint,
    p_scope_key text
)
    returns setof plane.job_answer
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
    select * from plane._answers(plane._queue_named(p_queue), array[p_job_id], array[p_scope_key]);
$$;

revoke all on function plane.get_job(text, bigint, text) from public;
grant execute on function plane.get_job(text, bigint, text) to plane_reader;

comment on function plane.get_job(text, bigint, text) is
'One row, or none when there is no such job for this queue and scope key; a NULL scope key sees nothing.
status: pending, waiting, in_progress, cancelling, done, poison or cancelled; result and error as the worker gave them.
Raises PL404 no such queue.
Role: plane_reader.';
