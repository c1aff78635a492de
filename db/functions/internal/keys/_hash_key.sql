-- _hash_key: what plane.live_key stores of a dedupe key: sixteen bytes, whatever its length.
create or replace function plane._hash_key(
    p_queue_id   integer,
    p_dedupe_key text
)
    returns uuid
    language sql
    stable
    strict
return encode(substring(sha256(int4send(p_queue_id) || convert_to(p_dedupe_key, 'UTF8')) from 1 for 16), 'hex')::uuid;

revoke all on function plane._hash_key(integer, text) from public;

comment on function plane._hash_key(integer, text) is
'First half of the sha256 over queue id and dedupe key; NULL for none.';
