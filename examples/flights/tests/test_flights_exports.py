"""Exports: files that are what they say, for whom they are made."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from asking import ELSEWHERE, EVERYTHING, LGA_ONLY, STAFF, Client, Kept, ask, result
from pgplane.errors import HttpError
from pgplane.surface import Envelope
from pypdf import PdfReader

from flights.database.loader import ClientDatabase
from flights.demo import binaries
from flights.operations import surface
from flights.report import setting

JULY = {"month": 7}
COLUMNS = """
    date, flights.carrier, airlines.name as airline, flight, tailnum, origin, dest,
    airports.name as dest_name, sched_dep_time, dep_time, dep_delay, sched_arr_time, arr_time,
    arr_delay, air_time, distance,
    case when dep_time is null then 'true' else 'false' end as cancelled
"""


def copied_by_psql(database: ClientDatabase, condition: str, file: Path) -> bytes:
    r"""The same file, made by psql's \copy."""
    query = (
        f"select {COLUMNS} from nyc.flights join nyc.airlines using (carrier)"
        f" left join nyc.airports on faa = dest where {condition}"
        " order by date, sched_dep_time, carrier, flight"
    )
    statement = rf"\copy ({' '.join(query.split())}) to '{file}' csv header"
    subprocess.run(
        [binaries.installed() / "psql", "-X", "-q", database.reader_url, "-c", statement],
        check=True,
        env={"PGCLIENTENCODING": "UTF8"},
    )
    return file.read_bytes()


@pytest.mark.parametrize(
    ("who", "params", "condition", "filename"),
    [
        (EVERYTHING, {}, "true", "flights-all-2013-01-01-2013-12-31.csv"),
        (LGA_ONLY, {}, "origin = 'LGA'", "flights-all-2013-01-01-2013-12-31.csv"),
        (
            STAFF,
            {"origin": "JFK", "carrier": "B6", "from": "2013-02-08", "to": "2013-02-09"},
            "origin = 'JFK' and carrier = 'B6' and month = 2 and day in (8, 9)",
            "flights-JFK-2013-02-08-2013-02-09.csv",
        ),
        (EVERYTHING, {"carrier": "ZZ"}, "false", "flights-all-2013-01-01-2013-12-31.csv"),
    ],
    ids=["all of it", "one origin in scope", "one airline, two days", "none"],
)
async def test_a_csv_is_what_psql_copies(
    client: Client,
    flights_db: ClientDatabase,
    tmp_path: Path,
    who: Envelope,
    params: dict[str, str],
    condition: str,
    filename: str,
) -> None:
    kept = Kept()
    answer = await result(client, who, "flights_csv", params, kept)
    right = copied_by_psql(flights_db, condition, tmp_path / "right.csv")
    assert kept.content == right
    lines = right.count(b"\n") - 1
    assert answer == {"rows": lines, "file": kept.ref}
    assert kept.filename == filename
    assert kept.told == [(0, lines), (lines, lines)]


def read(kept: Kept) -> PdfReader:
    return PdfReader(io.BytesIO(bytes(kept.content)))


def words(kept: Kept) -> str:
    """The text of all pages, each space one."""
    return " ".join(" ".join(page.extract_text() for page in read(kept).pages).split())


