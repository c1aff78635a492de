-- _enqueue: one new job, or the live one that has this dedupe key. Locks: the queue's row for a priority that is new to
-- it, dedupe key, serial key; the job of a request that is joined, before its place is touched.
-- The key is waited for while another transaction is inserting it (a winner that rolls back must lose nobody's
-- job), but a live key is only read, so that no completion ever waits for an enqueuer.
-- The caller has locked plane.ready and read the queue after that: so no scan floor passes over a position that is drawn
-- here, and the queue has not been dropped meanwhile.
create or replace function plane._enqueue(
    p_queue        plane.queue,
    p_operation    text,
    p_version      integer,
    p_params       jsonb,
    p_envelope     jsonb,
    p_scope_key    text,
    p_dedupe_key   text,
    p_serial_key   text,
    p_priority     integer,
    p_available_at timestamptz,
    p_max_dequeues integer,
    p_by_request   boolean,
    p_fresh        boolean,
    out job_id     bigint,
    out coalesced  boolean
)
    returns record
    language plpgsql
    volatile
as $$
#variable_conflict use_column
declare
    v_now          timestamptz := plane._now();
    v_is_scheduled boolean     := coalesce(p_available_at > v_now, false);
    v_max_dequeues integer     := coalesce(p_max_dequeues, p_queue.max_dequeues);
    v_key          uuid        := plane._hash_key(p_queue.id, p_dedupe_key);
    v_live         bigint;
    v_is_ready     boolean     := false;
begin
    coalesced := false;
    if not p_queue.lanes @> array[plane._lane(p_priority, false)] then
        p_priority := plane._open_priority(p_queue, p_priority);
    end if;
    loop
        if v_key is not null then
            v_live := plane._live_job(v_key);
            if v_live is not null then
                continue when plane._is_request_key(p_dedupe_key) and plane._hold_jobs(array[v_live])
                    and plane._live_job(v_key) is distinct from v_live;
                if not p_fresh or plane._make_fresh(v_live) then
                    perform plane._pull_forward(p_queue, v_live, p_priority, p_available_at);
                    job_id := v_live;
                    coalesced := true;
                    return;
                end if;
            end if;
        end if;
        if p_queue.max_depth is not null then
            perform plane._check_depth(p_queue);
        end if;
        if v_key is null then
            job_id := nextval('plane.job_id_seq');
            exit;
        elsif v_live is null then
            insert into plane.live_key as k (key, job_id)
            values (v_key, nextval('plane.job_id_seq'))
            on conflict (key) do nothing
            returning k.job_id into job_id;
        else
            update plane.live_key k
            set job_id = nextval('plane.job_id_seq')
            where k.key = v_key and k.job_id = v_live
            returning k.job_id into job_id;
        end if;
        exit when found;
    end loop;

    insert into plane.job (id, queue_id, priority, by_request, version, max_dequeues, created_at, available_at,
        operation, dedupe_key, serial_key, scope_key, params, envelope)
    values (job_id, p_queue.id, p_priority, p_by_request, p_version, v_max_dequeues, v_now,
        case when v_is_scheduled then p_available_at end,
        p_operation, p_dedupe_key, p_serial_key, p_scope_key, p_params, p_envelope);
    if v_is_scheduled then
        insert into plane.due (job_id, queue_id, priority, available_at, reason, dequeue_count, max_dequeues, fresh)
        values (job_id, p_queue.id, p_priority, p_available_at, 'scheduled', 0, v_max_dequeues, p_fresh);
    elsif p_serial_key is null then
        insert into plane.ready (queue_id, lane, pos, job_id, dequeue_count, max_dequeues, fresh)
        values (p_queue.id, plane._lane(p_priority, false), job_id, job_id, 0, v_max_dequeues, p_fresh);
        v_is_ready := true;
    else
        v_is_ready := plane._join_line(p_queue.id, p_serial_key, job_id, p_priority, 0, v_max_dequeues, p_fresh);
    end if;
    -- as _tell_ready does, which would read the queue again
    if v_is_ready and (p_queue.notify = 'always' or p_queue.notify = 'waiters' and plane._has_sleepers(p_queue.id)) then
        perform pg_notify('plane_ready', p_queue.name);
    end if;
    if plane._sees_past() then
        perform plane._check_not_dropped(p_queue);
    end if;
end;
$$;

revoke all on function plane._enqueue(plane.queue, text, integer, jsonb, jsonb, text, text, text, integer,
    timestamptz, integer, boolean, boolean) from public;

comment on function plane._enqueue(plane.queue, text, integer, jsonb, jsonb, text, text, text, integer,
    timestamptz, integer, boolean, boolean) is
'Makes one job, or finds the live one of this dedupe key; arguments are checked by the callers.
Raises PL404 no such queue.
Raises PL429 the queue is full.';
