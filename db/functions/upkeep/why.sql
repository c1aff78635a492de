-- why: what a person asks first. It waits for nobody's rows, and all that it looks at is one statement, of one moment.
create or replace function plane.why(
    p_job_id bigint
)
    returns table (reason text, says text, evidence jsonb)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set jit = off
as $$
begin
    return query
    select w.* from plane.job j cross join lateral plane._why(j) as w where j.id = p_job_id;
    if not found then
        raise exception using
            errcode = 'PL404',
            message = 'no such job',
            detail = format('job_id=%s newest_id=%s open_enqueuers=%s', coalesce(p_job_id::text, 'NULL'),
                coalesce(pg_sequence_last_value('plane.job_id_seq'), 0),
                (
                    select count(distinct k.virtualtransaction)
                    from pg_locks k
                    where k.locktype = 'relation' and k.relation = 'plane.job'::regclass and k.mode = 'RowExclusiveLock'
                        and k.database = (select d.oid from pg_database d where d.datname = current_database())
                        and k.pid is distinct from pg_backend_pid())),
            hint = 'A job is there once its enqueuer has committed, and until its queue''s retention is over.';
    end if;
end;
$$;

revoke all on function plane.why(bigint) from public;
grant execute on function plane.why(bigint) to plane_admin;

comment on function plane.why(bigint) is
'The first reason why a job is not running: reason (a stable word), says (a sentence), evidence jsonb; always one row.
reason, in the order of looking: finished, running or cancelling (held), broken (see plane.health), paused, due (scheduled
or in backoff), in_line (behind the head of its serial key), locked (by an open transaction), no_worker, behind (older or
more urgent jobs) or next. Takes no lock.
Raises PL404 no such job.
Role: plane_admin.';
