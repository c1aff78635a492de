-- _repaired: settling never fails on content, so what json can carry and text cannot is replaced: a NUL, and half
-- of a character written as two \u escapes. Otherwise one such text would fail every reader who takes it by ->>.
-- Escaped backslashes are put away first, so that what then looks like an escape is one, then whole pairs, so that
-- what then looks like half of one is; control characters can stand for them, since JSON has none. No look-behind:
-- it begins at the first character again for each match. A caller's way of reading backslashes is not ours.
create or replace function plane._repaired(
    p_content json
)
    returns json
    language plpgsql
    immutable
    strict
as $$
declare
    v_content text := p_content::text;
begin
    -- E'…' reads the same whatever the caller's standard_conforming_strings
    if v_content !~ E'\\\\u(0000|[dD][89a-fA-F])' then
        return p_content;
    end if;
    v_content := replace(v_content, E'\\\\', chr(1));
    v_content := replace(v_content, E'\\u0000', E'\\ufffd');
    v_content := regexp_replace(v_content, E'\\\\u(d[89ab]..)\\\\u(d[c-f]..)', chr(2) || E'\\1' || chr(2) || E'\\2', 'gi');
    v_content := regexp_replace(v_content, E'\\\\ud[89a-f]..', E'\\\\ufffd', 'gi');
    return replace(replace(v_content, chr(2), E'\\u'), chr(1), E'\\\\')::json;
end;
$$;

revoke all on function plane._repaired(json) from public;

comment on function plane._repaired(json) is
'The same JSON with each NUL character, and each half of a surrogate pair alone, replaced by U+FFFD.';
