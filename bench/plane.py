"""The ledger, through the functions that an application calls."""

import psycopg

from bench.queues import BULK, KEY, PAYLOAD, Queue
from tests.support.postgres import install_plane

JOB = f"""jsonb_build_object('operation', 'report', 'params', '{PAYLOAD}'::jsonb)"""

CLAIM_BATCH = """\
select coalesce(array_agg(job_id), '{}') as ids, array_agg(attempt) as attempts,
    array_agg(params) as payloads, array_agg(:result::json) as results
from plane.claim('bench', 'worker-' || :client_id, {n})"""

# Thousands at a time, as enqueue_many takes them. In the select list: a join would be free to call
# it once for equal arguments (Memoize).
FILL = f"""\
select sum((select count(*) from plane.enqueue_many('bench', j.jobs)))
from (
    select jsonb_agg({JOB} || case when %(keyed)s then jsonb_build_object(
        'dedupe_key', encode(sha256(i::text::bytea), 'hex')) else '{{}}' end) as jobs
    from generate_series(1, %(n)s) as i
    group by (i - 1) / {BULK}) as j"""


def queue(name: str, notify: str) -> Queue:
    """The ledger with a queue of this notification mode."""

    def install(url: str) -> None:
        install_plane(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select plane.create_queue('bench', p_notify => %s)", [notify])

    return Queue(
        name=name,
        install=install,
        enqueue="select * from plane.enqueue('bench', 'report', :payload)",
        enqueue_keyed=f"""\
select * from plane.enqueue('bench', 'report', :payload, p_dedupe_key => {KEY})""",
        bulk_argument=f"select jsonb_agg({JOB}) as jobs from generate_series(1, {BULK})",
        bulk="select * from plane.enqueue_many('bench', :jobs)",
        claim="select job_id as id, * from plane.claim_one('bench', 'worker-' || :client_id)",
        complete="select plane.complete_job(:id, :attempt, :result)",
        claim_batch=CLAIM_BATCH,
        complete_batch="select * from plane.complete_jobs(:ids, :attempts, :results)",
        fill=FILL,
        left="select count(*) from plane.jobs where finished_at is null",
    )


PLANE = queue("pgplane", "always")
UNTOLD = queue("pgplane, never", "never")
