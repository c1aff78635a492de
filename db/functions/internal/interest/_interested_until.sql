-- _interested_until: how long somebody who asks for a job is taken to want it, unless he waits for it or leaves it.
create or replace function plane._interested_until(
    p_asked_at timestamptz
)
    returns timestamptz
    language sql
    stable
return p_asked_at + interval '2 minutes';

revoke all on function plane._interested_until(timestamptz) from public;

comment on function plane._interested_until(timestamptz) is
'Two minutes after somebody asked.';
