"""The client that the conformance suite starts: it lists the tools and calls what it knows.

Usage: conformance_client.py URL
"""

from __future__ import annotations

import sys

from ferry_sdk import Ferry


def main(url: str) -> None:
    """List the tools, and call those that scenarios wait for."""
    with Ferry("token", base_url=url.removesuffix("/mcp")) as ferry:
        tools = {tool.name: tool for tool in ferry.mcp.list_tools()}
        schema: object = {}
        if "json_schema_2020_12_tool" in tools:
            schema = tools["json_schema_2020_12_tool"].input_schema
        calls = {"add_numbers": {"a": 5, "b": 3}, "json_schema_echo": {"schema": schema}}
        for name in tools:
            ferry.mcp.call_tool(name, calls.get(name, {}))


if __name__ == "__main__":
    main(sys.argv[-1])
