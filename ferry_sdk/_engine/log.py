"""The log records of calls: their fields, and ``FERRY_LOG``, which prints them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Attempt, Outcome

if TYPE_CHECKING:
    from ferry_sdk._engine.context import Context

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO}
_VARIABLE: Final = "FERRY_LOG"
"""The environment variable, and the name of the handler that it adds."""


def log(
    context: Context,
    level: int,
    message: str,
    *arguments: object,
    outcome: Literal["done"] | Outcome,
    operation: str | None = None,
    attempt: Attempt | None = None,
    more: Mapping[str, object] | None = None,
) -> None:
    """Log a record of a call with its fields; the correlation id is the last argument.

    Args:
        context: That of the call.
        level: The level.
        message: The message.
        *arguments: Its other arguments.
        outcome: The outcome as far as it is known.
        operation: The operation; None: that of the current attempt.
        attempt: The attempt that the record is about, if it is about one.
        more: Further fields of the record.
    """
    status_code: int | None = None
    request_id: str | None = None
    if attempt is not None:
        status_code = attempt.status_code
        request_id = attempt.request_id

    fields: dict[str, object] = {
        "operation": operation or context.state.operation,
        "correlation_id": context.correlation_id,
        "label": context.settings.label,
        "attempt": context.state.attempt,
        "outcome": outcome,
        "status_code": status_code,
        "request_id": request_id,
        **(more or {}),
    }
    # The record names the line of the caller.
    logger.log(level, message, *arguments, context.correlation_id, extra=fields, stacklevel=2)


def print_records() -> None:
    """Print the records of the library to stderr, from the level in ``FERRY_LOG``, if it is set.

    Raises:
        ConfigurationError: There is no such level.
    """
    name = os.environ.get(_VARIABLE)
    if not name or any(handler.name == _VARIABLE for handler in logger.handlers):
        return

    level = _LEVELS.get(name.lower())
    if level is None:
        raise ConfigurationError(f"{_VARIABLE}: expected {' or '.join(_LEVELS)}")

    handler = logging.StreamHandler()
    handler.name = _VARIABLE
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_is_not_printed)
    logger.addHandler(handler)
    logger.setLevel(level)


def _is_not_printed(_: logging.LogRecord) -> bool:
    """Return whether no handler of the program prints the library's records to stderr too."""
    streams = [getattr(handler, "stream", None) for handler in logging.root.handlers]
    return not logger.propagate or sys.stderr not in streams
