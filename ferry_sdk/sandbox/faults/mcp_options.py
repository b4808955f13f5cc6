"""Options for the replies and sessions of `/mcp`: the variants that servers may use."""

from __future__ import annotations

import threading
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, FiniteFloat

from ferry_sdk.sandbox.requests.control import (
    ArrayResult,
    BareContent,
    BareResult,
    ControlModel,
    ProtocolError,
    StructuredResult,
    TextContent,
    ToolError,
)
from ferry_sdk.sandbox.requests.errors import parse_fields

_TEN_YEARS = 10 * 365 * 24 * 3600


class McpOptions(ControlModel):
    """The options of `/mcp`; every known client works with the defaults.

    Attributes:
        is_absent: Whether the service has no `/mcp`: every request is answered with 404.
        reply: `auto` follows `Accept` (JSON if both are accepted); `json` and `sse` are fixed.
        status: The HTTP status of replies to tool calls and resource reads.
        handshake: `accepted`; `refused` as an unknown method (`refused_404`, `refused_405`: with
            that status and no JSON); `modern_only` answers like a server without sessions;
            `odd_version` answers an unknown protocol version.
        session: `optional` sends an id and accepts requests without one; `required` rejects
            those; `none` sends no id and ignores ids in requests.
        session_seconds: The lifetime of a session, by the service's clock.
        stray_session_ids: Whether error replies carry a session id that does not exist.
        result: The shape of a tool's result.
        error: The shape of a tool's error.
        resource: The shape of a resource's content.
        unknown_resource_code: The JSON-RPC code for a resource that does not exist.
        error_id: The id of JSON-RPC errors: `same` as the request's, `null`, or `server_error`.
        line_end: The line ending of event streams.
        comments: Whether the stream starts with a comment, a `retry:` and an empty event.
        notification_first: Whether the stream starts with a notification.
        request_first: Whether the stream starts with a request from the server.
        several_lines: Whether the JSON is split over several `data:` lines.
        raw_separators: Whether a tool result that is an object contains U+2028, U+2029 and
            U+0085 unescaped, in `_meta`.
        left_open: Whether the stream stays open after the reply.
        ended_early: Whether the stream ends before the reply.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, strict=True)

    is_absent: bool = False
    reply: Literal["auto", "json", "sse"] = "auto"
    status: Annotated[int, Field(ge=200, le=599)] = 200
    handshake: Literal[
        "accepted", "refused", "refused_404", "refused_405", "modern_only", "odd_version"
    ] = "accepted"
    session: Literal["optional", "required", "none"] = "optional"
    session_seconds: Annotated[FiniteFloat, Field(ge=0, le=_TEN_YEARS)] = 3600.0
    stray_session_ids: bool = False
    result: Literal[
        StructuredResult,
        "structured_result",
        ArrayResult,
        "split_text",
        "plain_text",
        "empty",
        "embedded_resource",
        "extra_blocks",
        BareResult,
        "input_required",
        "unknown_result_type",
        "complete_result_type",
    ] = "structured_and_text"
    error: Literal[
        ToolError, "error_as_success", "error_as_success_text", ProtocolError, "naked"
    ] = "is_error"
    resource: Literal[TextContent, "empty", BareContent] = "text"
    unknown_resource_code: Literal[-32602, -32002, 0] = -32602
    error_id: Literal["same", "null", "server_error"] = "same"
    line_end: Literal["lf", "crlf", "cr"] = "lf"
    comments: bool = False
    notification_first: bool = False
    request_first: bool = False
    several_lines: bool = False
    raw_separators: bool = False
    left_open: bool = False
    ended_early: bool = False

    def changed(self, **changes: object) -> McpOptions:
        """Return a copy of the options with some changes.

        Raises:
            InvalidOrderError: An option is unknown or has an invalid value; a `ValueError`.
        """
        return parse_fields(McpOptions, {**self.model_dump(), **changes})


class McpSwitches:
    """The current options; thread-safe, and changeable while requests run."""

    def __init__(self, options: McpOptions | None = None) -> None:
        self._initial = options or McpOptions()
        self._current = self._initial
        self._lock = threading.Lock()

    @property
    def current(self) -> McpOptions:
        """The current options."""
        return self._current

    def set(self, **changes: object) -> McpOptions:
        """Change some options and return all of them.

        Raises:
            InvalidOrderError: An option is unknown or has an invalid value; a `ValueError`.
        """
        with self._lock:
            self._current = self._current.changed(**changes)
            return self._current

    def reset(self) -> None:
        """Restore the options that the service was created with."""
        with self._lock:
            self._current = self._initial
