"""The OpenAPI document: that it is one, that it is true, and what a fuzzer makes of it."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, Field
from starlette.routing import Route

import flights.operations  # noqa: F401 - they register themselves
from flights.surface import surface
from pgplane.edge.checking.params import ParamsSchema
from pgplane.edge.manifests.addresses import addresses
from pgplane.edge.manifests.openapi import Described, document
from pgplane.edge.routes import ROUTES
from pgplane.ledger.records import ManifestEntry

from ..support.edges import Plane, on_a_port, problem
from ..support.issuer import Issuer

ADDRESS = "/api/flights/openapi.json"
DOCS = Path(__file__).resolve().parents[3] / "docs/http.md"
SERVED = [
    (method, route.path) for route in ROUTES for method in route.methods or () if method != "HEAD"
]
EVERYTHING = [(method.upper(), path) for path, item in addresses().items() for method in item]
FUZZED_SECONDS = 200


class Cat(BaseModel):
    kind: Literal["cat"]
    kittens: list["Cat"] = []


class Dog(BaseModel):
    kind: Literal["dog"]


class Shop(BaseModel):
    """A schema with definitions, one of which refers to itself, and a tagged choice."""

    pet: Cat | Dog = Field(discriminator="kind")
    box: dict[str, Cat] = {}


STRANGE: list[tuple[str, int, dict[str, Any]]] = [
    ("shop", 1, Shop.model_json_schema()),
    ("shop", 2, {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}),
    ("a:b", 1, {"$defs": {"x/y ~": {"type": "integer"}}, "items": {"$ref": "#/$defs/x~1y%20~0"}}),
    ("a.b", 1, {"$defs": {"x y": {}, "x_y": {"$ref": "#/$defs/x%20y"}}}),
    ("a_b", 1, {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": {"$ref": "#"}}),
    (
        "params",
        1,
        {
            "properties": {"$ref": {"type": "string"}, "default": {"$ref": "#/$defs/d"}},
            "$defs": {"d": {}},
        },
    ),
    ("data", 1, {"const": {"$ref": "#/$defs/none"}, "examples": [{"$id": "x"}]}),
    ("remote", 1, {"properties": {"a": {"$ref": "http://127.0.0.1:1/none"}}}),
    (
        "based",
        1,
        {"$id": "http://127.0.0.1:1/here", "properties": {"a": {"$ref": "#/properties/b"}}},
    ),
    ("pointing", 1, {"properties": {"a": {"$ref": "#/properties/b"}, "b": {}}}),
    ("broken", 1, {"type": "nonsense"}),
    ("shown", 1, {"xml": 5, "externalDocs": 6, "discriminator": "pet"}),
    ("Problem", 1, {}),
    ("Question", 1, {"additionalProperties": False}),
]


def manifest(operations: Iterable[tuple[str, int, dict[str, Any]]]) -> list[Described]:
    described = []
    for name, version, schema in operations:
        text = json.dumps(schema).encode()
        params = ParamsSchema(text)
        operation = ManifestEntry(name, version, text, 60, 30, True)
        described.append(Described(operation, params.document, bool(params.faults("{}"))))
    return described


def of_flights() -> list[Described]:
    models = {str(one["name"]): surface.get(str(one["name"])) for one in surface.manifest()}
    return manifest(
        (name, 1, found.params.model_json_schema()) for name, found in models.items() if found
    )


def described(
    of: list[Described], served: Iterable[tuple[str, str]] = EVERYTHING
) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(document("flights", of, served))
    return found


def references(value: object) -> Iterator[str]:
    """Whatever refers: `$ref`, and what a discriminator maps to."""
    if isinstance(value, list):
        for one in value:
            yield from references(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key in ("const", "examples", "default"):
                continue
            if key == "$ref" and isinstance(one, str):
                yield one
            elif key == "mapping":
                yield from one.values()
            else:
                yield from references(one)


def valid(of: list[Described], question: object) -> bool:
    """Whether a question is one of the document's."""
    schema = described(of) | {"$ref": "#/components/schemas/Question"}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(question))


