"""REST endpoints, the MCP endpoint and the control endpoints."""
