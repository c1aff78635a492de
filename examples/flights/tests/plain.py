"""The same figures without a database: read from the package's files, added up in plain Python."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from flights.database import source

Row = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)
_TABLES = {table.name: table for table in source.TABLES}


class Departure(NamedTuple):
    """One flight; `delay` None: it was cancelled. `moment` is the hour of its schedule."""

    date: dt.date
    origin: str
    dest: str
    carrier: str
    tailnum: str | None
    hour: int
    delay: int | None
    distance: int
    moment: str

    @property
    def is_late(self) -> bool:
        return self.delay is None or self.delay > 15


class Files:
    """What the package's five files say."""

    def __init__(self) -> None:
        self.departures = [
            Departure(
                dt.date(int(row["year"]), int(row["month"]), int(row["day"])),
                row["origin"],
                row["dest"],
                row["carrier"],
                None if row["tailnum"] == "NA" else row["tailnum"],
                int(row["hour"]),
                None if row["dep_time"] == "NA" else int(row["dep_delay"]),
                int(row["distance"]),
                row["time_hour"],
            )
            for row in _lines("flights")
        ]
        self.airlines = {row["carrier"]: row["name"] for row in _lines("airlines")}
        self.airports = {row["faa"]: row for row in _lines("airports")}
        self.planes = {row["tailnum"]: row for row in _lines("planes")}
        self.weather = {(row["origin"], row["time_hour"]): row for row in _lines("weather")}


def _lines(name: str) -> Iterator[dict[str, str]]:
    with (
        source.opened(_TABLES[name]) as (stream, _size),
        io.TextIOWrapper(stream, "utf-8", newline="") as text,
    ):
        yield from csv.DictReader(text)


def overview(files: Files, flights: Sequence[Departure]) -> list[Row]:
    return [
        {
            "flights": len(flights),
            "cancelled": cancelled(flights),
            "on_time": sum(f.delay is not None and f.delay <= 15 for f in flights),
            "mean_delay": mean(delays(flights)),
            "median_delay": quantile(delays(flights), 0.5),
            "p90_delay": quantile(delays(flights), 0.9),
            "destinations": len({f.dest for f in flights}),
            "aircraft": len({f.tailnum for f in flights} - {None}),
            "miles": sum(f.distance for f in flights if f.delay is not None),
        }
    ]


def daily_traffic(files: Files, flights: Sequence[Departure]) -> list[Row]:
    return [
        {
            "date": date,
            "flights": len(those),
            "cancelled": cancelled(those),
            "mean_delay": mean(delays(those)),
        }
        for date, those in sorted(grouped(flights, lambda f: f.date))
    ]


def punctuality(files: Files, flights: Sequence[Departure]) -> list[Row]:
    return [
        {
            "weekday": weekday,
            "hour": hour,
            "flights": len(those),
            "late": late(those),
            "mean_delay": mean(delays(those)),
        }
        for (weekday, hour), those in sorted(
            grouped(flights, lambda f: (f.date.isoweekday(), f.hour))
        )
    ]


def destinations(files: Files, flights: Sequence[Departure]) -> list[Row]:
    rows: list[Row] = []
    for faa, those in grouped(flights, lambda f: f.dest):
        place = files.airports.get(faa)
        rows.append(
            {
                "faa": faa,
                "name": place and place["name"],
                "lat": place and float(place["lat"]),
                "lon": place and float(place["lon"]),
                "flights": len(those),
                "cancelled": cancelled(those),
                "mean_delay": mean(delays(those)),
            }
        )
    return sorted(rows, key=lambda row: (-row["flights"], row["faa"]))


def carrier_months(files: Files, flights: Sequence[Departure]) -> list[Row]:
    return [
        {
            "month": month,
            "carrier": carrier,
            "name": files.airlines[carrier],
            "flights": len(those),
            "mean_delay": mean(delays(those)),
            "late": late(those),
        }
        for (month, carrier), those in sorted(grouped(flights, lambda f: (f.date.month, f.carrier)))
    ]


