"""The surface, on which each module of `flights.operations` registers what it answers."""

from pgplane.surface import Surface

surface = Surface("flights")
