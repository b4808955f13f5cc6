"""What a process loads before its first call, so that no call loads anything.

A client is built often, and in programs that make no call. Therefore the first call loads the parts
that are slow to import, before its flow begins. It loads them in a thread, where no interruption
leaves a module half imported: Python cannot import most packages again after that. While the
interpreter shuts down, nothing can be loaded; `shutdown_as_error` raises an error that says so.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import Context
from functools import cache, partial

import anyio

from ferry_sdk._engine.retry import strategies
from ferry_sdk._runtime.threads import do_nothing, uninterrupted
from ferry_sdk.errors import ConfigurationError


@contextmanager
def shutdown_as_error() -> Generator[None]:
    """Raise the library's error if the interpreter ends, so that the block cannot load a module.

    Raises:
        ConfigurationError: The interpreter is shutting down.
    """
    try:
        yield
    except ImportError:
        if not sys.is_finalizing():
            raise
        problem = "the interpreter is shutting down, and what the call needs is not loaded yet"
        raise ConfigurationError(problem) from None


@cache
@uninterrupted
def load_for_threads() -> None:
    """Load what a call of `Ferry` needs, except its HTTP client."""
    strategies()
    socket.getaddrinfo("127.0.0.1", 0)  # loads the codec of host names


@cache
@uninterrupted
def load_for_tasks(backend: str) -> None:
    """Load what a call of `AsyncFerry` needs, except its HTTP client.

    Args:
        backend: ``asyncio`` or ``trio``.
    """
    import asyncio  # noqa: PLC0415 -- threads do not need it

    load_for_threads()
    # Not the loop of the program's policy: that of a GUI works in the main thread only.
    options: dict[str, object] = {}
    if backend == "asyncio":
        options["loop_factory"] = asyncio.SelectorEventLoop
    rehearse = partial(anyio.run, _rehearse, backend=backend, backend_options=options)
    with suppress(RuntimeError):  # no thread can be started; the calls load the rest themselves
        Context().run(rehearse)  # the caller's context names its own event loop


async def _rehearse() -> None:
    """Do what loads modules in an event loop, without a network."""
    await anyio.getaddrinfo("127.0.0.1", 0)
    await anyio.to_thread.run_sync(do_nothing)
