"""Three queues of others, through their own functions or the statements that their packages send.

All are driven by the same pgbench as the floor, so that no driver of theirs weighs in.
"""

import json
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg
from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder
from procrastinate.schema import SchemaManager

from bench.queues import BULK, KEY, PAYLOAD, Queue

FOLDER = Path(__file__).parent


def find_peers() -> list[Queue]:
    """The peers that can be run here: graphile-worker needs Node."""
    here = [pgqueuer(), procrastinate()]
    return [graphile_worker(), *here] if shutil.which("node") else here


def graphile_worker() -> Queue:
    """graphile-worker: jobs are deleted when they are done."""
    node = str(shutil.which("node"))
    asked = subprocess.run(  # noqa: S603 - our own script
        [node, "graphile.mjs"], cwd=FOLDER, capture_output=True, text=True, check=True
    )
    sent: dict[str, str] = json.loads(asked.stdout)
    worker, tasks = "('worker-' || :client_id)", "'{1}'"
    claim_ten = _with(sent["claimTen"], {1: worker, 2: tasks}).replace("limit 10\n", "limit {n}\n")
    claim, update = claim_ten.rsplit("\n  update ", 1)

    def install(url: str) -> None:
        migrate = [node, "node_modules/graphile-worker/dist/cli.js", "--schema-only", "-c", url]
        subprocess.run(migrate, cwd=FOLDER, capture_output=True, check=True)  # noqa: S603
        _execute(url, "insert into graphile_worker._private_tasks (identifier) values ('report')")

    return Queue(
        name="graphile-worker",
        install=install,
        enqueue="select * from graphile_worker.add_job('report', :payload::json)",
        enqueue_keyed=f"""\
select * from graphile_worker.add_job('report', :payload::json, job_key => {KEY})""",
        bulk_arguments=f"""\
select json_agg(json_build_object('identifier', 'report', 'payload', '{PAYLOAD}'::json)) as jobs
from generate_series(1, {BULK})""",
        bulk="""\
select * from graphile_worker.add_jobs(
    array(select json_populate_recordset(null::graphile_worker.job_spec, :jobs::json)), false)""",
        claim=_with(sent["claim"], {1: worker, 2: tasks}),
        complete=_with(sent["complete"], {1: ":id"}),
        claim_batch=f"""\
{claim}, claimed as (
  update {update.replace("returning *", "returning jobs.*")})
select coalesce(array_agg(id), '{{}}') as ids, array_agg(payload) as payloads from claimed""",
        complete_batch=_with(sent["completeTen"], {1: ":ids"}),
        fill=f"""\
select count(*) from graphile_worker.add_jobs(array(
    select json_populate_record(null::graphile_worker.job_spec, json_build_object(
        'identifier', 'report', 'payload', '{PAYLOAD}'::json,
        'job_key', case when %(keyed)s then encode(sha256(i::text::bytea), 'hex') end))
    from generate_series(1, %(n)s) as i), false)""",
        left="select count(*) from graphile_worker._private_jobs",
        channel="jobs:insert",
    )


