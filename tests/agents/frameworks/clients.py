"""The journey over MCP with the clients of frameworks: `clients.py NAME WAY ANSWER`.

Each function connects to the server and yields its tools as the framework makes them. Imports are
inside, as each runs in the environment of its own framework.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from journey import Setting, walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from journey import Tool, Tools


@asynccontextmanager
async def official(setting: Setting) -> AsyncIterator[Tools]:
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client
    from mcp.types import ElicitResult

    async def ask(_: object, question: Any) -> ElicitResult:
        action, content = setting.answer_form(question.requestedSchema)
        return ElicitResult(action=action, content=content)

    over_http = setting.way == "http"
    transport: Any = (
        streamablehttp_client(setting.url, setting.headers)
        if over_http
        else stdio_client(stdio_parameters(setting))
    )
    asking = ask if setting.way == "asks" else None
    async with (
        transport as streams,
        ClientSession(*streams[:2], elicitation_callback=asking) as session,
    ):
        await session.initialize()

        def tool(name: str) -> Tool:
            async def call(arguments: dict[str, Any]) -> object:
                return (await session.call_tool(name, arguments)).content

            return call

        yield {one.name: tool(one.name) for one in (await session.list_tools()).tools}


def stdio_parameters(setting: Setting) -> Any:
    """Return the command of the server as most frameworks take it."""
    from mcp import StdioServerParameters

    command, *options = setting.command
    return StdioServerParameters(command=command, args=options, env=setting.environment)


@asynccontextmanager
async def fastmcp(setting: Setting) -> AsyncIterator[Tools]:
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    async def ask(_message: str, _type: object, question: Any, _context: object) -> Any:
        action, content = setting.answer_form(question.requested_schema)
        return ElicitResult(action=action, content=content)

    command, *options = setting.command
    transport = (
        StreamableHttpTransport(setting.url, headers=setting.headers)
        if setting.way == "http"
        else StdioTransport(command, options, env=setting.environment)
    )
    asking = {"elicitation_handler": ask} if setting.way == "asks" else {}
    async with Client(transport, **asking) as client:

        def tool(name: str) -> Tool:
            async def call(arguments: dict[str, Any]) -> object:
                return (await client.call_tool(name, arguments)).content

            return call

        yield {one.name: tool(one.name) for one in await client.list_tools()}


@asynccontextmanager
async def langchain_adapters(setting: Setting) -> AsyncIterator[Tools]:
    """With the way "state", the tools of `get_tools()`: a process for each call."""
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools
    from mcp.types import ElicitResult

    async def ask(_: object, question: Any, _context: object) -> ElicitResult:
        action, content = setting.answer_form(question.requestedSchema)
        return ElicitResult(action=action, content=content)

    command, *options = setting.command
    stdio = {"command": command, "args": options, "env": setting.environment}
    http = {"url": setting.url, "headers": setting.headers}
    connection: Any = (
        {"transport": "streamable_http", **http}
        if setting.way == "http"
        else {"transport": "stdio", **stdio}
    )
    callbacks = Callbacks(on_elicitation=ask) if setting.way == "asks" else None
    client = MultiServerMCPClient({"ferry": connection}, callbacks=callbacks)

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return await one.ainvoke(arguments)

        return call

    if setting.way in {"codes", "asks"}:
        async with client.session("ferry") as session:
            yield {one.name: tool(one) for one in await load_mcp_tools(session)}
    else:
        yield {one.name: tool(one) for one in await client.get_tools()}


@asynccontextmanager
async def llama_index(setting: Setting) -> AsyncIterator[Tools]:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    command, *options = setting.command
    client = (
        BasicMCPClient(setting.url, headers=setting.headers)
        if setting.way == "http"
        else BasicMCPClient(command, args=options, env=setting.environment)
    )

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return (await one.acall(**arguments)).raw_output.content

        return call

    tools = await McpToolSpec(client).to_tool_list_async()
    yield {one.metadata.name: tool(one) for one in tools}


@asynccontextmanager
async def crewai(setting: Setting) -> AsyncIterator[Tools]:
    from crewai_tools import MCPServerAdapter

    http = {"url": setting.url, "transport": "streamable-http", "headers": setting.headers}
    where = http if setting.way == "http" else stdio_parameters(setting)

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return await asyncio.to_thread(one.run, **arguments)

        return call

    with MCPServerAdapter(where) as tools:
        yield {one.name: tool(one) for one in tools}


@asynccontextmanager
async def autogen_workbench(setting: Setting) -> AsyncIterator[Tools]:
    from autogen_ext.tools.mcp import McpWorkbench

    async with McpWorkbench(autogen_parameters(setting)) as workbench:

        def tool(name: str) -> Tool:
            async def call(arguments: dict[str, Any]) -> object:
                return (await workbench.call_tool(name, arguments)).to_text()

            return call

        yield {one["name"]: tool(one["name"]) for one in await workbench.list_tools()}


@asynccontextmanager
async def autogen_tools(setting: Setting) -> AsyncIterator[Tools]:
    """Makes a process for each call."""
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import mcp_server_tools

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return await one.run_json(arguments, CancellationToken())

        return call

    yield {one.name: tool(one) for one in await mcp_server_tools(autogen_parameters(setting))}


def autogen_parameters(setting: Setting) -> Any:
    from autogen_ext.tools.mcp import StdioServerParams, StreamableHttpServerParams

    if setting.way == "http":
        return StreamableHttpServerParams(url=setting.url, headers=setting.headers)
    command, *options = setting.command
    return StdioServerParams(
        command=command, args=options, env=setting.environment, read_timeout_seconds=60
    )


@asynccontextmanager
async def dspy(setting: Setting) -> AsyncIterator[Tools]:
    import dspy
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return await one.acall(**arguments)

        return call

    async with (
        stdio_client(stdio_parameters(setting)) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        listed = (await session.list_tools()).tools
        yield {one.name: tool(dspy.Tool.from_mcp_tool(session, one)) for one in listed}


@asynccontextmanager
async def agent_framework(setting: Setting) -> AsyncIterator[Tools]:
    from agent_framework import MCPStdioTool

    command, *options = setting.command
    server = MCPStdioTool(
        name="ferry", command=command, args=options, env=setting.environment, approval_mode=None
    )

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return await one.invoke(arguments=arguments)

        return call

    async with server:
        yield {one.name: tool(one) for one in server.functions}


@asynccontextmanager
async def strands(setting: Setting) -> AsyncIterator[Tools]:
    from mcp.client.stdio import stdio_client
    from mcp.types import ElicitResult
    from strands.tools.mcp import MCPClient

    async def ask(_: object, question: Any) -> ElicitResult:
        schema = getattr(question, "requestedSchema", None) or question.requested_schema
        action, content = setting.answer_form(schema)
        return ElicitResult(action=action, content=content)

    asking = ask if setting.way == "asks" else None
    with MCPClient(
        lambda: stdio_client(stdio_parameters(setting)), elicitation_callback=asking
    ) as client:

        def tool(name: str) -> Tool:
            async def call(arguments: dict[str, Any]) -> object:
                return (await client.call_tool_async("1", name, arguments))["content"]

            return call

        yield {one.tool_name: tool(one.tool_name) for one in client.list_tools_sync()}


@asynccontextmanager
async def haystack(setting: Setting) -> AsyncIterator[Tools]:
    from haystack_integrations.tools.mcp import (
        MCPToolset,
        StdioServerInfo,
        StreamableHttpServerInfo,
    )

    command, *options = setting.command
    server = (
        StreamableHttpServerInfo(url=setting.url, headers=setting.headers)
        if setting.way == "http"
        else StdioServerInfo(command=command, args=options, env=setting.environment)
    )
    toolset = MCPToolset(server, eager_connect=True)

    def tool(one: Any) -> Tool:
        async def call(arguments: dict[str, Any]) -> object:
            return json.loads(await asyncio.to_thread(one.invoke, **arguments))

        return call

    try:
        yield {one.name: tool(one) for one in toolset}
    finally:
        toolset.close()


async def main(name: str, way: str, answer: str) -> None:
    setting = Setting.read(way, answer)
    async with globals()[name](setting) as tools:
        if way == "http":
            setting.check_list(tools)
        else:
            await walk(tools, agreed=setting.agreed)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
