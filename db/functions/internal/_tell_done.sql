-- _tell_done: tells whoever waits that a job has ended, as the queue's notify setting rules.
-- Called after the row that registering callers lock is gone, so that none slips between look and end.
create or replace function plane._tell_done(
    p_queue_id integer,
    p_job_id   bigint
)
    returns void
    language plpgsql
    volatile
    set search_path = pg_catalog, pg_temp
as $$
begin
    if plane._is_heard(p_queue_id, p_job_id) then
        perform pg_notify('plane_done', p_job_id::text);
    end if;
end;
$$;

revoke all on function plane._tell_done(integer, bigint) from public;

comment on function plane._tell_done(integer, bigint) is
'NOTIFY plane_done with the job''s id, as the queue''s notify setting rules.';
