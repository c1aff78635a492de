"""A client database, and the surface that answers one small question of it."""

from pathlib import Path

import psycopg

from pgplane.sqlfile import load
from pgplane.surface import Params, Surface

CUSTOMERS = 2_000
SCOPE = ["branch 1", "branch 2", "branch 3", "branch 4"]
"""The branches of the one who asks: four of seven."""
READER = "bench_reader"

FILLED = f"""\
create table sale (
    id       bigint generated always as identity primary key,
    customer integer not null,
    branch   text not null,
    sold_on  date not null,
    amount   numeric(10, 2) not null
);
insert into sale (customer, branch, sold_on, amount)
select i % {CUSTOMERS}, 'branch ' || i % 7, date '2025-01-01' + i % 365, (i % 9973) / 100.0
from generate_series(1, 200000) as i;
create index sale_customer_idx on sale (customer, sold_on);
revoke create on schema public from public;
grant select on sale to {READER}"""
"""A hundred sales of each customer."""


class Sales(Params):
    """Of whom, and a number that no other question has."""

    customer: int
    n: int


FILE = Path(__file__).with_suffix(".sql")

surface = Surface("bench")
surface.sql_operation("sales", FILE, Sales)

QUERY = load(FILE, {"customer": "bigint", "scope": "text[]"}.__getitem__)
"""The operation's own query, for who runs it without the plane."""


def params(n: int) -> dict[str, int]:
    """The n-th question: none is asked twice."""
    return {"customer": n * 7919 % CUSTOMERS, "n": n}


def fill(url: str) -> None:
    """Make the client database, empty before, at this address (a superuser's)."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in FILLED.split(";\n"):
            connection.execute(statement.encode())
        connection.execute("vacuum analyze")
