"""Clients of the service: the library, what it depends on, and its peers.

Each module is a client. It has some of `search`, `fee`, `create`, `async_fee` and `async_create`:
context managers that take the service's address and give a function that makes the call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any

from benchmarks._readers import Read, read_objects

Call = Callable[[], Any]


class MissingPeerError(Exception):
    """A library that the row needs is not installed.

    Args:
        name: The library.
    """

    def __str__(self) -> str:
        return f"{self.args[0]} is not installed: pip install --group benchmarks"


def work_of(client: str, work: str) -> Any:  # noqa: ANN401 -- a context manager, or an async one
    """Return the context manager of a client for some work, such as ``search``.

    Raises:
        MissingPeerError: It needs a library that is not installed.
    """
    try:
        return getattr(import_module(f"{__name__}.{client}"), work)
    except ModuleNotFoundError as error:
        raise MissingPeerError(error.name or client) from error


def list_installed(*clients: str) -> list[str]:
    """Return the clients whose libraries are installed, for peers that are shown and not judged."""
    found: list[str] = []
    for client in clients:
        with suppress(MissingPeerError):
            work_of(client, "__name__")
            found.append(client)
    return found


@contextmanager
def open_calls(work: str, clients: Iterable[str], *arguments: object) -> Generator[dict[str, Call]]:
    """Give the same call of several clients, by their names.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    with ExitStack() as stack:
        yield {name: stack.enter_context(work_of(name, work)(*arguments)) for name in clients}


@contextmanager
def open_searches(clients: Iterable[str], *arguments: object) -> Generator[dict[str, Call]]:
    """Give the same search of several clients, whose answer is read to its end and freed.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    with open_calls("search", clients, *arguments) as calls:
        yield {name: _read_and_free(call, reader_of(name)) for name, call in calls.items()}


def reader_of(client: str) -> Read:
    """Return the function that reads the answer to a client's search."""
    module = import_module(f"{__name__}.{client}")
    read: Read = getattr(module, "READ", read_objects)
    return read


def _read_and_free(call: Call, read: Read) -> Call:
    return lambda: read(call())
