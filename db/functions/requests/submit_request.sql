-- submit_request: the request plane's enqueue. It computes scope key and dedupe key itself, so that no caller
-- can forget the scope. Locks: as plane.enqueue, then what is noted of the caller.
create or replace function plane.submit_request(
    p_queue     text,
    p_operation text,
    p_params    jsonb,
    p_envelope  jsonb,
    p_version   integer default null,
    p_fresh     boolean default false
)
    returns table (job_id bigint, coalesced boolean)
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '500ms'
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $$
declare
    v_queue     plane.queue;
    v_operation plane.operation;
    v_scope_key text;
    v_job       record;
begin
    perform plane._check_job(p_operation, p_params, p_envelope);
    lock table plane.ready in row exclusive mode;
    v_queue := plane._queue_named(p_queue);
    v_operation := plane._operation_named(v_queue, p_operation, p_version);
    if jsonb_typeof(p_envelope -> 'client') is distinct from 'string'
        or jsonb_typeof(p_envelope -> 'actor') is distinct from 'string'
        or jsonb_typeof(p_envelope -> 'staff') is distinct from 'boolean'
    then
        raise exception using
            errcode = 'PL422',
            message = 'an envelope has a client, an actor, a staff flag and a scope',
            detail = format('keys=%s', (select string_agg(left(k.key, 40), ',') from jsonb_object_keys(p_envelope) as k (key))),
            hint = 'Build it from the verified claims of the caller: {"client", "actor", "staff", "scope"}.';
    end if;
    v_scope_key := plane.scope_key(p_envelope ->> 'client', p_envelope -> 'scope', (p_envelope ->> 'staff')::boolean,
        case when v_operation.per_actor then p_envelope ->> 'actor' end);
    v_job := plane._enqueue(v_queue, p_operation, v_operation.version, p_params, p_envelope, v_scope_key,
        plane.dedupe_key(p_queue, p_operation, v_operation.version, p_envelope ->> 'client', v_scope_key, p_params),
        null, 0, null, null, true, coalesce(p_fresh, false));
    job_id := v_job.job_id;
    coalesced := v_job.coalesced;
    if coalesced then
        perform plane._note_interest(array[job_id], array[plane._caller(p_envelope)],
            plane._interested_until(plane._now()), 'wants');
    end if;
    return next;
end;
$$;

revoke all on function plane.submit_request(text, text, jsonb, jsonb, integer, boolean) from public;
grant execute on function plane.submit_request(text, text, jsonb, jsonb, integer, boolean) to plane_producer;

comment on function plane.submit_request(text, text, jsonb, jsonb, integer, boolean) is
'Ask a surface a question: one job for all who ask the same within one scope; returns (job_id bigint, coalesced boolean).
p_envelope: {"client" text, "actor" text, "staff" boolean, "scope" array}, from verified claims only.
p_version NULL: the newest. p_fresh: caches are not used; an attempt under way that may use them is not joined.
The caller is taken to want the job for two minutes, or for as long as he is registered as its waiter: plane.leave_job.
Waits at most half a second for another transaction that is asking the same, or is leaving that job, whatever the caller''s
lock_timeout.
Raises 22023 an operation has a name of 1 to 200 characters.
Raises 55P03 canceling statement due to lock timeout.
Raises PL404 no such operation.
Raises PL404 no such queue.
Raises PL413 params and envelope are limited to 256 KiB.
Raises PL422 a caller has a client, a scope and a staff flag.
Raises PL422 an envelope has a client, an actor, a staff flag and a scope.
Raises PL422 params and envelope must be JSON objects.
Raises PL429 the queue is full.
Raises PL503 no manifest yet.
Role: plane_producer.';
