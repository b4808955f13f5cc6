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
    """Return the list of a reply, such as ``[…]`` or ``{"ports": […]}``."""
    if not is_list(body):
        (body,) = body.values()
    items: list[Any] = body
    return items


def result_shape(body: Any) -> str:  # noqa: ANN401 -- decoded JSON
    """Return the shape of an MCP tool's result, as `McpOptions.result` calls it."""
    if is_list(body):
        return "batch" if body and "jsonrpc" in body[0] else "naked"
    result = body["result"]
    if not is_object(result) or not result.keys() & {"content", "structuredContent"}:
        return "bare"
    return _content_shape(result)


def _content_shape(result: Any) -> str:  # noqa: ANN401 -- decoded JSON
    """Return the shape of a result that has content as MCP defines it."""
    structured = result.get("structuredContent")
    block_types = [block.get("type") for block in result.get("content", ())]
    if structured is not None:
        if "text" in block_types:
            return "structured_and_text"
        return "structured_array" if is_list(structured) else "structured"
    if "resource" in block_types:
        return "embedded_resource"
    if block_types.count("text") > 1:
        return "n_blocks"
    return "text" if "text" in block_types else "another shape"


def error_shape(body: Any) -> str:  # noqa: ANN401 -- decoded JSON
    """Return the shape of an MCP tool's error, as `McpOptions.error` calls it, if it is known."""
    if body.get("error") is True:
        return "bare"  # an error has the object alone, whatever was around it
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
