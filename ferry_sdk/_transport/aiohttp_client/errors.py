"""Maps the exceptions of aiohttp to `FerryError`.

Exceptions are recognised by name, so that aiohttp need not be installed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferry_sdk._engine.redaction import plain_beginning
from ferry_sdk.errors import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
)

if TYPE_CHECKING:
    from ferry_sdk.types import Outcome

_LOST = frozenset({"ClientError", "EofStream", "HttpProcessingError"})
_CLOSED_MEANWHILE = (OSError, RuntimeError)
"""Reading from a connection that is closed meanwhile raises a RuntimeError."""


def failure_of(error: Exception, outcome: Outcome) -> FerryError | None:
    """Return the `FerryError` for an exception of aiohttp or the system; None for others."""
    if isinstance(error, FerryError):
        return error
    names = {
        kind.__name__ for kind in type(error).__mro__ if kind.__module__.startswith("aiohttp.")
    }
    message = " ".join(str(error).split())
    if outcome != "not_sent":
        message = plain_beginning(message)  # it may quote the reply
    words = f"{type(error).__name__}: {message}".removesuffix(": ")
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return RequestTimeoutError(words, outcome=outcome)
    if isinstance(error, UnicodeError) or "InvalidURL" in names:
        return ConfigurationError(words)
    if isinstance(error, _CLOSED_MEANWHILE) or names & _LOST:
        return ConnectionFailedError(words, outcome=outcome)
    return None
