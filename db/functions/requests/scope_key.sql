-- scope_key: two callers share jobs, answers and cache entries exactly when theirs is equal.
create or replace function plane.scope_key(
    p_client text,
    p_scope  jsonb,
    p_staff  boolean,
    p_actor  text default null
)
    returns text
    language plpgsql
    immutable
    security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_client, '') = '' or p_staff is null or p_actor = ''
        or jsonb_typeof(p_scope) is distinct from 'array' or p_scope = '[]' or p_scope @? '$[*] ? (@ == null || @ == "")'
    then
        raise exception using
            errcode = 'PL422',
            message = 'a caller has a client, a scope and a staff flag',
            detail = format('client_length=%s scope=%s staff=%s actor_length=%s',
                coalesce(length(p_client)::text, 'NULL'), coalesce(jsonb_typeof(p_scope), 'NULL'), p_staff, length(p_actor)),
            hint = 'The scope is an array of one branch or more, none of them empty; the actor is left out or not empty.';
    end if;
    return plane._hash_scope(p_client, p_scope, p_staff, p_actor);
end;
$$;

revoke all on function plane.scope_key(text, jsonb, boolean, text) from public;
grant execute on function plane.scope_key(text, jsonb, boolean, text)
    to plane_producer, plane_worker, plane_reader, plane_relay, plane_admin;

comment on function plane.scope_key(text, jsonb, boolean, text) is
'Hash (sha256, 64 hex digits) of who may see an answer: client, scope (a JSON array, taken as a set), staff flag,
and the actor for operations declared per actor.
Raises PL422 a caller has a client, a scope and a staff flag.
Role: plane_producer, plane_worker, plane_reader, plane_relay, plane_admin.';
