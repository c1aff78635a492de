-- claim: claim_one for several at once; the same order, the same fence, the same locks.
-- Each job is read by a look-up of its own: a join might be planned over the whole index while that looks empty.
create or replace function plane.claim(
    p_queue  text,
    p_worker text,
    p_n      integer
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
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue  plane.queue;
    v_now    constant timestamptz := plane._now();
    v_floors bigint[];
    v_has_looked boolean := false;
    v_is_second  boolean := false;
    v_left   integer := p_n;
    v_got    integer;
begin
    if not plane._is_name(p_worker) then
        perform plane._refuse_worker(p_worker);
    end if;
    if p_n is null or p_n not between 1 and 10000 then
        raise exception using
            errcode = '22023',
            message = 'a claim takes 1 to 10000 jobs',
            detail = format('n=%s', coalesce(p_n::text, 'NULL')),
            hint = 'Claim as many as can be worked on within one lease.';
    end if;
    v_queue := plane._queue_named(p_queue);
    v_floors := plane._known_floors(current_setting('plane.claims_' || v_queue.id, true), v_queue.lanes, v_now);
    if v_floors is null then
        v_floors := plane._refresh_floors(v_queue.id, v_queue.lanes, v_now);
        v_has_looked := true;
    end if;
    while v_queue.paused_at is null loop
        for v_i in 1 .. cardinality(v_floors) loop
            return query
            with gone as (
                delete from plane.ready r
                where r.ctid = any (array(
                    select f.ctid
                    from plane.ready f
                    where f.queue_id = v_queue.id and f.lane = v_queue.lanes[v_i] and f.pos >= v_floors[v_i]
                    order by f.pos
                    limit v_left
                    for update skip locked))
                returning r.*
            ), picked as materialized (
                select g.lane, g.pos, g.dequeue_count + 1 as attempt, g.max_dequeues as budget, g.fresh, j.*
                from gone g
                cross join lateral (select f.* from plane.job f where f.id = g.job_id offset 0) as j
            ), held as (
                insert into plane.lease (job_id, queue_id, attempt, max_dequeues, priority, fresh,
                    claimed_at, expires_at, live_key, locked_by, serial_key)
                select p.id, p.queue_id, p.attempt, p.budget, p.lane >> 1, p.fresh,
                    v_now, v_now + v_queue.lease, plane._hash_key(p.queue_id, p.dedupe_key), p_worker, p.serial_key
                from picked p
            )
            select p.id, p.attempt, v_queue.name, p.operation, p.version, p.params, p.envelope, p.dedupe_key, p.serial_key,
                p.budget, v_now + v_queue.lease, p.created_at, case when p.by_request then p.dedupe_key end, p.fresh
            from picked p
            order by p.pos;
            get diagnostics v_got = row_count;
            v_left := v_left - v_got;
            exit when v_left = 0;
        end loop;
        -- before leaving with empty hands: has time brought something this very moment, or has a row been changed while
        -- it was being locked? A second scan sees it.
        exit when v_left < p_n or plane._move_overdue_since(v_queue.id, v_now) = 0 and v_is_second;
        v_is_second := true;
    end loop;
    if v_queue.notify = 'waiters' and (v_left = p_n or v_has_looked) then
        perform plane._note_sleep(v_queue.id, p_worker, v_left = p_n);
    end if;
end;
$$;

revoke all on function plane.claim(text, text, integer) from public;
grant execute on function plane.claim(text, text, integer) to plane_worker;

comment on function plane.claim(text, text, integer) is
'Claim up to n jobs of a queue for a worker, in the order of claim_one; no rows when there are none,
or the queue is paused.
Raises 22023 a claim takes 1 to 10000 jobs.
Raises 22023 a worker needs a name of 1 to 200 characters.
Raises PL404 no such queue.
Role: plane_worker.';
