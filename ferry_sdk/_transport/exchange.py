"""One HTTP exchange: a request as the HTTP library takes it, and its reply or its error.

1. `Exchange.run` builds the request. Its trace function is that of a `SendGuard`, which records how
   far the request gets.
2. The client sends it, and returns the status and the headers.
3. `_start_reply` makes a `Reply` of them, with an empty body.
4. `_feed` takes the body piece by piece: it decompresses the piece, checks the size, and gives it
   to the listener, which may need no more.
5. `_complete` gives the reply its body.
6. If a step raises, `_failure` returns the `FerryError` in its place. An exception is recognised by
   the name of its class: the user's client may be of httpx or of httpx2, which share names but no
   classes.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from io import BytesIO
from typing import Any, Final

from ferry_sdk._engine.content_codings import Decompressor, decompressor_of
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Headers, Reply, origin_of
from ferry_sdk._engine.reply_limits import LARGEST_REPLY
from ferry_sdk._engine.sending import SendState
from ferry_sdk._transport.http_client import (
    LOWEST_FINAL,
    AsyncHttpClient,
    HttpClient,
    HttpResponse,
    Request,
    Requests,
)
from ferry_sdk._transport.send_guard import OpenConnections, SendGuard
from ferry_sdk.errors import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
    TransportError,
    UnexpectedResponseError,
    mark_quoted,
)

_QUOTE: Final = re.compile(r"[\s:(=<]{0,9}(?<!\w)(?:bytearray\()?b?['\"]")
"""The beginning of bytes that a parser could not read, as in ``illegal line: b'HTTP'``."""

_lost = partial(ConnectionFailedError, outcome="unknown")
_FAILURES: Final[Mapping[str, Callable[[str], FerryError]]] = {
    "ConnectError": partial(ConnectionFailedError, outcome="not_sent"),
    "ConnectTimeout": partial(RequestTimeoutError, outcome="not_sent"),
    "PoolTimeout": partial(RequestTimeoutError, outcome="not_sent"),
    "UnsupportedProtocol": ConfigurationError,
    "InvalidURL": ConfigurationError,
    "DecodingError": UnexpectedResponseError,
    "TimeoutException": partial(RequestTimeoutError, outcome="unknown"),
    "UnicodeError": ConfigurationError,  # a host that cannot be encoded
    "TransportError": _lost,
    "StreamError": _lost,
    "HTTPError": _lost,
    "NetworkError": _lost,
    "ProtocolError": _lost,
    "ProxyError": _lost,
    "OSError": _lost,
    "RuntimeError": _lost,
    "MemoryError": _lost,
}
"""The `FerryError` of an exception, by the name of its class or of its nearest base in here."""
_LIBRARIES: Final = frozenset({"builtins", "httpcore", "httpx", "httpx2"})
"""Where those classes are."""

_hides_content: Final[ContextVar[bool]] = ContextVar("ferry_sdk_request", default=False)
"""Whether the content of requests and replies is kept out of the HTTP library's log.

