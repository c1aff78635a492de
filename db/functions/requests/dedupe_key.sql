-- dedupe_key: two live requests are the same question exactly when theirs is equal.
create or replace function plane.dedupe_key(
    p_surface   text,
    p_operation text,
    p_version   integer,
    p_client    text,
    p_scope_key text,
    p_params    jsonb
)
    returns text
    language sql
    immutable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
    select encode(sha256(convert_to(
        jsonb_build_array('request', p_surface, p_operation, p_version, p_client, p_scope_key, p_params)::text, 'UTF8')), 'hex');
$$;

revoke all on function plane.dedupe_key(text, text, integer, text, text, jsonb) from public;
grant execute on function plane.dedupe_key(text, text, integer, text, text, jsonb)
    to plane_producer, plane_worker, plane_reader, plane_relay, plane_admin;

comment on function plane.dedupe_key(text, text, integer, text, text, jsonb) is
'Hash (sha256, 64 hex digits) of a question: surface, operation, version, client, scope key and params as canonical jsonb.
Role: plane_producer, plane_worker, plane_reader, plane_relay, plane_admin.';
