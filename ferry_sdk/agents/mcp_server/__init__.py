"""Serve the tools for agents over MCP, on stdin and stdout or over HTTP."""

from __future__ import annotations

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("the MCP server requires", "agents", ["mcp", "starlette", "uvicorn"]):
    from ferry_sdk.agents.mcp_server.process import serve

__all__ = ["serve"]
