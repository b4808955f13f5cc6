"""How a server says that the session of a request is gone, and what that proves.

A session is gone in three cases:

1. The reply to a request with a session id has the status 404, whatever its body is. The
   transport's specification gives lost sessions this status. Two replies are no such 404: that of
   a tool, and a JSON-RPC error which says that the method is unknown.
2. The reply has the status 200, 400, 401, 404 or 410, and its text names the session. The text is
   the message of a JSON-RPC error, the text of a failed tool, or the body.
3. The reply has one of these statuses, refuses the version of the request, and names those that the
   server supports. A server says this if its versions have changed since the handshake.

A text names the session if it has no other words than those of `_WORDS`, one of `_SUBJECTS` among
them: ``Bad Request: No valid session ID provided``. A text with any other word is about something
else, for example ``Checkout session expired at the carrier``.

A write is sent again only if the server named the session where it refuses a request before it
reads it: with an error status, or with a JSON-RPC code that says so; or if it refused the version.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from ferry_sdk._protocols.error_responses import api_error, message_of, service_error
from ferry_sdk._protocols.mcp.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND
from ferry_sdk._protocols.mcp.post import JsonRpcReply
from ferry_sdk._protocols.mcp.results import failed_texts, refuses_version
from ferry_sdk.errors import SESSION_ENDED, APIError

_STATUSES: Final = frozenset({200, 400, 401, 404, 410})
"""The statuses of replies that may say so; others, such as 503, tell nothing of the session."""
_REFUSED: Final = (INVALID_REQUEST, -32000, -32001)
"""The JSON-RPC codes with which servers refuse a request for its session."""

_SUBJECTS: Final = frozenset(
    {
        "initialise",
        "initialised",
        "initialize",
        "initialized",
        "session",
        "sessionid",
        "sessions",
        "uninitialised",
        "uninitialized",
    }
)
_AROUND_SUBJECTS: Final = """
    a active again already an and any bad be been before can cannot client closed could created
    deleted does doesn due ended error exist exists expired failed find first for found gone has
    have header http id idle in inactivity initialisation initialization invalid is it jsonrpc known
    longer lost mcp missing must new no not of on open or please provide provided re reconnect
    reinitialise reinitialize request requests require required retry rpc s sent server start t
    terminated the this timed timeout to try unauthorized unknown valid was with without your
"""
_WORDS: Final = _SUBJECTS.union(_AROUND_SUBJECTS.split())
"""The words that a text about the session may have."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_LONGEST: Final = 300
"""Characters of a text that may name the session."""


def is_lost(answer: JsonRpcReply, session_id: str | None) -> bool:
    """Return whether the session of a request is gone, or the server wants one.

    Args:
        answer: The reply.
        session_id: The session of the request; None without one.
    """
    if "result" in answer.message:
        return bool(failed_texts(answer.message["result"])) and is_named(answer, session_id)
    if answer.is_tools_answer:
        return False
    if answer.reply.status_code in _STATUSES and refuses_version(answer.error):
        return True
    if answer.reply.status_code == HTTPStatus.NOT_FOUND and session_id is not None:
        return answer.error.get("code") != METHOD_NOT_FOUND
    return is_named(answer, session_id)


def is_named(answer: JsonRpcReply, session_id: str | None) -> bool:
    """Return whether the text of a reply names the session."""
    if answer.reply.status_code not in _STATUSES:
        return False
    return any(_names_session(text, session_id) for text in _texts(answer))


def is_refused(answer: JsonRpcReply, session_id: str | None) -> bool:
    """Return whether the server refused a request for its session before it read the request.

    A tool's result and a body without JSON-RPC do not prove this with the status 200.
    """
    if refuses_version(answer.error):
        return True
    if "result" in answer.message or not is_named(answer, session_id):
        return False
    code = answer.error.get("code")
    if answer.reply.status_code == HTTPStatus.OK:
        return code == INVALID_REQUEST
    return not answer.error or code in _REFUSED


def ended_error(answer: JsonRpcReply) -> APIError:
    """Return the error of a call whose session is gone. It is not that of an unknown id."""
    return api_error(answer.reply, answer.body, message=SESSION_ENDED, kind=APIError)


def _texts(answer: JsonRpcReply) -> list[str]:
    """Return the texts in which a reply may name the session."""
    if "result" in answer.message:
        return failed_texts(answer.message["result"])
    if answer.error:
        return [str(answer.error.get("message"))]
    error = service_error(answer.message, answer.reply)
    if error is not None:
        return [error.message, error.code or ""]
    if isinstance(answer.body, str):
        return [answer.body]
    return [message_of(answer.body) or ""]


def _names_session(text: str, session_id: str | None) -> bool:
    """Return whether a text names the session, by the rule at the head of this module."""
    if len(text) > _LONGEST:
        return False
    if session_id:
        text = text.replace(session_id, " ")
    words = set(_WORD.findall(text.lower().replace("_", " ")))
    return words <= _WORDS and not words.isdisjoint(_SUBJECTS)
