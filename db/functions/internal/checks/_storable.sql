-- _storable: JSON as it can be kept. An expression: only what has a \u in it may need a repair, and so a call.
create or replace function plane._storable(
    p_content json
)
    returns json
    language sql
    stable
return case when strpos(p_content::text, chr(92) || 'u') = 0 then p_content else plane._repaired(p_content) end;

revoke all on function plane._storable(json) from public;

comment on function plane._storable(json) is
'The same JSON with U+FFFD for what no text can hold; NULL stays NULL.';
