"""The headers of a reply, as they came in, read."""

from __future__ import annotations

from collections.abc import Iterable


def fields_of(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by their names in lower case; one that comes twice is one list."""
    fields: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), _text_of(raw_value)
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
