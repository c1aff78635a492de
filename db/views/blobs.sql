-- blobs: every blob that readers may still ask for, or that has bytes to be reaped.
create or replace view plane.blobs as
select b.job_id, b.attempt, b.number as blob, q.name as queue, b.content_type, b.filename, b.size, b.created_at,
    coalesce(b.used_at, o.finished_at) + q.blob_retention as expires_at, b.reaped_at
from plane.blob b
left join plane.queue q on q.id = b.queue_id
left join plane.outcome o on o.job_id = b.job_id and o.attempt = b.attempt and o.status = 'done';

revoke all on plane.blobs from public;
grant select on plane.blobs to plane_admin;

comment on view plane.blobs is 'Every blob, without its bytes.';
comment on column plane.blobs.job_id is 'The job whose attempt wrote it.';
comment on column plane.blobs.attempt is 'That attempt.';
comment on column plane.blobs.blob is 'Its number within the attempt, which the result names.';
comment on column plane.blobs.queue is 'Queue of the job; NULL once that was dropped.';
comment on column plane.blobs.content_type is 'Media type of its content.';
comment on column plane.blobs.filename is 'Name to save it under; NULL is none.';
comment on column plane.blobs.size is 'Bytes written.';
comment on column plane.blobs.created_at is 'When it was begun.';
comment on column plane.blobs.expires_at is 'Until when it can be read; NULL: never yet, since its attempt has not finished the job.';
comment on column plane.blobs.reaped_at is 'Since when its bytes are going or gone; NULL is not.';
