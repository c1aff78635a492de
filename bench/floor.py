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
create index job_pending_idx on floor.job (id) where status = 'pending';
"""

CLAIM = """\
update floor.job
set status = 'running', claimed_at = now()
where id = (
    select id from floor.job where status = 'pending' order by id limit 1 for update skip locked)
returning id, payload"""

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


def install(url: str) -> None:
    """Make the floor's table."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA)


ENQUEUE = "insert into floor.job (payload) values (:payload) returning id"

FLOOR = Queue(
    name="floor",
    install=install,
    enqueue=ENQUEUE,
    enqueue_keyed=ENQUEUE,
    bulk_argument=f"select array_agg('{PAYLOAD}'::jsonb) as jobs from generate_series(1, {BULK})",
    bulk="insert into floor.job (payload) select unnest(:jobs::jsonb[]) returning id",
    claim=CLAIM,
    complete="delete from floor.job where id = :id",
    claim_batch=CLAIM_BATCH,
    complete_batch="delete from floor.job where id = any (:ids)",
    fill=f"insert into floor.job (payload) select '{PAYLOAD}' from generate_series(1, %(n)s)",
    left="select count(*) from floor.job",
)
