"""`.sql` operations: which colons are parameters, and what an author is told at registration."""

from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from pgplane.sqlfile import SqlFileError, load, parse, sql_type


def text(source: str) -> str:
    return parse(source, lambda name: "text").text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("select :a", "select ($1::text)"),
        ("select :a, :b, :a", "select ($1::text), ($2::text), ($1::text)"),
        ("select :a::date", "select ($1::text)::date"),
        ("select a::date, b :: int", "select a::date, b :: int"),
        ("select ':a', 'it''s :a'", "select ':a', 'it''s :a'"),
        (r"select E'\':a', e'\\'||:a", r"select E'\':a', e'\\'||($1::text)"),
        (r"select date'\'||:a", r"select date'\'||($1::text)"),
        ('select ":a" from "x"":b"', 'select ":a" from "x"":b"'),
        ("select $$:a$$, $tag$ $$ :a $tag$", "select $$:a$$, $tag$ $$ :a $tag$"),
        ("select a$b$ from t$b$ where :a", "select a$b$ from t$b$ where ($1::text)"),
        ("select 1 -- :a\n+ :b", "select 1 -- :a\n+ ($1::text)"),
        ("select /* :a /* :b */ :c */ :d", "select /* :a /* :b */ :c */ ($1::text)"),
        ("select a[1:2], a[1 : n]", "select a[1:2], a[1 : n]"),
        ("select 'é' || :a, ü from t", "select 'é' || ($1::text), ü from t"),
        ("select 100 % 7, 'a%s'", "select 100 % 7, 'a%s'"),
        ("select 1;\n-- the end;\n", "select 1 \n-- the end;\n"),
    ],
)
def test_only_a_colon_with_a_name_is_a_parameter(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("select :a, :b, :a", "select ((%(a)s)::text), ((%(b)s)::text), ((%(a)s)::text)"),
        (
            "select ':a', 5 % 7 + :a -- %s",
            "select ':a', 5 %% 7 + ((%(a)s)::text) -- %%s",
        ),
        ("select 100 % 7", "select 100 % 7"),
    ],
)
def test_a_template_is_for_values_that_are_put_in(source: str, expected: str) -> None:
    assert parse(source, lambda name: "text").template == expected


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("select 1\n+ 'open", "line 2: ' is never closed"),
        ('select "open', 'line 1: " is never closed'),
        ("select $x$ open $y$", "line 1: $x$ is never closed"),
        ("\n\n/* /* */", "line 3: /* is never closed"),
        ("select $1", "line 1: $1: name the parameter, :name"),
        ("select 1;\nselect 2", "line 2: a second statement; one is enough"),
        (" -- nothing\n;", "there is no statement"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(source: str, complaint: str) -> None:
    with pytest.raises(SqlFileError) as refused:
        text(source)
    assert str(refused.value) == complaint


def test_the_complaint_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.sql"
    path.write_text("select 'open")
    with pytest.raises(SqlFileError, match=r"^broken\.sql, line 1: "):
        load(path, lambda name: "text")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, "text"),
        (int | None, "bigint"),
        (bool, "boolean"),
        (Annotated[Decimal, Field(gt=0)], "numeric"),
        (datetime, "timestamptz"),
        (list[date], "date[]"),
        (tuple[str, ...] | None, "text[]"),
        (Literal["asc", "desc"], "text"),
        (Colour, "text"),
    ],
)
def test_a_parameter_has_the_type_of_its_annotation(annotation: object, expected: str) -> None:
    assert sql_type(annotation) == expected


@pytest.mark.parametrize("annotation", [int | str, dict[str, int], object, Literal[1, "a"]])
def test_an_annotation_without_one_type_is_refused(annotation: object) -> None:
    with pytest.raises(SqlFileError, match="no one SQL type"):
        sql_type(annotation)
