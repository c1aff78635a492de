-- Blobs: payloads too large for a result. Their bytes are chunks of up to 1 MiB in rows of their own, written once.
-- No foreign keys: a queue or a job goes without waiting for its blobs, which plane.reap_blobs removes afterwards.

alter table plane.queue
    add column blob_retention interval not null default '24 hours',
    add constraint queue_blob_retention_check check (blob_retention >= interval '0');
comment on column plane.queue.blob_retention is 'How long blobs can be read after their job has finished.';

create table plane.blob (
    job_id       bigint      not null,
    attempt      integer     not null,
    number       integer     not null,
    queue_id     integer     not null,
    size         bigint      not null,
    created_at   timestamptz not null,
    used_at      timestamptz,
    reap_at      timestamptz not null,
    reaped_at    timestamptz,
    content_type text        not null,
    filename     text,

    constraint blob_pkey primary key (job_id, attempt, number),
    constraint blob_number_check check (number > 0),
    constraint blob_size_check check (size >= 0)
) with (fillfactor = 70);
create index blob_reap_at_idx on plane.blob (reap_at);
comment on table plane.blob is
'Blobs, one row each; it outlives the bytes for as long as a job has or uses it, so that a reader learns that they expired.';
comment on column plane.blob.job_id is 'The job whose attempt wrote it.';
comment on column plane.blob.attempt is 'That attempt; it can be read once this one has finished the job.';
comment on column plane.blob.number is 'Number of the blob within the attempt, from 1.';
comment on column plane.blob.queue_id is 'Queue of the job, whose blob_retention rules.';
comment on column plane.blob.size is 'Bytes written so far.';
comment on column plane.blob.created_at is 'When it was begun.';
comment on column plane.blob.used_at is
'When another job''s result last used it, a minute rounded up, so that one much used is not written at each use; NULL is never.';
comment on column plane.blob.reap_at is 'When plane.reap_blobs is to look at it next.';
comment on column plane.blob.reaped_at is 'Since when its bytes are going or gone; NULL is not.';
comment on column plane.blob.content_type is 'Media type of its content.';
comment on column plane.blob.filename is 'Name to save it under; NULL is none.';

create table plane.blob_chunk (
    job_id  bigint  not null,
    attempt integer not null,
    number  integer not null,
    start   bigint  not null,
    data    bytea   not null,

    constraint blob_chunk_pkey primary key (job_id, attempt, number, start),
    constraint blob_chunk_data_check check (octet_length(data) between 1 and 1048576)
) with (toast.autovacuum_vacuum_scale_factor = 0.05);
-- Out of line and not compressed, so that a few bytes of a chunk are read without the rest.
alter table plane.blob_chunk alter column data set storage external;
comment on table plane.blob_chunk is 'The bytes of blobs, one row a write.';
comment on column plane.blob_chunk.job_id is 'The job.';
comment on column plane.blob_chunk.attempt is 'The attempt.';
comment on column plane.blob_chunk.number is 'Number of the blob.';
comment on column plane.blob_chunk.start is 'Offset of the first byte in the blob.';
comment on column plane.blob_chunk.data is 'The bytes.';

create table plane.blob_share (
    job_id         bigint  not null,
    origin_id      bigint  not null,
    origin_attempt integer not null,

    constraint blob_share_pkey primary key (job_id)
);
create index blob_share_origin_id_idx on plane.blob_share (origin_id);
comment on table plane.blob_share is 'Jobs whose result uses the blobs of another job, the one that computed it.';
comment on column plane.blob_share.job_id is 'The job whose result uses them.';
comment on column plane.blob_share.origin_id is 'The job that wrote them.';
comment on column plane.blob_share.origin_attempt is 'The attempt that wrote them.';
