"""JSON as it arrives: exactly what the standard calls JSON, in UTF-8, or refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from pydantic import JsonValue


def parsed(body: bytes) -> JsonValue:
    """The value that a body holds.

    Raises:
        ValueError: It is not UTF-8, not JSON, nested too deeply, or no text that can be sent back.
    """
    try:
        value: JsonValue = json.loads(body.decode(), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