async def test_a_report_has_the_figures_of_the_other_operations(client: Client) -> None:
    kept = Kept()
    answer = await result(client, EVERYTHING, "month_report", JULY, kept)
    assert kept.content.startswith(b"%PDF-")
    assert (kept.content_type, kept.filename) == ("application/pdf", "flights-all-2013-07.pdf")
    assert answer == {"pages": len(read(kept).pages), "file": kept.ref}
    assert kept.told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    made = read(kept).metadata
    assert made is not None
    assert made.title == "Flights in July 2013"
    assert made.creation_date == dt.datetime(2013, 7, 31, tzinfo=dt.UTC)

    text = words(kept)
    assert "Flights in July 2013" in text
    assert "for northwind" in text
    assert "From Newark Liberty Intl (EWR), John F Kennedy Intl (JFK) and La Guardia (LGA)" in text
    july: dict[str, Any] = {"from": "2013-07-01", "to": "2013-07-31"}
    (figures,) = await ask(client, EVERYTHING, "overview", july)
    assert f"{figures['flights']:,} flights" in text
    assert f"{figures['on_time'] / figures['flights']:.1%}".replace("%", " %") in text
    assert f"{figures['mean_delay']} min mean delay" in text
    for airline in await ask(client, EVERYTHING, "delays_by_carrier", july):
        tail = [figure(airline[name]) for name in ("mean_delay", "median_delay", "p90_delay")]
        row = [airline["name"], airline["carrier"], f"{airline['flights']:,}"]
        assert " ".join([*row, str(airline["cancelled"]), *tail]) in text
    for day in await ask(client, EVERYTHING, "worst_days", july):
        row = [f"{day['date']:%A}, {day['date'].day} July", f"{day['flights']:,}", str(day["late"])]
        assert " ".join(row) in text


def figure(number: float) -> str:
    """One decimal, halves away from zero, with a minus that is one."""
    tenths = int(abs(number) * 10 + 0.5)
    return f"{'−' if number < 0 and tenths else ''}{tenths // 10}.{tenths % 10}"


async def test_a_report_has_what_its_reader_may_see(client: Client) -> None:
    asked: dict[str, tuple[Envelope, dict[str, Any]]] = {
        "one in scope": (LGA_ONLY, JULY),
        "one of three": (EVERYTHING, {**JULY, "origin": "LGA"}),
        "all three": (EVERYTHING, JULY),
    }
    reports = {name: Kept() for name in asked}
    for name, (who, params) in asked.items():
        await result(client, who, "month_report", params, reports[name])
    (figures,) = await ask(client, LGA_ONLY, "overview", {"from": "2013-07-01", "to": "2013-07-31"})
    text = words(reports["one in scope"])
    assert "From La Guardia (LGA)" in text
    assert f"{figures['flights']:,} flights" in text
    assert "Kennedy" not in text
    assert reports["one in scope"].content == reports["one of three"].content
    assert reports["one in scope"].content != reports["all three"].content
    assert reports["one of three"].filename == "flights-LGA-2013-07.pdf"


@pytest.mark.parametrize("origin", [None, "EWR", "JFK", "LGA"])
@pytest.mark.parametrize("month", range(1, 13))
async def test_a_report_is_one_page(client: Client, month: int, origin: str | None) -> None:
    answer = await result(client, EVERYTHING, "month_report", {"month": month, "origin": origin})
    assert answer["pages"] == 1


TEXT = '#panic("x") ] $x$ *bold* \\ "quoted" @nobody <label> // é'


def report(**changes: Any) -> dict[str, Any]:
    """The figures of a month with one flight, and these instead of some."""
    flight = {"flights": 1, "cancelled": 0, "mean_delay": -0.04, "late": 0}
    return {
        "title": "Flights",
        "made_for": "northwind",
        "airports": [{"faa": "LGA", "name": "La Guardia"}],
        "overview": {
            **flight,
            "on_time": 1,
            "median_delay": -1234.5,
            "p90_delay": None,
            "destinations": 1,
            "aircraft": 1,
            "miles": 1234567890,
        },
        "days": [{"date": "2013-02-01", **flight}],
        "carriers": [
            {"carrier": "ZZ", "name": "Nobody", **flight, "median_delay": None, "p90_delay": None}
        ],
        "worst": [{"date": "2013-02-01", **flight}],
        **changes,
    }


