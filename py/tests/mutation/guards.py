"""Guards of the ledger, how each is taken away, and the test that must then fail."""

from dataclasses import dataclass

SESSIONS = "tests/ledger/test_concurrency"
PGTAP = "db/tests/functions/"

Change = tuple[str, str, str]
"""The name of a file of db/, a text in it, and what comes in its place."""


@dataclass(frozen=True)
class Guard:
    """`test` is a pytest node or a pgTAP file."""

    name: str
    test: str
    changes: list[Change]


DROP_GIVEN_UP = "test_a_job_that_ends_during_a_drop_that_is_given_up_keeps_no_key"
LATER_ENQUEUER = "test_an_enqueue_takes_the_job_of_an_open_enqueuer_once_that_commits"
LATER_JOINER = "test_a_completion_does_not_wait_for_enqueuers_that_joined_its_jobs_or_lines"
LATER_WAITER = "test_a_waiter_that_came_while_the_job_was_being_completed_sees_the_answer"
RETRIED = "test_a_left_over_key_is_not_taken_from_a_job_that_is_just_being_retried"
AWAITED = "test_who_leaves_passes_over_a_job_that_somebody_begins_to_wait_for"
IN_TURN = "test_a_batch_that_takes_its_keys_in_turn_waits_for_who_is_leaving"
ALL_RETRIED = "test_a_retry_of_all_poison_passes_over_what_somebody_is_leaving"
AT_ONCE = "test_who_waits_for_a_job_that_is_claimed_and_done_in_one_transaction_is_told"
KEYED = ("_enqueue.sql", "_take_key.sql", "_take_keys.sql", "_take_keys_in_turn.sql")

