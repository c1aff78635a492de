-- claim_one: the oldest claimable job, the most urgent lane first. Locks: what time has moved, the ready row, the
-- worker's row; none is waited for. The queue is looked up here: a call of _queue_named would cost as much again.
-- One static statement with its limit written out, on one plan for ever: the settings below leave no other.
create or replace function plane.claim_one(
    p_queue  text,
    p_worker text
)
    returns setof plane.claimed_job
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
as $$
declare
    v_queue      plane.queue;
    v_now        constant timestamptz := plane._now();
    v_floors     bigint[];
    v_has_looked boolean := false;
    v_is_second  boolean := false;
    v_ready      record;
    v_job        plane.job;
begin
    if not plane._is_name(p_worker) then
        perform plane._refuse_worker(p_worker);
    end if;
    select q.* into v_queue from plane.queue q where q.name = p_queue;
    if not found then
        perform plane._refuse_queue(p_queue);
    end if;
    v_floors := plane._known_floors(current_setting('plane.claims_' || v_queue.id, true), v_queue.lanes, v_now);
    if v_floors is null then
        v_floors := plane._refresh_floors(v_queue.id, v_queue.lanes, v_now);
        v_has_looked := true;
    end if;
    while v_queue.paused_at is null loop
        delete from plane.ready r
        where r.ctid = (
            select f.ctid
            from unnest(v_queue.lanes, v_floors) as l (lane, floor)
            cross join lateral (
                select n.ctid
                from plane.ready n
                where n.queue_id = v_queue.id and n.lane = l.lane and n.pos >= l.floor
                order by n.pos
                limit 1
                for update skip locked) as f
            limit 1)
        returning r.job_id, r.lane >> 1 as priority, r.dequeue_count + 1 as attempt, r.max_dequeues, r.fresh into v_ready;
        if found then
            select j.* into v_job from plane.job j where j.id = v_ready.job_id;
            exit when found;
        else
            -- before leaving with empty hands: has time brought something this very moment, or has a row been changed
            -- while it was being locked? A second scan sees it.
            exit when plane._move_overdue_since(v_queue.id, v_now) = 0 and v_is_second;
            v_is_second := true;
        end if;
    end loop;
    if v_queue.notify = 'waiters' and (v_job.id is null or v_has_looked) then
        perform plane._note_sleep(v_queue.id, p_worker, v_job.id is null);
    end if;
    if v_job.id is null then
        return;
    end if;

    insert into plane.lease (job_id, queue_id, attempt, max_dequeues, priority, fresh,
        claimed_at, expires_at, live_key, locked_by, serial_key)
    values (v_job.id, v_queue.id, v_ready.attempt, v_ready.max_dequeues, v_ready.priority, v_ready.fresh,
        v_now, v_now + v_queue.lease, plane._hash_key(v_queue.id, v_job.dedupe_key), p_worker, v_job.serial_key);
    return next (v_job.id, v_ready.attempt, v_queue.name, v_job.operation, v_job.version, v_job.params, v_job.envelope,
        v_job.dedupe_key, v_job.serial_key, v_ready.max_dequeues, v_now + v_queue.lease, v_job.created_at,
        case when v_job.by_request then v_job.dedupe_key end, v_ready.fresh)::plane.claimed_job;
end;
$$;

revoke all on function plane.claim_one(text, text) from public;
grant execute on function plane.claim_one(text, text) to plane_worker;

comment on function plane.claim_one(text, text) is
'Claim the oldest claimable job of a queue for a worker; no row when there is none,
or the queue is paused.
Sets the lease by the queue and counts the attempt; (job_id, attempt) is the fence of everything that follows.
Raises 22023 a worker needs a name of 1 to 200 characters.
Raises PL404 no such queue.
Role: plane_worker.';
