"""Google-style docstrings, from which schemas take the descriptions of fields and arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from pydantic import AliasChoices, BaseModel
from pydantic.config import JsonDict

from ferry_sdk._runtime.docstrings import docstring_of

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises):$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


@cache
def split_docstring(thing: object) -> tuple[str, Mapping[str, str]]:
    """Return the text before the first section, and the arguments or attributes by name."""
    head, *sections = _SECTION.split(docstring_of(thing))
    titles, contents = sections[::2], sections[1::2]

    entries: dict[str, str] = {}
    for title, content in zip(titles, contents, strict=True):
        if title in {"Args", "Attributes"}:
            for name, description in _ENTRY.findall(content):
                entries[name] = " ".join(description.split())
    return head, entries


def field_descriptions(model: type) -> dict[str, str]:
    """Return the descriptions of a model's fields, inherited ones included."""
    descriptions: dict[str, str] = {}
    for base in reversed(model.__mro__):
        descriptions |= split_docstring(base)[1]
    return descriptions


def describe_properties(schema: JsonDict, model: type[BaseModel]) -> None:
    """Add the descriptions of a model's fields to its JSON Schema."""
    properties = cast("dict[str, JsonDict]", schema.get("properties", {}))
    descriptions = field_descriptions(model)
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            alias = alias.choices[0]
        for key in (name, alias):
            if isinstance(key, str) and key in properties and name in descriptions:
                properties[key].setdefault("description", descriptions[name])
