"""JSON schemas and descriptions of tools, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel

Schema = dict[str, Any]

_ERROR: Final[Schema] = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "outcome": {"enum": ["not_sent", "rejected", "unknown"]},
        "next_step": {"type": "string"},
        "field": {"type": "string"},
        "correlation_id": {"type": "string"},
    },
    "required": ["code", "message", "outcome", "next_step"],
}
_APPROVAL: Final[Schema] = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "amount": {"type": ["string", "null"]},
        "currency": {"type": ["string", "null"]},
        "confirmation_code": {"type": "string"},
        "expires_at": {"type": "string", "format": "date-time"},
        "warning": {"type": "string"},
    },
    "required": ["summary", "amount", "currency", "confirmation_code", "expires_at", "warning"],
}


def arguments_schema(model: type[BaseModel]) -> Schema:
    """The schema of a model, without what a reader has no use for."""
    schema = model.model_json_schema()
    return _compact(schema, schema.pop("$defs", {}))


def answer_schema(results: list[Schema], *, approval: bool) -> Schema:
    """The schema of a whole answer, of which exactly one shape is given."""
    result: Schema = {"anyOf": results}
    shapes: list[tuple[str, list[str], Schema]] = [
        ("result", ["done"], result),
        ("error", ["refused", "failed", "unknown"], _ERROR),
    ]
    if approval:
        shapes.append(("approval", ["approval_needed"], _APPROVAL))
    return {
        "type": "object",
        "properties": {
            "status": {"enum": [status for _, statuses, _ in shapes for status in statuses]},
            **{member: schema for member, _, schema in shapes},
            "notes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["status"],
        "additionalProperties": False,
        "oneOf": [
            {"properties": {"status": {"enum": statuses}}, "required": [member]}
            for member, statuses, _ in shapes
        ],
    }


def _compact(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**target, **{name: part for name, part in schema.items() if name != "$ref"}}
    if "allOf" in schema:  # a reference with a description beside it
        (only,) = schema["allOf"]
        schema = {**only, **{name: part for name, part in schema.items() if name != "allOf"}}
        return _compact(schema, definitions)
    kept = {
        name: _compact(cast("Schema", part), definitions) if name == "items" else part
        for name, part in schema.items()
        if name != "title" and not (name == "default" and part is None)
    }
    if "properties" in kept:
        properties = cast("dict[str, Schema]", kept["properties"])
        kept["properties"] = {
            name: _compact(part, definitions) for name, part in properties.items()
        }
    return kept


_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises):$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_INTERFACE: Final = re.compile(r"\s*Interface: .+?\.(?=\s|$)", re.DOTALL)
_OPERATION: Final = re.compile(r"`([a-z_]+)\.([a-z_]+)`")


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says.

    Attributes:
        summary: Its first sentence.
        details: What follows, up to the first section.
        fields: Each argument or attribute with what is said of it.
    """

    summary: str
    details: str
    fields: Mapping[str, str]


@cache
def parse_docstring(thing: object) -> Docstring:
    """The words of a function or a class; there are none under ``python -OO``."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    head, *sections = _SECTION.split(text)
    summary, _, details = _one_line(_INTERFACE.sub("", head)).partition(". ")
    named = zip(sections[::2], sections[1::2], strict=True)
    fields = {
        name: _one_line(text)
        for section, entries in named
        if section in {"Args", "Attributes"}
        for name, text in _ENTRY.findall(entries)
    }
    return Docstring(summary.removesuffix("."), details, fields)


def _one_line(text: str) -> str:
    """The text in one line, with the tools by their own names."""
    line = " ".join(text.replace("``", "`").split())
    return _OPERATION.sub(r"`\1_\2`", line)
