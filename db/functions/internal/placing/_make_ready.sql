-- _make_ready: puts a job at the end of its lane. A position is drawn by the insert itself, so under its lock.
create or replace function plane._make_ready(
    p_queue_id      integer,
    p_job_id        bigint,
    p_priority      integer,
    p_came_back     boolean,
    p_dequeue_count integer,
    p_max_dequeues  integer,
    p_fresh         boolean
)
    returns void
    language plpgsql
    volatile
as $$
begin
    insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
    select p_queue_id, plane._lane(p_priority, p_came_back), nextval('plane.job_id_seq'),
        p_job_id, p_dequeue_count, p_max_dequeues, p_fresh;
end;
$$;

revoke all on function plane._make_ready(integer, bigint, integer, boolean, integer, integer, boolean) from public;

comment on function plane._make_ready(integer, bigint, integer, boolean, integer, integer, boolean) is
'Puts a job at the end of its lane of plane.ready.';
