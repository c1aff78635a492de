"""Every aggregation has the figures that the package's files have, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plain
import pytest
from asking import ELSEWHERE, EVERYTHING, LGA_ONLY, STAFF, Client, ask
from pgplane.surface import Envelope
from plain import Departure, Files

from flights.models import FIRST_DAY, LAST_DAY, CarrierPeriod
from flights.operations import surface

FIGURES: dict[str, Callable[[Files, Sequence[Departure]], list[plain.Row]]] = {
    figures.__name__: figures
    for figures in (
        plain.overview,
        plain.daily_traffic,
        plain.punctuality,
        plain.destinations,
        plain.carrier_months,
        plain.aircraft,
        plain.weather_impact,
        plain.delay_distribution,
        plain.worst_days,
    )
}
ASKED: dict[str, tuple[Envelope, dict[str, str], tuple[str, ...]]] = {
    "all of it": (EVERYTHING, {}, ("EWR", "JFK", "LGA")),
    "one origin in scope": (LGA_ONLY, {}, ("LGA",)),
    "staff, one origin, weeks": (
        STAFF,
        {"origin": "JFK", "from": "2013-02-01", "to": "2013-03-10"},
        ("JFK",),
    ),
    "one day": (EVERYTHING, {"from": "2013-02-09", "to": "2013-02-09"}, ("EWR", "JFK", "LGA")),
    "one airline": (EVERYTHING, {"carrier": "EV", "from": "2013-12-01"}, ("EWR", "JFK", "LGA")),
    "an airline that is not there": (EVERYTHING, {"carrier": "ZZ"}, ()),
    "no origin in scope": (ELSEWHERE, {}, ()),
}


@pytest.fixture(scope="session")
def files() -> Files:
    """The package's files, read once."""
    return Files()


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", FIGURES)
async def test_the_figures_are_those_of_the_files(
    client: Client, files: Files, name: str, asked: str
) -> None:
    who, params, origins = ASKED[asked]
    operation = surface.get(name, 1)
    assert operation is not None
    if "carrier" in params and not issubclass(operation.params, CarrierPeriod):
        params = {field: value for field, value in params.items() if field != "carrier"}
        origins = origins or ("EWR", "JFK", "LGA")
    first, last = params.get("from", str(FIRST_DAY)), params.get("to", str(LAST_DAY))
    flights = [
        flight
        for flight in files.departures
        if flight.origin in origins
        and first <= flight.date.isoformat() <= last
        and params.get("carrier") in (None, flight.carrier)
    ]
    assert await ask(client, who, name, params) == FIGURES[name](files, flights)


def test_every_aggregation_is_compared() -> None:
    periods: set[Any] = {
        entry["name"]
        for entry in surface.manifest()
        if entry["ttl_seconds"] == 60 and entry["name"] != "delays_by_hour"
    }
    assert periods == set(FIGURES)


async def test_destinations_that_no_list_knows_have_no_place(client: Client) -> None:
    rows = await ask(client, EVERYTHING, "destinations", {})
    nowhere = {row["faa"] for row in rows if row["name"] is row["lat"] is row["lon"] is None}
    assert nowhere == {"SJU", "BQN", "STT", "PSE"}


async def test_each_flight_is_in_one_weather_and_in_one_bin(client: Client) -> None:
    (all_of_it,) = await ask(client, EVERYTHING, "overview", {})
    weather = await ask(client, EVERYTHING, "weather_impact", {})
    bins = await ask(client, EVERYTHING, "delay_distribution", {})
    assert sum(row["flights"] for row in weather) == all_of_it["flights"]
    assert sum(row["flights"] for row in bins) == all_of_it["flights"] - all_of_it["cancelled"]
