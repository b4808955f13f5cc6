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
    """What fingerprints are made with: in no repr and in no pickle."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = blake2b(secret, digest_size=32, person=b"ferry journal").digest()

    def fingerprint(self, effect: str, identity: bytes) -> str:
        """The same for the same write, and of no use without the key."""
        return self._digest(effect.encode() + b"\0" + identity, b"write")

    def check_value(self) -> str:
        """What says whether two keys are one, without giving either away."""
        return self._digest(b"", b"check")

    def matches(self, check_value: str) -> bool:
        """Whether it is the key that this check was made of."""
        return compare_digest(self.check_value().encode(), check_value.encode())

    def _digest(self, content: bytes, purpose: bytes) -> str:
        return blake2b(content, digest_size=32, key=self._secret, person=purpose).hexdigest()

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


def load_key(key: str | bytes | None) -> Key | None:
    """The caller's key, or the environment's; None where there is none."""
    if key is None:
        variable = os.environ.get(VARIABLE)
        if not variable:
            return None
        if len(variable.encode()) < _SHORTEST:
            raise ConfigurationError(f"{VARIABLE}: at least {_SHORTEST} bytes are expected")
        return Key(variable.encode())
    secret = key.encode() if isinstance(key, str) else key
    if not isinstance(secret, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("text or bytes are expected", field="key")
    if len(secret) < _SHORTEST:
        raise InvalidInputError(f"at least {_SHORTEST} bytes are expected", field="key")
    return Key(secret)


def new_secret() -> bytes:
    """The secret of a journal that makes its own key."""
    return token_bytes(32)
