"""The ledger's calls: a job's whole life, in raw JSON, by the roles that may."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgplane import errors, ledger, session

QUEUE = "surface-test"
LEASE = timedelta(seconds=30)
MINUTE = timedelta(minutes=1)
ENVELOPE = '{"client": "acme", "actor": "ada", "staff": false, "scope": ["EWR"]}'
MANIFEST = (
    '[{"name": "echo", "version": 1, "params": {"type": "object"},'
    ' "ttl_seconds": 0, "timeout_seconds": 30, "per_actor": false}]'
)


@pytest.fixture
async def worker(as_worker: str, as_admin: str) -> AsyncIterator[session.Connection]:
    """A worker's connection; the queue is there."""
    admin = await session.connect(as_admin, application_name="test admin")
    async with admin:
        await ledger.create_queue(admin, QUEUE, lease=LEASE, backoff_factor=1.5)
    connection = await session.connect(as_worker, application_name="test worker")
    async with connection:
        yield connection


@pytest.fixture
async def edge(as_edge: str) -> AsyncIterator[session.Connection]:
    connection = await session.connect(as_edge, application_name="test edge")
    async with connection:
        yield connection


async def test_a_request_is_answered(edge: session.Connection, worker: session.Connection) -> None:
    assert await ledger.register_worker(worker, "w", QUEUE) == LEASE
    await ledger.register_manifest(worker, QUEUE, MANIFEST)
    params = '{"n": 12345678901234567890.10}'
    job_id, coalesced = await ledger.submit_request(edge, QUEUE, "echo", params, ENVELOPE)
    assert not coalesced
    assert await ledger.submit_request(edge, QUEUE, "echo", params, ENVELOPE) == (job_id, True)

    key = await ledger.scope_key(edge, "acme", '["EWR"]', False)
    assert await ledger.register_waiter(edge, QUEUE, job_id, key, "test", MINUTE)
    waiting = await ledger.await_job(edge, QUEUE, job_id, key)
    assert waiting is not None
    assert (waiting.status, waiting.result) == ("pending", None)

    (claim,) = await ledger.claim_one(worker, QUEUE, "w")
    assert (claim.job_id, claim.attempt, claim.operation, claim.version) == (job_id, 1, "echo", 1)
    assert claim.params == params.encode()
    assert claim.cache_key is not None
    assert not claim.fresh
    held = [(claim.job_id, claim.attempt)]
    assert await ledger.renew_leases(worker, "w", held) == [(job_id, "held", LEASE)]
    assert await ledger.complete_job(worker, job_id, 1, result='{"n": 1.50}', cache="hit")
    assert not await ledger.complete_job(worker, job_id, 1, result="2")

    answered = await ledger.get_job(edge, QUEUE, job_id, key)
    assert answered is not None
    assert (answered.status, answered.result, answered.cache) == ("done", b'{"n": 1.50}', "hit")
    assert [job.job_id for job in await ledger.get_results(edge, QUEUE, [(job_id, key)])] == [
        job_id
    ]
    stranger = await ledger.scope_key(edge, "other", '["EWR"]', False)
    assert await ledger.get_job(edge, QUEUE, job_id, stranger) is None
    assert await ledger.get_results(edge, QUEUE, []) == []


async def test_a_caller_waits_for_many_and_leaves_one(
    edge: session.Connection, worker: session.Connection
) -> None:
    with pytest.raises(errors.NotReady):
        await ledger.get_manifest(edge, QUEUE)
    await ledger.register_worker(worker, "w", QUEUE)
    await ledger.register_manifest(worker, QUEUE, MANIFEST)
    manifest = await ledger.get_manifest(edge, QUEUE)
    assert manifest == [("echo", 1, b'{"type": "object"}', 0, 30, False)]

    first, _ = await ledger.submit_request(edge, QUEUE, "echo", '{"n": 1}', ENVELOPE)
    second, _ = await ledger.submit_request(edge, QUEUE, "echo", '{"n": 2}', ENVELOPE)
    key = await ledger.scope_key(edge, "acme", '["EWR"]', False)
    own = await ledger.scope_key(edge, "acme", '["EWR"]', False, "ada")
    waiting = [(job_id, scope_key, own) for job_id in (second, first) for scope_key in (key, own)]
    seen = await ledger.register_waiters(edge, QUEUE, waiting, MINUTE)
    assert seen == [(second, key), (first, key)]
    jobs = await ledger.await_jobs(edge, QUEUE, seen)
    assert [(job.job_id, job.status) for job in jobs] == [(second, "pending"), (first, "pending")]

    assert await ledger.leave_job(edge, QUEUE, first, own, own) is None
    assert await ledger.leave_job(edge, QUEUE, first, key, own) == "cancelled"
    assert [claim.job_id for claim in await ledger.claim(worker, QUEUE, "w", 2)] == [second]
    with pytest.raises(errors.Invalid):
        await ledger.register_waiters(edge, QUEUE, [(first, key, "")], MINUTE)
    assert await ledger.register_waiters(edge, QUEUE, [], MINUTE) == []