@pytest.mark.parametrize("of", [of_flights(), manifest(STRANGE)], ids=["flights", "strange"])
@pytest.mark.parametrize("served", [SERVED, EVERYTHING], ids=["served", "everything"])
def test_it_is_an_openapi_document(of: list[Described], served: list[tuple[str, str]]) -> None:
    found = described(of, served)
    assert list(map(str, OpenAPIV31SpecValidator(found).iter_errors())) == []
    assert found["openapi"].startswith("3.1.")


def test_every_reference_leads_somewhere_in_it() -> None:
    found = described(manifest(STRANGE))
    targets = set(references(found))
    assert len(targets) > 20
    for target in targets:
        assert target.startswith("#/components/")
        place = found
        for step in target.removeprefix("#/").split("/"):
            place = place[step]
    for name, schema in found["components"]["schemas"].items():
        assert "$defs" not in schema, name
        jsonschema.Draft202012Validator.check_schema(schema)


def test_definitions_move_and_what_refers_to_them_follows() -> None:
    schemas = described(manifest(STRANGE))["components"]["schemas"]
    cat = "#/components/schemas/shop.v1.params.Cat"
    assert schemas["shop.v1.params.Cat"]["properties"]["kittens"]["items"] == {"$ref": cat}
    assert schemas["shop.v1.params"]["properties"]["pet"]["discriminator"]["mapping"]["cat"] == cat
    assert schemas["data.v1.params"]["const"] == {"$ref": "#/$defs/none"}
    assert schemas["a_b.v1.params-2"]["items"] == {"$ref": "#/components/schemas/a_b.v1.params-2"}


@pytest.mark.parametrize("name", ["remote", "based", "pointing", "broken"])
def test_params_that_cannot_be_described_are_any_object(name: str) -> None:
    schemas = described(manifest(STRANGE))["components"]["schemas"]
    assert schemas[f"{name}.v1.params"] == {"type": "object"}


@pytest.mark.parametrize(
    ("question", "good"),
    [
        ({"operation": "shop", "version": 1, "params": {"pet": {"kind": "dog"}}}, True),
        ({"operation": "shop", "version": 1, "params": {"pet": {"kind": "cow"}}}, False),
        ({"operation": "shop", "version": 1, "params": {"a": 1}}, False),
        ({"operation": "shop", "version": 2, "params": {"a": 1}}, True),
        ({"operation": "shop", "params": {"a": 1}}, True),
        ({"operation": "shop", "version": None, "params": {"a": 1}}, True),
        ({"operation": "shop", "params": {"a": "1"}}, False),
        ({"operation": "shop"}, False),
        ({"operation": "shop", "version": 3, "params": {"a": 1}}, False),
        ({"operation": "Question"}, True),
        ({"operation": "Question", "params": {"a": 1}}, False),
        ({"operation": "a:b", "params": {}}, True),
        ({"operation": "remote", "params": {"a": 1}}, True),
        ({"operation": "nothing", "params": {}}, False),
        ({"operation": "remote", "params": [], "more": 1}, False),
    ],
    ids=str,
)
def test_a_question_is_one_of_those_that_the_operations_take(
    question: dict[str, Any], good: bool
) -> None:
    assert valid(manifest(STRANGE), question) == good


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    operation=st.sampled_from(["flight", "airports", "airlines", "origin_board", "nothing"]),
    params=st.dictionaries(
        st.sampled_from(["carrier", "flight", "date", "origin", "limit", "search"]),
        st.sampled_from(["UA", "JFK", "2013-01-01", 1, 0, 50, None]),
    ),
    version=st.sampled_from([None, 1, 2]),
)
def test_the_document_and_the_edge_agree(
    operation: str, params: dict[str, Any], version: int | None
) -> None:
    asked = {"operation": operation, "params": params, "version": version}
    taken = any(
        not ParamsSchema(one.operation.params_schema).faults(json.dumps(params))
        for one in FLIGHTS
        if one.operation.name == operation and version in (one.operation.version, None)
    )
    assert QUESTION_OF_FLIGHTS.is_valid(asked) == taken


