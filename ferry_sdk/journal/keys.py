"""The key of a journal, and the fingerprints made with it."""

from __future__ import annotations

import os
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import NoReturn

from ferry_sdk.errors import ConfigurationError, InvalidInputError

VARIABLE = "FERRY_JOURNAL_KEY"
_SHORTEST = 16


class Key:
    """The key for fingerprints; hidden in its repr, and not picklable."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = blake2b(secret, digest_size=32, person=b"ferry journal").digest()

    def fingerprint(self, effect: str, identity: bytes) -> str:
        """Return a hash that is equal for equal writes, and useless without the key."""
        return self._digest(effect.encode() + b"\0" + identity, b"write")

    def check_value(self) -> str:
        """Return a value that is equal for equal keys, and does not reveal the key."""
        return self._digest(b"", b"check")

    def matches(self, check_value: str) -> bool:
        """Return True if the check value was made with this key."""
        return compare_digest(self.check_value().encode(), check_value.encode())

    def _digest(self, content: bytes, purpose: bytes) -> str:
        return blake2b(content, digest_size=32, key=self._secret, person=purpose).hexdigest()

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled")


def load_key(key: str | bytes | None) -> Key | None:
    """Return the caller's key, else the environment's, else None."""
    if key is None:
        variable = os.environ.get(VARIABLE)
        if not variable:
            return None
        if len(variable.encode()) < _SHORTEST:
            raise ConfigurationError(f"{VARIABLE}: expected at least {_SHORTEST} bytes")
        return Key(variable.encode())
    secret = key.encode() if isinstance(key, str) else key
    if not isinstance(secret, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected text or bytes", field="key")
    if len(secret) < _SHORTEST:
        raise InvalidInputError(f"expected at least {_SHORTEST} bytes", field="key")
    return Key(secret)


def new_secret() -> bytes:
    """Return a random secret for a journal that makes its own key."""
    return token_bytes(32)
