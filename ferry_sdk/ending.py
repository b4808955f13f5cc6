"""The end of a call, told to the client's hooks where there are any."""

from __future__ import annotations

import logging
from typing import TypeVar, cast

from .context import Context
from .effects import Steps
from .errors import FerryError
from .hooks import OutcomeEvent
from .responses import RawResponse
from .telling import Telling

T = TypeVar("T")

logger: logging.Logger = logging.getLogger("ferry_sdk")


def told(steps: Steps[T], context: Context, telling: Telling) -> Steps[T]:
    """Take the call's steps, and tell of their end, whatever it is."""
    try:
        result = yield from steps
    except GeneratorExit:
        raise
    except BaseException as error:
        yield from telling.tell(_failed(error, context, telling))
        raise
    try:
        yield from telling.tell(_done(result, context, telling))
    except GeneratorExit:
        raise
    except BaseException:
        logger.warning(
            "%s was done when it was interrupted (correlation id %s)",
            telling.call.operation,
            context.correlation_id,
        )
        raise
    return result


def _failed(error: BaseException, context: Context, telling: Telling) -> OutcomeEvent:
    if isinstance(error, FerryError):
        outcome = error.outcome
    else:
        outcome = "unknown" if _may_have_happened(context, telling) else "not_sent"
    return OutcomeEvent(
        telling.call,
        outcome,
        context.clock() - context.began,
        type(error).__name__,
        tuple(context.attempts),
    )


def _may_have_happened(context: Context, telling: Telling) -> bool:
    """Whether the interrupted call itself may have happened; reads that go before do not count."""
    name = telling.call.operation
    return (
        context.is_in_doubt
        or any(one.sent for one in context.attempts if one.operation == name)
        or (telling.operation == name and context.may_have_happened)
    )


def _done(result: object, context: Context, telling: Telling) -> OutcomeEvent:
    is_raw = isinstance(result, RawResponse)
    value = cast("RawResponse[object]", result).parse() if is_raw else result
    return OutcomeEvent(
        telling.call,
        "done",
        context.clock() - context.began,
        None,
        tuple(context.attempts),
        read_back=getattr(value, "read_back", False),
    )
