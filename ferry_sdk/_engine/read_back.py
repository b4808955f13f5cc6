"""Read back the effect of a write: once, or until it is seen.

`resources/read_back` says which read shows the effect, and what result it makes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.operation import ReadBack, Wait
from ferry_sdk._engine.polling import PollResult, poll

READ_BACK_WINDOW: Final = 30.0
"""Seconds in which the effect of a write is read back, if there is no deadline."""


def read_once(read_back: ReadBack[Any], context: Context) -> Flow[Result[Any]]:
    """Make the read that shows the effect, once.

    It ends before the deadline, so that the outcome is on record and known to other callers by
    then.
    """
    context = context.for_reads(context.clock() + READ_BACK_WINDOW)
    context = replace(context, goes_first=True, keeps_reserve=True)
    return send_with_retries(read_back.reading, context)


def read_until_shown(read_back: ReadBack[Any], context: Context) -> Flow[PollResult[object] | None]:
    """Read until the effect is seen or time is up; None if there is no time to read."""
    remaining = context.remaining()
    window = READ_BACK_WINDOW if remaining is None else remaining
    if window <= 0:
        return None

    wait = Wait(window, until=read_back.shows)
    return (yield from poll(read_back.reading, replace(context, goes_first=True), wait))