async def test_a_blob_is_written_shared_and_read(
    edge: session.Connection, worker: session.Connection
) -> None:
    await ledger.register_manifest(worker, QUEUE, MANIFEST)
    for n in range(3):
        await ledger.submit_request(edge, QUEUE, "echo", f'{{"n": {n}}}', ENVELOPE)
    key = await ledger.scope_key(edge, "acme", '["EWR"]', False)
    first, second, third = [c.job_id for c in await ledger.claim(worker, QUEUE, "w", 3)]

    assert await ledger.put_blob(worker, first, 1, "text/csv", "a b.csv", b"a,\x00\xff") == 1
    assert await ledger.append_blob(worker, first, 1, 1, b"\n") == 5
    with pytest.raises(errors.Conflict, match="no longer holds"):
        await ledger.append_blob(worker, first, 2, 1, b"")
    with pytest.raises(errors.NotFound, match="no such blob"):
        await ledger.blob_info(edge, QUEUE, first, 1, key)
    assert await ledger.complete_job(worker, first, 1, result='{"blob": 1}')
    assert await ledger.complete_job(worker, second, 1, result='{"blob": 1}', blobs_of=first)
    assert await ledger.complete_jobs(
        worker, [(third, 1)], results=['{"blob": 1}'], blobs_of=[second]
    ) == [True]

    infos = [await ledger.blob_info(edge, QUEUE, job, 1, key) for job in (first, second, third)]
    assert [info[:3] for info in infos] == [("text/csv", "a b.csv", 5)] * 3
    assert len({info.etag for info in infos}) == 1
    assert await ledger.read_blob(edge, QUEUE, third, 1, key, 1, 3) == b",\x00\xff"
    assert await ledger.read_blob(edge, QUEUE, third, 1, key, 5, 1) == b""


async def test_what_a_run_took_is_told(worker: session.Connection, as_admin: str) -> None:
    at = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    await ledger.record_run(
        worker, QUEUE, "w", 7, 1, "echo", "done", at,
        version=2, cache="hit", queue_wait_ms=0.5, wall_ms=1.5, cpu_ms=1, rss_bytes=1 << 33,
    )  # fmt: skip
    await ledger.record_run(worker, QUEUE, "w", 8, 1, "echo", "lost", at)
    with psycopg.connect(as_admin) as admin:
        runs = admin.execute(
            "select job_id, attempt, operation, version, outcome, cache, started_at,"
            " queue_wait_ms, wall_ms, cpu_ms, rss_bytes from plane.worker_runs order by job_id"
        ).fetchall()
    assert runs == [
        (7, 1, "echo", 2, "done", "hit", at, 0.5, 1.5, 1, 1 << 33),
        (8, 1, "echo", None, "lost", None, at, None, None, None, None),
    ]


