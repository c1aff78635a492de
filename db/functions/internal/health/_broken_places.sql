-- _broken_places: a live job is in exactly one place, that of a queue which looks there, and its place agrees with it.
-- Here as in its neighbours: what has ended is many times what is live, and is only ever probed by id, row by row.
create or replace function plane._broken_places()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with place as materialized (
        select p.*, q.id is not null as has_queue, q.lanes, j.id is not null as has_job,
            p.queue_id <> j.queue_id
                or p.place in ('waiting', 'held', 'stopping') and p.serial_key is distinct from j.serial_key
                or p.place in ('held', 'stopping') and p.live_key is distinct from plane._hash_key(j.queue_id, j.dedupe_key)
                or p.place = 'ready' and p.pos = p.job_id and p.lane <> plane._lane(j.priority, false) as is_unlike,
            (select true from plane.outcome o where o.job_id = p.job_id) as is_ended,
            (
                select count(*) filter (where a.attempt between 1 and p.dequeue_count) <> p.dequeue_count
                    or count(*) <> p.dequeue_count
                from plane.attempt a
                where a.job_id = p.job_id
            ) as is_miscounted
        from plane._places() p
        left join plane.queue q on q.id = p.queue_id
        left join lateral (select f.* from plane.job f where f.id = p.job_id offset 0) as j on true
    )
    select 'place_without_job', p.queue_id, p.job_id,
        'These ids have a place and no job: a claim takes them away and hands out nothing. Delete the rows.'
    from place p
    where not p.has_job
    union all
    select 'place_without_queue', p.queue_id, p.job_id,
        'These jobs belong to no queue: nobody can claim them. Enqueue them anew elsewhere and delete them.'
    from place p
    where not p.has_queue
    union all
    select 'job_in_two_places', min(p.queue_id), p.job_id,
        'These jobs are in more than one place, and may be worked on twice. Delete all rows of each but one.'
    from place p
    group by p.job_id
    having count(*) > 1
    union all
    select 'ended_job_live', p.queue_id, p.job_id,
        'These jobs have ended and can still be claimed, or are held. Delete their places; their outcomes have been told.'
    from place p
    where p.is_ended
    union all
    select 'place_unlike_job', p.queue_id, p.job_id,
        'The place of these jobs says another queue, lane or key than the job itself. Put it right by the job.'
    from place p
    where p.is_unlike
    union all
    select 'lane_unlisted', p.queue_id, p.job_id,
        'These jobs are in a lane that no claim looks at. Add it, in order, to plane.queue.lanes.'
    from place p
    where p.place = 'ready' and not p.lane = any (p.lanes)
    union all
    select 'budget_overspent', p.queue_id, p.job_id,
        'These jobs have had all of their attempts and are not poison. Cancel them, or raise their max_dequeues.'
    from place p
    where p.dequeue_count >= p.max_dequeues
    union all
    select 'attempts_miscounted', p.queue_id, p.job_id,
        'The attempts on record are not those that were counted: a number may come twice, and with it the fence of a lost '
        'attempt. Make the count of these jobs the highest number in plane.attempt, and insert the records that are missing.'
    from place p
    where p.is_miscounted;
$$;

revoke all on function plane._broken_places() from public;

comment on function plane._broken_places() is
'Live jobs whose place is wrong: one row a problem and job.';
