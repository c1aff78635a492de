-- _is_large: whether a result or an error is too large to be kept inline. An expression, so that asking costs no call.
create or replace function plane._is_large(
    p_content json
)
    returns boolean
    language sql
    stable
return coalesce(octet_length(p_content::text) > 1048576, false);

revoke all on function plane._is_large(json) from public;

comment on function plane._is_large(json) is
'Whether JSON is above 1 MiB as text.';
