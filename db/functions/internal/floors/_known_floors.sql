-- _known_floors: the scan floors that a claim of this session went by in this same tenth of a second, as it noted them.
-- An expression: it is all that most claims do before they scan. The note bears a hash: a garbled one is none.
create or replace function plane._known_floors(
    p_note  text,
    p_lanes integer[],
    p_now   timestamptz
)
    returns bigint[]
    language sql
    stable
return case
    when split_part(p_note, '#', 1) = plane._floor_signature(split_part(p_note, '#', 2), p_lanes, p_now)
    then split_part(p_note, '#', 2)::bigint[]
end;

revoke all on function plane._known_floors(text, integer[], timestamptz) from public;

comment on function plane._known_floors(text, integer[], timestamptz) is
'The floors in a note of _refresh_floors; NULL where it is of another time, of other lanes, or garbled.';
