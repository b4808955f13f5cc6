"""The event at the end of a call, for the client's hooks."""

from __future__ import annotations

from typing import TypeVar, cast

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.hook_runner import HookRunner
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk.errors import FerryError
from ferry_sdk.hooks import OutcomeEvent

T = TypeVar("T")


def notify_outcome(steps: Flow[T], context: Context, hook_runner: HookRunner) -> Flow[T]:
    """Run the steps of a call and notify the hooks of the outcome."""
    try:
        result = yield from steps
    except GeneratorExit:
        raise
    except BaseException as error:
        yield from hook_runner.notify(_failed(error, context, hook_runner))
        raise
    yield from hook_runner.notify(_done(result, context, hook_runner))
    return result


def _failed(error: BaseException, context: Context, hook_runner: HookRunner) -> OutcomeEvent:
    if isinstance(error, FerryError):
        outcome = error.outcome
    else:
        outcome = "unknown" if context.state.may_have_happened else "not_sent"
    return OutcomeEvent(
        hook_runner.call,
        outcome,
        context.clock() - context.began,
        type(error).__name__,
        tuple(context.state.attempts),
    )


def _done(result: object, context: Context, hook_runner: HookRunner) -> OutcomeEvent:
    is_raw = isinstance(result, RawResponse)
    value = cast("RawResponse[object]", result).parse() if is_raw else result
    return OutcomeEvent(
        hook_runner.call,
        "done",
        context.clock() - context.began,
        None,
        tuple(context.state.attempts),
        read_back=getattr(value, "read_back", False),
    )
