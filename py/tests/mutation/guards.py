"""The guards of the ledger, how each is taken away, and the test that must then fail."""

from dataclasses import dataclass

LEDGER = "tests/ledger/"
PGTAP = "db/tests/"

Change = tuple[str, str, str]
"""A file of db/, a text in it, and what comes in its place."""


@dataclass(frozen=True)
class Guard:
    """`test` is a pytest node or a pgTAP file."""

    name: str
    test: str
    changes: tuple[Change, ...]


def _taken(path: str, text: str, instead: str = "") -> Change:
    return (path, text, instead)


ON_CONFLICT = "on conflict (key) do nothing"

GUARDS = [
    Guard(
        "the fence of complete_job",
        LEDGER
        + "test_concurrency_fence.py::test_an_attempt_that_lost_its_job_can_do_nothing_to_it",
        (_taken("functions/jobs/complete_job.sql", " and l.attempt = p_attempt"),),
    ),
    Guard(
        "the fence of complete_jobs",
        PGTAP + "functions/jobs/complete_jobs.sql",
        (_taken("functions/jobs/complete_jobs.sql", " and f.attempt = a.attempt"),),
    ),
    Guard(
        "the unique index of dedupe keys",
        LEDGER
        + "test_concurrency_keys.py"
        + "::test_an_enqueue_takes_the_job_of_an_open_enqueuer_once_that_commits",
        (
            _taken(
                "migrations/0001.ledger.sql",
                "job_id bigint not null,\n\n    constraint live_key_pkey primary key (key)\n",
                "job_id bigint not null\n",
            ),
            *(
                _taken(f"functions/internal/{name}.sql", ON_CONFLICT, "on conflict do nothing")
                for name in ("_enqueue", "_take_key", "_take_keys", "_take_keys_in_turn")
            ),
        ),
    ),
    Guard(
        "the loop of enqueue",
        LEDGER
        + "test_concurrency_keys.py"
        + "::test_an_enqueue_takes_the_job_of_an_open_enqueuer_once_that_commits",
        (
            _taken(
                "functions/internal/placing/_enqueue.sql", "        exit when found;\n", "        exit;\n"
            ),
        ),
    ),
    Guard(
        "the lock of a serial key's head",
        LEDGER
        + "test_concurrency_bulk.py"
        + "::test_a_completion_does_not_wait_for_enqueuers_that_joined_its_jobs_or_lines",
        (_taken("functions/internal/lines/_hold_line.sql", "\n        for key share;", ";"),),
    ),
    Guard(
        "the waiter's hand-shake",
        LEDGER
        + "test_concurrency_fence.py"
        + "::test_a_waiter_that_came_while_the_job_was_being_completed_sees_the_answer",
        (_taken("functions/requests/await_job.sql", "\n    for key share of l;", ";"),),
    ),
    Guard(
        "the expiry of read_blob",
        PGTAP + "functions/blobs/read_blob.sql",
        (_taken("functions/internal/blobs/_readable_blob.sql", "v_seen.expires_at <= v_now or "),),
    ),
    Guard(
        "the scope of get_job",
        PGTAP + "functions/requests/get_job.sql",
        (_taken("functions/internal/common/_answers.sql", " and (j.job).scope_key = a.scope_key"),),
    ),
    Guard(
        "SKIP LOCKED",
        LEDGER + "test_concurrency.py::test_a_claim_skips_what_an_open_claim_holds",
        (_taken("functions/jobs/claim_one.sql", "for update skip locked", "for update"),),
    ),
    Guard(
        "the keys that poison frees",
        PGTAP + "functions/jobs/fail_job.sql",
        (
            _taken(
                "functions/internal/endings/_end.sql",
                "perform plane._finish(p_lease.queue_id, p_lease.job_id, p_lease.live_key, "
                "p_lease.serial_key, q.notify)",
                "perform pg_notify('plane_done', p_lease.job_id::text)",
            ),
        ),
    ),
    Guard(
        "the proof of the scan floor",
        LEDGER + "test_concurrency.py::test_a_job_that_commits_late_is_not_passed_over",
        (
            _taken(
                "functions/internal/floors/_advance_floors.sql",
                "v_is_proven := not v_held && plane._ready_writers();",
                "v_is_proven := true;",
            ),
        ),
    ),
    Guard(
        "the lock of report_progress",
        LEDGER + "test_concurrency_progress.py",
        (_taken("functions/jobs/report_progress.sql", "\n    for key share;", ";"),),
    ),
]
