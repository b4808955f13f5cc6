"""HTTP requests and replies as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from ferry_sdk.types import Attempt

T_co = TypeVar("T_co", covariant=True)

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True, slots=True)
class Timeout:
    """Timeouts of one attempt, in seconds; None is no limit.

    Attributes:
        connect: To connect to the service.
        read: Between two pieces of the reply.
        write: Between two pieces of the request.
        pool: To get a connection from the pool.
    """

    connect: float | None = 5.0
    read: float | None = 30.0
    write: float | None = 30.0
    pool: float | None = 5.0


@dataclass(slots=True)
class Request:
    """One HTTP request. A repr shows only its method and its route.

    Attributes:
        method: HTTP method.
        url: The URL.
        headers: All headers except those that the HTTP library sets.
        content: The body.
        route: Path of the URL, with ``{id}`` in place of an id; for hooks, so empty without them.
        rpc_method: Method of the JSON-RPC message; None without one.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)
    route: str = ""
    rpc_method: str | None = None


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; empty texts if it has none."""
    if not url[:1].isalpha():  # parsers disagree on leading spaces
        return "", "", None
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", "", None
    return parts.scheme, parts.hostname or "", port


class Headers(Mapping[str, str]):
    """The headers of a reply: case-insensitive names, no values in a repr.

    Attributes:
        by_name: The values by their names in lower case.
    """

    __slots__ = ("by_name",)

    def __init__(self, items: Iterable[tuple[str, str]]) -> None:
        self.by_name: dict[str, str] = {name.lower(): value for name, value in items}

    def __getitem__(self, name: str) -> str:
        return self.by_name[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __repr__(self) -> str:
        return f"Headers({sorted(self)})"


@lru_cache(maxsize=16)
def parse_date(date: str) -> float | None:
    """Return the seconds since the epoch of a header such as Date; None if it is invalid.

    It is cached because many replies have the same date.
    """
    try:
        moment = parsedate_to_datetime(date)
        # Without a zone, as of "-0000", the date is in UTC.
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


@dataclass(slots=True)
class Reply:
    """One HTTP reply.

    Attributes:
        status_code: The status.
        by_name: The headers by their names in lower case.
        content: The body, as far as it was read.
    """

    status_code: int
    by_name: Mapping[str, str] = field(repr=False)
    content: bytes = field(default=b"", repr=False)

    @property
    def headers(self) -> Headers:
        """The headers, for a caller who looks at them; names are case-insensitive."""
        return Headers(self.by_name.items())

    @property
    def request_id(self) -> str | None:
        """The service's request id; None if it does not look like one, because it is logged."""
        request_id = self.by_name.get("x-request-id") or ""
        return request_id if _REQUEST_ID.fullmatch(request_id) else None

    @property
    def media_type(self) -> str:
        """The media type of the body in lower case, without parameters."""
        return self.by_name.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        """Whether the status is 3xx."""
        return 300 <= self.status_code < 400  # noqa: PLR2004 -- the range is its name

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status_code < 300  # noqa: PLR2004 -- the range is its name


class Listener(Protocol):
    """Receives a body while it is read; `feed` returns True to stop reading."""

    def feed(self, head: Reply, chunk: bytes) -> bool: ...


@dataclass(frozen=True, slots=True)
class RawResponse(Generic[T_co]):
    """A result with its HTTP reply; no repr shows the content.

    Attributes:
        reply: The HTTP reply.
        correlation_id: The id sent with every attempt.
        elapsed: Seconds from the start of the call to its end, waits included.
        attempts: All attempts, in order.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            response = ferry.with_raw_response.catalogue.ports()
            print(response.status_code, len(response.parse()), "ports")
            # > 200 183 ports
        ```
    """

    _value: T_co = field(repr=False)
    reply: Reply = field(repr=False)
    correlation_id: str
    elapsed: float
    attempts: tuple[Attempt, ...]

    def parse(self) -> T_co:
        """Return the result that the call returns without `with_raw_response`."""
        return self._value

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        return self.reply.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; names are case-insensitive."""
        return self.reply.headers

    @property
    def content(self) -> bytes:
        """The decompressed body, as far as it was read."""
        return self.reply.content

    @property
    def request_id(self) -> str | None:
        """The service's id of the exchange, without tokens and travellers' data."""
        return self.attempts[-1].request_id
