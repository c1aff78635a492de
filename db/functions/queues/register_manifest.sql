-- register_manifest: a surface's operations, as its workers know them.
-- Versions that are not named stay: workers of two releases may serve a queue side by side.
create or replace function plane.register_manifest(
    p_queue      text,
    p_operations jsonb
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue plane.queue := plane._queue_named(p_queue);
    v_wrong jsonb;
begin
    if jsonb_typeof(p_operations) is distinct from 'array' then
        raise exception using
            errcode = 'PL422',
            message = 'operations must be a JSON array',
            detail = format('operations=%s', coalesce(jsonb_typeof(p_operations), 'NULL')),
            hint = 'Each entry is {"name", "version", "params", "ttl_seconds", "timeout_seconds", "per_actor"}.';
    end if;
    if pg_column_size(p_operations) > 1048576 then
        raise exception using
            errcode = 'PL413',
            message = 'a manifest is limited to 1 MiB',
            detail = format('bytes=%s', pg_column_size(p_operations)),
            hint = 'Register some operations at a time, or say less in their schemas.';
    end if;
    select o.value into v_wrong
    from jsonb_array_elements(p_operations) as o
    where (jsonb_typeof(o.value) = 'object'
        and jsonb_typeof(o.value -> 'name') = 'string'
        and o.value ->> 'name' ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'
        and o.value -> 'version' @? 'strict $ ? (@.type() == "number" && @ >= 1 && @ <= 1000000 && @.floor() == @)'
        and jsonb_typeof(coalesce(o.value -> 'params', '{}')) = 'object'
        and coalesce(o.value -> 'ttl_seconds', '0') @? 'strict $ ? (@.type() == "number" && @ >= 0 && @ <= 31536000 && @.floor() == @)'
        and coalesce(o.value -> 'timeout_seconds', '30') @? 'strict $ ? (@.type() == "number" && @ >= 1 && @ <= 604800 && @.floor() == @)'
        and jsonb_typeof(coalesce(o.value -> 'per_actor', 'false')) = 'boolean') is not true
    limit 1;
    if found then
        raise exception using
            errcode = 'PL422',
            message = 'an operation of the manifest is not well formed',
            detail = format('name=%s version=%s', left(v_wrong ->> 'name', 100), left(v_wrong ->> 'version', 20)),
            hint = 'Name of letters, digits and _.:-; version, ttl_seconds and timeout_seconds whole numbers; params a JSON Schema; per_actor a boolean.';
    end if;
    perform from plane.queue q where q.id = v_queue.id for key share;
    perform plane._check_not_dropped(v_queue);
    insert into plane.operation as o (queue_id, name, version, params_schema, ttl_seconds, timeout_seconds, per_actor, registered_at)
    select distinct on (m.name, m.version) v_queue.id, m.name, m.version, coalesce(m.params, '{}'),
        coalesce(m.ttl_seconds, 0), coalesce(m.timeout_seconds, 30), coalesce(m.per_actor, false), plane._now()
    -- numeric: JSON may write a whole number as 1.0
    from jsonb_to_recordset(p_operations) as m (
        name text, version numeric, params jsonb, ttl_seconds numeric, timeout_seconds numeric, per_actor boolean)
    order by m.name, m.version
    on conflict (queue_id, name, version) do update
    set params_schema = excluded.params_schema,
        ttl_seconds = excluded.ttl_seconds,
        timeout_seconds = excluded.timeout_seconds,
        per_actor = excluded.per_actor,
        registered_at = excluded.registered_at
    where (o.params_schema, o.ttl_seconds, o.timeout_seconds, o.per_actor)
        is distinct from (excluded.params_schema, excluded.ttl_seconds, excluded.timeout_seconds, excluded.per_actor);
end;
$$;

revoke all on function plane.register_manifest(text, jsonb) from public;
grant execute on function plane.register_manifest(text, jsonb) to plane_worker;

comment on function plane.register_manifest(text, jsonb) is
'Note a surface''s operations: an array of {"name" text, "version" int, "params" JSON Schema, "ttl_seconds" int (0),
"timeout_seconds" int (30), "per_actor" boolean (false)}. Entries are added or changed; versions not named stay.
A day after the last of its workers was seen, a queue''s operations are forgotten: call plane.register_worker first.
Raises PL404 no such queue.
Raises PL413 a manifest is limited to 1 MiB.
Raises PL422 an operation of the manifest is not well formed.
Raises PL422 operations must be a JSON array.
Role: plane_worker.';