GUARDS = [
    Guard(
        "the fence of complete_job",
        f"{SESSIONS}_fence.py::test_an_attempt_that_lost_its_job_can_do_nothing_to_it",
        [("complete_job.sql", " and l.attempt = p_attempt", "")],
    ),
    Guard(
        "the fence of complete_jobs",
        f"{PGTAP}jobs/complete_jobs.sql",
        [
            (
                "_complete_leases.sql",
                "(l.job_id, l.attempt) in (select * from unnest(p_job_ids, p_attempts))",
                "true",
            )
        ],
    ),
    Guard(
        "the unique index of dedupe keys",
        f"{SESSIONS}_keys.py::{LATER_ENQUEUER}",
        [
            (
                "0001.ledger.sql",
                "job_id bigint not null,\n\n    constraint live_key_pkey primary key (key)\n",
                "job_id bigint not null\n",
            ),
            *((file, "on conflict (key) do nothing", "on conflict do nothing") for file in KEYED),
        ],
    ),
    Guard(
        "the loop of enqueue",
        f"{SESSIONS}_keys.py::{LATER_ENQUEUER}",
        [("_enqueue.sql", "        exit when found;\n", "        exit;\n")],
    ),
    Guard(
        "the lock of a serial key's head",
        f"{SESSIONS}_bulk.py::{LATER_JOINER}",
        [("_hold_line.sql", "\n        for key share;", ";")],
    ),
    Guard(
        "the waiter's hand-shake",
        f"{SESSIONS}_fence.py::{LATER_WAITER}",
        [("await_job.sql", "\n    for key share of l;", ";")],
    ),
    Guard(
        "the expiry of read_blob",
        f"{PGTAP}blobs/read_blob.sql",
        [("_readable_blob.sql", "v_seen.expires_at <= v_now or ", "")],
    ),
    Guard(
        "the scope of get_job",
        f"{PGTAP}requests/get_job.sql",
        [("_answers.sql", " and (j.job).scope_key = a.scope_key", "")],
    ),
    Guard(
        "SKIP LOCKED",
        f"{SESSIONS}.py::test_a_claim_skips_what_an_open_claim_holds",
        [("claim_one.sql", "for update skip locked", "for update")],
    ),
    Guard(
        "the keys that poison frees",
        f"{PGTAP}jobs/fail_job.sql",
        [
            (
                "_end.sql",
                "perform plane._finish(p_lease.queue_id, p_lease.job_id, p_lease.claimed_at, "
                "p_lease.live_key, p_lease.serial_key, q.notify)",
                "perform pg_notify('plane_done', p_lease.job_id::text)",
            )
        ],
    ),
    Guard(
        "the keys that a drop leaves alone",
        f"{SESSIONS}_queues.py::{DROP_GIVEN_UP}",
        [
            (
                "drop_queue.sql",
                " and exists (select from plane.outcome o where o.job_id = j.id)",
                "",
            )
        ],
    ),
    Guard(
        "the proof of the scan floor",
        f"{SESSIONS}.py::test_a_job_that_commits_late_is_not_passed_over",
        [
            (
                "_advance_floors.sql",
                "v_is_proven := not v_held && plane._ready_writers();",
                "v_is_proven := true;",
            )
        ],
    ),
    Guard(
        "the lock of report_progress",
        f"{SESSIONS}_progress.py",
        [("_hold_lease.sql", "\n    for key share;", ";")],
    ),
    Guard(
        "a left-over key is judged again before it is taken",
        f"{SESSIONS}_keys.py::{RETRIED}",
        [
            (
                "_live_job.sql",
                "            and (exists (select from plane.outcome o where o.job_id = k.job_id)\n"
                "                or (select l.cancelled_by from plane.lease l "
                "where l.job_id = k.job_id) is not null)",
                "",
            )
        ],
    ),
    Guard(
        "an older snapshot's key is tried",
        f"{SESSIONS}_snapshots.py::test_a_key_whose_job_was_cancelled_since",
        [("_live_job.sql", "plane._sees_past() and v_job_id is not null", "false")],
    ),
    Guard(
        "an older snapshot ends no line",
        f"{SESSIONS}_snapshots.py::test_a_line_that_somebody_joined_since",
        [("_hand_on_line.sql", " and not plane._sees_past()", "")],
    ),
    Guard(
        "poison to cancel is locked",
        f"{SESSIONS}_snapshots.py::test_poison_to_cancel_that_is_retried_since",
        [("_cancel.sql", " for key share", "")],
    ),
    Guard(
        "who joins a request holds its job",
        f"{SESSIONS}_interest.py::test_who_leaves_passes_over_a_job_that_somebody_is_joining",
        [("_hold_jobs.sql", " for key share) as j", ") as j")],
    ),
    Guard(
        "who waits for a request holds its job",
        f"{SESSIONS}_interest.py::{AWAITED}",
        [("_note_interest.sql", " for key share skip locked", "")],
    ),
    Guard(
        "who leaves holds off those who join",
        f"{SESSIONS}_interest.py::test_who_joins_waits_for_who_is_leaving",
        [("leave_job.sql", " for update skip locked", "")],
    ),
    Guard(
        "a job that was joined is looked at again",
        f"{SESSIONS}_interest.py::test_who_joins_waits_for_who_is_leaving",
        [("_enqueue.sql", "and plane._live_job(v_key) is distinct from v_live", "and false")],
    ),
    Guard(
        "the jobs that a batch joined are looked at again",
        f"{SESSIONS}_interest.py::test_a_batch_that_joins_waits_for_who_is_leaving",
        [("_take_keys.sql", "plane._live_job(a.key) is distinct from a.job_id", "false")],
    ),
    Guard(
        "a job that was joined in turn is looked at again",
        f"{SESSIONS}_interest.py::{IN_TURN}",
        [("_take_keys_in_turn.sql", "plane._live_job(p_keys[v_i]) = v_ids[v_i]", "true")],
    ),
    Guard(
        "who leaves waits for others that do",
        f"{SESSIONS}_interest.py::test_of_two_that_leave_at_once_the_last_one_cancels",
        [("leave_job.sql", "    for no key update;", ";")],
    ),
    Guard(
        "who leaves by an older snapshot cancels nothing",
        f"{SESSIONS}_interest.py::test_an_older_snapshot_cancels_nothing_by_leaving",
        [("leave_job.sql", " and not plane._sees_past()", "")],
    ),
    Guard(
        "who retries a request holds its job",
        f"{SESSIONS}_interest.py::test_a_retry_waits_for_who_is_leaving",
        [("retry_job.sql", "    perform plane._hold_jobs(array[p_job_id]);\n", "")],
    ),
    Guard(
        "who retries all poison holds its jobs",
        f"{SESSIONS}_interest.py::{ALL_RETRIED}",
        [("retry_poison.sql", "\n        for key share of j skip locked", "")],
    ),
    Guard(
        "who retries a request wants it",
        f"{SESSIONS}_interest.py::test_who_leaves_passes_over_a_job_that_is_being_retried",
        [("_redrive.sql", "perform plane._keep_jobs(array[p_job_id])", "null")],
    ),
    Guard(
        "who waits for a job of one transaction is told",
        f"tests/ledger/test_notifications.py::{AT_ONCE}",
        [("_finish.sql", "p_claimed_at >= now() or ", "")],
    ),
]
