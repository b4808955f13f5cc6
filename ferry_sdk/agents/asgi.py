"""Serve a toolkit over HTTP from a program of one's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, get_args

from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.agents.secret import check_secret
from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.errors import ConfigurationError


def http_app(
    toolkit: AsyncToolkit, *, secret: str, approval: ApprovalWay = "auto"
) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Return an ASGI application that serves the tools of a toolkit over MCP, at ``/mcp``.

    It speaks streamable HTTP, in both eras of the protocol. Mount it in a server of your own, which
    needs TLS in front of it: hosts send the secret with each request. All hosts share the toolkit,
    with its limits and its state. Use it in one event loop, and in one process, unless the toolkit
    has a `state`.

    Args:
        toolkit: The tools, and what they may do.
        secret: What a request must send as ``Authorization: Bearer SECRET``: printable ASCII,
            without spaces.
        approval: How a person is asked to approve a write: by a ``card``, a ``form`` or a ``code``;
            ``auto``: by the best way that the host has; ``none``: every write is refused.

    Raises:
        ModuleNotFoundError: The extra ``agents`` is not installed.
        ConfigurationError: The toolkit is no `AsyncToolkit`, or another setting is invalid.

    Example:
        ```python
        import secrets

        from ferry_sdk import AsyncFerry
        from ferry_sdk.agents import AsyncToolkit, http_app
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox:
            ferry = AsyncFerry(sandbox.token, base_url=sandbox.base_url)
            app = http_app(AsyncToolkit(ferry), secret=secrets.token_urlsafe(32))
        ```
    """
    if not isinstance(toolkit, AsyncToolkit):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise ConfigurationError("toolkit: expected an AsyncToolkit")
    check_secret(secret)
    if approval not in get_args(ApprovalWay):
        ways = ", ".join(get_args(ApprovalWay))
        raise ConfigurationError(f"approval: expected one of {ways}")

    from ferry_sdk.agents.mcp_server.http import application  # noqa: PLC0415 -- of an extra

    return application(toolkit, secret=secret, names=None, approval=approval)
