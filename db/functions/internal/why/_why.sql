-- _why: the first of all reasons that holds, in the order in which a claim would come upon them.
-- Each of them is one look at one snapshot, the caller's: a job on its way elsewhere is seen in one place.
create or replace function plane._why(
    p_job plane.job
)
    returns table (reason text, says text, evidence jsonb)
    language sql
    stable
    -- not to be inlined: the reasons of a line ask it again
    set search_path = pg_catalog, pg_temp
as $$
    select w.reason, w.says, w.evidence
    from (
        select 1 as nth, f.* from plane._why_finished(p_job) f
        union all
        select 2, h.* from plane._why_held(p_job) h
        union all
        select 3, b.* from plane._why_broken(p_job) b
        union all
        select 4, p.* from plane._why_paused(p_job) p
        union all
        select 5, d.* from plane._why_due(p_job) d
        union all
        select 6, s.* from plane._why_in_line(p_job) s
        union all
        select 7, l.* from plane._why_locked(p_job) l
        union all
        select 8, n.* from plane._why_no_worker(p_job) n
        union all
        select 9, c.* from plane._why_next(p_job) c
    ) as w
    order by w.nth
    limit 1;
$$;

revoke all on function plane._why(plane.job) from public;

comment on function plane._why(plane.job) is
'The first reason why a job is not running, in a word, a sentence and its evidence.';
