-- _broken_keys: at most one live job a queue and dedupe key, and plane.live_key says which.
-- A fresh request takes the key of a job that it may not join: that one goes on without, legal for as long as a later
-- request of the key is on record, so only jobs that are younger than their queue's retention can be judged. Where it rolls
-- back after that job had ended, the key stays, until somebody asks again. No trace of that is left, but a request's key
-- has the form that plane.dedupe_key gives: no other key is ever locked while its job ends.
create or replace function plane._broken_keys(
    p_newest integer
)
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    with keyless as materialized (
        select j.id, j.queue_id, j.dedupe_key, j.created_at
        from (
            select p.job_id from plane._places() p where p.place <> 'stopping'
            except
            select k.job_id from plane.live_key k
        ) as p
        cross join lateral (select f.* from plane.job f where f.id = p.job_id and f.dedupe_key is not null offset 0) as j
        where j.id > coalesce((select plane._nth_newest(p_newest)), 0)
            and (select true from plane.outcome o where o.job_id = j.id) is null
    ), judged as (
        select k.id, k.queue_id, (
                select true from plane.live_key l where l.key = plane._hash_key(k.queue_id, k.dedupe_key)) as is_taken
        from keyless k
        join plane.queue q on q.id = k.queue_id
        where k.created_at > plane._now() - q.retention
            and (
                select true
                from plane.job u
                where u.id > k.id and u.by_request and u.queue_id = k.queue_id and u.dedupe_key = k.dedupe_key
                limit 1) is null
    ), key as materialized (
        select k.key, k.job_id, j.id, j.queue_id, j.dedupe_key
        from plane.live_key k
        left join lateral (select f.* from plane.job f where f.id = k.job_id offset 0) as j on true
    ), placeless as (
        select k.job_id from plane.live_key k
        except
        select p.job_id from plane._places() p
    )
    select 'job_without_key', k.queue_id, k.id,
        'Nobody has the dedupe key of these live jobs: the same question makes a second one. Insert it in plane.live_key.'
    from judged k
    where k.is_taken is null
    union all
    select 'two_jobs_of_a_key', k.queue_id, k.id,
        'Another live job has the dedupe key of these: one question is answered twice. Cancel the one that is not wanted.'
    from judged k
    where k.is_taken
    union all
    select 'key_without_job', null, k.job_id,
        'A dedupe key belongs to these ids, which are no jobs: who asks that question gets no answer. '
        'Delete the rows of plane.live_key.'
    from key k
    where k.id is null
    union all
    select 'key_of_another_question', k.queue_id, k.id,
        'These jobs have the dedupe key of another question, whose askers get their answer. Delete the rows of plane.live_key.'
    from key k
    where k.id is not null and k.key is distinct from plane._hash_key(k.queue_id, k.dedupe_key)
    union all
    select 'key_outlasts_job', k.queue_id, k.id,
        'These jobs have ended and kept their dedupe key. Who asks that question next takes it; until then it is in nobody''s '
        'way. Delete the rows of plane.live_key.'
    from placeless p
    join key k on k.job_id = p.job_id
    where k.key = plane._hash_key(k.queue_id, k.dedupe_key) and not plane._is_request_key(k.dedupe_key)
        and (select true from plane.outcome o where o.job_id = k.id);
$$;

revoke all on function plane._broken_keys(integer) from public;

comment on function plane._broken_keys(integer) is
'Dedupe keys and live jobs that do not belong together; jobs without their key among the newest so many (NULL: all).';
