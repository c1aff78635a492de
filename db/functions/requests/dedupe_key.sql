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
    language plpgsql
    immutable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_surface, '') = '' or coalesce(p_operation, '') = '' or coalesce(p_version, 0) < 1
        or coalesce(p_client, '') = '' or coalesce(p_scope_key, '') = '' or jsonb_typeof(p_params) is distinct from 'object'
    then
        raise exception using
            errcode = 'PL422',
            message = 'a question has a surface, an operation, a version, a client, a scope key and params',
            detail = format('surface_length=%s operation_length=%s version=%s client_length=%s scope_key_length=%s params=%s',
                coalesce(length(p_surface)::text, 'NULL'), coalesce(length(p_operation)::text, 'NULL'),
                coalesce(p_version::text, 'NULL'), coalesce(length(p_client)::text, 'NULL'),
                coalesce(length(p_scope_key)::text, 'NULL'), coalesce(jsonb_typeof(p_params), 'NULL')),
            hint = 'None of them is empty; the version is 1 or more, the scope key plane.scope_key''s, params a JSON object.';
    end if;
    return encode(sha256(convert_to(
        jsonb_build_array('request', p_surface, p_operation, p_version, p_client, p_scope_key, p_params)::text, 'UTF8')), 'hex');
end;
$$;

revoke all on function plane.dedupe_key(text, text, integer, text, text, jsonb) from public;
grant execute on function plane.dedupe_key(text, text, integer, text, text, jsonb)
    to plane_producer, plane_worker, plane_reader, plane_relay, plane_admin;

comment on function plane.dedupe_key(text, text, integer, text, text, jsonb) is
'Hash (sha256, 64 hex digits) of a question: surface, operation, version, client, scope key and params as canonical jsonb.
p_surface: the name of the surface''s queue, as submit_request gives it, so that tiers never share an answer.
Raises PL422 a question has a surface, an operation, a version, a client, a scope key and params.
Role: plane_producer, plane_worker, plane_reader, plane_relay, plane_admin.';
