"""The journey in the loop of strands: `strands_loop.py strands WAY ANSWER`.

With the way "interrupt", a hook before each write interrupts the run.
"""

import json
import sys
from contextlib import asynccontextmanager
from functools import partial

import httpx2
from journey import TASK, check_schemas, run_loop
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from strands import Agent
from strands.hooks import BeforeToolCallEvent
from strands.models import Model
from strands.tools.mcp import MCPClient
from strands.tools.tools import PythonAgentTool


class Scripted(Model):
    """A model that follows a script."""

    structured_output = update_config = None

    def __init__(self, script):
        self.script = script

    def get_config(self):
        return {}

    async def stream(self, messages, tool_specs=None, *_, **__):
        check_schemas({one["name"]: one["inputSchema"]["json"] for one in tool_specs})

        result = messages[-1]["content"][0].get("toolResult", {})
        call = self.script.next(result.get("content"))
        start, delta = {}, {"text": "Done."}
        if call:
            start = {"toolUse": {"name": call[0], "toolUseId": str(len(self.script.calls))}}
            delta = {"toolUse": {"input": json.dumps(call[1])}}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if call else "end_turn"}}


def tool_of(one):
    """Return a tool of a toolkit as one of strands."""

    def call(use, **_):
        content = [{"text": json.dumps(one.call(use["input"]))}]
        return {"toolUseId": use["toolUseId"], "status": "success", "content": content}

    schema = {"json": one.input_schema}
    spec = {"name": one.name, "description": one.description, "inputSchema": schema}
    return PythonAgentTool(one.name, spec, call)


async def strands(setting, script):
    if setting.way in {"toolkit", "interrupt"}:
        with setting.toolkit() as toolkit:
            known = {one.name: one for one in toolkit.definitions()}

            def ask(event: BeforeToolCallEvent):
                use = event.tool_use
                if request := setting.question(known[use["name"]], use["input"]):
                    # Its name is the digest: an answer to another price is not taken for this one.
                    agreed = event.interrupt(request.digest, reason=request.summary)
                    setting.take_answer(request.digest, agreed=agreed)

            await run(setting, script, [*map(tool_of, known.values())], hooks=[ask])
        return

    if setting.way == "http":
        connect = partial(connect_http, setting)
    else:
        connect = partial(stdio_client, setting.parameters)
    with MCPClient(connect, elicitation_callback=setting.asking(ElicitResult)) as client:
        tools = client.list_tools_sync()
        if setting.way == "http":
            setting.check_list(tools)
        else:
            await run(setting, script, tools)


@asynccontextmanager
async def connect_http(setting):
    async with (
        httpx2.AsyncClient(headers=setting.http["headers"]) as http,
        streamable_http_client(setting.http["url"], http_client=http) as streams,
    ):
        yield streams


async def run(setting, script, tools, hooks=()):
    """Run the agent, and answer the questions that interrupt a run."""
    agent = Agent(Scripted(script), tools=tools, hooks=[*hooks], callback_handler=None)
    result = await agent.invoke_async(TASK)
    while result.stop_reason == "interrupt":
        answers = [
            {"interruptResponse": {"interruptId": one.id, "response": setting.agreed}}
            for one in result.interrupts
        ]
        result = await agent.invoke_async(answers)


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
