"""Encoding: strict JSON in which every digit survives."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
from pydantic import BaseModel

from pgplane.session import RawJson
from pgplane.worker.encoding import encode


class Colour(Enum):
    RED = "red"


class Model(BaseModel):
    price: Decimal


@dataclass
class Point:
    x: Decimal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (9007199254740993, "9007199254740993"),
        (-(2**63), "-9223372036854775808"),
        (2**70, "1180591620717411303424"),
        ([Decimal("0.10"), Decimal("12345678901234567890.1234567890")],
         "[0.10,12345678901234567890.1234567890]"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E-7"), "0.0000001"),
        (RawJson(b'{"a": 1.50}'), '{"a": 1.50}'),
        ({"raw": RawJson(b'{"a": 1.50}')}, '{"raw":{"a": 1.50}}'),
        ({1: "a", "é": None, "t": (True, False)}, '{"1":"a","é":null,"t":[true,false]}'),
        (date(2013, 1, 2), '"2013-01-02"'),
        (datetime(2013, 1, 2, 3, tzinfo=UTC), '"2013-01-02T03:00:00+00:00"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Colour.RED, '"red"'),
        (Model(price=Decimal("1.50")), '{"price":1.50}'),
        (Point(x=Decimal("1.0")), '{"x":1.0}'),
        ("nul \x00", '"nul \\u0000"'),
    ],
)  # fmt: skip
def test_values_keep_their_digits(value: object, expected: str) -> None:
    assert encode(value) == (expected.encode(), 0)


@pytest.mark.parametrize(
    ("value", "expected", "replaced"),
    [
        ([float("nan"), float("inf"), -float("inf"), 1.5], "[null,null,null,1.5]", 3),
        ({"a": Decimal("NaN")}, '{"a":null}', 1),
        ("lone \ud800 surrogate", '"lone \ufffd surrogate"', 1),
        ({"\ud800": "😀"}, '{"\ufffd":"😀"}', 1),
    ],
)
def test_what_json_cannot_hold_is_replaced_and_counted(
    value: object, expected: str, replaced: int
) -> None:
    assert encode(value) == (expected.encode(), replaced)
    json.loads(expected)


@pytest.mark.parametrize("value", [b"bytes", {"a": object()}, [1j]])
def test_a_value_without_a_form_is_an_error_that_names_its_type(value: object) -> None:
    with pytest.raises(TypeError, match=r"bytes|object|complex"):
        encode(value)
