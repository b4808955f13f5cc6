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

    over_http = setting.way == "http"
    async with (
        streamablehttp_client(**setting.http)
        if over_http
        else stdio_client(setting.parameters) as streams,
        ClientSession(*streams[:2], elicitation_callback=setting.asking(ElicitResult)) as session,
    ):
        await session.initialize()

        async def call(name, arguments):
            return (await session.call_tool(name, arguments)).content

        yield {one.name: partial(call, one.name) for one in (await session.list_tools()).tools}


@asynccontextmanager
async def fastmcp(setting):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    over_http = setting.way == "http"
    way = StreamableHttpTransport(**setting.http) if over_http else StdioTransport(**setting.stdio)
    async with Client(way, elicitation_handler=setting.asking(ElicitResult)) as client:

        async def call(name, arguments):
            return (await client.call_tool(name, arguments)).content

        yield {one.name: partial(call, one.name) for one in await client.list_tools()}


@asynccontextmanager
async def langchain_adapters(setting):
    """With the way "state", the tools of `get_tools()`: a process for each call."""
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools
    from mcp.types import ElicitResult

    over_http = setting.way == "http"
    name, options = ("streamable_http", setting.http) if over_http else ("stdio", setting.stdio)
    asking = setting.asking(ElicitResult)
    client = MultiServerMCPClient(
        {"ferry": {"transport": name, **options}},
        callbacks=asking and Callbacks(on_elicitation=asking),
    )
    if setting.way in {"codes", "asks"}:
        async with client.session("ferry") as session:
            yield {one.name: one.ainvoke for one in await load_mcp_tools(session)}
    else:
        yield {one.name: one.ainvoke for one in await client.get_tools()}


@asynccontextmanager
async def llama_index(setting):
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    (_, where), *others = (setting.http if setting.way == "http" else setting.stdio).items()
    client = BasicMCPClient(where, **dict(others))

    async def call(one, arguments):
        return (await one.acall(**arguments)).raw_output.content

    tools = await McpToolSpec(client).to_tool_list_async()
    yield {one.metadata.name: partial(call, one) for one in tools}


@asynccontextmanager
async def crewai(setting):
    from crewai_tools import MCPServerAdapter

    http = {"transport": "streamable-http", **setting.http}

    async def call(one, arguments):
        return await asyncio.to_thread(one.run, **arguments)

    with MCPServerAdapter(http if setting.way == "http" else setting.parameters) as tools:
        yield {one.name: partial(call, one) for one in tools}


@asynccontextmanager
async def autogen_workbench(setting):
    from autogen_ext.tools.mcp import McpWorkbench

    async with McpWorkbench(autogen_parameters(setting)) as workbench:

        async def call(name, arguments):
            return (await workbench.call_tool(name, arguments)).to_text()

        yield {one["name"]: partial(call, one["name"]) for one in await workbench.list_tools()}


@asynccontextmanager
async def autogen_tools(setting):
    """Makes a process for each call."""
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import mcp_server_tools

    async def call(one, arguments):
        return await one.run_json(arguments, CancellationToken())

    tools = await mcp_server_tools(autogen_parameters(setting))
    yield {one.name: partial(call, one) for one in tools}


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

    async def call(one, arguments):
        return await one.acall(**arguments)

    async with stdio_client(setting.parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = [
            dspy.Tool.from_mcp_tool(session, one) for one in (await session.list_tools()).tools
        ]
        yield {one.name: partial(call, one) for one in tools}


@asynccontextmanager
async def agent_framework(setting):
    from agent_framework import MCPStdioTool

    async def call(one, arguments):
        return await one.invoke(arguments=arguments)

    async with MCPStdioTool(name="ferry", approval_mode=None, **setting.stdio) as server:
        yield {one.name: partial(call, one) for one in server.functions}


@asynccontextmanager
async def strands(setting):
    from mcp.client.stdio import stdio_client
    from mcp.types import ElicitResult
    from strands.tools.mcp import MCPClient

    asking = setting.asking(ElicitResult)
    with MCPClient(
        partial(stdio_client, setting.parameters), elicitation_callback=asking
    ) as client:

        async def call(name, arguments):
            return (await client.call_tool_async("1", name, arguments))["content"]

        yield {one.tool_name: partial(call, one.tool_name) for one in client.list_tools_sync()}


@asynccontextmanager
async def haystack(setting):
    from haystack_integrations.tools import mcp

    over_http = setting.way == "http"
    server = (
        mcp.StreamableHttpServerInfo(**setting.http)
        if over_http
        else mcp.StdioServerInfo(**setting.stdio)
    )
    toolset = mcp.MCPToolset(server, eager_connect=True)

    async def call(one, arguments):
        return json.loads(await asyncio.to_thread(one.invoke, **arguments))

    try:
        yield {one.name: partial(call, one) for one in toolset}
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
