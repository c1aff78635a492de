-- _position: how many jobs a claim would take first, this one included; counting ends at 1000.
create or replace function plane._position(
    p_job plane.job
)
    returns integer
    language plpgsql
    stable
as $$
declare
    v_lane integer;
    v_pos  bigint;
begin
    select r.lane, r.pos into v_lane, v_pos
    from plane.ready r
    where r.queue_id = p_job.queue_id and r.lane = plane._lane(p_job.priority, false) and r.pos = p_job.id;
    if not found then
        select r.lane, r.pos into v_lane, v_pos from plane.ready r where r.job_id = p_job.id and r.pos <> r.job_id;
    end if;
    if not found then
        return null;
    end if;
    return (
        select count(*)
        from (
            select
            from plane.ready r
            where r.queue_id = p_job.queue_id and (r.lane, r.pos) <= (v_lane, v_pos)
            limit 1000
        ) as ahead);
end;
$$;

revoke all on function plane._position(plane.job) from public;

comment on function plane._position(plane.job) is
'Place of a job among those ready to be claimed, from 1 to 1000; NULL when it is not among them.';
