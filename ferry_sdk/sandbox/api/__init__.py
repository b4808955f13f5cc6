"""The service's endpoints: REST, MCP and the controls."""
