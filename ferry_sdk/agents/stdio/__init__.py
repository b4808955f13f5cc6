"""Serve the tools for agents over MCP, on stdin and stdout."""

from __future__ import annotations

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("the MCP server requires", "agents", ["mcp"]):
    from ferry_sdk.agents.stdio.run import serve

__all__ = ["serve"]
