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
            that status and no JSON); `modern_only` supports the version 2026-07-28 alone, which
            has no handshake and no sessions: a request that names another version, or none, in
            `MCP-Protocol-Version` is answered with 400 and -32022; `odd_version` answers the
            protocol version `1.0`.
        session: `optional` sends an id and accepts requests without one; `required` rejects those
            with 400; `none` sends no id and ignores ids in requests.
        session_seconds: The lifetime of a session, by the service's clock.
        stray_session_ids: Whether error replies carry a session id that does not exist.
        result: Where a tool's result is. `structured_and_text`: in `structuredContent` (an array
            as `{"result": […]}`) and in one JSON text; `structured`: in `structuredContent` only;
            `structured_result`: there as `{"result": …}`, for objects too; `structured_array`:
            there, with arrays unchanged; `text`: in one JSON text; `n_blocks`: in a JSON text for
            each element; `split_text`: in one JSON text, cut into two blocks; `plain_text`:
            nowhere, in place of it two blocks of plain text; `empty`: nowhere, no content;
            `embedded_resource`: in a `resource` block; `extra_blocks`: in a JSON text, followed
            by an image, an audio and a resource link; `bare`: it is the JSON-RPC `result` itself;
            `naked`: it is the body itself, without JSON-RPC; `batch`: as by default, in an array
            with one message; `input_required`: nowhere, the server requests more input;
            `unknown_result_type`: in one JSON text, with an unknown `resultType`;
            `complete_result_type`: as in 2026-07-28, with the `resultType` `complete` and any
            value in `structuredContent`.
        error: Where a tool's error object is. `is_error`: in `structuredContent` and a text, with
            `isError`; `is_error_text`: in a text, with `isError`; `is_error_prose`: nowhere, only
            its message, with `isError`; `tool_error_text`: in a text after `Error executing tool
            …: `, with `isError`; `error_as_success`: in `structuredContent` and a text, with
            `isError` false; `error_as_success_text`: in a text, without `isError`;
            `json_rpc_error`: nowhere, only its message in a JSON-RPC error;
            `json_rpc_error_data`: in the `data` of a JSON-RPC error; `bare`: it is the JSON-RPC
            `result` itself; `naked`: it is the body itself.
        resource: Where the records of a resource are. `text`: in the text of one content;
            `text_without_type`, `text_without_uri`: the same, without `mimeType` or `uri`;
            `blob`: in base64; `split`: in two contents, half each; `empty`: nowhere, no contents;
            `bare_list`: they are the JSON-RPC `result` itself; `bare_object`: in an object under
            the resource's name, such as `{"ports": […]}`.
        unknown_resource_code: The JSON-RPC code for a resource that does not exist.
        error_id: The id of JSON-RPC errors: `same` as the request's, `null`, or `server_error`.
        line_end: The line ending of event streams.
        comments: Whether an event stream starts with a comment, a `retry:` and an empty event.
        notification_first: Whether an event stream starts with a log notification.
        request_first: Whether an event stream starts with a `ping` from the server, with the id
            of the client's request.
        several_lines: Whether the JSON of an event stream is split over several `data:` lines.
        raw_separators: Whether a tool result that is an object contains U+2028, U+2029 and
            U+0085 unescaped, in `_meta`.
        left_open: Whether an event stream stays open for a minute after the reply.
        ended_early: Whether an event stream ends without the reply.
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
    """The current options; thread-safe, and changeable while requests run.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            sandbox.mcp.set(result="text", reply="sse")
            print(len(ferry.mcp.list_tools()), "tools")
            # > 5 tools
            sandbox.mcp.reset()
        ```
    """

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
