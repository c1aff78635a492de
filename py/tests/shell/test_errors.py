"""Errors: one exception per SQLSTATE, an HTTP status for each, and outages told from refusals."""

import psycopg
import psycopg_pool
import pytest

from pgplane import errors
from pgplane.errors import HttpError, LedgerError, ledger_errors, translate


class RaisedByServer(psycopg.Error):
    """A server's error of a given SQLSTATE, as psycopg raises them."""

    def __init__(self, sqlstate: str, message: str) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("sqlstate", "kind", "status"),
    [
        ("PL404", errors.NotFound, 404),
        ("PL409", errors.Conflict, 409),
        ("PL410", errors.Gone, 410),
        ("PL413", errors.TooLarge, 413),
        ("PL422", errors.Invalid, 422),
        ("PL429", errors.QueueFull, 429),
        ("PL503", errors.NotReady, 503),
        ("22023", errors.Invalid, 422),
        ("22P02", errors.Invalid, 422),
        ("22P05", errors.Unstorable, 422),
        ("22021", errors.Unstorable, 422),
        ("42883", errors.NotMigrated, 500),
        ("42501", errors.Forbidden, 500),
        ("55P03", errors.Busy, 503),
        ("57014", errors.Busy, 503),
        ("40P01", errors.Busy, 503),
        ("08006", errors.Unavailable, 503),
        ("57P01", errors.Unavailable, 503),
        ("53300", errors.Unavailable, 503),
        ("XX000", LedgerError, 500),
        ("PL418", LedgerError, 418),
    ],
)
def test_each_sqlstate_has_its_exception_and_status(
    sqlstate: str, kind: type[LedgerError], status: int
) -> None:
    translated = translate(RaisedByServer(sqlstate, "said the server"))
    assert type(translated) is kind
    assert translated.status == status
    assert (translated.sqlstate, translated.message) == (sqlstate, "said the server")


@pytest.mark.parametrize(
    "fault",
    [
        psycopg.OperationalError("the connection is closed"),
        psycopg.InterfaceError("the connection is lost"),
        psycopg_pool.PoolTimeout("couldn't get a connection after 2.00 sec"),
        ConnectionRefusedError(),
    ],
)
def test_a_connection_fault_is_an_outage(fault: Exception) -> None:
    translated = translate(fault)
    assert type(translated) is errors.Unavailable
    assert translated.status == 503


def test_text_that_psycopg_refuses_is_invalid() -> None:
    translated = translate(psycopg.DataError("PostgreSQL text fields cannot contain NUL"))
    assert type(translated) is errors.Invalid
    assert translated.status == 422


def test_half_a_surrogate_pair_is_invalid() -> None:
    with pytest.raises(errors.Invalid, match="surrogate"), ledger_errors():
        "\ud800".encode()


def test_a_programming_error_stays_what_it_is() -> None:
    with pytest.raises(KeyError), ledger_errors():
        raise KeyError("mine")


def test_the_ledgers_words_reach_the_caller(queue_db: str) -> None:
    with (
        psycopg.connect(queue_db) as connection,
        pytest.raises(errors.NotFound) as refused,
        ledger_errors(),
    ):
        connection.execute("select plane.claim_one(p_queue => 'nowhere', p_worker => 'w')")
    assert refused.value.message == "no such queue"
    assert refused.value.detail == "queue=nowhere"
    assert refused.value.hint


def test_an_http_error_tells_status_code_and_message() -> None:
    refusal = HttpError(404, "NO_SUCH_FLIGHT", "there is no such flight", flight=7, status_code=1)
    assert refusal.payload() == {
        "status": 404,
        "code": "NO_SUCH_FLIGHT",
        "message": "there is no such flight",
        "flight": 7,
        "status_code": 1,
    }


def test_an_http_error_is_400_403_or_404() -> None:
    with pytest.raises(ValueError, match="not 500"):
        HttpError(500, "BROKEN", "a failure is raised, not answered")  # type: ignore[arg-type]