URLs, which contain ids, are logged at DEBUG; headers and bodies of replies are not logged.
"""


class Exchange:
    """One request and its reply.

    A request counts as sent if the HTTP library does not report its steps, as with a custom
    transport of httpx.

    Args:
        effect: The request.
        connections: The connections of the HTTP client.
    """

    # A thousand of them may wait for a connection; without a dict, each takes 100 bytes less.
    __slots__ = (
        "_body",
        "_connections",
        "_decompressor",
        "_effect",
        "_guard",
        "_received",
        "_reply",
    )

    def __init__(self, effect: Send, connections: OpenConnections) -> None:
        self._effect = effect
        self._connections = connections
        self._reply: Reply | None = None
        self._received = 0
        self._decompressor: Decompressor | None = None
        # Last, because it marks the request as handed over.
        self._guard = SendGuard(effect, connections)

    def give_up(self) -> None:
        """Prevent sending, and shut the connection down."""
        self._guard.give_up()

    def run(self, client: HttpClient) -> Reply:
        """Send the request and return the reply, as far as it is needed.

        Raises:
            FerryError: There is no reply, or it is not one to the request.
        """
        try:
            request = self._build_request(client, self._guard.on_event)
            outside = _hides_content.set(True)
            try:
                response = client.send(request, stream=True, auth=None, follow_redirects=False)
                try:
                    reply = self._start_reply(response)
                    is_loaded = response.is_stream_consumed  # a mock has decompressed it as well
                    # The iterator has no name, so that it ends with the loop: before the response
                    # is closed, and while `_hides_content` is set.
                    for chunk in response.iter_bytes() if is_loaded else response.iter_raw():
                        if self._feed(chunk):
                            break
                    else:
                        self._check_end()
                    self._complete(reply)
                    return reply
                finally:
                    self._guard.end_request()
                    response.close()
            finally:
                _hides_content.reset(outside)
        except Exception as error:  # noqa: BLE001 -- raised below, without this one as its context
            failure = self._failure(error)
        raise failure

    async def run_async(self, client: AsyncHttpClient) -> Reply:
        """Do the same with an async client."""
        try:
            request = self._build_request(client, self._guard.on_event_async)
            outside = _hides_content.set(True)
            has_loop = True
            try:
                response = await client.send(
                    request, stream=True, auth=None, follow_redirects=False
                )
                body: Any = None

                try:
                    reply = self._start_reply(response)
                    is_loaded = response.is_stream_consumed  # a mock has decompressed it as well
                    body = response.aiter_bytes() if is_loaded else response.aiter_raw()
                    async for chunk in body:
                        if self._feed(chunk):
                            break
                    else:
                        self._check_end()
                    self._complete(reply)

                except GeneratorExit:  # the event loop has ended, so nothing can be awaited
                    has_loop = False
                    raise
                else:
                    return reply

                finally:
                    self._guard.end_request()
                    if has_loop:
                        # An iterator of an async body does not end with the loop that reads it.
                        try:
                            if body is not None:
                                await body.aclose()
                        finally:
                            await response.aclose()
            finally:
                with suppress(ValueError):  # a closed loop's call ends in another context
                    _hides_content.reset(outside)
        except Exception as error:  # noqa: BLE001 -- raised below, without this one as its context
            failure = self._failure(error)
        raise failure

    def _build_request(self, client: Requests, trace: Callable[[str, Any], object]) -> Request:
        request, timeout = self._effect.request, self._effect.timeout
        return client.build_request(
            request.method,
            request.url,
            headers=request.headers,
            content=request.content,
            timeout=(timeout.connect, timeout.read, timeout.write, timeout.pool),
            extensions={"trace": trace, "ferry_sdk.is_unproven": self._effect.is_unproven},
        )

    def _start_reply(self, response: HttpResponse) -> Reply:
        """Process the status and the headers, and return the reply with its body empty."""
        headers: Any = response.headers
        if type(headers) is not Headers:  # the library's own clients return it already
            headers = Headers(headers.items())
        by_name = headers.by_name
        self._reply = reply = Reply(response.status_code, by_name, b"")
        self._body = BytesIO()  # a list of pieces of one byte would take forty times the memory
        # If the rest of the reply is lost, what arrived may still name what the request made.
        self._effect.reply = reply
        self._effect.received = self._body

        if response.status_code < LOWEST_FINAL:  # not a reply to the request, which was sent
            raise UnexpectedResponseError(f"the reply is not final (HTTP {response.status_code})")
        if "transfer-encoding" in by_name and "content-length" in by_name:
            # A proxy may take another end for the reply's, and send somebody else's bytes on.
            raise _lost("the reply has both a length and a transfer encoding")

        stream = response.extensions.get("network_stream")
        if stream is not None:
            self._guard.use_connection(stream)

        encoding = by_name.get("content-encoding")
        # A mock may have decompressed the body.
        if encoding is not None and not response.is_stream_consumed:
            self._decompressor = decompressor_of(encoding)
        return reply

    def _feed(self, raw: bytes) -> bool:
        """Process the next piece of the body; return True if no more is needed."""
        if self._guard.is_given_up:
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")

        self._received += len(raw)  # it may decompress to nothing
        pieces: Iterable[bytes] = (raw,)
        if self._decompressor is not None:
            pieces = self._decompressor.pieces(raw)

        listener = self._effect.listener
        for piece in pieces:
            self._body.write(piece)
            if max(self._received, self._body.tell()) > LARGEST_REPLY:
                raise UnexpectedResponseError(f"the reply has more than {LARGEST_REPLY} bytes")
            if listener is not None:
                assert self._reply is not None  # noqa: S101 -- a body has a head
                if listener.feed(self._reply, piece):
                    return True
        return False

    def _complete(self, reply: Reply) -> None:
        """Give the reply its body, which nobody else keeps from now on: it may be large."""
        reply.content = self._body.getvalue()
        self._effect.reply = self._effect.received = None

    def _check_end(self) -> None:
        """Check at the end of a body that it is whole; its framing may not tell."""
        if self._decompressor is not None and self._decompressor.is_cut:
            raise UnexpectedResponseError("the reply cannot be decompressed: it is cut off")

    def _failure(self, error: Exception) -> Exception:
        """Return the `FerryError` for an exception of the HTTP library; any other one itself."""
        failure = error if isinstance(error, FerryError) else _failure_of(error)
        if failure is None and self._connections.is_closed:
            failure = _describe(error, _lost)  # such a client may raise anything

        if isinstance(failure, TransportError):
            _, host, port = origin_of(self._effect.request.url)
            if ":" in host:  # an address of IPv6
                host = f"[{host}]"
            failure.args = (f"{failure} ({host}:{port})",)
            if self._effect.state in {SendState.FOLLOWED, SendState.SENT}:
                failure.outcome = self._effect.outcome

        if isinstance(failure, FerryError) and self._reply is not None:
            failure.request_id = self._reply.request_id
            if isinstance(failure, UnexpectedResponseError):
                failure.status_code = self._reply.status_code

        return error if failure is None else failure


def _failure_of(error: Exception) -> FerryError | None:
    """Return the `FerryError` for an exception of the client or the system; None for others."""
    for kind in type(error).__mro__:
        if kind.__module__.partition(".")[0] in _LIBRARIES and kind.__name__ in _FAILURES:
            return _describe(error, _FAILURES[kind.__name__])
    return None


def _describe(error: Exception, new_failure: Callable[[str], FerryError]) -> FerryError:
    """Return a failure whose message has the type and the message of an exception.

    Example: ``RemoteProtocolError: illegal status line: b'Ada'`` is shown as
    ``RemoteProtocolError: illegal status line``.
    """
    message = " ".join(str(error).split())
    may_quote_reply = new_failure("").outcome != "not_sent"
    if may_quote_reply:
        message = _QUOTE.split(message, maxsplit=1)[0]

    kind = type(error).__name__
    text = f"{kind}: {message}" if message else kind
    return mark_quoted(new_failure(text), message)


def _lower_to_debug(record: logging.LogRecord) -> bool:
    """Log what the HTTP library logs of each request, its URL, at DEBUG in place of INFO."""
    if _hides_content.get() and record.levelno == logging.INFO:
        record.levelno = logging.DEBUG
        record.levelname = "DEBUG"
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    return True


def _remove_replies(record: logging.LogRecord) -> bool:
    """Cut what httpcore logs of a reply, such as ``… return_value=(200, [headers])``."""
    if _hides_content.get():
        record.msg = str(record.msg).partition(" return_value=")[0].partition(" exception=")[0]
    return True


for _name in ("httpx", "httpx2"):
    logging.getLogger(_name).addFilter(_lower_to_debug)
for _name in ("httpcore.http11", "httpcore.http2", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(_remove_replies)
