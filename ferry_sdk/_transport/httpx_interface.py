"""Everything that depends on httpx: building requests, mapping its exceptions, its logs.

The user's client may be of httpx or of httpx2. They share names but no classes, so exceptions are
recognised by name.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk._transport.http_client import Requests, RequestT
from ferry_sdk.errors import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
    UnexpectedResponseError,
)

if TYPE_CHECKING:
    from ferry_sdk._engine.http import Request, Timeout

hides_content: Final[ContextVar[bool]] = ContextVar("ferry_sdk_request", default=False)
"""Whether the content of requests and replies is kept out of the HTTP library's log.

URLs, which contain ids, are logged at DEBUG; headers and bodies of replies are not logged.
"""


_QUOTE: Final = re.compile(r"[\s:(=<]*(?<!\w)(?:bytearray\()?b?['\"]")
"""The beginning of the bytes that a parser could not read."""
_lost = partial(ConnectionFailedError, outcome="unknown")
_FAILURES: Final[Mapping[str, Callable[[str], FerryError]]] = {
    "ConnectError": partial(ConnectionFailedError, outcome="not_sent"),
    "ConnectTimeout": partial(RequestTimeoutError, outcome="not_sent"),
    "PoolTimeout": partial(RequestTimeoutError, outcome="not_sent"),
    "UnsupportedProtocol": ConfigurationError,
    "InvalidURL": ConfigurationError,
    "DecodingError": UnexpectedResponseError,
    "TimeoutException": partial(RequestTimeoutError, outcome="unknown"),
    "TransportError": _lost,
    "StreamError": _lost,
    "HTTPError": _lost,
    "NetworkError": _lost,
    "ProtocolError": _lost,
    "ProxyError": _lost,
}


def build_request(
    client: Requests[RequestT],
    request: Request,
    timeout: Timeout,
    trace: Callable[[str, Any], Awaitable[None] | None],
) -> RequestT:
    """Build the request for the client's library, which reports its steps to `trace`."""
    return client.build_request(
        request.method,
        request.url,
        headers=request.headers,
        content=request.content,
        timeout=(timeout.connect, timeout.read, timeout.write, timeout.pool),
        extensions={"trace": trace},
    )


def failure_of(error: Exception) -> FerryError | None:
    """Return the `FerryError` for an exception of the client or the system; None for others."""
    names = [kind.__name__ for kind in type(error).__mro__ if _is_httpx(kind)]
    known = next((_FAILURES[name] for name in names if name in _FAILURES), None)
    if known is None and isinstance(error, OSError):
        known = _lost
    if known is None and isinstance(error, UnicodeError):
        known = ConfigurationError  # a host that cannot be encoded
    if known is None:
        return None
    return known(message_of(error, is_ours=known("").outcome == "not_sent"))


def message_of(error: Exception, *, is_ours: bool) -> str:
    """Return type and message of an exception; a reply that the message quotes is left out."""
    message = " ".join(str(error).split())
    if not is_ours:
        message = _QUOTE.split(message, maxsplit=1)[0]
    return f"{type(error).__name__}: {message}".removesuffix(": ")


def _is_httpx(kind: type[BaseException]) -> bool:
    return kind.__module__.partition(".")[0] in {"httpcore", "httpx", "httpx2"}


def _lower_to_debug(record: logging.LogRecord) -> bool:
    if hides_content.get() and record.levelno == logging.INFO:
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    return True


def _remove_replies(record: logging.LogRecord) -> bool:
    if hides_content.get():
        record.msg = str(record.msg).partition(" return_value=")[0].partition(" exception=")[0]
    return True


for _name in ("httpx", "httpx2"):
    logging.getLogger(_name).addFilter(_lower_to_debug)
for _name in ("httpcore.http11", "httpcore.http2", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(_remove_replies)
