-- _broken_jobs: a job is live or has ended. Finished jobs are many, so only the newest are looked through; and ids are
-- never drawn twice.
create or replace function plane._broken_jobs(
    p_newest integer
)
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with bound as (
        select coalesce(plane._nth_newest(p_newest), 0) as floor
    )
    select 'job_in_no_place', (select j.queue_id from plane.job j where j.id = l.id), l.id,
        'These jobs are neither live nor ended: no claim finds them and nobody gets their answer. Enqueue them anew.'
    from (
        select j.id from plane.job j where j.id > (select floor from bound)
        except
        select o.job_id from plane.outcome o where o.job_id > (select floor from bound)
        except
        select p.job_id from plane._places() p
    ) as l
    union all
    select 'sequence_behind', null, m.id,
        'This id or position is higher than any that plane.job_id_seq has drawn: new jobs will collide with old ones. '
        'Set the sequence beyond it.'
    from (
        select greatest(
            (select max(j.id) from plane.job j), (select max(r.pos) from plane.ready r), (select max(w.pos) from plane.waiting w))
    ) as m (id)
    where m.id > coalesce(pg_sequence_last_value('plane.job_id_seq'), 0);
$$;

revoke all on function plane._broken_jobs(integer) from public;

comment on function plane._broken_jobs(integer) is
'Jobs among the newest so many (NULL: all) that are nowhere, and an id beyond the sequence.';
