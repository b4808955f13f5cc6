"""The headers of requests: what each one says, and which ones a user may not set.

| Header | Sent with | Says |
|---|---|---|
| ``user-agent`` | requests to the service | the library and its version; the user may replace it |
| ``Accept-Encoding`` | every request | `content_codings.ACCEPTED` |
| ``x-client-correlation-id`` | requests to the service | the call |
| the user's ``default_headers`` | requests to the service | |
| ``Authorization`` | requests to the service | the token |
| ``Accept-Language`` | requests to the service | the setting `language` |
| ``x-client-version`` | requests to the service | the setting `client_version` |
| ``Accept`` | every request | the media types that the protocol reads |
| ``Content-Type`` | requests with a body | JSON |
| ``Mcp-Session-Id`` | requests in an MCP session | the session |
| ``MCP-Protocol-Version`` | MCP calls, once the version is known | the version |
| ``Mcp-Method``, ``Mcp-Name`` | MCP calls without a handshake | what the body calls |

A file at another address is fetched with `ANONYMOUS` alone. The HTTP client adds headers of the
connection, such as ``Host`` and ``Content-Length``.

A new header of every request is a line in `service_headers`, and one in `RESERVED` if the user must
not set it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING, Final

from ferry_sdk._engine.content_codings import ACCEPTED
from ferry_sdk._runtime.version import __version__

if TYPE_CHECKING:
    from ferry_sdk._engine.context import Context, Session
    from ferry_sdk._engine.settings import Authority

CORRELATION_ID: Final = "x-client-correlation-id"
"""The header of the call's id. A reply repeats it."""
JSON: Final = "application/json"
PDF: Final = "application/pdf"

# `user-agent` is in lower case, as the user's headers are: the user's own replaces it.
_FIXED: Final = {"user-agent": f"ferry_sdk/{__version__}", "Accept-Encoding": ACCEPTED}

_PLAIN: Final = re.compile(r"(?! )[ -~]+(?<! )")
"""A value that a header carries as it is."""
_ENCODED: Final = "=?base64?"

ANONYMOUS: Final = {"Accept": PDF, "Accept-Encoding": ACCEPTED}
"""The headers of a request to an address that is not the service's, which learns nothing else."""

RESERVED: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        CORRELATION_ID,
        "x-client-version",
    }
)
"""Headers that a user may not set: the library or the HTTP client sets them, or they change the
connection."""


def service_headers(
    context: Context, authority: Authority, *, accept: str, has_json: bool
) -> dict[str, str]:
    """Return the headers of a request to the service, and note its token as sent.

    Args:
        context: That of the call.
        authority: Which token the request carries.
        accept: The media types of the reply.
        has_json: Whether the request has a JSON body.

    Raises:
        ConfigurationError: There is no such token.
    """
    settings = context.settings
    token = settings.secret(authority).current or ""
    # Before it leaves, so that no error shows it.
    context.state.sent_tokens.append(token)

    headers = {**_FIXED, CORRELATION_ID: context.correlation_id, **settings.headers}
    headers["Authorization"] = f"Bearer {token}"
    if settings.language is not None:
        headers["Accept-Language"] = settings.language
    if settings.client_version is not None:
        headers["x-client-version"] = settings.client_version
    headers["Accept"] = accept
    if has_json:
        headers["Content-Type"] = JSON
    return headers


def session_headers(session: Session) -> dict[str, str]:
    """Return the headers of a request in an MCP session; before the handshake there are none."""
    headers: dict[str, str] = {}
    if session.id is not None:
        headers["Mcp-Session-Id"] = session.id
    if session.version is not None:
        headers["MCP-Protocol-Version"] = session.version
    return headers


def call_headers(method: str, name: object) -> dict[str, str]:
    """Return the headers that repeat what the body of an MCP call without a handshake calls.

    Args:
        method: Its JSON-RPC method.
        name: The name of its tool, or the URI of its resource; None for other methods.
    """
    headers = {"Mcp-Method": method}
    if name is not None:
        text = str(name)
        if not _PLAIN.fullmatch(text) or text.startswith(_ENCODED):
            text = f"{_ENCODED}{b64encode(text.encode()).decode()}?="
        headers["Mcp-Name"] = text
    return headers
