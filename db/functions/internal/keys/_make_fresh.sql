-- _make_fresh: lets a fresh request join a live job: one that nobody holds becomes fresh, a held one must be.
-- One that a claim takes from place to place meanwhile is looked for in all of them at once: it may be fresh already.
create or replace function plane._make_fresh(
    p_job_id bigint
)
    returns boolean
    language plpgsql
    volatile
as $$
begin
    perform from plane.lease l where l.job_id = p_job_id and l.fresh and l.cancelled_by is null;
    if found then
        return true;
    end if;
    update plane.ready r
    set fresh = true
    where r.ctid = (
        select f.ctid
        from plane.job j
        join plane.ready f on f.queue_id = j.queue_id and f.lane = plane._lane(j.priority, false) and f.pos = j.id
        where j.id = p_job_id
        for update of f skip locked);
    if found then
        return true;
    end if;
    update plane.ready r
    set fresh = true
    where r.ctid = (
        select f.ctid from plane.ready f where f.job_id = p_job_id and f.pos <> f.job_id for update skip locked);
    if found then
        return true;
    end if;
    update plane.due d
    set fresh = true
    where d.ctid = (select f.ctid from plane.due f where f.job_id = p_job_id for update skip locked);
    if found then
        return true;
    end if;
    update plane.waiting w
    set fresh = true
    where w.ctid = (select f.ctid from plane.waiting f where f.job_id = p_job_id for update skip locked);
    if found then
        return true;
    end if;
    perform from plane.lease l where l.job_id = p_job_id and l.fresh and l.cancelled_by is null
    union all
    select
    from plane.job j
    join plane.ready f on f.queue_id = j.queue_id and f.lane = plane._lane(j.priority, false) and f.pos = j.id
    where j.id = p_job_id and f.fresh
    union all
    select from plane.ready f where f.job_id = p_job_id and f.pos <> f.job_id and f.fresh
    union all
    select from plane.due f where f.job_id = p_job_id and f.fresh
    union all
    select from plane.waiting f where f.job_id = p_job_id and f.fresh;
    return found;
end;
$$;

revoke all on function plane._make_fresh(bigint) from public;

comment on function plane._make_fresh(bigint) is
'True when the live job runs fresh, or now will; false when it is held by an attempt that may use caches.';
