"""Strict: JSON as the standard has it, numbers as whoever reads it wants them."""

import json
from collections.abc import Callable
from typing import NoReturn


def decoder(
    parse_int: Callable[[str], object], parse_float: Callable[[str], object] = float
) -> json.JSONDecoder:
    """A decoder that takes no NaN and no Infinity; it raises ValueError, and RecursionError."""
    return json.JSONDecoder(
        parse_int=parse_int, parse_float=parse_float, parse_constant=_no_constant
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
