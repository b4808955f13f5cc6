"""Clients of the service: the library, what it stands on, and its peers.

Each module is one of them and brings what it can do of: `search`, `fee`, `async_fee`. Each of
these takes the service's address and gives a call that can be made as long as it is entered.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any

from benchmarks._reading import Read, read_objects

Call = Callable[[], Any]


class MissingPeerError(Exception):
    """A library that something is measured beside is not installed.

    Args:
        name: The library.
    """

    def __str__(self) -> str:
        return f'{self.args[0]} is not installed: pip install -e ".[benchmarks]"'


def work_of(client: str, work: str) -> Any:  # noqa: ANN401 -- a context manager, or an async one
    """What a client can do.

    Raises:
        MissingPeerError: It needs a library that is not installed.
    """
    try:
        return getattr(import_module(f"{__name__}.{client}"), work)
    except ModuleNotFoundError as error:
        raise MissingPeerError(error.name or client) from error


def installed(*clients: str) -> list[str]:
    """Those of the clients that have all they need; for what is shown and not judged."""
    found: list[str] = []
    for client in clients:
        with suppress(MissingPeerError):
            work_of(client, "__name__")
            found.append(client)
    return found


@contextmanager
def opened(work: str, clients: Iterable[str], *arguments: object) -> Generator[dict[str, Call]]:
    """The same call of several clients, by their names.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    with ExitStack() as stack:
        yield {name: stack.enter_context(work_of(name, work)(*arguments)) for name in clients}


@contextmanager
def searches(clients: Iterable[str], *arguments: object) -> Generator[dict[str, Call]]:
    """The same search of several clients, its answer read to the end and let go.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    with opened("search", clients, *arguments) as calls:
        yield {name: _read_and_freed(call, reader_of(name)) for name, call in calls.items()}


def reader_of(client: str) -> Read:
    """What reads the answers of a client's search."""
    module = import_module(f"{__name__}.{client}")
    read: Read = getattr(module, "READ", read_objects)
    return read


def _read_and_freed(call: Call, read: Read) -> Call:
    return lambda: read(call())
