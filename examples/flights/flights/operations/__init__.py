"""The handlers, by noun. Importing this package registers all seven on the surface.

pgplane worker flights.operations:surface
"""

from flights.operations import delays, departures, references, traffic
from flights.surface import surface

__all__ = ["delays", "departures", "references", "surface", "traffic"]
