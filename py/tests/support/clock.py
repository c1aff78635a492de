"""The ledger's clock in the hands of a test, for every session of a database at once."""

from datetime import UTC, datetime, timedelta

import psycopg

BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
"""Before any transaction began: no claim looks like one of the transaction that ends it."""


class Clock:
    """Stands still until it is moved. From the first one on, the database has no other clock."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self.now = BEGINNING
        connection.execute("create table if not exists public.ledger_clock (at timestamptz)")
        connection.execute("grant select on public.ledger_clock to plane_owner")
        connection.execute("delete from public.ledger_clock")
        connection.execute("insert into public.ledger_clock values (%s)", (self.now,))
        connection.execute(
            "create or replace function plane._now() returns timestamptz language sql volatile"
            " return (select c.at from public.ledger_clock c)"
        )

    def move(self, seconds: int) -> None:
        """So much time goes by, for all leases and schedules."""
        self.now += timedelta(seconds=seconds)
        self._connection.execute("update public.ledger_clock set at = %s", (self.now,))