async def test_attempts_come_back_by_failure_release_and_in_batches(
    edge: session.Connection, worker: session.Connection
) -> None:
    first = await ledger.enqueue(edge, QUEUE, "echo", priority=1, dedupe_key="a", version=2)
    second = await ledger.enqueue(edge, QUEUE, "echo", max_dequeues=1)
    later = datetime.now(UTC) + timedelta(hours=1)
    await ledger.enqueue(edge, QUEUE, "echo", available_at=later, serial_key="s")
    assert await ledger.enqueue(edge, QUEUE, "echo", dedupe_key="a") == (first.job_id, True)

    claims = await ledger.claim(worker, QUEUE, "w", 10)
    assert [(c.job_id, c.version) for c in claims] == [(second.job_id, None), (first.job_id, 2)]
    assert await ledger.fail_job(worker, second.job_id, 1, '{"message": "no"}') == "poison"
    assert await ledger.release_job(worker, first.job_id, 1)
    assert not await ledger.release_job(worker, first.job_id, 1)
    (again,) = await ledger.claim_one(worker, QUEUE, "w")
    assert (again.job_id, again.attempt) == (first.job_id, 2)
    assert await ledger.fail_job(worker, first.job_id, 2, "{}", timedelta(hours=1)) == "pending"
    assert await ledger.claim(worker, QUEUE, "w", 10) == []
    lost = (first.job_id, "lost", None)
    assert await ledger.renew_leases(worker, "w", [(first.job_id, 2)]) == [lost]
    assert await ledger.renew_leases(worker, "w", []) == []
    assert await ledger.sweep(edge) >= 0
    assert await ledger.reap_blobs(worker) >= 0


async def test_a_job_is_watched_and_stopped(
    edge: session.Connection, worker: session.Connection, as_admin: str
) -> None:
    admin = await session.connect(as_admin, application_name="test admin")
    async with admin:
        job_id, _ = await ledger.enqueue(edge, QUEUE, "echo")
        await ledger.pause_queue(admin, QUEUE)
        assert await ledger.claim_one(worker, QUEUE, "w") == []
        await ledger.resume_queue(admin, QUEUE)
        assert [c.job_id for c in await ledger.claim_one(worker, QUEUE, "w")] == [job_id]

        assert await ledger.report_progress(worker, job_id, 1, 1) == "held"
        assert not await ledger.finish_cancel(worker, job_id, 1)
        assert await ledger.request_cancel(admin, job_id, "ann") == "cancelling"
        cancelling = (job_id, "cancelling", LEASE)
        assert await ledger.renew_leases(worker, "w", [(job_id, 1)]) == [cancelling]
        assert await ledger.report_progress(worker, job_id, 1, 2, 3, "rows") == "cancelling"
        assert await ledger.finish_cancel(worker, job_id, 1, result='{"rows": 2}')
        with pytest.raises(errors.Conflict, match="no longer holds"):
            await ledger.report_progress(worker, job_id, 1, 3)
        assert await ledger.request_cancel(admin, job_id, "ann") == "cancelled"
        with pytest.raises(errors.NotFound, match="no such job"):
            await ledger.request_cancel(admin, job_id + 1000, "ann")


async def test_poison_is_retried_and_an_idle_queue_dropped(
    edge: session.Connection, worker: session.Connection, as_admin: str
) -> None:
    admin = await session.connect(as_admin, application_name="test admin")
    async with admin:
        for name in ("echo", "echo", "other"):
            await ledger.enqueue(edge, QUEUE, name, max_dequeues=1)
        claims = await ledger.claim(worker, QUEUE, "w", 3)
        for claim in claims:
            assert await ledger.fail_job(worker, claim.job_id, 1, "{}") == "poison"
        assert await ledger.retry_job(admin, claims[0].job_id) == claims[0].job_id
        with pytest.raises(errors.Conflict, match="only a poison job"):
            await ledger.retry_job(admin, claims[0].job_id)
        hour = timedelta(hours=1)
        assert await ledger.retry_poison(admin, QUEUE, "echo", limit=5, spread=hour) == 1
        assert await ledger.retry_poison(admin, QUEUE) == 1

        with pytest.raises(errors.Conflict, match="live jobs"):
            await ledger.drop_queue(admin, QUEUE)
        for again in await ledger.claim(worker, QUEUE, "w", 3):
            assert again.attempt == 2
            assert await ledger.complete_job(worker, again.job_id, 2)
        await ledger.drop_queue(admin, QUEUE)
        with pytest.raises(errors.NotFound):
            await ledger.enqueue(edge, QUEUE, "echo")


