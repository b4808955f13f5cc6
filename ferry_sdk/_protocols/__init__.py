"""REST and MCP as pure functions and generators."""
