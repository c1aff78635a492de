"""The handlers, by noun. Importing this package registers all of them on the surface.

pgplane worker flights.operations:surface
"""

from flights.operations import (
    aircraft,
    carriers,
    delays,
    departures,
    destinations,
    exports,
    overview,
    punctuality,
    references,
    reports,
    traffic,
    weather,
)
from flights.surface import surface

__all__ = [
    "aircraft",
    "carriers",
    "delays",
    "departures",
    "destinations",
    "exports",
    "overview",
    "punctuality",
    "references",
    "reports",
    "surface",
    "traffic",
    "weather",
]
