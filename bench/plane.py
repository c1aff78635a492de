"""The ledger, through the functions that an application calls."""

import psycopg

from bench.queues import BULK, KEY, PAYLOAD, Queue
from tests.support.postgres import install_plane

JOB = f"""jsonb_build_object('operation', 'report', 'params', '{PAYLOAD}'::jsonb)"""

CLAIM_BATCH = """\
select coalesce(array_agg(job_id), '{}') as ids, array_agg(attempt) as attempts,
    array_agg(params) as payloads, array_agg(:result::json) as results
from plane.claim('bench-0', 'worker-' || :client_id, {n})"""

# In the select list: a join would be free to call it once for equal arguments (Memoize).
FILL = f"""\
select sum((select count(*) from plane.enqueue_many('bench-0', j.jobs)))
from (
    select jsonb_agg({JOB} || case when %(keyed)s then jsonb_build_object(
        'dedupe_key', encode(sha256(i::text::bytea), 'hex')) else '{{}}' end) as jobs
    from generate_series(1, %(n)s) as i
    group by (i - 1) / {BULK}) as j"""


def plane(name: str, notify: str = "always", *, queues: int = 1, priorities: int = 1) -> Queue:
    """The ledger with so many queues of this notification mode, and so many priorities in use.

    Jobs go to a queue by chance; a worker serves one of them. Batches know the first queue only.
    """

    def install(url: str) -> None:
        install_plane(url)
        with psycopg.connect(url, autocommit=True) as connection:
            for number in range(queues):
                connection.execute(
                    "select plane.create_queue(%s, p_notify => %s)", [f"bench-{number}", notify]
                )

    chance = ""
    queue, serves, priority = "'bench-0'", "'bench-0'", ""
    if queues > 1:
        chance = f"\\set queue random(0, {queues - 1})\n"
        queue, serves = "'bench-' || :queue", f"'bench-' || (:client_id % {queues})"
    if priorities > 1:
        chance += f"\\set priority random(0, {priorities - 1})\n"
        priority = ", p_priority => :priority"
    enqueue = f"{chance}select * from plane.enqueue({queue}, 'report', :payload::jsonb{priority}"
    return Queue(
        name=name,
        install=install,
        enqueue=f"{enqueue})",
        enqueue_keyed=f"{enqueue}, p_dedupe_key => {KEY})",
        bulk_arguments=f"select jsonb_agg({JOB}) as jobs from generate_series(1, {BULK})",
        bulk="select * from plane.enqueue_many('bench-0', :jobs)",
        claim=f"""\
select job_id as id, params as payload, *
from plane.claim_one({serves}, 'worker-' || :client_id)""",
        complete="select plane.complete_job(:id, :attempt, :result)",
        claim_batch=CLAIM_BATCH,
        complete_batch="select * from plane.complete_jobs(:ids, :attempts, :results)",
        fill=FILL,
        left="select count(*) from plane.jobs where finished_at is null",
        channel="plane_ready",
        greet="select plane.register_worker('worker-' || :client_id, 'bench-0', '{}')",
    )
