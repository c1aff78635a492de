"""Who may see which flights: a caller's scope is a list of origin airports; staff sees all.

Two things follow, and every operation does both: a question about an origin outside the scope is
refused (the gate), and every query filters its rows by the origins that are left (the filter).
"""

from __future__ import annotations

from typing import Protocol, get_args

from pgplane.errors import HttpError
from pgplane.surface import Envelope

from flights.models import CarrierPeriod, Origin, Period

ORIGINS: tuple[Origin, ...] = get_args(Origin)


class AboutOrigin(Protocol):
    """Params that may name one origin."""

    @property
    def origin(self) -> Origin | None: ...


def origin_in_scope(params: AboutOrigin, envelope: Envelope) -> None:
    """Gate: refuse with 403 when the question names an origin that the caller may not see."""
    if params.origin is not None and not envelope.sees(params.origin):
        raise HttpError(
            403,
            "ORIGIN_NOT_IN_SCOPE",
            f"you may not see flights from {params.origin}",
            origin=params.origin,
        )


def something_in_scope(params: AboutOrigin, envelope: Envelope) -> None:
    """Gate of exports: who may see no origin at all is told so, rather than given an empty file."""
    if not origins(envelope, params.origin):
        raise HttpError(403, "NOTHING_TO_EXPORT", "you may not see flights from any origin")


def origins(envelope: Envelope, wanted: Origin | None = None) -> list[Origin]:
    """The origins whose flights answer this caller: the one wanted, or all that are visible."""
    return [
        origin
        for origin in ORIGINS
        if envelope.sees(origin) and (wanted is None or origin == wanted)
    ]


def chosen(params: Period, envelope: Envelope) -> dict[str, object]:
    """A period as the named values of a query: `origins`, `first`, `last`, `carrier` (or None)."""
    return {
        "origins": origins(envelope, params.origin),
        "first": params.from_,
        "last": params.to,
        "carrier": params.carrier if isinstance(params, CarrierPeriod) else None,
    }
