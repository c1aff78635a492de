-- _lane: the lane of plane.ready for a priority; work that came back goes before work that never was claimed.
create or replace function plane._lane(
    p_priority  integer,
    p_came_back boolean
)
    returns integer
    language sql
    immutable
return 2 * p_priority + case when p_came_back then 0 else 1 end;

revoke all on function plane._lane(integer, boolean) from public;

comment on function plane._lane(integer, boolean) is
'Lane of plane.ready: 2 × priority, + 1 for work that never was claimed.';
