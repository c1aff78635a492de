-- _is_name: whether a text can name somebody or something. An expression, so that asking costs no call.
create or replace function plane._is_name(
    p_name text
)
    returns boolean
    language sql
    immutable
return coalesce(length(p_name) between 1 and 200, false);

revoke all on function plane._is_name(text) from public;

comment on function plane._is_name(text) is
'Whether a text has 1 to 200 characters.';