def pgqueuer() -> Queue:
    """pgqueuer: jobs move to a log when they are done."""
    queries = QueryQueueBuilder()
    enqueue, done = queries.build_enqueue_query(), queries.build_log_job_query()
    claim = _with(
        queries.build_dequeue_query(
            batch_size=1,
            entrypoints=["report"],
            concurrency_limits=[0],
            queue_manager_id=UUID(int=0),
            global_concurrency_limit=None,
            heartbeat_timeout=timedelta(seconds=30),
        ).sql.removesuffix(";"),
        {
            1: ":batch",
            2: "'{report}'",
            3: "lpad(:client_id::text, 32, '0')::uuid",
            4: "'30 seconds'",
        },
    )
    last = "SELECT * FROM claimed ORDER BY priority DESC, id ASC"
    one = {1: "'{0}'", 2: "'{report}'", 4: "'{00:00}'", 6: "array['null']"}
    payload = "array[convert_to(:payload, 'utf8')]"
    many = {
        1: "array_fill(0, array[{n}])",
        2: "array_fill('report'::text, array[{n}])",
        4: "array_fill('00:00'::interval, array[{n}])",
        6: "array_fill('null'::jsonb, array[{n}])",
    }
    filled = f"array_fill(convert_to('{PAYLOAD}', 'utf8'), array[%(n)s])"
    keys = """\
array(select case when %(keyed)s then encode(sha256(i::text::bytea), 'hex') end
    from generate_series(1, %(n)s) as i)"""
    return Queue(
        name="pgqueuer",
        install=lambda url: _execute(url, QueryBuilderEnvironment().build_install_query()),
        enqueue=_with(enqueue, {**one, 3: payload, 5: "'{NULL}'"}),
        enqueue_keyed=_with(enqueue, {**one, 3: payload, 5: f"array[{KEY}]"}),
        bulk_arguments=f"""\
select array_agg(convert_to('{PAYLOAD}', 'utf8')) as jobs, array_agg(0) as priorities,
    array_agg('report'::text) as entrypoints, array_agg('00:00'::interval) as delays,
    array_agg(null::text) as keys, array_agg('null'::jsonb) as headers
from generate_series(1, {BULK})""",
        bulk=_with(
            enqueue,
            {1: ":priorities", 2: ":entrypoints", 3: ":jobs", 4: ":delays", 5: ":keys",
             6: ":headers"},
        ),
        claim=claim,
        complete=_with(done, {1: "array[:id]", 2: "'{successful}'", 3: "'{NULL}'"}),
        claim_batch=claim.replace(
            last,
            """\
select coalesce(array_agg(id), '{}') as ids, array_agg(payload) as payloads,
    array_agg('successful'::text) as statuses, array_agg(null::jsonb) as tracebacks
from claimed""",
        ),
        complete_batch=_with(done, {1: ":ids", 2: ":statuses", 3: ":tracebacks"}),
        fill=_with(
            enqueue.replace("%", "%%"),
            {**{at: text.replace("{n}", "%(n)s") for at, text in many.items()}, 3: filled, 5: keys},
        ),
        left="select count(*) from pgqueuer where status in ('queued', 'picked')",
        channel="ch_pgqueuer",
    )  # fmt: skip


def procrastinate() -> Queue:
    """procrastinate: jobs stay, with an event for each change; none is claimed in batches."""

    def job(payload: str, key: str) -> str:
        return f"('bench', 'report', 0, null, {key}, {payload}::jsonb, null)"

    def defer(payload: str, key: str) -> str:
        return f"""\
select unnest(procrastinate_defer_jobs_v1(
    array[{job(payload, key)}]::procrastinate_job_to_defer_v1[])) as id"""

    some = """\
array(select {job}::procrastinate_job_to_defer_v1 from generate_series(1, {n}) as i)"""
    filled = job(
        f"'{PAYLOAD}'", "case when %(keyed)s then encode(sha256(i::text::bytea), 'hex') end"
    )
    return Queue(
        name="procrastinate",
        install=lambda url: _execute(url, SchemaManager.get_schema()),
        enqueue=defer(":payload", "null"),
        enqueue_keyed=defer(":payload", KEY),
        bulk_arguments="select "
        + some.format(job=job(f"'{PAYLOAD}'", "null"), n=BULK)
        + " as jobs",
        bulk="""\
select unnest(procrastinate_defer_jobs_v1(:jobs::procrastinate_job_to_defer_v1[])) as id""",
        claim="""\
select id, args as payload, status, task_name, priority, lock, queueing_lock, scheduled_at,
    queue_name, attempts, worker_id
from procrastinate_fetch_job_v2('{bench}'::varchar[], null)
where id is not null""",
        complete="select procrastinate_finish_job_v1(:id, 'succeeded', false)",
        claim_batch=None,
        complete_batch=None,
        fill="select procrastinate_defer_jobs_v1(" + some.format(job=filled, n="%(n)s") + ")",
        left="select count(*) from procrastinate_jobs where status in ('todo', 'doing')",
        channel="procrastinate_queue_v1#bench",
    )


def _with(statement: str, arguments: dict[int, str]) -> str:
    """The statement with pgbench's variables or constants in place of $1, $2, …"""
    return re.sub(r"\$(\d+)", lambda at: arguments[int(at[1])], statement).rstrip()


def _execute(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())