def set_in(figures: dict[str, Any]) -> str:
    pdf = setting.typeset(figures, dt.date(2013, 2, 28)).pdf
    pages = PdfReader(io.BytesIO(pdf)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_text_is_never_markup() -> None:
    carrier = {**report()["carriers"][0], "carrier": "#]", "name": TEXT}
    text = set_in(
        report(
            title="#[A title]",
            made_for=f"client {TEXT}",
            airports=[{"faa": "*X*", "name": TEXT}],
            carriers=[carrier],
        )
    )
    assert "#[A title]" in text
    assert f"for client {TEXT}" in text
    assert f"From {TEXT} (*X*)" in text
    assert f"{TEXT} #] 1" in text


@pytest.mark.parametrize("text", ["東京", "😀", "\0", "", "x" * 400])
def test_no_text_breaks_a_report(text: str) -> None:
    carrier = {**report()["carriers"][0], "name": text}
    set_text = set_in(report(title=text, made_for=text, carriers=[carrier]))
    assert "By airline" in set_text
    assert "ZZ 1 0" in set_text


def test_the_fonts_are_those_of_the_wheel_and_travel_along() -> None:
    pdf = setting.typeset(report(), dt.date(2013, 2, 28)).pdf
    page: Any = PdfReader(io.BytesIO(pdf)).pages[0]
    fonts = page["/Resources"]["/Font"]
    letters = [font.get_object()["/DescendantFonts"][0].get_object() for font in fonts.values()]
    assert letters
    for font in letters:
        assert "LibertinusSerif" in font["/BaseFont"]
        assert {"/FontFile2", "/FontFile3"} & set(font["/FontDescriptor"].get_object())


def test_numbers_are_written_as_people_do() -> None:
    text = set_in(report())
    assert "−1,234.5 min median delay" in text
    assert "1,234.6 million miles flown" in text
    assert "0.0 min mean delay" in text
    assert "– min 90th percentile" in text


def test_a_month_without_flights_can_be_set() -> None:
    overview = dict.fromkeys(report()["overview"], 0) | {
        "mean_delay": None,
        "median_delay": None,
        "p90_delay": None,
    }
    text = set_in(report(airports=[], overview=overview, days=[], carriers=[], worst=[]))
    assert "0 flights" in text


def test_the_same_report_is_the_same_bytes_in_every_process() -> None:
    code = (
        "import datetime as dt, sys, orjson; from flights.report import setting;"
        "sys.stdout.buffer.write("
        "setting.typeset(orjson.loads(sys.stdin.read()), dt.date(2013, 2, 28)).pdf)"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", code],
        input=orjson.dumps(report()),
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert elsewhere.stdout == setting.typeset(report(), dt.date(2013, 2, 28)).pdf


async def test_without_typst_a_report_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(HttpError, match="its extra `report`") as refusal:
        await result(client, EVERYTHING, "month_report", JULY)
    assert (refusal.value.status, refusal.value.code) == (404, "NO_REPORTS")


@pytest.mark.parametrize(("name", "params"), [("flights_csv", {}), ("month_report", JULY)])
class TestGates:
    """Who may take what away."""

    async def test_an_origin_outside_the_scope_is_refused(
        self, client: Client, name: str, params: dict[str, Any]
    ) -> None:
        with pytest.raises(HttpError) as refusal:
            await result(client, LGA_ONLY, name, {**params, "origin": "JFK"})
        assert (refusal.value.status, refusal.value.code) == (403, "ORIGIN_NOT_IN_SCOPE")

    async def test_who_sees_nothing_is_told_so(
        self, client: Client, name: str, params: dict[str, Any]
    ) -> None:
        kept = Kept()
        with pytest.raises(HttpError) as refusal:
            await result(client, ELSEWHERE, name, params, kept)
        assert (refusal.value.status, refusal.value.code) == (403, "NOTHING_TO_EXPORT")
        assert kept.told == []

    def test_it_is_not_cached_and_not_per_actor(self, name: str, params: dict[str, Any]) -> None:
        (entry,) = (entry for entry in surface.manifest() if entry["name"] == name)
        assert (entry["ttl_seconds"], entry["per_actor"]) == (0, False)
