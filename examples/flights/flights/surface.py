"""The flights surface: seven questions about real flights.

pgplane worker flights.surface:surface
"""

from __future__ import annotations

from flights.registry import surface

# Importing a module registers its operations.
from flights.operations import delays, departures, references, traffic  # isort: skip

__all__ = ["delays", "departures", "references", "surface", "traffic"]
