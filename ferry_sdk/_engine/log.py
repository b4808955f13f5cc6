"""The log records of calls: their fields, and ``FERRY_LOG``, which prints them."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final, Literal

from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Outcome

if TYPE_CHECKING:
    from ferry_sdk._engine.context import Context

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO}
_HANDLER: Final = "FERRY_LOG"


def fields(
    context: Context,
    operation: str,
    outcome: Literal["done"] | Outcome,
    *,
    status_code: int | None = None,
    request_id: str | None = None,
) -> dict[str, object]:
    """Return the fields of a log record of a call, for its ``extra``."""
    return {
        "operation": operation,
        "correlation_id": context.correlation_id,
        "attempt": context.state.attempt,
        "outcome": outcome,
        "status_code": status_code,
        "request_id": request_id,
    }


def print_records() -> None:
    """Print the records of the library to stderr, from the level in ``FERRY_LOG``, if it is set.

    Raises:
        ConfigurationError: There is no such level.
    """
    name = os.environ.get(_HANDLER)
    if not name or any(handler.name == _HANDLER for handler in logger.handlers):
        return
    level = _LEVELS.get(name.lower())
    if level is None:
        raise ConfigurationError(f"{_HANDLER}: expected {' or '.join(_LEVELS)}")
    handler = logging.StreamHandler()
    handler.name = _HANDLER
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_is_not_printed)
    logger.addHandler(handler)
    logger.setLevel(level)


def _is_not_printed(_: logging.LogRecord) -> bool:
    """Return whether no handler of the program prints the library's records to stderr too."""
    streams = [getattr(handler, "stream", None) for handler in logging.root.handlers]
    return not logger.propagate or sys.stderr not in streams
