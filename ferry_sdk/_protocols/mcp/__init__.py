"""MCP: JSON-RPC messages over HTTP, in a session."""
