"""JSON to bytes and back, and which texts of a request are a traveller's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, cast

from pydantic_core import from_json

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.facts import RequestDigest
from ferry_sdk.models.collecting import held_back

_PERSONAL: Final = frozenset(
    {
        "first_name",
        "last_name",
        "birth_date",
        "doc_number",
        "doc_expiration",
        "email",
        "phone",
        "identification",
        "name",
    }
)
_SHORTEST_SECRET = 3
_LARGE = 64 * 1024
_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_DIGEST_KEY = os.urandom(16)


def encoded(body: Mapping[str, object]) -> bytes:
    """The body as JSON.

    Raises:
        InvalidInputError: A value of the caller's has no place in JSON.
    """
    try:
        return _encode(body).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("not a value that JSON can carry", field="arguments") from None


def plain(body: Mapping[str, object]) -> dict[str, object]:
    """The body as it arrives: of nothing but what JSON knows.

    Raises:
        InvalidInputError: It is no mapping, or a value of the caller's has no place in JSON.
    """
    if not isinstance(cast("object", body), Mapping):
        raise InvalidInputError("a mapping is expected", field="arguments")
    return cast("dict[str, object]", decoded(encoded(body)))


def decoded(content: bytes) -> object:
    """The JSON value of a body.

    Raises:
        ValueError: It is not JSON, or not UTF-8.
    """
    decode = partial(from_json, content, allow_inf_nan=False)
    value: object = decode() if len(content) < _LARGE else held_back(decode)
    return value


def digest(method: str, path: str, body: object) -> RequestDigest:
    """Which request it is, without its content."""
    import hashlib  # noqa: PLC0415 -- no read needs it

    content = json.dumps(body, sort_keys=True, default=str).encode()
    fingerprint = hashlib.blake2b(content, key=_DIGEST_KEY, digest_size=16).hexdigest()
    return RequestDigest(method=method, path=path, digest=fingerprint)


def personal(body: object) -> Iterable[str]:
    """The texts of a request that are a traveller's own."""
    if isinstance(body, Mapping):
        for name, value in cast("Mapping[str, object]", body).items():
            if isinstance(value, str) and name in _PERSONAL and len(value) >= _SHORTEST_SECRET:
                yield value
            else:
                yield from personal(value)
    elif isinstance(body, list | tuple):
        for item in cast("Iterable[object]", body):
            yield from personal(item)


def text_of(content: bytes) -> str:
    """A body that is not JSON, as far as it is text."""
    return content.decode("utf-8", errors="replace")
