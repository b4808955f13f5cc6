"""The two streams: steps that give items one by one, for threads and for tasks.

The steps stop after each item, until their caller wants the next one. The calls that they have
started go on meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TypeVar

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.effects import Flow, Steps, next_item
from ferry_sdk._engine.settings import Settings
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.errors import FerryError, trim

T = TypeVar("T")
Stop = Callable[[Settings], Flow[None]]


def stream(transport: Transport, steps: Steps[T], stop: Stop | None = None) -> Generator[T]:
    """Yield the items of steps.

    Args:
        transport: Performs the steps.
        steps: The steps.
        stop: Ends what the steps have started, when the stream ends or is closed; None: nothing.
    """
    plan = Plan(lambda _: next_item(steps))
    try:
        while (item := transport.run(plan)) is not None:
            yield item.value
    except FerryError as error:
        raise trim(error) from error.__cause__
    finally:
        if stop is not None:
            transport.run(Plan(stop))


async def stream_async(
    transport: AsyncTransport, steps: Steps[T], stop: Stop | None = None
) -> AsyncGenerator[T]:
    """Yield the items of steps, as `stream` does."""
    plan = Plan(lambda _: next_item(steps))
    try:
        while (item := await transport.run(plan)) is not None:
            yield item.value
    except FerryError as error:
        raise trim(error) from error.__cause__
    finally:
        if stop is not None:
            await transport.run(Plan(stop))
