"""What an MCP server says it has: tools and resources."""

from __future__ import annotations

from pydantic import Field

from .base import FrozenDict, Identifier, Members, Model


class McpTool(Model):
    """A tool of the server. Its annotations are hints of the server's, not to be trusted."""

    name: Identifier
    title: str | None = None
    description: str | None = None
    input_schema: Members = Field(default_factory=FrozenDict, alias="inputSchema")
    output_schema: Members | None = Field(default=None, alias="outputSchema")
    annotations: Members | None = None


class McpResource(Model):
    """A resource of the server."""

    uri: Identifier
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = Field(default=None, alias="mimeType")
