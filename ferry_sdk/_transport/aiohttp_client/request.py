"""A request in the bytes that leave, all but the first lines, which name where it goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ferry_sdk.errors import ConfigurationError

Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class Limits(NamedTuple):
    """Seconds that each part may take; None is no limit."""

    connect: float | None
    read: float | None
    write: float | None
    pool: float | None


class Address(NamedTuple):
    """Where a request goes.

    Attributes:
        origin: Scheme, host and port.
        target: Path and query, as they are sent.
    """

    origin: str
    target: str


@dataclass(slots=True)
class AioRequest:
    """One HTTP request, whole. Nothing of it but its method shows in a repr.

    Attributes:
        method: In bytes, as a trace is told it.
        address: Where it goes.
        headers: The lines of the head that are its own, and the empty one after them.
        content: The body.
        limits: Its time-outs.
        trace: Is told of its steps, and may stop it before its first byte.
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
    """The address in a URL.

    Raises:
        ConfigurationError: It is none of HTTP's.
    """
    from yarl import URL  # noqa: PLC0415 -- an extra installs it

    try:
        parsed = URL(url)
        origin = parsed.origin()
    except ValueError as error:
        raise ConfigurationError(f"not a URL: {error}") from None
    if origin.scheme not in {"http", "https"}:
        raise ConfigurationError(f"not a URL of HTTP: its scheme is {origin.scheme!r}")
    return Address(str(origin), parsed.raw_path_qs)


def request_of(
    method: str,
    url: str,
    content: bytes | None,
    headers: Mapping[str, str],
    limits: Limits,
    trace: Trace,
) -> AioRequest:
    """The request, its head written.

    Raises:
        ConfigurationError: The address, or a header, cannot be sent.
    """
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    if content is not None or method in _WITH_BODY:
        lines.append(f"content-length: {len(content or b'')}\r\n")
    head = "".join(lines)
    if not head.isascii() or head.count("\r") != len(lines) or head.count("\n") != len(lines):
        raise ConfigurationError("a header is printable ASCII in one line")
    return AioRequest(
        method.encode(), address_of(url), f"{head}\r\n".encode(), content or b"", limits, trace
    )
