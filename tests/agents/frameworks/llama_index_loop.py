"""The journey in the loop of LlamaIndex: `llama_index_loop.py llama_index WAY ANSWER`.

With the way "interrupt", a write waits for the event with the answer.
"""

import ast
import asyncio
import json
import re
import sys
from functools import partial

from journey import TASK, check_schemas, run_loop
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


def respond(setting, script, messages, *, tools, **_):
    """Return the next message of a model that follows a script."""
    declared = [tool.metadata.to_openai_tool()["function"] for tool in tools]
    if setting.way != "state":  # over MCP, LlamaIndex drops the schemas of objects
        check_schemas({one["name"]: one["parameters"] for one in declared})

    answer = messages[-1].content
    # Over MCP, it shows the model the `repr` of a result.
    if text := re.search("text=(.+), annotations=", answer):
        answer = ast.literal_eval(text[1])
    call = script.next(answer)
    if not call:
        return ChatMessage("Done.", role="assistant")
    name, arguments = call
    made = ToolCallBlock(tool_call_id=str(len(script.calls)), tool_name=name, tool_kwargs=arguments)
    return ChatMessage(blocks=[made], role="assistant")


class Metadata(ToolMetadata):
    """The description of a tool of a toolkit, with its own schema."""

    def __init__(self, one):
        super().__init__(name=one.name, description=one.description)
        self.input_schema = one.input_schema

    def get_parameters_dict(self):
        return self.input_schema


def tool_of(setting, one):
    """Return a tool of a toolkit as one of LlamaIndex."""

    async def call(context: Context, **given):
        if request := await asyncio.to_thread(setting.question, one, given):
            answer = await context.wait_for_event(
                HumanResponseEvent,
                waiter_id=request.digest,
                waiter_event=InputRequiredEvent(prefix=request.summary, digest=request.digest),
                requirements={"digest": request.digest},
            )
            setting.take_answer(request.digest, agreed=answer.response)
        return json.dumps(await asyncio.to_thread(one.call, given))

    return FunctionTool(async_fn=call, metadata=Metadata(one))


async def llama_index(setting, script):
    if setting.way in {"toolkit", "interrupt"}:
        with setting.toolkit() as toolkit:
            tools = [tool_of(setting, one) for one in toolkit.definitions()]
            await run(setting, script, tools)
        return

    if setting.way == "http":
        client = BasicMCPClient(setting.http["url"], headers=setting.http["headers"])
        setting.check_list(await McpToolSpec(client).to_tool_list_async())
    else:
        stdio = setting.stdio
        client = BasicMCPClient(stdio["command"], args=stdio["args"], env=stdio["env"])
        await run(setting, script, await McpToolSpec(client).to_tool_list_async())


async def run(setting, script, tools):
    """Run the agent, and answer the questions that it waits for."""
    model = MockFunctionCallingLLM(response_generator=partial(respond, setting, script))
    handler = FunctionAgent(tools=tools, llm=model).run(TASK)
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            answer = HumanResponseEvent(response=setting.agreed, digest=event.digest)
            handler.ctx.send_event(answer)
    await handler


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
