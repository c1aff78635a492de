-- _hash_scope: what plane.scope_key says, of values that have been checked. Hashed as jsonb text, in which no value can pose
-- as two; a scope is a set, so order and repeats do not matter, and nor does the collation of the database.
create or replace function plane._hash_scope(
    p_client text,
    p_scope  jsonb,
    p_staff  boolean,
    p_actor  text
)
    returns text
    language plpgsql
    immutable
as $$
begin
    return encode(sha256(convert_to(
        jsonb_build_array('scope', p_client,
            (select jsonb_agg(b.value order by b.value::text collate "C")
                from (select distinct e.value from jsonb_array_elements(p_scope) as e) as b),
            p_staff, p_actor)::text, 'UTF8')), 'hex');
end;
$$;

revoke all on function plane._hash_scope(text, jsonb, boolean, text) from public;

comment on function plane._hash_scope(text, jsonb, boolean, text) is
'Hash (sha256, 64 hex digits) of client, scope, staff flag and actor; a NULL actor is none.';
