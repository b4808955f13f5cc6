"""The journey over MCP with the clients of frameworks: `clients.py NAME WAY ANSWER`.

Each function connects to the server and yields its tools as the framework makes them. Imports are
inside, as each runs in the environment of its own framework.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from functools import partial

from journey import Setting, walk


@asynccontextmanager
async def official(setting):
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client
    from mcp.types import ElicitResult

    if setting.way == "http":
        server = streamablehttp_client(**setting.http)
    else:
        server = stdio_client(setting.parameters)
    async with (
        server as streams,
        ClientSession(*streams[:2], elicitation_callback=setting.asking(ElicitResult)) as session,
    ):
        await session.initialize()

        async def call(name, arguments):
            return (await session.call_tool(name, arguments)).content

        tools = (await session.list_tools()).tools
        yield {tool.name: partial(call, tool.name) for tool in tools}


@asynccontextmanager
async def fastmcp(setting):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    if setting.way == "http":
        transport = StreamableHttpTransport(**setting.http)
    else:
        transport = StdioTransport(**setting.stdio)
    asking = setting.asking(ElicitResult)
    async with Client(transport, elicitation_handler=asking, init_timeout=60) as client:

        async def call(name, arguments):
            return (await client.call_tool(name, arguments)).content

        yield {tool.name: partial(call, tool.name) for tool in await client.list_tools()}


@asynccontextmanager
async def langchain_adapters(setting):
    """With the way "state", the tools of `get_tools()`: a process for each call."""
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools
    from mcp.types import ElicitResult

    server = {"transport": "stdio", **setting.stdio}
    if setting.way == "http":
        server = {"transport": "streamable_http", **setting.http}
    asking = setting.asking(ElicitResult)
    client = MultiServerMCPClient(
        {"ferry": server},
        callbacks=asking and Callbacks(on_elicitation=asking),
    )
    if setting.way in {"codes", "asks"}:
        async with client.session("ferry") as session:
            yield {tool.name: tool.ainvoke for tool in await load_mcp_tools(session)}
    else:
        yield {tool.name: tool.ainvoke for tool in await client.get_tools()}


@asynccontextmanager
async def crewai(setting):
    from crewai_tools import MCPServerAdapter

    server = setting.parameters
    if setting.way == "http":
        server = {"transport": "streamable-http", **setting.http}

    async def call(tool, arguments):
        return await asyncio.to_thread(tool.run, **arguments)

    with MCPServerAdapter(server) as tools:
        yield {tool.name: partial(call, tool) for tool in tools}


@asynccontextmanager
async def autogen_workbench(setting):
    from autogen_ext.tools.mcp import McpWorkbench

    async with McpWorkbench(autogen_parameters(setting)) as workbench:

        async def call(name, arguments):
            return (await workbench.call_tool(name, arguments)).to_text()

        tools = await workbench.list_tools()
        yield {tool["name"]: partial(call, tool["name"]) for tool in tools}


@asynccontextmanager
async def autogen_tools(setting):
    """Makes a process for each call."""
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import mcp_server_tools

    async def call(tool, arguments):
        return await tool.run_json(arguments, CancellationToken())

    tools = await mcp_server_tools(autogen_parameters(setting))
    yield {tool.name: partial(call, tool) for tool in tools}


def autogen_parameters(setting):
    from autogen_ext.tools.mcp import StdioServerParams, StreamableHttpServerParams

    if setting.way == "http":
        return StreamableHttpServerParams(**setting.http)
    return StdioServerParams(**setting.stdio, read_timeout_seconds=60)


@asynccontextmanager
async def dspy(setting):
    import dspy
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.types import ElicitResult

    async def call(tool, arguments):
        return await tool.acall(**arguments)

    async with (
        stdio_client(setting.parameters) as streams,
        ClientSession(*streams, elicitation_callback=setting.asking(ElicitResult)) as session,
    ):
        await session.initialize()
        listed = (await session.list_tools()).tools
        tools = [dspy.Tool.from_mcp_tool(session, tool) for tool in listed]
        yield {tool.name: partial(call, tool) for tool in tools}


@asynccontextmanager
async def agent_framework(setting):
    from agent_framework import MCPStdioTool, MCPStreamableHTTPTool

    async def call(tool, arguments):
        return await tool.invoke(arguments=arguments)

    if setting.way == "http":
        http = {"url": setting.http["url"], "static_headers": setting.http["headers"]}
        server = MCPStreamableHTTPTool(name="ferry", **http)
    else:
        server = MCPStdioTool(name="ferry", approval_mode=None, **setting.stdio)
    async with server:
        yield {tool.name: partial(call, tool) for tool in server.functions}


@asynccontextmanager
async def haystack(setting):
    from haystack_integrations.tools import mcp

    if setting.way == "http":
        server = mcp.StreamableHttpServerInfo(**setting.http)
    else:
        server = mcp.StdioServerInfo(**setting.stdio)
    toolset = mcp.MCPToolset(server, eager_connect=True)

    async def call(tool, arguments):
        return json.loads(await asyncio.to_thread(tool.invoke, **arguments))

    try:
        yield {tool.name: partial(call, tool) for tool in toolset}
    finally:
        toolset.close()


async def main(name, way, answer):
    setting = Setting(way, answer)
    async with globals()[name](setting) as tools:
        if way == "http":
            setting.check_list(tools)
        else:
            await walk(tools, agreed=setting.agreed)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
