"""Serve the tools for agents over MCP, on stdin and stdout."""

from __future__ import annotations

try:
    import mcp as _mcp
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        'the MCP server requires an extra: pip install "ferry-sdk[agents]" (mcp is not installed)',
        name=_error.name,
    ) from _error

from ferry_sdk.agents.stdio.run import serve

del _mcp

__all__ = ["serve"]
