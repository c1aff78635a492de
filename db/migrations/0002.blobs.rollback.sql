-- Blobs that could still be read are lost.
drop table plane.blob_share, plane.blob_chunk, plane.blob;
alter table plane.queue drop column blob_retention;
