"""What each operation takes. The manifest's JSON Schema, and so the page, follow from these."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal, Self

from pgplane.surface import Params
from pydantic import AfterValidator, Field, model_validator

FIRST_DAY = dt.date(2013, 1, 1)
LAST_DAY = dt.date(2013, 12, 31)

Origin = Literal["EWR", "JFK", "LGA"]
Carrier = Annotated[
    str, Field(pattern="^[A-Z0-9]{2}$", description="Two-letter airline code.", examples=["UA"])
]


def _within_2013(day: dt.date) -> dt.date:
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"the flights are of 2013, and {day} is not")
    return day


Day = Annotated[
    dt.date,
    AfterValidator(_within_2013),
    Field(description="A day of 2013.", examples=["2013-07-04"]),
]


class Period(Params):
    """A span of days, both ends included, at one origin or at all that the caller may see."""

    origin: Origin | None = None
    from_: Day = Field(default=FIRST_DAY, alias="from")
    to: Day = LAST_DAY

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ > self.to:
            raise ValueError(f"from {self.from_} is after to {self.to}")
        return self


class CarrierPeriod(Period):
    """A period, of one airline or of all."""

    carrier: Carrier | None = None


class Airlines(Params):
    """Nothing to choose."""


class Airports(Params):
    """Airports whose code or name contains a text."""

    search: Annotated[str, Field(max_length=50)] = ""
    limit: Annotated[int, Field(ge=1, le=2000)] = 50


class Flight(Params):
    """One flight number on one day."""

    carrier: Carrier
    flight: Annotated[int, Field(ge=1, le=9999)]
    date: Day


class Board(Params):
    """One day's departures of one origin."""

    origin: Origin
    date: Day


class Month(Params):
    """One month of 2013, at one origin or at all that the caller may see."""

    month: Annotated[int, Field(ge=1, le=12, description="1 January … 12 December.")]
    origin: Origin | None = None
