"""Replies: what a job looks like in a poll and as the events of a stream."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from pgplane.edge.replies import replies
from pgplane.ledger.records import Job

CREATED = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=2)))


def job(status: str = "done", **changes: Any) -> Job:
    fields: dict[str, Any] = {
        "job_id": 9007199254740993,
        "scope_key": "a" * 64,
        "status": status,
        "progress": None,
        "result": None,
        "error": None,
        "cache": None,
        "position": None,
        "created_at": CREATED,
        "claimed_at": None,
        "finished_at": None,
    }
    return Job(**{**fields, **changes})


def event(frame: bytes) -> tuple[str, str, Any]:
    """Name, id and data of a frame."""
    name, event_id, *data = frame.decode().rstrip("\n").split("\n")
    text = "\n".join(line.removeprefix("data: ") for line in data)
    return name.removeprefix("event: "), event_id.removeprefix("id: "), json.loads(text)


def test_a_result_is_spliced_byte_for_byte() -> None:
    result = b'{"id": 9223372036854775808123, "price": 1.10, "e": 1E5, "a":[ ]}'
    for text in (replies.document(job(result=result)), replies.ending(job(result=result))):
        assert b'"result":' + result in text


def test_a_result_of_several_lines_is_still_one_event() -> None:
    frame = replies.ending(job(result=b'{\r\n "a":\n 1\r}'))
    assert event(frame)[2]["result"] == {"a": 1}
    assert b"\r" not in frame


def test_no_result_is_null() -> None:
    assert event(replies.ending(job()))[2]["result"] is None
    assert json.loads(replies.document(job()))["result"] is None


def test_ids_are_strings_and_times_are_utc() -> None:
    done = job(finished_at=CREATED.astimezone(UTC) + timedelta(seconds=1))
    name, event_id, data = event(replies.ending(done))
    assert (name, event_id) == ("done", "9007199254740993.end")
    assert data["jobId"] == "9007199254740993"
    assert data["times"] == {
        "created": "2026-11-30T10:00:00+00:00",
        "claimed": None,
        "finished": "2026-11-30T10:00:01+00:00",
    }


def refusal(ended: Job) -> Any:
    """The problem of a job that ended without a result: a poll tells the same as a stream."""
    name, event_id, data = event(replies.ending(ended))
    assert (name, event_id) == ("error", "9007199254740993.end")
    document = json.loads(replies.document(ended))
    assert document["error"] == data
    assert "result" not in document
    return data


def test_a_refusal_becomes_a_problem_with_its_own_fields() -> None:
    error = json.dumps(
        {"status": 404, "code": "NO_FLIGHT", "message": "a\nb", "carrier": "UA", "detail": "x"}
    )
    data = refusal(job(error=error.encode()))
    assert data == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "code": "NO_FLIGHT",
        "detail": "a\nb",
        "carrier": "UA",
        "jobId": "9007199254740993",
    }


@pytest.mark.parametrize("error", [b"{}", b"null", b'"x"', b"[1]", b'{"status":"x","code":1}'])
def test_an_error_of_no_shape_is_still_a_problem(error: bytes) -> None:
    data = refusal(job(error=error))
    assert (data["status"], data["code"]) == (500, "REFUSED")
    assert data["detail"]


@pytest.mark.parametrize("levels", [251, 300, 3000])
def test_an_error_nested_beyond_printing_is_still_a_problem(levels: int) -> None:
    error = f'{{"status":404,"code":"X","deep":{"[" * levels + "]" * levels}}}'
    data = refusal(job(error=error.encode()))
    assert (data["status"], data["code"]) == ((404, "X") if levels < 1000 else (500, "REFUSED"))


def test_numbers_of_a_refusal_keep_their_digits() -> None:
    error = b'{"status":404,"id":9223372036854775808123,"price":1.10}'
    for text in (replies.document(job(error=error)), replies.ending(job(error=error))):
        assert b'"id":9223372036854775808123,"price":1.10,' in text


@pytest.mark.parametrize("status", ["poison", "cancelled"])
def test_what_was_given_up_keeps_its_inside(status: str) -> None:
    failed = job(status, error=b'{"message": "psycopg: secret"}')
    data = refusal(failed)
    assert (data["code"], data["jobId"]) == (status.upper(), "9007199254740993")
    assert b"secret" not in replies.document(failed) + replies.ending(failed)


def test_the_last_failure_of_a_job_that_will_be_tried_again_is_not_told() -> None:
    document = json.loads(replies.document(job("pending", error=b'{"message": "secret"}')))
    assert "error" not in document
    assert "result" not in document


def test_a_timeout_says_that_the_job_runs_on() -> None:
    name, event_id, data = event(replies.timed_out(7, 60.0))
    assert (name, event_id, data["code"], data["status"]) == ("error", "7.end", "TIMEOUT", 504)
    assert "runs on" in data["detail"]


def test_a_held_job_tells_how_far_it_is() -> None:
    held = job("in_progress", progress=b'{"done": 1.0, "total": 9}')
    for frame, name in ((replies.running(held), "running"), (replies.progress(held), "progress")):
        assert event(frame)[:2] == (name, f"9007199254740993.{name}")
        assert event(frame)[2]["status"] == "in_progress"
        assert b'"progress":{"done": 1.0, "total": 9}' in frame


def test_progress_and_position_are_told() -> None:
    waiting = job("pending", position=3, progress=b'{"done": 1.0, "total": 9}')
    assert b'"progress":{"done": 1.0, "total": 9},"position":3' in replies.document(waiting)
    assert event(replies.queued(waiting)) == (
        "queued",
        "9007199254740993.queued",
        {"jobId": "9007199254740993", "status": "pending", "position": 3},
    )
