"""Run steps with the client of a scan: a `Ferry` or an `AsyncFerry`, or one that a function makes.

A scan is not awaited, whichever client it has, and Ctrl-C must lose no answer. So the steps do not
run in the caller's thread, which only waits for them:

- With a `Ferry`, they run in a thread. Python raises `KeyboardInterrupt` in the main thread, which
  waits. It then sets a signal that ends the requests under way, as closing the client does, and the
  steps write the answers that they have.
- With an `AsyncFerry`, they run as a task in an event loop of their own, because a notebook already
  has a loop in its thread. At Ctrl-C the task is cancelled, and the steps write their answers too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from contextlib import aclosing, closing
from functools import partial
from typing import Any, Final, TypeVar

import anyio
from anyio import to_thread
from anyio.from_thread import start_blocking_portal

from ferry_sdk._engine.effects import Signal, Steps
from ferry_sdk._engine.settings import Settings
from ferry_sdk._transport.streams import Stop, stream, stream_async
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import InvalidInputError

T = TypeVar("T")
AnyClient = Ferry | AsyncFerry
MakeClient = Callable[[], AnyClient]

SHORT_WAIT: Final = 0.5
"""Seconds of one wait of the caller's thread; on Windows, only a short one sees Ctrl-C."""


def run_steps(
    client_or_maker: AnyClient | MakeClient,
    steps: Callable[[Settings], Steps[T]],
    take: Callable[[T], object],
    stop: Stop | None = None,
) -> str:
    """Run steps with a client, and return the address of its service.

    A client that was made for the steps is closed at their end.

    Args:
        client_or_maker: A client, or a function that makes one.
        steps: Returns the steps, given the settings of the client.
        take: Receives each item.
        stop: Ends what the steps have begun.
    """
    client, is_made_here = _client_of(client_or_maker)
    transport: Any = transport_of(client)
    interruption = Signal()

    def run_in_thread() -> None:
        view = transport.view(transport.settings, interruption)
        try:
            with closing(stream(view, steps(view.settings), stop)) as items:
                for item in items:
                    take(item)
        finally:
            if is_made_here:
                client.close()

    async def run_in_task() -> None:
        try:
            async with aclosing(stream_async(transport, steps(transport.settings), stop)) as items:
                async for item in items:
                    take(item)
        finally:
            with anyio.CancelScope(shield=True):
                if is_made_here:
                    await client.aclose()
                else:
                    await transport.shared.close_loop()  # the loop ends before the client

    with start_blocking_portal("asyncio") as portal:
        try:
            if isinstance(client, Ferry):
                task = portal.start_task_soon(partial(to_thread.run_sync, run_in_thread))
            else:
                task = portal.start_task_soon(run_in_task)
            while not wait([task], SHORT_WAIT).done:
                pass
        except BaseException:
            interruption.set()
            raise  # the portal cancels the task, and waits for its end
    task.result()
    return str(transport.settings.base_url)


def _client_of(client_or_maker: AnyClient | MakeClient) -> tuple[Any, bool]:
    """Return the client, and whether it was made here."""
    if isinstance(client_or_maker, AnyClient):
        return client_or_maker, False
    made: Any = client_or_maker()
    if not isinstance(made, AnyClient):
        raise InvalidInputError("expected a client, or a function that makes one", field="client")
    return made, True
