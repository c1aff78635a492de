"""OpenAPI: the description of one surface, made of its manifest and of what is served."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pgplane import __version__
from pgplane.edge.manifests.addresses import PARAMETERS, SECURITY_SCHEMES, addresses, responses
from pgplane.edge.manifests.lifting import free_name, lift
from pgplane.edge.manifests.shapes import SHAPES
from pgplane.ledger.records import ManifestEntry

_PLACE = re.compile(r"\{[^}]*\}")
_ANYTHING = {"type": "object"}
"""The params of an operation whose schema cannot be used."""


class Described(NamedTuple):
    """An operation as it is described: `params` is their schema, where it can be used;
    `required`: whether a question without params is wrong."""

    operation: ManifestEntry
    params: dict[str, Any] | None
    required: bool


def document(
    surface: str,
    operations: Sequence[Described],
    served: Iterable[tuple[str, str]],
    root_path: str = "",
) -> bytes:
    """The OpenAPI 3.1 document of a surface, as JSON text.

    `operations`: every version of each; `served`: method and path of each route; `root_path`: where
    a proxy has put the edge. Only what is served is described.
    """
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {
                "title": surface,
                "version": __version__,
                "description": "What a surface answers, and how it is asked. HEAD is where GET is.",
            },
            "servers": [{"url": root_path or "/"}],
            "security": [{"token": []}],
            "paths": _paths(surface, served),
            "components": {
                "schemas": SHAPES | _questions(operations),
                "parameters": PARAMETERS,
                "responses": responses(),
                "securitySchemes": SECURITY_SCHEMES,
            },
        },
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    ).encode()


def _questions(operations: Sequence[Described]) -> dict[str, Any]:
    """`Question`, which is one of those that the operations take, and what that refers to."""
    schemas: dict[str, Any] = {}
    questions = []
    newest: dict[str, int] = {}
    for name, version, *_ in (one.operation for one in operations):
        newest[name] = max(version, newest.get(name, version))
    for one in operations:
        name, version, *_ = one.operation
        wanted = f"{name}.v{version}"
        params, lifted = lift(f"{wanted}.params", one.params or _ANYTHING, schemas)
        schemas |= lifted
        question = free_name(wanted, schemas)
        schemas[question] = _question(one, params, newest=version == newest[name])
        questions.append({"$ref": f"#/components/schemas/{question}"})
    return {**schemas, "Question": {"oneOf": questions}}


def _question(one: Described, params: str, *, newest: bool) -> dict[str, Any]:
    operation = one.operation
    version: dict[str, Any] = {"const": operation.version}
    required = ["operation"]
    if newest:
        version = {"enum": [operation.version, None]}
    else:
        required.append("version")
    if one.required:
        required.append("params")
    return {
        "type": "object",
        "description": _description(operation),
        "properties": {
            "operation": {"const": operation.name},
            "params": {"$ref": f"#/components/schemas/{params}"},
            "version": version,
        },
        "required": required,
        "additionalProperties": False,
    }


def _description(operation: ManifestEntry) -> str:
    said = [f"Has {operation.timeout_seconds} s to answer."]
    if operation.ttl_seconds:
        said.append(f"An answer may be {operation.ttl_seconds} s old.")
    if operation.per_actor:
        said.append("The answer depends on the person who asks.")
    return " ".join(said)


def _paths(surface: str, served: Iterable[tuple[str, str]]) -> dict[str, Any]:
    there = {(method.lower(), _PLACE.sub("{}", path)) for method, path in served}
    paths: dict[str, Any] = {}
    for path, methods in addresses().items():
        shown = {
            method: operation
            for method, operation in methods.items()
            if (method, _PLACE.sub("{}", path)) in there
        }
        if shown and "{jobId}" in path:
            shown["parameters"] = [{"$ref": "#/components/parameters/jobId"}]
        if shown:
            paths[path.replace("{surface}", surface)] = shown
    _cut_links(paths)
    return paths


def _cut_links(paths: dict[str, Any]) -> None:
    """Links lead to what is there."""
    operations = [
        operation
        for item in paths.values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    known = {operation["operationId"] for operation in operations}
    for operation in operations:
        for response in operation["responses"].values():
            if links := response.pop("links", None):
                response["links"] = {name: link for name, link in links.items() if name in known}
