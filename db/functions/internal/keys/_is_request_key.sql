-- _is_request_key: whether a dedupe key has the form that plane.dedupe_key gives: no job of a request has another.
create or replace function plane._is_request_key(
    p_dedupe_key text
)
    returns boolean
    language sql
    immutable
return p_dedupe_key ~ '^[0-9a-f]{64}$';

revoke all on function plane._is_request_key(text) from public;

comment on function plane._is_request_key(text) is
'Whether a dedupe key has 64 hex digits; NULL for none.';
