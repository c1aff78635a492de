"""The operations: right rows, filtered by scope, and clear refusals."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from asking import ELSEWHERE, EVERYTHING, LGA_ONLY, STAFF, Client, Rows, ask
from pgplane.errors import HttpError
from pgplane.surface import Envelope
from pydantic import ValidationError

from flights.operations import surface


def total(rows: Rows, column: str = "flights") -> int:
    return sum(row[column] for row in rows)


async def test_airlines_are_all_there_by_name(client: Client) -> None:
    rows = await ask(client, EVERYTHING, "airlines", {})
    assert len(rows) == 16
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    assert {"carrier": "UA", "name": "United Air Lines Inc."} in rows


async def test_airports_are_found_by_name_and_by_code(client: Client) -> None:
    by_name = await ask(client, EVERYTHING, "airports", {"search": "Kennedy"})
    assert {row["faa"] for row in by_name} >= {"JFK"}
    assert all("kennedy" in row["name"].lower() for row in by_name)
    by_code = await ask(client, EVERYTHING, "airports", {"search": "ord"})
    assert by_code[0]["faa"] == "ORD"


async def test_a_search_text_is_no_pattern(client: Client) -> None:
    assert await ask(client, EVERYTHING, "airports", {"search": "%"}) == []


async def test_a_search_is_limited(client: Client) -> None:
    assert len(await ask(client, EVERYTHING, "airports", {"limit": 7})) == 7


@pytest.mark.parametrize(
    ("who", "flights"),
    [(EVERYTHING, 336_776), (LGA_ONLY, 104_662), (STAFF, 336_776), (ELSEWHERE, 0)],
    ids=["all three", "one origin", "staff", "none of them"],
)
@pytest.mark.parametrize("name", ["delays_by_carrier", "delays_by_hour", "daily_traffic"])
async def test_aggregations_count_what_the_caller_may_see(
    client: Client, name: str, who: Envelope, flights: int
) -> None:
    assert total(await ask(client, who, name, {})) == flights


async def test_delays_by_carrier_are_right(client: Client) -> None:
    rows = await ask(client, EVERYTHING, "delays_by_carrier", {"origin": "EWR"})
    cursor = await client.execute(
        """
        select avg(dep_delay), percentile_disc(0.5) within group (order by dep_delay),
               count(*) - count(dep_time)
          from nyc.flights where carrier = 'UA' and origin = 'EWR'
        """
    )
    found = await cursor.fetchone()
    assert found is not None
    (united,) = (row for row in rows if row["carrier"] == "UA")
    assert united["mean_delay"] == pytest.approx(float(found[0]), abs=0.06)
    assert united["median_delay"] == pytest.approx(found[1], abs=1)
    assert united["cancelled"] == found[2]
    assert united["name"] == "United Air Lines Inc."


async def test_a_period_includes_both_of_its_days(client: Client) -> None:
    rows = await ask(
        client, EVERYTHING, "daily_traffic", {"from": "2013-02-01", "to": "2013-02-03"}
    )
    assert [row["date"] for row in rows] == [dt.date(2013, 2, day) for day in (1, 2, 3)]


async def test_wet_hours_are_later_ones(client: Client) -> None:
    rows = await ask(client, EVERYTHING, "delays_by_hour", {"origin": "JFK", "carrier": "B6"})
    evening = next(row for row in rows if row["hour"] == 18)
    assert evening["wet_mean_delay"] > evening["mean_delay"] > 0
    assert 0 < evening["wet_flights"] < evening["flights"]
    assert 20 < evening["mean_temp"] < 100


async def test_a_flight_comes_with_its_plane_and_weather(client: Client) -> None:
    asked = {"carrier": "UA", "flight": 1545, "date": "2013-01-01"}
    (row,) = await ask(client, EVERYTHING, "flight", asked)
    assert (row["origin"], row["dest"], row["dep_delay"]) == ("EWR", "IAH", 2)
    assert '"manufacturer":' in str(row["plane"]) or row["plane"]["manufacturer"] == "BOEING"
    assert row["weather"] is not None


@pytest.mark.parametrize("who", [LGA_ONLY, EVERYTHING], ids=["not in scope", "does not exist"])
async def test_a_flight_that_is_not_there_for_this_caller_is_not_found(
    client: Client, who: Envelope
) -> None:
    flight = 1545 if who is LGA_ONLY else 9999
    with pytest.raises(HttpError) as refusal:
        await ask(client, who, "flight", {"carrier": "UA", "flight": flight, "date": "2013-01-01"})
    assert (refusal.value.status, refusal.value.code) == (404, "NO_SUCH_FLIGHT")


async def test_a_board_lists_one_day_of_one_origin(client: Client) -> None:
    rows = await ask(client, LGA_ONLY, "origin_board", {"origin": "LGA", "date": "2013-07-04"})
    assert len(rows) == 187
    assert [row["sched_dep_time"] for row in rows] == sorted(row["sched_dep_time"] for row in rows)
    assert all(row["cancelled"] == (row["dep_time"] is None) for row in rows)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("origin_board", {"date": "2013-07-04"}),
        ("delays_by_carrier", {}),
        ("delays_by_hour", {}),
        ("daily_traffic", {}),
    ],
)
async def test_an_origin_outside_the_scope_is_refused(
    client: Client, name: str, params: dict[str, Any]
) -> None:
    with pytest.raises(HttpError) as refusal:
        await ask(client, LGA_ONLY, name, {**params, "origin": "JFK"})
    assert (refusal.value.status, refusal.value.code) == (403, "ORIGIN_NOT_IN_SCOPE")
    assert await ask(client, STAFF, name, {**params, "origin": "JFK"})


@pytest.mark.parametrize(
    ("name", "params", "reason"),
    [
        ("daily_traffic", {"from": "2012-12-31"}, "of 2013"),
        ("daily_traffic", {"to": "2014-01-01"}, "of 2013"),
        ("daily_traffic", {"from": "2013-05-02", "to": "2013-05-01"}, "is after"),
        ("daily_traffic", {"from": "2013-02-30"}, "day value"),
        ("daily_traffic", {"carrier": "ua"}, "pattern"),
        ("daily_traffic", {"origin": "LAX"}, "EWR"),
        ("daily_traffic", {"from_": "2013-01-01"}, "Extra inputs"),
        ("delays_by_carrier", {"carrier": "UA"}, "Extra inputs"),
        ("airports", {"limit": 0}, "greater than or equal to 1"),
        ("airports", {"search": "x" * 51}, "at most 50"),
        ("flight", {"carrier": "UA", "flight": 0, "date": "2013-01-01"}, "greater than"),
        ("flight", {"carrier": "UA", "date": "2013-01-01"}, "Field required"),
        ("origin_board", {"origin": "JFK", "date": "2012-07-04"}, "of 2013"),
    ],
)
def test_bad_params_are_refused_with_a_reason(
    name: str, params: dict[str, Any], reason: str
) -> None:
    operation = surface.get(name, 1)
    assert operation is not None
    with pytest.raises(ValidationError, match=reason):
        operation.params.model_validate(params)


def test_the_manifest_says_what_may_be_cached() -> None:
    known = {
        "airlines": 300,
        "airports": 300,
        "delays_by_carrier": 0,
        "delays_by_hour": 60,
        "daily_traffic": 60,
        "flight": 0,
        "origin_board": 0,
    }
    ttls = {str(entry["name"]): entry["ttl_seconds"] for entry in surface.manifest()}
    assert {name: ttls[name] for name in known} == known
