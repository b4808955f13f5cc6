"""A request as bytes, without its first lines, which depend on the route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ferry_sdk.errors import ConfigurationError

Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class Limits(NamedTuple):
    """Timeouts in seconds; None is no limit."""

    connect: float | None
    read: float | None
    write: float | None
    pool: float | None


class Address(NamedTuple):
    """The parts of a URL.

    Attributes:
        origin: Scheme, host and port.
        target: Encoded path and query.
    """

    origin: str
    target: str


@dataclass(slots=True)
class AioRequest:
    """One HTTP request. A repr shows only its method.

    Attributes:
        method: The method as bytes, as trace functions expect it.
        address: The parts of its URL.
        headers: The encoded headers and the empty line after them.
        content: The body.
        limits: The timeouts.
        trace: Called with its steps; may raise to stop it before its first byte.
        is_sent: Whether its first byte was about to leave.
    """

    method: bytes
    address: Address
    headers: bytes
    content: bytes
    limits: Limits
    trace: Trace
    is_sent: bool = False

    def __repr__(self) -> str:
        return f"AioRequest({self.method!r})"


@lru_cache(maxsize=1024)
def address_of(url: str) -> Address:
    """Return the parts of a URL.

    Raises:
        ConfigurationError: It is not an http or https URL.
    """
    from yarl import URL  # noqa: PLC0415 -- an extra installs it

    try:
        parsed = URL(url)
        origin = parsed.origin()
    except ValueError as error:
        raise ConfigurationError(f"not a URL: {error}") from None
    if origin.scheme not in {"http", "https"}:
        raise ConfigurationError(f"not an http or https URL: its scheme is {origin.scheme!r}")
    return Address(str(origin), parsed.raw_path_qs)
