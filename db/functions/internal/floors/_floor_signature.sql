-- _floor_signature: ties floors to the lanes they belong to and to a tenth of a second.
create or replace function plane._floor_signature(
    p_floors text,
    p_lanes  integer[],
    p_now    timestamptz
)
    returns text
    language sql
    stable
return hashtext(p_floors || p_lanes::text || floor(extract(epoch from p_now) * 10)::text)::text;

revoke all on function plane._floor_signature(text, integer[], timestamptz) from public;

comment on function plane._floor_signature(text, integer[], timestamptz) is
'Hash over floors, lanes and the tenth of a second.';
