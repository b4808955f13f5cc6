"""How `/mcp` shapes its replies and keeps its sessions: every choice a server may make."""

from __future__ import annotations

import threading
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from ferry_sdk.sandbox.requests.validation import parse_fields

_LONGEST_SESSION = 10 * 365 * 24 * 3600

Seconds = Annotated[float, Field(ge=0, le=_LONGEST_SESSION, allow_inf_nan=False)]


class McpOptions(BaseModel):
    """One way of answering at `/mcp`; the defaults suit every known client.

    Attributes:
        reply: `auto` follows `Accept` (JSON where both are accepted), else always `json` or `sse`.
        status: The HTTP status of replies to tool calls and reads.
        handshake: `accepted`; `refused` as an unknown method (`refused_404`, `refused_405`: with
            that status and no JSON); `modern_only` answers as a server that has left sessions
            behind; `odd_version` answers a protocol version nobody knows.
        session: `optional` sends an id and takes requests without one; `required` refuses those;
            `none` sends no id and ignores what it is given.
        session_seconds: How long a session lasts by the service's clock.
        stray_session_ids: Whether error replies carry a session id that is already dead.
        result: The shape of a tool's result.
        error: The shape of a tool's failure.
        resource: The shape of a resource that was read.
        unknown_resource_code: The JSON-RPC code for a resource that does not exist.
        error_id: The id of JSON-RPC errors: `same` as the request's, `null`, or `server_error`.
        line_end: What ends a line of an event stream.
        comments: Whether comments, an empty event and a blank `data:` come first in the stream.
        notification_first: Whether a notification comes first in the stream.
        request_first: Whether a request of the server's own comes first in the stream.
        several_lines: Whether the reply's JSON is spread over several `data:` lines.
        raw_separators: Whether a tool's result, where it is an object, carries U+2028 and U+0085
            unescaped (in `_meta`).
        left_open: Whether the stream stays open after the reply.
        ended_early: Whether the stream ends before the reply.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)

    reply: Literal["auto", "json", "sse"] = "auto"
    status: Annotated[int, Field(ge=200, le=599)] = 200
    handshake: Literal[
        "accepted", "refused", "refused_404", "refused_405", "modern_only", "odd_version"
    ] = "accepted"
    session: Literal["optional", "required", "none"] = "optional"
    session_seconds: Seconds = 3600.0
    stray_session_ids: bool = False
    result: Literal[
        "structured_and_text",
        "structured",
        "structured_result",
        "structured_array",
        "text",
        "n_blocks",
        "split_text",
        "plain_text",
        "empty",
        "embedded_resource",
        "extra_blocks",
        "bare",
        "naked",
        "batch",
        "input_required",
        "unknown_result_type",
        "complete_result_type",
    ] = "structured_and_text"
    error: Literal[
        "is_error",
        "is_error_text",
        "is_error_prose",
        "tool_error_text",
        "error_as_success",
        "error_as_success_text",
        "json_rpc_error",
        "json_rpc_error_data",
        "bare",
        "naked",
    ] = "is_error"
    resource: Literal[
        "text",
        "text_without_type",
        "text_without_uri",
        "blob",
        "split",
        "empty",
        "bare_list",
        "bare_object",
    ] = "text"
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
        """The same options but for `changes`.

        Raises:
            InvalidOrderError: An option or its value is unknown; a `ValueError` that names it.
        """
        return parse_fields(McpOptions, {**self.model_dump(), **changes})


class McpSwitches:
    """The options in force, changeable from any thread while requests run."""

    def __init__(self, options: McpOptions | None = None) -> None:
        self._initial = options or McpOptions()
        self._current = self._initial
        self._lock = threading.Lock()

    @property
    def current(self) -> McpOptions:
        """The options in force."""
        return self._current

    def set(self, **changes: object) -> McpOptions:
        """Change some options, keep the rest, and return them all.

        Raises:
            InvalidOrderError: An option or its value is unknown; a `ValueError` that names it.
        """
        with self._lock:
            self._current = self._current.changed(**changes)
            return self._current

    def reset(self) -> None:
        """Return to the options the service was made with."""
        with self._lock:
            self._current = self._initial
