-- get_manifest: what a surface answers, as its workers have said.
create or replace function plane.get_manifest(
    p_queue text
)
    returns table (
        name            text,
        version         integer,
        params_schema   jsonb,
        ttl_seconds     integer,
        timeout_seconds integer,
        per_actor       boolean
    )
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_queue plane.queue := plane._queue_named(p_queue);
begin
    perform plane._check_manifest(v_queue);
    return query
    select o.name, o.version, o.params_schema, o.ttl_seconds, o.timeout_seconds, o.per_actor
    from plane.operation o
    where o.queue_id = v_queue.id
    order by o.name, o.version;
end;
$$;

revoke all on function plane.get_manifest(text) from public;
grant execute on function plane.get_manifest(text) to plane_producer, plane_reader;

comment on function plane.get_manifest(text) is
'The operations of a surface, every version of each, by name and version: name, version, params_schema (a JSON Schema),
ttl_seconds (0 is never cached), timeout_seconds, per_actor. A request that names no version gets the newest.
Raises PL404 no such queue.
Raises PL503 no manifest yet.
Role: plane_producer, plane_reader.';
