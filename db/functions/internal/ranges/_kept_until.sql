-- _kept_until: until when a finished job is kept at least; NULL is for ever. Bound at creation, so that it is inlined.
create or replace function plane._kept_until(
    p_status           text,
    p_finished_at      timestamptz,
    p_retention        interval,
    p_poison_retention interval
)
    returns timestamptz
    language sql
    stable
return p_finished_at + case when p_status = 'poison' then p_poison_retention else p_retention end;

revoke all on function plane._kept_until(text, timestamptz, interval, interval) from public;

comment on function plane._kept_until(text, timestamptz, interval, interval) is
'Until when a job that ended so is kept by these settings of its queue; NULL is for ever.';
