"""Params at the edge: refused as a worker would, and never for what is not known."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Literal

import httpx2
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError

import flights.operations  # noqa: F401 - they register themselves
from flights.surface import surface
from pgplane.edge.checking import params as module
from pgplane.edge.checking.params import (
    ALL_FAULTS_BYTES,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_FAULTS,
    ParamsSchema,
)
from pgplane.edge.routes.asking import invalid_params
from pgplane.surface import Params
from pgplane.worker import execution

from ..support.edges import ASK, Plane, ask, problem
from ..support.issuer import Issuer


def schema_of(model: type[Params]) -> ParamsSchema:
    return ParamsSchema(json.dumps(model.model_json_schema()).encode())


def of_schema(schema: object) -> ParamsSchema:
    return ParamsSchema(json.dumps(schema).encode())


def edge_says(operation: str, params: str) -> dict[str, Any] | None:
    """How the edge refuses; None: it does not."""
    found = surface.get(operation)
    assert found is not None
    wrong = schema_of(found.params).faults(params)
    return told(invalid_params(wrong).members()) if wrong else None


def worker_says(operation: str, params: str) -> dict[str, Any] | None:
    """How a worker refuses; None: it does not."""
    payload = payload_of(operation, params)
    return told(payload | {"detail": payload["message"]}) if payload else None


def payload_of(operation: str, params: str) -> dict[str, Any] | None:
    """The error that a worker completes the job with."""
    found = surface.get(operation)
    assert found is not None
    try:
        found.params.model_validate_json(params)
    except ValidationError as invalid:
        refuse = vars(execution)["invalid_params"]
        payload: dict[str, Any] = refuse(*execution._wrong_fields(invalid)).payload()
        payload["errors"].sort(key=lambda error: error["field"])
        return payload
    return None


def told(refusal: dict[str, Any]) -> dict[str, Any]:
    return {name: refusal[name] for name in ("status", "code", "detail", "errors")}


SAME = [
    ("airlines", "{}"),
    ("airlines", '{"x": 1, "a": 2}'),
    ("airports", "{}"),
    ("airports", '{"limit": 7.0, "search": "New"}'),
    ("airports", '{"limit": 0}'),
    ("airports", '{"limit": 2001, "search": 7, "no": null}'),
    ("airports", '{"limit": 7.5}'),
    ("airports", '{"limit": null}'),
    ("airports", '{"limit": [], "search": {}}'),
    ("airports", '{"limit": 1e999}'),
    ("airports", json.dumps({"search": "x" * 51})),
    ("airports", json.dumps({"search": "é" * 51})),
    ("flight", "{}"),
    ("flight", '{"carrier": "UA", "flight": 1545, "date": "2013-01-01"}'),
    ("flight", '{"carrier": "ua", "flight": 10000, "date": "2013-01-01"}'),
    ("flight", '{"carrier": "UA\\n", "flight": 1, "date": "2013-01-01"}'),
    ("flight", '{"Carrier": "UA", "flight": 1, "date": "2013-01-01"}'),
    ("origin_board", '{"origin": "XXX", "date": "2013-01-01"}'),
    ("origin_board", '{"origin": 5}'),
    ("delays_by_carrier", '{"origin": null}'),
    ("delays_by_carrier", '{"origin": "ewr"}'),
    ("delays_by_carrier", '{"origin": ["EWR"], "carrier": "UA"}'),
    ("delays_by_hour", '{"carrier": "UAL", "origin": "JFK"}'),
    ("delays_by_hour", '{"from_": "2013-01-01"}'),
    ("daily_traffic", '{"carrier": "", "from": "2013-02-01"}'),
    ("daily_traffic", '{"carrier": null, "to": "2013-02-01"}'),
]


@pytest.mark.parametrize(("operation", "params"), SAME)
def test_edge_and_worker_refuse_alike(operation: str, params: str) -> None:
    assert edge_says(operation, params) == worker_says(operation, params)


@pytest.mark.parametrize("operation", [str(one["name"]) for one in surface.manifest()])
def test_what_is_missing_and_what_is_too_much_is_told_alike_of_each(operation: str) -> None:
    refused = edge_says(operation, '{"nobody": 1}')
    assert refused == worker_says(operation, '{"nobody": 1}')
    assert refused is not None
    assert "nobody" in [error["field"] for error in refused["errors"]]


@pytest.mark.parametrize(
    ("operation", "params", "field"),
    [
        ("flight", '{"carrier": "UA", "flight": 1, "date": [5]}', "date"),
        ("airports", '{"limit": %s}' % ("9" * (MAX_DIGITS + 1)), ""),
        ("airports", '{"search": ' + "[" * 300 + "]" * 300 + "}", ""),
    ],
    ids=["another type of a date", "digits", "depth"],
)
def test_where_the_words_differ_the_shape_does_not(operation: str, params: str, field: str) -> None:
    for refusal in (edge_says(operation, params), worker_says(operation, params)):
        assert refusal is not None
        (error,) = refusal.pop("errors")
        assert refusal == {"status": 422, "code": "PARAMS", "detail": "invalid params"}
        assert (error.pop("field"), error.keys()) == (field, {"message"})


@pytest.mark.parametrize("params", ['{"limit": "7"}', '{"limit": true}'])
def test_the_edge_is_the_stricter(params: str) -> None:
    assert worker_says("airports", params) is None
    refusal = edge_says("airports", params)
    assert refusal is not None
    assert refusal["errors"] == [{"field": "limit", "message": "Input should be a valid integer"}]


@pytest.mark.parametrize("date", ["nope", "2013-02-30", "2012-12-31"])
def test_what_is_no_matter_of_types_the_worker_refuses(date: str) -> None:
    params = json.dumps({"carrier": "UA", "flight": 1, "date": date})
    assert edge_says("flight", params) is None
    refusal = worker_says("flight", params)
    assert refusal is not None
    assert [error["field"] for error in refusal["errors"]] == ["date"]


async def test_the_document_is_that_of_a_job_that_the_worker_refused(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    params = '{"carrier": "ua", "flight": 1, "date": "2013-01-01"}'
    plane.look(
        "select plane.register_manifest('surface-flights', %s)", json.dumps(surface.manifest())
    )
    asked = await ask(client, issuer)
    plane.complete(plane.claim(), error=json.dumps(payload_of("flight", params)))
    answered = (await client.get(asked["statusUrl"], headers=issuer.bearer())).json()["error"]
    content = f'{{"operation": "flight", "params": {params}}}'
    response = await client.post(ASK, content=content, headers=issuer.bearer())
    assert answered.pop("jobId") == asked["jobId"]
    assert problem(response, 422) == answered


class Branch(Params):
    """A tree, so that a schema refers to itself."""

    name: Annotated[str, Field(min_length=1, max_length=3)]
    kind: Literal["leaf"] = "leaf"
    branches: Annotated[tuple["Branch", ...], Field(max_length=2)] = ()


class Wide(Params):
    """Much of what a model can say."""

    text: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    whole: Annotated[int, Field(gt=1, lt=9, multiple_of=2)] = 2
    real: Annotated[float, Field(ge=0.5, le=1.5)] = 1.0
    flag: bool = True
    several: Annotated[tuple[int, ...], Field(min_length=1)] = (1,)
    distinct: frozenset[int] = frozenset()
    table: Annotated[dict[str, int], Field(default_factory=dict)]
    pair: tuple[int, str] = (1, "a")
    either: int | str = 1
    maybe: Branch | None = None
    none: None = None
    choice: Literal["a", "b", 3] = "a"


OPERATIONS = [surface.get(str(operation["name"])) for operation in surface.manifest()]
MODELS: list[type[Params]] = [
    Wide,
    Branch,
    *{operation.params: None for operation in OPERATIONS if operation},
]
NAMES = sorted(
    {name for model in MODELS for name in model.model_json_schema().get("properties", {})}
    | set(Branch.model_fields)
)
SEEN = [None, True, 0, 1, 2, 8, 9, 1.0, 1.5, 0.5, 7.5, 2000, 2001, 9999, 10000, 1e300, -0.0, 2**70]
SAID = ["", "a", "b", "leaf", "UA", "UAL", "EWR", "2013-01-01", "x" * 50, "x" * 51, "é", "A1"]
GOOD: dict[str, Any] = {
    "carrier": "UA",
    "flight": 1545,
    "date": "2013-01-01",
    "origin": "EWR",
    "name": "oak",
    "branches": [{"name": "fir"}],
    "whole": 4,
    "pair": [1, "a"],
    "maybe": {"name": "oak", "branches": [{"name": "fir", "kind": "leaf"}]},
}
VALUES = st.recursive(
    st.sampled_from([*SEEN, *SAID]) | st.integers() | st.floats(-10, 10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*NAMES, "else"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def asked(model: type[Params]) -> st.SearchStrategy[dict[str, Any]]:
    """Params for a model: good in part, or nothing like it."""
    fields = {
        field.alias or name: st.sampled_from([GOOD[name], GOOD[name], "a", None]) | VALUES
        for name, field in model.model_fields.items()
        if name in GOOD
    }
    names = [*model.model_json_schema().get("properties", {}), "else"]
    anything = st.dictionaries(st.sampled_from(names), VALUES, max_size=3)
    return anything | st.fixed_dictionaries(fields, optional={"else": VALUES})


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_another_library_agrees(model: type[Params]) -> None:
    schema = schema_of(model)
    oracle = jsonschema.Draft202012Validator(model.model_json_schema())
    agreed = {True: 0, False: 0}

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(asked(model))
    def agree(params: dict[str, Any]) -> None:
        fits = oracle.is_valid(params)
        assert (schema.faults(json.dumps(params)) == []) == fits
        agreed[fits] += 1

    agree()
    required = set(model.model_json_schema().get("required", []))
    assert agreed[False]
    assert agreed[True] or not required <= GOOD.keys()


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"minLength": 2}, "a", "String should have at least 2 characters"),
        ({"minLength": 1}, "", "String should have at least 1 character"),
        ({"minItems": 1}, [], "List should have at least 1 item after validation, not 0"),
        ({"maxItems": 2}, [1, 2, 3], "List should have at most 2 items after validation, not 3"),
        ({"exclusiveMinimum": 1.0}, 1, "Input should be greater than 1"),
        ({"exclusiveMaximum": 1.5}, 2, "Input should be less than 1.5"),
        ({"multipleOf": 2}, 3, "Input should be a multiple of 2"),
        ({"const": "a"}, "b", "Input should be 'a'"),
        ({"enum": [1, "a", None]}, "b", "Input should be 1, 'a' or None"),
        ({"enum": ["a"], "type": "string"}, 5, "Input should be 'a'"),
        ({"type": "boolean"}, 5, "Input should be a valid boolean"),
        ({"type": "number"}, "5", "Input should be a valid number"),
        ({"type": "array"}, {}, "Input should be a valid array"),
        ({"type": "object"}, [], "Input should be an object"),
        ({"type": "null"}, 0, "Input should be null"),
        ({"anyOf": [{"type": "null"}, {"const": 3}]}, "ab", "Input should be 3"),
        ({"not": {}}, 5, "{} is not allowed for Input"),
        (False, 5, "False schema does not allow Input"),
    ],
    ids=str,
)
def test_faults_are_worded_as_a_worker_words_them(
    schema: object, value: object, message: str
) -> None:
    faults = of_schema({"properties": {"a": {"items": schema}}}).faults(json.dumps({"a": [value]}))
    assert faults == [("a.0", message)]


@settings(derandomize=True, database=None)
@given(st.text(st.characters(codec="utf-8"), min_size=8))
def test_no_fault_quotes_a_value(secret: str) -> None:
    choice = {"anyOf": [{"type": "null"}, {"not": {}}]}
    schema = of_schema({"properties": {"a": False, "b": choice}})
    faults = schema.faults(json.dumps({"a": secret, "b": [secret]}))
    assert [fault.field for fault in faults] == ["a", "b"]
    assert not any(json.dumps(secret) in fault.message for fault in faults)


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that serves a schema, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "object", "maxProperties": 0}')

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema"])
def test_no_reference_leads_elsewhere(elsewhere: tuple[str, list[str]], keyword: str) -> None:
    address, asked = elsewhere
    assert httpx2.get(f"{address}/a").json()["maxProperties"] == 0
    for schema in (
        {keyword: f"{address}/b"},
        {"properties": {"a": {keyword: f"{address}/c#/d"}}},
        {"$id": f"{address}/e/", "allOf": [{keyword: "f"}]},
    ):
        assert of_schema(schema).faults('{"a": 1}') == []
    assert asked == ["/a"]


def test_no_reference_leads_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"maxProperties": 0}')
    assert of_schema(json.loads(path.read_text())).faults('{"a": 1}')
    assert of_schema({"$ref": path.as_uri()}).faults('{"a": 1}') == []


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "nonsense"}',
        '{"pattern": "("}',
        '{"pattern": "((((a{100}){100}){100}){100})"}',
        '{"$ref": "#/$defs/none"}',
        '{"$ref": "http://127.0.0.1:1/none"}',
        '{"maximum": 1e999}',
        '{"maximum": %s}' % ("9" * (MAX_DIGITS + 1)),
        '{"items": ' * (MAX_DEPTH + 1) + "{}" + "}" * (MAX_DEPTH + 1),
        '{"items": ' * 100_000 + "{}" + "}" * 100_000,
        "[]",
        "false",
        "",
    ],
    ids=lambda text: text[:40],
)
def test_a_schema_that_cannot_be_used_refuses_nothing_and_says_why(text: str) -> None:
    schema = ParamsSchema(text.encode())
    assert schema.faults('{"a": 1}') == []
    assert schema.document is None
    assert schema.reason


BOXES = {
    "properties": {"a": {"$ref": "#/$defs/box"}},
    "$defs": {
        "box": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/box"}, "type": "array"}]}
    },
}


def nested(levels: int) -> str:
    return '{"a": ' + "[" * levels + "1" + "]" * levels + "}"


def test_params_nest_so_deep_and_no_deeper() -> None:
    for schema in (of_schema({}), of_schema(BOXES)):
        assert schema.faults(nested(MAX_DEPTH - 1)) == []
        for levels in (MAX_DEPTH, 1000, 100_000):
            assert schema.faults(nested(levels)) == [("", "Invalid JSON: recursion limit exceeded")]


@pytest.mark.parametrize("sign", ["", "-"])
def test_numbers_are_read_as_far_as_a_worker_reads_them(sign: str) -> None:
    schema = of_schema({"properties": {"a": {"type": "number"}}})
    assert schema.faults(f'{{"a": {sign}{"9" * MAX_DIGITS}}}') == []
    too_long = f'{{"a": {sign}{"9" * (MAX_DIGITS + 1)}}}'
    assert schema.faults(too_long) == [("", "Invalid JSON: number out of range")]
    endless = f'{{"b": [0, {{"c": {sign}1e999}}], "a": {sign}{"9" * 400}.0}}'
    assert schema.faults(endless) == [
        ("b.1.c", "Input should be a finite number"),
        ("a", "Input should be a finite number"),
    ]


async def test_endless_numbers_are_refused_by_the_address(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    for number in ("1e999", "-1e999", "9" * 5000):
        content = f'{{"operation": "airlines", "params": {{"n": {number}}}}}'
        response = await client.post(ASK, content=content, headers=issuer.bearer())
        assert problem(response, 422)["code"] == "PARAMS"
    assert plane.jobs() == 0


def test_a_regular_expression_that_gives_up_refuses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = {"properties": {"a": {"pattern": r"^(a|a)*\1$"}, "b": {"type": "string"}}}
    params = json.dumps({"a": "a" * 40 + "b"})
    monkeypatch.setattr(module, "BACKTRACKS", 1000)
    assert of_schema(schema).faults(params) == []
    assert of_schema({"anyOf": [schema, {"type": "array"}]}).faults(params) == []
    both = json.dumps({"a": "a" * 40 + "b", "b": 5})
    assert of_schema(schema).faults(both) == [("b", "Input should be a valid string")]


def test_of_much_only_the_first_fault_is_told() -> None:
    schema = of_schema({"properties": {"a": {"items": {"type": "string"}}}})
    few = json.dumps({"a": [1] * 5})
    many = json.dumps({"a": [1] * 1000})
    much = json.dumps({"a": [1] * 100_000})
    assert len(few) < len(many) < ALL_FAULTS_BYTES < len(much)
    assert [len(schema.faults(params)) for params in (few, many, much)] == [5, MAX_FAULTS, 1]


def test_half_a_surrogate_pair_is_for_the_ledger_to_refuse() -> None:
    schema = of_schema({"properties": {"a": {"type": "string", "maxLength": 0}}})
    assert schema.faults(r'{"a": "\ud800"}') == []
