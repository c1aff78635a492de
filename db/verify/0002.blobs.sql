-- Raises unless every table of blobs is there with the columns that functions rely on.
select blob_retention from plane.queue where false;
select job_id, attempt, number, queue_id, size, created_at, used_at, reap_at, reaped_at, content_type, filename from plane.blob where false;
select job_id, attempt, number, start, data from plane.blob_chunk where false;
select job_id, origin_id, origin_attempt from plane.blob_share where false;