async def test_refusals_are_the_ledgers_own_errors(
    edge: session.Connection, worker: session.Connection
) -> None:
    with pytest.raises(errors.NotFound, match="no such queue"):
        await ledger.enqueue(edge, "nowhere", "echo")
    with pytest.raises(errors.NotReady):
        await ledger.submit_request(edge, QUEUE, "echo", "{}", ENVELOPE)
    with pytest.raises(errors.Invalid):
        await ledger.enqueue(edge, QUEUE, "echo", params="[1]")
    with pytest.raises(errors.Invalid):
        await ledger.enqueue(edge, QUEUE, "echo", params='{"a": "\\u0000"}')
    with pytest.raises(errors.Invalid):
        await ledger.enqueue(edge, QUEUE, "nul \x00")
    with pytest.raises(errors.Forbidden):
        await ledger.create_queue(edge, "mine")


async def test_a_dead_connection_is_an_outage(worker: session.Connection) -> None:
    await worker.close()
    with pytest.raises(errors.Unavailable):
        await ledger.claim_one(worker, QUEUE, "w")


async def test_batches_are_enqueued_and_completed(
    edge: session.Connection, worker: session.Connection
) -> None:
    jobs = (
        '[{"operation": "a", "dedupe_key": "k"}, {"operation": "b", "dedupe_key": "k"},'
        ' {"operation": "c"}]'
    )
    first, joined, second = await ledger.enqueue_many(edge, QUEUE, jobs)
    assert (first.coalesced, joined, second.coalesced) == (False, (first.job_id, True), False)
    assert await ledger.enqueue_many(edge, QUEUE, "[]") == []
    with pytest.raises(errors.Invalid) as refused:
        await ledger.enqueue_many(edge, QUEUE, '[{"operation": "a", "unknown": 1}]')
    assert refused.value.detail == "element=1 argument=unknown"

    held = [(claim.job_id, claim.attempt) for claim in await ledger.claim(worker, QUEUE, "w", 10)]
    assert held == [(first.job_id, 1), (second.job_id, 1)]
    assert await ledger.complete_jobs(
        worker,
        [*held, (first.job_id, 2)],
        results=['{"n": 1.50}', None, None],
        errors=[None, "{}", None],
        caches=["hit", None, None],
    ) == [True, True, False]
    assert await ledger.complete_jobs(worker, held) == [False, False]
    assert await ledger.complete_jobs(worker, [], results=[]) == []


@pytest.mark.parametrize(
    "setting",
    [
        "DateStyle = 'SQL, DMY'",
        "DateStyle = 'Postgres, MDY'",
        "IntervalStyle = 'sql_standard'",
        "IntervalStyle = 'iso_8601'",
        "TimeZone = 'Asia/Kathmandu'",
        "bytea_output = 'escape'",
    ],
)
async def test_answers_are_the_same_whatever_a_database_sets_by_default(
    queue_db: str, setting: str
) -> None:
    name = conninfo_to_dict(queue_db)["dbname"]
    at = datetime(2100, 12, 3, 4, 5, 6, 789, UTC)
    with psycopg.connect(queue_db, autocommit=True) as onlooker:
        onlooker.execute(f'alter database "{name}" set {setting}')
        connection = await session.connect(queue_db, application_name="test")
        async with connection:
            await ledger.create_queue(connection, QUEUE, lease=LEASE)
            assert await ledger.register_worker(connection, "w", QUEUE) == LEASE
            job_id, _ = await ledger.enqueue(connection, QUEUE, "echo")
            later, _ = await ledger.enqueue(connection, QUEUE, "echo", available_at=at)
            (claim,) = await ledger.claim_one(connection, QUEUE, "w")
            renewed = await ledger.renew_leases(connection, "w", [(job_id, 1)])
            key = await ledger.ticket_key(connection)
        assert renewed == [(job_id, "held", LEASE)]
        found = onlooker.execute(
            "select j.created_at, q.lease, d.job_id, d.available_at, s.value"
            " from plane.lease l join plane.job j on j.id = l.job_id, plane.queue q, plane.due d,"
            " plane.secret s"
        )
        assert found.fetchall() == [(claim.created_at, LEASE, later, at, key)]
