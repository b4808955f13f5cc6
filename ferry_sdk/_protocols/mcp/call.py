"""The MCP endpoint: a call as a JSON-RPC request, a reply as a decoded value or an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Final, Literal

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, T
from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.requests import read
from ferry_sdk._engine.safety import safety_of_tool
from ferry_sdk._engine.settings import Authority
from ferry_sdk._protocols.json_body import digest, is_list, is_object, members_of, personal_data
from ferry_sdk._protocols.mcp.jsonrpc import INVALID_PARAMS
from ferry_sdk._protocols.mcp.lost_session import ended_error, is_lost, is_named, is_refused
from ferry_sdk._protocols.mcp.post import PATH, STATELESS, JsonRpcReply, post
from ferry_sdk._protocols.mcp.results import refuses_version, resource_value, tool_value
from ferry_sdk._protocols.mcp.session import open_session, renew_session
from ferry_sdk.types import RequestDigest

_MOST_PAGES: Final = 1000
_PAGE: Final = frozenset({"nextCursor", "_meta", "resultType", "ttlMs", "cacheScope"})
"""The members of a page of a listing beside its items."""


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
            reply, items = yield from _list_pages(context, self.method)
            return (yield from read(context, reply, partial(parse, items))), reply

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
        path = f"{PATH} {self.method}"
        if name:
            path += f" {name}"
        return digest("POST", path, self.params)

    def secrets(self) -> frozenset[str]:
        """Return the texts of the request that no message may contain."""
        return personal_data(json.dumps(self.params.get("arguments"), default=str))


def _post_in_session(
    context: Context, method: str, params: Mapping[str, object], *, is_read: bool = True
) -> Flow[JsonRpcReply]:
    """Post a request; if its session is gone or missing, renew it and post once more.

    A write is posted again only if the server certainly did nothing. Otherwise the error says that
    the session ended, and the next call makes a new handshake.
    """
    session = context.session
    generation = session.generation
    session_id = session.id
    answer = yield from post(context, method, params, session=session)
    if not is_lost(answer, session_id):
        is_bad = answer.reply.status_code == HTTPStatus.BAD_REQUEST
        if is_bad and session.version == STATELESS and answer.error.get("code") != INVALID_PARAMS:
            # The server may have forgotten the version, so the next call makes a handshake.
            session.opened_at = None
        return answer

    if not is_read and not is_refused(answer, session_id):
        if session.generation == generation:
            session.opened_at = None
        raise ended_error(answer)

    problem = type(answer.status_error()).__name__
    rejected = replace(context.attempt_of(answer.reply), problem=problem)
    context.state.sending = None  # the server did not process it
    context.state.attempts.append(rejected)
    yield from context.record_wait(0.0)
    yield from renew_session(context, generation)

    session_id = session.id
    again = yield from post(context, method, params, session=session)
    if again.reply.status_code == HTTPStatus.UNAUTHORIZED or refuses_version(again.error):
        return again  # it may be the token that has expired; and no other version is known
    if not is_lost(again, session_id):
        return again
    # A read of a new session that is answered with 404 is about something that does not exist.
    if is_read and not is_named(again, session_id):
        return again
    raise ended_error(again)


def _is_page(result: object, member: str) -> bool:
    """Return whether a result has no other members than those of a page of a list."""
    return is_object(result) and result.keys() <= {member, *_PAGE}


def _list_pages(context: Context, method: str) -> Flow[tuple[Reply, object]]:
    """Return the last reply, and all pages of a listing as one list.

    A result that is no page is returned as it is.
    """
    member = method.partition("/")[0]
    items: list[object] = []
    cursors: set[str] = set()
    params: dict[str, object] = {}
    while True:
        answer = yield from _post_in_session(context, method, params)
        result = answer.result()
        members = members_of(result)
        page = members.get(member)
        if page is None and _is_page(result, member):
            page = list[object]()
        if not is_list(page):
            return answer.reply, result

        items += page
        cursor = members.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors or len(cursors) >= _MOST_PAGES:
            return answer.reply, items
        cursors.add(cursor)
        params = {"cursor": cursor}