def aircraft(files: Files, flights: Sequence[Departure]) -> list[Row]:
    known = [(f, files.planes[f.tailnum]) for f in flights if f.tailnum in files.planes]
    rows: list[Row] = []
    for (manufacturer, model), those in grouped(
        known, lambda pair: (pair[1]["manufacturer"], pair[1]["model"])
    ):
        fleet = {plane["tailnum"]: plane for _f, plane in those}.values()
        rows.append(
            {
                "manufacturer": manufacturer,
                "model": model,
                "aircraft": len(fleet),
                "flights": len(those),
                "seats": int(next(iter(fleet))["seats"]),
                "mean_age": mean([2013 - int(p["year"]) for p in fleet if p["year"] != "NA"]),
                "mean_delay": mean(delays(f for f, _plane in those)),
            }
        )
    rows.sort(key=lambda row: (-row["flights"], row["manufacturer"], row["model"]))
    return rows[:15]


def weather_impact(files: Files, flights: Sequence[Departure]) -> list[Row]:
    order = ["clear", "wind", "fog", "rain", "freezing", "unknown"]
    return [
        {
            "condition": kind,
            "flights": len(those),
            "cancelled": cancelled(those),
            "mean_delay": mean(delays(those)),
            "p90_delay": quantile(delays(those), 0.9),
        }
        for kind, those in sorted(
            grouped(flights, lambda f: condition(files.weather.get((f.origin, f.moment)))),
            key=lambda group: order.index(group[0]),
        )
    ]


def condition(observed: dict[str, str] | None) -> str:
    """The first of the kinds of weather that fits."""
    if observed is None:
        return "unknown"
    value = {name: None if text == "NA" else text for name, text in observed.items()}
    if float(observed["precip"]) > 0:
        return "freezing" if value["temp"] and float(value["temp"]) <= 32 else "rain"
    if float(observed["visib"]) < 3:
        return "fog"
    windy = value["wind_speed"] is not None and float(value["wind_speed"]) >= 25
    gusty = value["wind_gust"] is not None and float(value["wind_gust"]) >= 35
    return "wind" if windy or gusty else "clear"


def delay_distribution(files: Files, flights: Sequence[Departure]) -> list[Row]:
    edges = [None, *range(-15, 61, 5), 120, 240, None]
    return [
        {
            "from_minutes": low,
            "to_minutes": high,
            "flights": sum(
                (low is None or low <= delay) and (high is None or delay < high)
                for delay in delays(flights)
            ),
        }
        for low, high in pairwise(edges)
    ]


def worst_days(files: Files, flights: Sequence[Departure]) -> list[Row]:
    rows: list[Row] = [
        {
            "date": date,
            "flights": len(those),
            "cancelled": cancelled(those),
            "mean_delay": mean(delays(those)),
            "late": late(those),
        }
        for date, those in grouped(flights, lambda f: f.date)
    ]
    return sorted(rows, key=lambda row: (-row["late"] / row["flights"], row["date"]))[:10]


Thing = TypeVar("Thing")


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> list[tuple[Key, list[Thing]]]:
    """Things by their key."""
    groups: dict[Key, list[Thing]] = defaultdict(list)
    for thing in things:
        groups[key(thing)].append(thing)
    return list(groups.items())


def delays(flights: Iterable[Departure]) -> list[int]:
    return [f.delay for f in flights if f.delay is not None]


def cancelled(flights: Iterable[Departure]) -> int:
    return sum(f.delay is None for f in flights)


def late(flights: Iterable[Departure]) -> int:
    return sum(f.is_late for f in flights)


def mean(values: Sequence[int]) -> float | None:
    """Their mean to one decimal, halves away from zero; None of none."""
    return _rounded(Decimal(sum(values)) / Decimal(len(values))) if values else None


def quantile(values: Sequence[int], part: float) -> float | None:
    """The value that this part of them does not exceed, between two of them where it must be."""
    if not values:
        return None
    ordered = sorted(values)
    place = Decimal(str(part)) * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return _rounded(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def _rounded(value: Decimal) -> float:
    return float(value.quantize(Decimal("0.1"), ROUND_HALF_UP))
