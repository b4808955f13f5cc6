"""The shapes of replies, in which servers put the same content."""

from __future__ import annotations

from typing import Any


def is_list(value: object) -> bool:
    """Return whether decoded JSON is a list."""
    return isinstance(value, list)


def is_object(value: object) -> bool:
    """Return whether decoded JSON is an object."""
    return isinstance(value, dict)


def raw_list(body: Any) -> list[Any]:  # noqa: ANN401 -- decoded JSON
    """Return the list of a reply, or the one in its only member."""
    if not is_list(body):
        (body,) = body.values()
    items: list[Any] = body
    return items


def result_shape(body: Any) -> str:  # noqa: ANN401 -- decoded JSON; a return for each shape
    """Return the shape of an MCP tool's result, as `McpOptions.result` calls it."""
    if is_list(body):
        return "batch" if body and "jsonrpc" in body[0] else "naked"
    result = body["result"]
    if not is_object(result) or not result.keys() & {"content", "structuredContent"}:
        return "bare"
    structured, blocks = result.get("structuredContent"), result.get("content", ())
    texts = [block for block in blocks if block.get("type") == "text"]
    if structured is not None:
        if texts:
            return "structured_and_text"
        return "structured_array" if is_list(structured) else "structured"
    if any(block.get("type") == "resource" for block in blocks):
        return "embedded_resource"
    return "text" if len(texts) == 1 else "n_blocks" if texts else "another shape"


def error_shape(body: Any) -> str:  # noqa: ANN401 -- decoded JSON
    """Return the shape of an MCP tool's error, as `McpOptions.error` calls it, if it is known."""
    if body.get("error") is True:
        return "bare"  # a client sees the object alone, whatever is around it
    if "isError" not in body:
        return "json_rpc_error_data" if body.get("data") else "json_rpc_error"
    if body.get("structuredContent"):
        return "is_error"
    text = body["content"][0]["text"]
    if text.startswith("Error executing tool"):
        return "tool_error_text"
    return "is_error_text" if text.startswith("{") else "is_error_prose"


def resource_shape(body: Any) -> str:  # noqa: ANN401 -- decoded JSON
    """Return the shape of an MCP resource's content, as `McpOptions.resource` calls it."""
    result = body["result"]
    if is_list(result):
        return "bare_list"
    if "contents" not in result:
        return "bare_object"
    contents = result["contents"]
    if len(contents) > 1:
        return "split"
    (content,) = contents
    if "blob" in content:
        return "blob"
    if "mimeType" not in content:
        return "text_without_type"
    return "text" if "uri" in content else "text_without_uri"
