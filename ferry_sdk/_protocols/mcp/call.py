"""The MCP endpoint: a call as a JSON-RPC request, a reply as a decoded value or an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final, Literal

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, T
from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.requests import read
from ferry_sdk._engine.safety import safety_of_tool
from ferry_sdk._engine.settings import Authority
from ferry_sdk._protocols.error_responses import service_error
from ferry_sdk._protocols.json_body import digest, is_list, members_of, personal_data
from ferry_sdk._protocols.mcp.post import PATH, JsonRpcReply, post
from ferry_sdk._protocols.mcp.results import resource_value, tool_value
from ferry_sdk._protocols.mcp.session import open_session, renew_session
from ferry_sdk.types import RequestDigest

_UNKNOWN_METHOD: Final = -32601
_NO_SESSION: Final = (-32600, -32000, -32001)
_SESSION_MESSAGE: Final = re.compile(
    r"(bad request: )?(not found: )?(error: )?"
    r"((invalid|missing) session id|no valid session id provided|server not initialized"
    r"|mcp-session-id header is required|missing mcp-session-id header"
    r"|session (expired|not found|required|(has been )?terminated))",
    re.IGNORECASE,
)
"""A message with which a server rejects a request for its session alone, before it reads it."""
_SESSION_CODES: Final = frozenset({"SESSION_EXPIRED", "SESSION_NOT_FOUND", "SESSION_REQUIRED"})
_MOST_PAGES: Final = 1000


@dataclass(slots=True)
class Mcp:
    """A call of the MCP endpoint.

    Attributes:
        method: JSON-RPC method.
        params: Its parameters.
        gives_list: Whether a tool gives a list, so that empty content is an empty list.
    """

    method: Literal["tools/call", "resources/read", "tools/list", "resources/list"]
    params: Mapping[str, object] = field(repr=False)
    gives_list: bool = False
    authority: Authority = "token"

    @classmethod
    def tool(cls, name: str, arguments: Mapping[str, object], *, gives_list: bool = False) -> Mcp:
        """Describe a call of a tool."""
        return cls("tools/call", {"name": name, "arguments": arguments}, gives_list)

    @classmethod
    def resource(cls, name: str) -> Mcp:
        """Describe a read of one of the service's catalogues."""
        return cls.read(f"resource://service/{name}")

    @classmethod
    def read(cls, uri: str) -> Mcp:
        """Describe a read of a resource."""
        return cls("resources/read", {"uri": uri})

    def send(self, context: Context, parse: Callable[[object], T]) -> Flow[tuple[T, Reply]]:
        """Send the request once, in a session if the server needs one, and parse its reply."""
        yield from open_session(context)
        if self.method in {"tools/list", "resources/list"}:
            reply, listed = yield from _list_pages(context, self.method)
            return (yield from read(context, reply, lambda: parse(listed))), reply
        is_tool = self.method == "tools/call"
        is_read = not is_tool or safety_of_tool(str(self.params.get("name"))).is_read
        answer = yield from _post_in_session(context, self.method, self.params, is_read=is_read)
        reply = answer.reply

        def value() -> T:
            if is_tool:
                return parse(tool_value(answer.result(), reply, gives_list=self.gives_list))
            return parse(resource_value(answer.result(of_resource=True), reply))

        return (yield from read(context, reply, value)), reply

    def digest(self) -> RequestDigest:
        """Return what identifies the request, without its content."""
        name = self.params.get("name") or self.params.get("uri")
        path = f"{PATH} {self.method} {name}" if name else f"{PATH} {self.method}"
        return digest("POST", path, self.params)

    def secrets(self) -> frozenset[str]:
        """Return the texts of the request that no message may contain."""
        return frozenset(personal_data(self.params.get("arguments")))


def _post_in_session(
    context: Context, method: str, params: Mapping[str, object], *, is_read: bool = True
) -> Flow[JsonRpcReply]:
    """Post a request; if its session is gone or missing, renew it and post once more.

    A write is posted again only if the server says that it rejected the message for its session,
    so that it did not call the tool. If the same status may mean something else, the error is
    returned, and the next call makes a new handshake.
    """
    session = context.session
    generation, has_id = session.generation, session.id is not None
    answer = yield from post(context, method, params, session)
    if not _may_want_session(answer, has_id=has_id):
        return answer
    if not is_read and not _names_session(answer):
        if session.generation == generation and has_id:
            session.opened_at = None
        return answer
    problem = type(answer.status_error()).__name__
    rejected = replace(context.attempt_of(answer.reply), problem=problem)
    context.state.sending = None  # the server did not process it
    context.state.attempts.append(rejected)
    yield from context.record_wait(0.0)
    yield from renew_session(context, generation)
    return (yield from post(context, method, params, session))


def _names_session(answer: JsonRpcReply) -> bool:
    """Return whether the server rejected the message for its session and nothing else."""
    error = service_error(answer.message, answer.reply)
    if error is not None:
        return error.code in _SESSION_CODES
    words = str(answer.error.get("message")).strip(" .!")
    is_message = _SESSION_MESSAGE.fullmatch(words) is not None
    return answer.error.get("code") in _NO_SESSION and is_message


def _may_want_session(answer: JsonRpcReply, *, has_id: bool) -> bool:
    if answer.is_tools_answer:
        return False
    status, code = answer.reply.status_code, answer.error.get("code")
    if status == HTTPStatus.NOT_FOUND:
        return has_id and code != _UNKNOWN_METHOD
    words = str(answer.error.get("message")).lower()
    return (
        status == HTTPStatus.BAD_REQUEST
        and code in _NO_SESSION
        and ("session" in words or "initialized" in words)
    )


def _list_pages(context: Context, method: str) -> Flow[tuple[Reply, object]]:
    """Return the last reply, and all pages of a listing as one list."""
    member = method.partition("/")[0]
    items: list[object] = []
    cursors: set[str] = set()
    params: dict[str, object] = {}
    while True:
        answer = yield from _post_in_session(context, method, params)
        result = answer.result()
        members = members_of(result)
        page = members.get(member)
        if not is_list(page):
            return answer.reply, result
        items += page
        cursor = members.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors or len(cursors) >= _MOST_PAGES:
            return answer.reply, items
        cursors.add(cursor)
        params = {"cursor": cursor}