FLIGHTS = of_flights()
QUESTION_OF_FLIGHTS = jsonschema.Draft202012Validator(
    described(FLIGHTS) | {"$ref": "#/components/schemas/Question"}
)


def test_what_is_served_is_described() -> None:
    assert all(isinstance(route, Route) for route in ROUTES)
    found = described(FLIGHTS, SERVED)["paths"]
    here = {(method.upper(), path) for path, item in found.items() for method in item}
    as_paths = {
        (method, path.replace("{surface}", "flights").replace("{job_id}", "{jobId}"))
        for method, path in SERVED
    }
    assert {(method, path) for method, path in here if method != "PARAMETERS"} == as_paths


def test_what_is_not_served_is_not_described() -> None:
    found = described(FLIGHTS, [("POST", "/api/{surface}/q"), ("GET", "/api/{surface}/q/{id}")])
    assert found["paths"].keys() == {"/api/flights/q", "/api/flights/q/{jobId}"}
    links = found["paths"]["/api/flights/q"]["post"]["responses"]["202"]["links"]
    assert links.keys() == {"getJob"}


def test_no_refusal_is_described_that_the_docs_do_not_know() -> None:
    known = set(re.findall(r"^\| (\d{3}) \|", DOCS.read_text(), re.M))
    for item in described(FLIGHTS, SERVED)["paths"].values():
        for method, operation in item.items():
            if method != "parameters":
                assert {one for one in operation["responses"] if one >= "400"} <= known


def test_behind_a_proxy_it_names_the_proxys_path() -> None:
    found = json.loads(document("flights", FLIGHTS, SERVED, "/plane"))
    assert found["servers"] == [{"url": "/plane"}]


async def test_it_is_served_to_who_may_ask(
    client: httpx2.AsyncClient, plane: Plane, issuer: Issuer
) -> None:
    response = await client.get(ADDRESS, headers=issuer.bearer())
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert list(map(str, OpenAPIV31SpecValidator(response.json()).iter_errors())) == []
    assert response.json()["info"]["title"] == "flights"
    plane.look("select plane.create_queue('surface-young')")
    young = await client.get("/api/young/openapi.json", headers=issuer.bearer())
    assert problem(young, 503)["code"] == "NOT_READY"
    nowhere = await client.get("/api/nowhere/openapi.json", headers=issuer.bearer())
    assert problem(nowhere, 404)["code"] == "NOT_FOUND"


@asynccontextmanager
async def answering(plane: Plane) -> AsyncIterator[None]:
    """A worker that answers everything with an empty object."""

    async def work() -> None:
        while True:
            held = "select job_id, attempt from plane.claim('surface-flights', 'worker', 9)"
            for job_id, attempt in plane.look(held):
                plane.complete((job_id, attempt), "{}")
            await asyncio.sleep(0.02)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.timeout(FUZZED_SECONDS + 20)
async def test_a_fuzzer_finds_nothing(
    plane: Plane, issuer: Issuer, as_edge: str, tmp_path: Path
) -> None:
    # What is no date only the worker refuses, and what has a NUL only the ledger.
    operations = re.sub('"format": "[a-z-]+", ', "", json.dumps(surface.manifest()))
    plane.look("select plane.register_manifest('surface-flights', %s)", operations)
    async with (
        on_a_port(issuer.settings(queue_url=as_edge, stream_seconds=0.25)) as (client, _),
        answering(plane),
    ):
        fuzzer = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).parent / "schemathesis"),
            "run",
            f"{client.base_url}{ADDRESS}",
            "--header",
            f"Authorization: Bearer {issuer.token(exp=4_000_000_000)}",
            "--checks=all",
            "--exclude-checks=use_after_free",  # DELETE leaves a job, which others may see on
            "--max-examples=5",
            "--generation-deterministic",
            "--generation-allow-x00=false",
            "--request-timeout=10",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(FUZZED_SECONDS):
                said, _ = await fuzzer.communicate()
        finally:
            if fuzzer.returncode is None:
                fuzzer.kill()
                await fuzzer.wait()
    assert fuzzer.returncode == 0, said.decode()
