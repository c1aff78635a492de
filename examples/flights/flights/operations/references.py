"""Reference lists: plain `.sql` files, the same for everybody, cached for five minutes."""

from __future__ import annotations

from pathlib import Path

from flights.models import Airlines, Airports
from flights.surface import surface

_HERE = Path(__file__).parent
_TTL_SECONDS = 300

surface.sql_operation("airlines", _HERE / "airlines.sql", Airlines, ttl_seconds=_TTL_SECONDS)
surface.sql_operation("airports", _HERE / "airports.sql", Airports, ttl_seconds=_TTL_SECONDS)
