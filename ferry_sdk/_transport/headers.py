"""Parsing of the raw headers of a reply."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ferry_sdk._engine.http import Headers


def parse_headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers; repeated ones are joined with a comma."""
    values: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = _name_of(raw_name), _text_of(raw_value)
        values[name] = f"{values[name]}, {value}" if name in values else value
    return Headers.of(values)


@lru_cache(maxsize=256)
def _name_of(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
