"""The service's MCP endpoint: a call as JSON-RPC, a reply as a value or a named error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, Literal, cast

from ferry_sdk.context import Context
from ferry_sdk.effects import Steps
from ferry_sdk.facts import RequestDigest
from ferry_sdk.operation import Answered
from ferry_sdk.settings import Authority

from .bodies import digest, personal
from .handshake import open_session, renew_session
from .posting import PATH, Posted, post
from .results import resource_value, tool_value

_UNKNOWN_METHOD: Final = -32601
_NO_SESSION: Final = (-32600, -32000, -32001)
_MOST_PAGES: Final = 1000


@dataclass(frozen=True, slots=True)
class Mcp:
    """A call of the MCP endpoint.

    Attributes:
        method: JSON-RPC method.
        params: Its parameters.
        gives_list: Whether the answer is a list, so that empty content is an empty list.
    """

    method: Literal["tools/call", "resources/read", "tools/list", "resources/list"]
    params: Mapping[str, object] = field(repr=False)
    gives_list: bool = False
    authority: Authority = "token"

    @classmethod
    def tool(cls, name: str, arguments: Mapping[str, object], *, gives_list: bool = False) -> Mcp:
        """Call a tool."""
        return cls("tools/call", {"name": name, "arguments": arguments}, gives_list)

    @classmethod
    def resource(cls, name: str) -> Mcp:
        """Read one of the service's catalogues."""
        return cls.read(f"resource://service/{name}")

    @classmethod
    def read(cls, uri: str) -> Mcp:
        """Read a resource."""
        return cls("resources/read", {"uri": uri}, gives_list=True)

    @classmethod
    def listing(cls, method: Literal["tools/list", "resources/list"]) -> Mcp:
        """List what there is, page by page."""
        return cls(method, {}, gives_list=True)

    def exchange(self, context: Context) -> Steps[Answered]:
        """Say it once, in a session where the server wants one, and read the reply."""
        yield from open_session(context)
        if self.method == "tools/call":
            posted = yield from _in_session(context, self.method, self.params)
            value = tool_value(posted.result(), posted.reply, gives_list=self.gives_list)
        elif self.method == "resources/read":
            posted = yield from _in_session(context, self.method, self.params)
            value = resource_value(posted.result(of_resource=True), posted.reply)
        else:
            posted, value = yield from _pages(context, self.method)
        return Answered(value, posted.reply)

    def digest(self) -> RequestDigest:
        """Which request it is, without its content."""
        name = self.params.get("name") or self.params.get("uri")
        path = f"{PATH} {self.method} {name}" if name else f"{PATH} {self.method}"
        return digest("POST", path, self.params)

    def secrets(self) -> frozenset[str]:
        """Texts of the request that no message may repeat."""
        return frozenset(personal(self.params.get("arguments")))


def _in_session(context: Context, method: str, params: Mapping[str, object]) -> Steps[Posted]:
    """Post a request; where its session is gone or missing, renew it and post once more.

    A server refuses such a request before it looks at the tool, so that a write is safe too.
    """
    generation = context.session.generation
    posted = yield from post(context, method, params)
    if _wants_session(posted):
        context.sending = None  # the server did not look at it
        yield from renew_session(context, generation)
        posted = yield from post(context, method, params)
    return posted


def _wants_session(posted: Posted) -> bool:
    status, code = posted.reply.status_code, posted.rpc_code
    if posted.is_tools_answer:
        return False
    if status == HTTPStatus.NOT_FOUND:
        return posted.session_id is not None and code != _UNKNOWN_METHOD
    words = posted.rpc_message.lower()
    return (
        status == HTTPStatus.BAD_REQUEST
        and code in _NO_SESSION
        and ("session" in words or "initialized" in words)
    )


def _pages(context: Context, method: str) -> Steps[tuple[Posted, object]]:
    """All pages of a listing, as one list."""
    member = method.partition("/")[0]
    items: list[object] = []
    cursors: set[str] = set()
    params: dict[str, object] = {}
    while True:
        posted = yield from _in_session(context, method, params)
        page = posted.result()
        if not isinstance(page, dict):
            return posted, page
        members = cast("dict[str, object]", page)
        found = members.get(member)
        if not isinstance(found, list):
            return posted, members
        items.extend(cast("list[object]", found))
        cursor = members.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors or len(cursors) >= _MOST_PAGES:
            return posted, items
        cursors.add(cursor)
        params = {"cursor": cursor}
