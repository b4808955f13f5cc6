"""Make the JSON Schemas and descriptions of tools from signatures and docstrings.

- The schema of a tool's arguments is that of their pydantic model, without what a model does not
  need: `arguments_schema`.
- The schema of a tool's answer is one of `ANSWER` and `ANSWER_WITH_APPROVAL`, in which
  `with_property` puts the schema of the result in place of ``"result": {}``.
- The schema of a result is that of its record, with only the fields that the view shows:
  `view_schema`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.models.availability import InBoard
from ferry_sdk.models.docstrings import field_descriptions, split_docstring

Schema = dict[str, Any]

_SHAPES: Final[Mapping[str, Schema]] = data_beside(__file__)
ANSWER: Final = _SHAPES["answer"]
"""The schema of an answer; that of its result is left open."""
ANSWER_WITH_APPROVAL: Final = _SHAPES["answer_with_approval"]
"""The same for a write whose first answer says what a person has to approve."""
RECORDS: Final = _SHAPES["records"]
"""The schema of the view of a list of records; that of its items is left open."""
_NEXT_ACTIONS: Final = _SHAPES["next_actions"]
_ANY_JSON: Final = _SHAPES["any_json"]

_NESTED: Final = ("items", "additionalProperties")
_DESCRIBED_DEPTH: Final = 1
"""The fields of a result are described, and those further inside are not."""


def arguments_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a model, without references and titles.

    Optional arguments are ``nullable``: smolagents requires all others.
    """
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    compact = _compact(schema, definitions)
    for name in compact["properties"].keys() - compact.get("required", []):
        compact["properties"][name]["nullable"] = True
    return compact


def strict_schema(schema: Schema) -> Schema:
    """Return the schema of arguments in which each is required, and null stands for none."""
    kept = _convert(schema, {"nullable"}, strict_schema)
    if "properties" not in kept:
        return kept

    for name, part in kept["properties"].items():
        if name not in schema.get("required", []):
            described = {"description": part.pop("description")}
            kept["properties"][name] = {**described, "anyOf": [part, {"type": "null"}]}
    kept["required"] = [*kept["properties"]]
    return kept


FieldsOf = Callable[[str, Iterable[str]], Sequence[str]]
"""Return the fields that are shown, from the name of a record and all its fields."""


def view_schema(described: Any, fields_of: FieldsOf) -> Schema:  # noqa: ANN401 -- a type for pydantic
    """Return the schema of the view of a type that consists of records, with the chosen fields."""
    InBoard.model_rebuild()  # its serializer writes a default; pydantic 2.9 does not build it
    schema = TypeAdapter[Any](described).json_schema(mode="serialization", by_alias=False)
    definitions = schema.get("$defs", {})
    for definition in (schema, *definitions.values()):
        definition.pop("description", None)  # it describes the record to callers in Python
    return _ViewSchemas(definitions, fields_of).convert(schema)


@dataclass(frozen=True)
class _ViewSchemas:
    """Turn the schemas of records into those of their views."""

    definitions: Mapping[str, Schema]
    fields_of: FieldsOf

    def convert(self, schema: Schema, depth: int = 0) -> Schema:
        """Return the schema of the view of a part of a result."""
        schema = _without_reference(schema, self.definitions)
        if "properties" in schema:
            view = self._convert_record(schema, depth)
        elif "anyOf" in schema:
            view = self._convert_union(schema["anyOf"], depth)
        else:
            view = {"type": schema["type"]} if "type" in schema else {}
            view |= {name: self.convert(schema[name], depth) for name in _NESTED if name in schema}

        view = view or dict(_ANY_JSON)
        if "description" in schema and depth <= _DESCRIBED_DEPTH:
            view["description"] = _one_line(schema["description"])
        return view

    def _convert_record(self, schema: Schema, depth: int) -> Schema:
        fields = schema["properties"]
        properties: dict[str, Schema] = {}
        for name in self.fields_of(schema["title"], fields):
            if name in fields:
                properties[name] = self.convert(fields[name], depth + 1)
            else:  # the method `next_actions`
                properties[name] = _NEXT_ACTIONS
        return {"type": "object", "properties": properties, "required": [*properties]}

    def _convert_union(self, members: Iterable[Schema], depth: int) -> Schema:
        parts: list[Schema] = []
        for member in members:
            part = self.convert(member, depth)
            if part not in parts:
                parts.append(part)
        return parts[0] if len(parts) == 1 else {"anyOf": parts}


def with_property(schema: Schema, name: str, part: Schema) -> Schema:
    """Return the schema of an object with the schema of a property that is left open in it."""
    return {**schema, "properties": {**schema["properties"], name: part}}


def _compact(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema without references, and without keywords that models do not need."""
    whole = _without_reference(schema, definitions)
    unneeded = {"$ref", "title", "default", "minItems", "maxItems"}
    return _convert(whole, unneeded, partial(_compact, definitions=definitions))


def _convert(
    schema: Schema, unneeded: Collection[str], convert: Callable[[Schema], Schema]
) -> Schema:
    """Return a schema without the unneeded keywords, and with its parts converted."""
    kept = {keyword: value for keyword, value in schema.items() if keyword not in unneeded}
    if "items" in kept:
        kept["items"] = convert(kept["items"])
    if "properties" in kept:
        properties = kept["properties"].items()
        kept["properties"] = {name: convert(part) for name, part in properties}
    return kept


def _without_reference(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema together with the definition that it refers to, if any."""
    name = schema.get("$ref", "").rpartition("/")[2]  # of "#/$defs/Place"
    return {**definitions.get(name, {}), **schema}


# The sentence of a docstring that names the endpoint, such as "Interface: GET /api/ticket/{id}."
_INTERFACE: Final = re.compile(r"\s{0,9}Interface: .{1,300}?\.(?=\s|$)", re.DOTALL)
# A method that a text names, such as "`bookings.get`"; a model knows it as `bookings_get`.
_OPERATION: Final = re.compile(r"`([a-z_]+)\.([a-z_]+)`")


def describe(thing: object) -> str:
    """Return the docstring of a function or a class up to its first section, in one line."""
    text, _ = split_docstring(thing)
    return _one_line(_INTERFACE.sub("", text))


def describe_field(of: object, name: str) -> str:
    """Return the description of an argument or a field."""
    if isinstance(of, type):
        descriptions: Mapping[str, str] = field_descriptions(of)
    else:
        _, descriptions = split_docstring(of)
    return _one_line(descriptions.get(name, ""))


def _one_line(text: str) -> str:
    """Put a text in one line, in the words of JSON and with the names of tools for methods."""
    in_json = re.sub(r"\bNone\b", "null", text.replace("``", "`"))
    line = " ".join(in_json.split())
    return _OPERATION.sub(r"`\1_\2`", line)
