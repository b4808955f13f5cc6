"""Make the JSON Schemas and descriptions of tools from signatures and docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.models.availability import InBoard
from ferry_sdk.models.docstrings import field_descriptions, split_docstring

Schema = dict[str, Any]

SHAPES: Final[Mapping[str, Schema]] = data_beside(__file__)
"""The schemas of the parts of an answer that are no records."""
_NESTED: Final = ("items", "additionalProperties")
_DESCRIBED_DEPTH: Final = 1
"""The fields of a result are described, and those further inside are not."""


def arguments_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a model, without references and titles.

    Optional arguments are ``nullable``: smolagents requires all others.
    """
    schema = model.model_json_schema()
    made = _compact(schema, schema.pop("$defs", {}))
    for name in made["properties"].keys() - made.get("required", []):
        made["properties"][name]["nullable"] = True
    return made


def strict_schema(schema: Schema) -> Schema:
    """Return the schema of arguments in which each is required, and null stands for none."""
    kept = _convert(schema, {"nullable"}, strict_schema)
    if "properties" in kept:
        for name, part in kept["properties"].items():
            if name not in schema.get("required", []):
                described = {"description": part.pop("description")}
                kept["properties"][name] = {**described, "anyOf": [part, {"type": "null"}]}
        kept["required"] = [*kept["properties"]]
    return kept


def view_schema(described: Any, fields_of: Callable[[str, Iterable[str]], Sequence[str]]) -> Schema:  # noqa: ANN401 -- a type for pydantic
    """Return the schema of the view of a type, with the chosen fields of each record.

    Args:
        described: A type that consists of records.
        fields_of: Return the fields that are shown, from the name of a record and all its fields.
    """
    InBoard.model_rebuild()  # its serializer writes a default; pydantic 2.9 does not build it
    schema = TypeAdapter[Any](described).json_schema(mode="serialization", by_alias=False)
    definitions = schema.get("$defs", {})
    for definition in (schema, *definitions.values()):
        definition.pop("description", None)  # it describes the record to callers in Python

    def shown(schema: Schema, depth: int = 0) -> Schema:
        schema = _without_reference(schema, definitions)
        view: Schema
        if "properties" in schema:
            fields = schema["properties"]
            names = fields_of(schema["title"], fields)
            properties = {
                name: shown(fields[name], depth + 1) if name in fields else SHAPES[name]
                for name in names
            }
            view = {"type": "object", "properties": properties, "required": [*names]}
        elif "anyOf" in schema:
            parts = [shown(part, depth) for part in schema["anyOf"]]
            parts = [part for index, part in enumerate(parts) if part not in parts[:index]]
            view = parts[0] if len(parts) == 1 else {"anyOf": parts}
        else:
            view = {"type": schema["type"]} if "type" in schema else {}
            view |= {name: shown(schema[name], depth) for name in _NESTED if name in schema}
        view = view or dict(SHAPES["any_json"])
        if "description" in schema and depth <= _DESCRIBED_DEPTH:
            view["description"] = _one_line(schema["description"])
        return view

    return shown(schema)


def shape_with(shape: str, name: str, schema: Schema) -> Schema:
    """Return one of `SHAPES` with the schema of a property that is left open there."""
    whole = SHAPES[shape]
    return {**whole, "properties": {**whole["properties"], name: schema}}


def _compact(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema without references, and without keywords that models do not need."""
    whole = _without_reference(schema, definitions)
    unneeded = {"$ref", "title", "default", "minItems", "maxItems"}
    return _convert(whole, unneeded, lambda part: _compact(part, definitions))


def _convert(
    schema: Schema, unneeded: Collection[str], convert: Callable[[Schema], Schema]
) -> Schema:
    """Return a schema without the unneeded keywords, and with its parts converted."""
    kept = {name: part for name, part in schema.items() if name not in unneeded}
    if "items" in kept:
        kept["items"] = convert(kept["items"])
    if "properties" in kept:
        parts = kept["properties"].items()
        kept["properties"] = {name: convert(part) for name, part in parts}
    return kept


def _without_reference(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema together with the definition that it refers to, if any."""
    reference = schema.get("$ref", "")
    return {**definitions.get(reference.rpartition("/")[2], {}), **schema}


_INTERFACE: Final = re.compile(r"\s{0,9}Interface: .{1,300}?\.(?=\s|$)", re.DOTALL)
_OPERATION: Final = re.compile(r"`([a-z_]+)\.([a-z_]+)`")


def describe(thing: object) -> str:
    """Return the docstring of a function or a class up to its first section, in one line."""
    return _one_line(_INTERFACE.sub("", split_docstring(thing)[0]))


def describe_field(of: object, name: str) -> str:
    """Return the description of an argument or a field, which is empty under ``python -OO``."""
    fields = field_descriptions(of) if isinstance(of, type) else split_docstring(of)[1]
    return _one_line(fields.get(name, ""))


def _one_line(text: str) -> str:
    """Put a text in one line, with methods replaced by the names of their tools."""
    line = " ".join(re.sub(r"\bNone\b", "null", text.replace("``", "`")).split())
    return _OPERATION.sub(r"`\1_\2`", line)
