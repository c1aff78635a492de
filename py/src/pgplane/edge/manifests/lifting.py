"""Lifting: a params schema becomes components of an OpenAPI document.

A schema's `$ref` counts from its own root, and inside a document that root is another: so its
`$defs` become components of their own, and the references to them follow.
"""

import re
from collections.abc import Container, Mapping
from typing import Any
from urllib.parse import unquote

_SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema; the lists and the maps of schemas are next."""
_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset({"dependentSchemas", "patternProperties", "properties"})
_BASES = frozenset(
    {
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "definitions",
        "dependencies",
    }
)
"""Keywords that move what a reference counts from, or where it leads: not plain."""
_OF_OPENAPI = frozenset({"externalDocs", "xml"})
"""Nothing to JSON Schema, but something else to OpenAPI."""
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9._-]")


class NotPlainError(Exception):
    """A schema that refers to something else than its own `$defs`."""


def lift(name: str, schema: dict[str, Any], taken: Container[str]) -> tuple[str, dict[str, Any]]:
    """The name, much like `name`, of the component that a schema becomes; and the components, it
    and its `$defs`. What is not plain becomes any object."""
    root = free_name(name, taken)
    try:
        return root, _components(root, schema, taken)
    except NotPlainError:
        return root, {root: {"type": "object"}}


def free_name(name: str, taken: Container[str]) -> str:
    """A name that a component may have and none has."""
    plain = free = _NOT_OF_NAMES.sub("_", name)
    number = 1
    while free in taken:
        number += 1
        free = f"{plain}-{number}"
    return free


def _components(root: str, schema: dict[str, Any], taken: Container[str]) -> dict[str, Any]:
    definitions = schema.get("$defs", {})
    if not isinstance(definitions, dict):
        raise NotPlainError
    names = {"#": root}
    for key in definitions:
        used = {*names.values()}
        wanted = f"{root}.{key}"
        while (free := free_name(wanted, taken)) in used:
            wanted += "_"
        names[f"#/$defs/{_escaped(key)}"] = free
    outer = {key: value for key, value in schema.items() if key not in ("$defs", "$schema")}
    inner = {names[f"#/$defs/{_escaped(key)}"]: value for key, value in definitions.items()}
    return {name: _moved(one, names) for name, one in {root: outer, **inner}.items()}


def _moved(schema: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    if not _BASES.isdisjoint(schema):
        raise NotPlainError
    moved: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "$ref":
            moved[keyword] = _reference(value, names)
        elif keyword == "discriminator":
            moved |= _discriminator(value, names)
        elif keyword in _SCHEMA:
            moved[keyword] = _moved(value, names)
        elif keyword in _SCHEMAS:
            moved[keyword] = [_moved(one, names) for one in value]
        elif keyword in _NAMED_SCHEMAS:
            moved[keyword] = {key: _moved(one, names) for key, one in value.items()}
        elif keyword not in _OF_OPENAPI:
            moved[keyword] = value
    return moved


def _reference(value: object, names: Mapping[str, str]) -> str:
    name = names.get(unquote(value)) if isinstance(value, str) else None
    if name is None:
        raise NotPlainError
    return f"#/components/schemas/{name}"


def _discriminator(value: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """As pydantic writes it, and OpenAPI has it; others are left out: they decide nothing."""
    match value:
        case {"propertyName": str(tag), "mapping": dict(mapping)}:
            pointed = {key: _reference(one, names) for key, one in mapping.items()}
            return {"discriminator": {"propertyName": tag, "mapping": pointed}}
    return {}


def _escaped(key: str) -> str:
    """A member's name inside a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
