"""The end of a call, told to the client's hooks where there are any."""

from __future__ import annotations

from typing import TypeVar, cast

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Steps
from ferry_sdk._engine.hook_runner import Telling
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk.errors import FerryError
from ferry_sdk.hooks import OutcomeEvent

T = TypeVar("T")


def told(steps: Steps[T], context: Context, telling: Telling) -> Steps[T]:
    """Take the call's steps, and tell of their end, whatever it is."""
    try:
        result = yield from steps
    except GeneratorExit:
        raise
    except BaseException as error:
        yield from telling.tell(_failed(error, context, telling))
        raise
    yield from telling.tell(_done(result, context, telling))
    return result


def _failed(error: BaseException, context: Context, telling: Telling) -> OutcomeEvent:
    if isinstance(error, FerryError):
        outcome = error.outcome
    else:
        outcome = "unknown" if context.may_have_happened else "not_sent"
    return OutcomeEvent(
        telling.call,
        outcome,
        context.clock() - context.began,
        type(error).__name__,
        tuple(context.attempts),
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
