-- _storable: settling never fails on content, so what json can carry and text cannot (a NUL) is replaced.
-- An escaped backslash before u0000 is not a NUL: pairs of backslashes are passed over.
create or replace function plane._storable(
    p_content json
)
    returns json
    language plpgsql
    immutable
    strict
    set search_path = pg_catalog, pg_temp
as $$
begin
    if strpos(p_content::text, '\u0000') = 0 then
        return p_content;
    end if;
    return regexp_replace(p_content::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json;
end;
$$;

revoke all on function plane._storable(json) from public;

comment on function plane._storable(json) is
'The same JSON with each NUL character replaced by U+FFFD.';
