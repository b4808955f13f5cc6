"""JSON bodies: encoding, decoding, digests, and the travellers' data in them."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final, NoReturn, TypeGuard, cast

from pydantic_core import from_json, to_json

from ferry_sdk._engine.limits import MOST_JSON_VALUES
from ferry_sdk._engine.requests import is_in_worker_thread
from ferry_sdk.errors import InvalidInputError, UnexpectedResponseError
from ferry_sdk.models.base import LongNumber
from ferry_sdk.types import RequestDigest

_MEMBERS: Final = """
    first_name last_name birth_date doc_number doc_expiration email phone identification name
"""
_PERSONAL: Final = frozenset(_MEMBERS.split())
"""The members of a request that are travellers' data."""
_SHORTEST_NAME: Final = 3
"""Letters of a joined name that is searched; two initials are a word of many messages."""
_STRETCH: Final = 1024 * 1024
_DEEPEST: Final = 200
_DIGITS: Final = 16
_NUMBERS: Final = bytes(
    ord("0") if chr(byte) in ".0123456789" else ord(" ") if chr(byte) in ":,[-\t\r\n " else ord("x")
    for byte in range(256)
)
_LONG_NUMBER: Final = b" " + b"0" * _DIGITS
"""The start of a number too long for a float, after translation by `_NUMBERS`."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    rb"(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\(?!u[dD][89a-fA-F]).)"
    rb"|\\u[dD][89a-fA-F][\da-fA-F]{2}",
    re.DOTALL,
)
"""An escape of a JSON text: in its group a whole character, outside of it half of one."""
_BOM: Final = b"\xef\xbb\xbf"
_DIGEST_KEY = os.urandom(16)


def encode_json(body: object) -> bytes:
    """Encode a body of JSON types.

    Raises:
        InvalidInputError: A text cannot be encoded.
    """
    try:
        return to_json(body)
    except ValueError:
        raise InvalidInputError("cannot be encoded as JSON", field="arguments") from None


def normalize_json(body: Mapping[str, object]) -> dict[str, object]:
    """Return any body as the service receives it, with JSON types only.

    Raises:
        InvalidInputError: The body is not a mapping, or a value cannot be encoded.
    """
    if not isinstance(cast("object", body), Mapping):
        raise InvalidInputError("expected a mapping", field="arguments")
    return cast("dict[str, object]", normalize_value(body, "arguments"))


def normalize_value(value: object, argument: str) -> object:
    """Return any value as the service receives it, with JSON types only.

    Raises:
        InvalidInputError: It cannot be encoded.
    """
    try:
        return decode_json(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("cannot be encoded as JSON", field=argument) from None


def decode_json(content: bytes) -> object:
    """Decode a JSON body; a number with more digits than a float keeps becomes a `LongNumber`.

    Half of a surrogate pair, which no text can hold, becomes a replacement character.
    A byte order mark before it is skipped.

    Raises:
        ValueError: The body is not JSON, or not UTF-8.
        UnexpectedResponseError: The body has too many values.
    """
    content = content.removeprefix(_BOM)
    # A value has at least one byte.
    if len(content) > MOST_JSON_VALUES and _count_values(content) > MOST_JSON_VALUES:
        raise UnexpectedResponseError(f"the reply has more than {MOST_JSON_VALUES} JSON values")
    if b"\\u" in content and _SURROGATE.search(content):
        content = _ESCAPE.sub(_replace_half, content)
    if is_in_worker_thread.get() or content.translate(_NUMBERS).find(_LONG_NUMBER) >= 0:
        return _decode_exactly(content)
    return from_json(content, allow_inf_nan=False)


def _replace_half(escape: re.Match[bytes]) -> bytes:
    return escape[1] or rb"\ufffd"


def _count_values(content: bytes) -> int:
    """Count the bytes that open and separate values, also in strings; let other threads run."""
    starts = range(0, len(content), _STRETCH)
    marks = (b",", b"[", b"{")
    return sum(content.count(mark, at, at + _STRETCH) for at in starts for mark in marks)


def decode_or_text(content: bytes) -> object:
    """Decode a JSON body; return any other one as text."""
    try:
        return decode_json(content)
    except ValueError:
        return text_of(content)


def _decode_exactly(content: bytes) -> object:
    """Decode with every digit of every number, and let other threads run at every object.

    pydantic's decoder does neither, but it defines what is accepted: the same depth and texts.
    """
    try:
        value: object = json.loads(
            content.decode(),
            object_hook=_pass_through,
            parse_float=_parse_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _refuse_deep(value)
    return value


def _pass_through(members: dict[str, object]) -> dict[str, object]:
    return members


def _parse_number(text: str) -> float:
    number = float(text)
    # One that is too large or too small for a float has an exponent that a Decimal may not hold.
    is_float = len(text) < _DIGITS or math.isinf(number) or number == 0
    return number if is_float else LongNumber(text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse_deep(value: object) -> None:
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in _children(cast("dict[str, object] | list[object]", outer))
        ]
        if not level:
            return
    raise ValueError("nested too deeply")


def _children(outer: dict[str, object] | list[object]) -> Iterable[object]:
    return outer.values() if isinstance(outer, dict) else outer


def digest(method: str, path: str, body: object) -> RequestDigest:
    """Return what identifies a request, without its content."""
    content = json.dumps(body, sort_keys=True, default=str).encode()
    fingerprint = hashlib.blake2b(content, key=_DIGEST_KEY, digest_size=16).hexdigest()
    return RequestDigest(method=method, path=path, digest=fingerprint)


def personal_data(body: object) -> list[str]:
    """Return the texts of a request that are travellers' data, also the joined parts of a name."""
    texts: list[str] = []
    if isinstance(body, dict):
        members = cast("dict[str, object]", body)
        first, last = members.get("first_name"), members.get("last_name")
        if isinstance(first, str) and isinstance(last, str):
            joined = first + last, last + first, first[:1] + last, last + first[:1]
            for name in joined:
                if len(name) >= _SHORTEST_NAME:
                    texts.append(name)  # noqa: PERF401 -- each comprehension is a call
        for name, value in members.items():
            if name in _PERSONAL and isinstance(value, (str, int, date)) and str(value).strip():
                texts.append(str(value))
            elif isinstance(value, dict | list | tuple):
                texts += personal_data(cast("object", value))
    elif isinstance(body, list | tuple):
        for item in cast("Iterable[object]", body):
            texts += personal_data(item)
    return texts


def members_of(value: object) -> dict[str, object]:
    """Return the members of a JSON object; of any other value none."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Return whether a JSON value is a list."""
    return isinstance(value, list)


def items_of(value: object) -> list[object]:
    """Return the items of a JSON list; any other value is the only one."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


def text_of(content: bytes) -> str:
    """Return a body that is not JSON as text."""
    return content.decode("utf-8", errors="replace")
