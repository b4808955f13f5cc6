"""The MCP session of an account: opened before the first call, renewed before it expires.

`open_session` runs before every call. If there is no session yet, or if it is `RENEW_AFTER` old:

1. One call makes the handshake, and the others of the account wait for it (`Exclusive`).
2. It posts ``initialize``.
3. It keeps the session's id and version, which the headers of each request repeat.
4. It posts ``notifications/initialized``, whose failure is of no consequence.

A server that refuses ``initialize`` with one of the codes `_NO_HANDSHAKE`, or that answers with the
version `STATELESS`, speaks that version. The account remembers this as long as a session, and its
calls go on without steps 3 and 4. A server that refuses ``initialize`` in another way needs neither
a session nor a version.

A write is sent once all the same: it leaves after ``initialize``, which changes nothing.

If a call finds its session gone, `renew_session` does the same, once for all calls that found the
same session gone: each handshake counts up the `generation`.
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Final

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Exclusive, Flow
from ferry_sdk._engine.validation import header_value
from ferry_sdk._protocols.json_body import members_of
from ferry_sdk._protocols.mcp.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from ferry_sdk._protocols.mcp.post import (
    CLIENT_INFO,
    STATELESS,
    JsonRpcReply,
    post,
    send_message,
)
from ferry_sdk._protocols.mcp.results import unexpected_result
from ferry_sdk.errors import (
    FerryError,
    InvalidInputError,
    RateLimitError,
    ServerError,
    TransportError,
    UnexpectedResponseError,
)

RENEW_AFTER: Final = 55 * 60.0
"""Age in seconds at which a call renews the session; the service keeps it for an hour."""

_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions of MCP that begin with a handshake, the latest first, which it asks for."""
_FAILURES: Final = (401, 403, 429)
"""Statuses with which a handshake fails, as with 500 and above; with others, it is not needed."""
_NO_HANDSHAKE: Final = (METHOD_NOT_FOUND, INVALID_PARAMS, -32020, -32021, UNSUPPORTED_VERSION)
"""The codes with which a server without handshakes refuses one: it does not know the method, it
misses what each request says of itself, or it does not support the version."""


def open_session(context: Context) -> Flow[None]:
    """Make the handshake if there is none, or if the session is about to expire."""
    session = context.session
    opened_at = session.opened_at
    if opened_at is None or (session.version and context.clock() - opened_at > RENEW_AFTER):
        yield from renew_session(context, session.generation)


def renew_session(context: Context, generation: int) -> Flow[None]:
    """Make a new handshake, unless another call has made one since the given generation."""

    def renew() -> Flow[None]:
        if context.session.generation != generation:
            return
        try:
            # A call that goes first may wait for this handshake of another call.
            yield from _handshake(replace(context.for_reads(), goes_first=True))
        except (TransportError, RateLimitError, ServerError, UnexpectedResponseError) as error:
            error.outcome = "not_sent"  # the handshake failed, and the call was never made
            raise

    yield from Exclusive(context.session, renew, context.deadline)


def _handshake(context: Context) -> Flow[None]:
    params = {
        "protocolVersion": _VERSIONS[0],
        "capabilities": {},
        "clientInfo": CLIENT_INFO,
    }
    answer = yield from post(context, "initialize", params, session=Session())
    status = answer.reply.status_code
    if status in _FAILURES or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise answer.status_error()

    session = context.session
    session.id, session.version = _parse_initialize(answer)
    session.opened_at = context.clock()
    session.generation += 1

    if session.version in _VERSIONS:
        try:
            message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            yield from send_message(context, message, session)
        except FerryError:
            return  # the session is open even if the notification fails


def _parse_initialize(answer: JsonRpcReply) -> tuple[str | None, str | None]:
    """Return session id and protocol version; only a successful initialize has a session id."""
    result = members_of(answer.message.get("result"))
    version = result.get("protocolVersion")
    if version == STATELESS or answer.error.get("code") in _NO_HANDSHAKE:
        return None, STATELESS
    if version is None or not answer.reply.is_success:
        return None, None
    if version not in _VERSIONS:
        problem = "the server chose an MCP version that is not supported"
        raise unexpected_result(problem, answer.reply)

    session_id = answer.reply.headers.get("mcp-session-id")
    if not session_id:
        return None, version
    try:
        return header_value(session_id, "Mcp-Session-Id"), version
    except InvalidInputError as error:
        raise unexpected_result(str(error), answer.reply) from None
