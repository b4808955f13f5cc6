"""What a docstring says, as the words of a tool."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises):$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_INTERFACE: Final = re.compile(r"\s*Interface: .+?\.(?=\s|$)", re.DOTALL)
_OPERATION: Final = re.compile(r"`([a-z_]+)\.([a-z_]+)`")


@dataclass(frozen=True, slots=True)
class Words:
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
def words_of(thing: object) -> Words:
    """The words of a function or a class; there are none under ``python -OO``."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    told, *sections = _SECTION.split(text)
    summary, _, details = _said(_INTERFACE.sub("", told)).partition(". ")
    named = zip(sections[::2], sections[1::2], strict=True)
    fields = {
        name: _said(words)
        for section, entries in named
        if section in {"Args", "Attributes"}
        for name, words in _ENTRY.findall(entries)
    }
    return Words(summary.removesuffix("."), details, fields)


def _said(text: str) -> str:
    """The text in one line, with the tools by their own names."""
    line = " ".join(text.replace("``", "`").split())
    return _OPERATION.sub(r"`\1_\2`", line)
