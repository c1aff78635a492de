"""The floor: the least that can be called a queue. No fence, no lease, no retry, no result."""

import psycopg

from bench.queues import BULK, PAYLOAD, Queue

SCHEMA = """\
create schema floor;
create table floor.job (
    id         bigint      generated always as identity primary key,
    payload    jsonb       not null,
    status     text        not null default 'pending',
    created_at timestamptz not null default now(),
    claimed_at timestamptz
);
create index job_pending_idx on floor.job (id) where status = 'pending';"""

ENQUEUE = "insert into floor.job (payload) values (:payload::jsonb) returning id"

CLAIM = """\
update floor.job
set status = 'running', claimed_at = now()
where id = (
    select id from floor.job where status = 'pending' order by id limit 1 for update skip locked)
returning id, payload"""

COMPLETE = "delete from floor.job where id = :id"

BULK_ENQUEUE = "insert into floor.job (payload) select unnest(:jobs::jsonb[]) returning id"

CLAIM_BATCH = """\
with claimed as (
    update floor.job
    set status = 'running', claimed_at = now()
    where id = any (array(
        select id from floor.job where status = 'pending'
        order by id limit {n} for update skip locked))
    returning id, payload)
select coalesce(array_agg(id), '{}') as ids, array_agg(payload) as payloads
from claimed"""

COMPLETE_BATCH = "delete from floor.job where id = any (:ids)"

SQL = ";\n\n".join([
    SCHEMA.removesuffix(";"), ENQUEUE, CLAIM, COMPLETE, BULK_ENQUEUE, CLAIM_BATCH, COMPLETE_BATCH
]) + ";"  # fmt: skip
"""All of it, as it is printed beside the figures."""


def install(url: str) -> None:
    """Make the floor's table."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA)


FLOOR = Queue(
    name="floor",
    install=install,
    enqueue=ENQUEUE,
    enqueue_keyed=ENQUEUE,
    bulk_arguments=f"select array_agg('{PAYLOAD}'::jsonb) as jobs from generate_series(1, {BULK})",
    bulk=BULK_ENQUEUE,
    claim=CLAIM,
    complete=COMPLETE,
    claim_batch=CLAIM_BATCH,
    complete_batch=COMPLETE_BATCH,
    fill=f"insert into floor.job (payload) select '{PAYLOAD}' from generate_series(1, %(n)s)",
    left="select count(*) from floor.job",
    channel="floor",
    enqueue_telling=f"with job as ({ENQUEUE}) select id, pg_notify('floor', '') from job",
)
