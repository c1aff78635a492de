"""Settlement: what became of a job, and how an outage is ridden out."""

import json
from contextlib import suppress

import pytest

from pgplane.errors import Busy, Gone, Invalid, LedgerError, NotFound, TooLarge, Unavailable
from pgplane.worker import settlement
from pgplane.worker.answers import Answer, Completion, Origin
from pgplane.worker.held import HeldJob
from pgplane.worker.settlement import BlobsGoneError, Settlement

from ..support.scripted import ScriptedConnection, a_claim

DONE = Completion(Answer(result=b"1"))
REFUSED = Completion(Answer(error=b'{"status": 404}'))
OUTAGE = Unavailable("nobody there")


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement, "RETRY_SECONDS", (0.001,))


def held(lease_seconds: float = 60) -> HeldJob:
    return HeldJob(a_claim(job_id=7, attempt=2), lease_seconds)


@pytest.mark.parametrize(
    ("completion", "answer", "outcome"),
    [(DONE, True, "done"), (REFUSED, True, "refused"), (DONE, False, "lost")],
)
async def test_a_completion_says_what_became_of_the_job(
    completion: Completion, answer: bool, outcome: str
) -> None:
    ledger = ScriptedConnection(complete_job=[answer])
    assert await Settlement(ledger).complete(held(), completion) == outcome
    assert ledger.called("complete_job") == [(7, 2)]


async def test_failures_and_releases_are_told_with_the_fence() -> None:
    ledger = ScriptedConnection(fail_job=["poison", "lost"], release_job=[True, False])
    settled = Settlement(ledger)
    assert [await settled.fail(held(), "{}") for _ in range(2)] == ["poison", "lost"]
    assert [await settled.release(held()) for _ in range(2)] == ["released", "lost"]
    assert ledger.called("fail_job")[0] == (7, 2, "{}")


async def test_a_job_that_stopped_as_asked_is_cancelled() -> None:
    ledger = ScriptedConnection(finish_cancel=[True, False])
    settled = Settlement(ledger)
    assert [await settled.cancelled(held()) for _ in range(2)] == ["cancelled", "lost"]
    assert ledger.called("finish_cancel")[0] == (7, 2)


async def test_an_outage_is_ridden_out_within_the_lease() -> None:
    ledger = ScriptedConnection(complete_job=[OUTAGE, Busy("a lock"), OUTAGE, True])
    assert await Settlement(ledger).complete(held(), DONE) == "done"


async def test_after_the_lease_nothing_more_is_tried() -> None:
    ledger = ScriptedConnection(
        complete_job=[OUTAGE], fail_job=[OUTAGE], release_job=[OUTAGE], finish_cancel=[OUTAGE]
    )
    settled = Settlement(ledger)
    assert await settled.complete(held(lease_seconds=0), DONE) == "unsettled"
    assert await settled.fail(held(lease_seconds=0), "{}") == "unsettled"
    assert await settled.release(held(lease_seconds=0)) == "unsettled"
    assert await settled.cancelled(held(lease_seconds=0)) == "unsettled"


async def test_a_completion_that_the_ledger_refuses_is_a_failure() -> None:
    ledger = ScriptedConnection(
        complete_job=[Invalid("it cannot be kept", sqlstate="22P02")], fail_job=["pending"]
    )
    assert await Settlement(ledger).complete(held(), DONE) == "pending"


@pytest.mark.parametrize("completion", [DONE, REFUSED])
async def test_an_answer_above_the_ledgers_limit_is_answered_once(completion: Completion) -> None:
    ledger = ScriptedConnection(
        complete_job=[TooLarge("a result or error is limited", sqlstate="PL413"), True]
    )
    assert await Settlement(ledger).complete(held(), completion) == "refused"
    _, told = ledger.named("complete_job")
    assert (told["result"], told["cache"]) == (None, None)
    error = json.loads(told["error"])
    assert (error["status"], error["code"]) == (413, "RESULT_TOO_LARGE")
    assert error["bytes"] == completion.answer.size


async def test_an_answer_of_another_job_is_told_with_whose_blobs_it_names() -> None:
    ledger = ScriptedConnection(complete_job=[True, True])
    for origin in (Origin(3, 1), Origin(7, 2)):
        completion = Completion(Answer(result=b"1", origin=origin), "hit")
        assert await Settlement(ledger).complete(held(), completion) == "done"
    shared, own = ledger.named("complete_job")
    assert (shared["blobs_of"], own["blobs_of"]) == (3, None)


@pytest.mark.parametrize("refusal", [NotFound("no such job"), Gone("the blobs have expired")])
async def test_blobs_that_are_no_more_are_another_matter_than_a_rejected_result(
    refusal: LedgerError,
) -> None:
    origin = Origin(3, 1)
    ledger = ScriptedConnection(complete_job=[refusal])
    with pytest.raises(BlobsGoneError) as gone:
        await Settlement(ledger).complete(held(), Completion(Answer(b"1", origin=origin), "hit"))
    assert gone.value.answer.origin is origin
    assert not origin.kept.done(), "that is for its own attempt to say"


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ({"complete_job": [True]}, True),
        ({"complete_job": [False]}, False),
        ({"complete_job": [Invalid("it cannot be kept")], "fail_job": ["pending"]}, False),
        ({"complete_job": [TooLarge("it is limited"), True]}, False),
        ({"complete_job": [ZeroDivisionError()]}, False),
    ],
    ids=["done", "lost", "rejected", "shortened", "crashed"],
)
async def test_who_shares_blobs_is_told_whether_their_attempt_completed_its_job(
    answers: dict[str, list[object]], kept: bool
) -> None:
    origin = Origin(7, 2)
    completion = Completion(Answer(result=b"1", origin=origin))
    with suppress(ZeroDivisionError):
        await Settlement(ScriptedConnection(**answers)).complete(held(), completion)
    assert origin.kept.done()
    assert origin.kept.result() is kept
