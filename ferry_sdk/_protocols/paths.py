"""Identifiers, and URL paths made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import cast
from urllib.parse import quote

from ferry_sdk.errors import InvalidInputError


def identifier(value: object, argument: str) -> str:
    """Return the identifier if it is valid as one segment of a path.

    Raises:
        InvalidInputError: It is empty, ``.`` or ``..``, or not a text that can be encoded.
    """
    if not isinstance(value, str) or not value.strip() or value in {".", ".."}:
        raise InvalidInputError("expected an identifier", field=argument)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("not a text that can be encoded", field=argument) from None
    return value


def identifiers(values: object, argument: str) -> list[str]:
    """Return a list of valid identifiers."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError("expected a list of identifiers", field=argument)
    return [
        identifier(value, f"{argument}[{index}]")
        for index, value in enumerate(cast("Iterable[object]", values))
    ]


def file_path(value: object, argument: str) -> Path:
    """Return the path of a file.

    Raises:
        InvalidInputError: It is not a path, or not a valid file name.
    """
    try:
        path = Path(os.fspath(cast("str", value)))
        is_good = "\0" not in os.fsdecode(os.fsencode(path)) and path.name not in {"", ".."}
    except (TypeError, ValueError):
        is_good, path = False, Path()
    if not is_good:
        raise InvalidInputError("expected the path of a file", field=argument)
    return path


def encoded_path(segments: tuple[str, ...]) -> str:
    """Return a path of percent-encoded segments."""
    return "/".join(map(_encode_segment, segments))


@lru_cache(maxsize=256)
def _encode_segment(segment: str) -> str:
    return quote(segment, safe="")
