"""Typesetting: the template beside this file and figures become a PDF. Needs the extra `report`."""

from __future__ import annotations

import datetime as dt
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import orjson

TEMPLATE = Path(__file__).with_name("month.typ")


@dataclass(frozen=True)
class Document:
    """A PDF, whole in memory, and how many pages it has."""

    pdf: bytes
    pages: int


def is_installed() -> bool:
    """Whether typst, which sets the report, is there."""
    return importlib.util.find_spec("typst") is not None


def typeset(figures: Mapping[str, object], made: dt.date) -> Document:
    """Set the report; the same figures and date give the same bytes, on any machine.

    Takes a tenth of a second of a thread that nothing stops. The template takes the figures as
    data: no text in them is ever read as markup. Of fonts it knows those in typst's wheel alone;
    what they have no letter for is a box.
    """
    import typst

    compiler = typst.Compiler(
        TEMPLATE,
        root=TEMPLATE.parent,
        ignore_system_fonts=True,
        sys_inputs={"figures": orjson.dumps(figures).decode()},
    )
    midnight = dt.datetime.combine(made, dt.time(), dt.UTC)
    pdf = compiler.compile(format="pdf", timestamp=midnight)
    pages = orjson.loads(compiler.query("<pages>", field="value", one=True))
    return Document(cast("bytes", pdf), pages)
