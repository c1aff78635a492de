-- _run_slot: the place of a day in the ring of telemetry.
create or replace function plane._run_slot(
    p_at timestamptz
)
    returns smallint
    language sql
    stable
as $$
    select (floor(extract(epoch from p_at) / 86400)::bigint % 9)::smallint;
$$;

revoke all on function plane._run_slot(timestamptz) from public;

comment on function plane._run_slot(timestamptz) is
'The place of this day (UTC) in the ring, 0 to 8.';
