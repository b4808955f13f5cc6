"""The journey in the frameworks' own loops, with models that follow a script.

`loops.py NAME WAY ANSWER`. Imports are inside, as each runs in the environment of its framework.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from journey import TASK, Script, Setting


async def pydantic_ai(setting: Setting, script: Script) -> None:
    from contextlib import ExitStack

    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai import Agent, Tool
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def respond(messages: list[Any], _: object) -> ModelResponse:
        call = script.next(getattr(messages[-1].parts[0], "content", None))
        return ModelResponse([ToolCallPart(*call) if call else TextPart("Done.")])

    async def ask(_message: str, _type: object, question: Any, _context: object) -> Any:
        from fastmcp.client.elicitation import ElicitResult

        action, content = setting.answer_form(question.requested_schema)
        return ElicitResult(action=action, content=content)

    with ExitStack() as stack:
        tools, toolsets = [], []
        if setting.way == "toolkit":
            tools = [
                Tool.from_schema(
                    lambda one=one, **given: one.call(given),
                    one.name,
                    one.description,
                    one.input_schema,
                )
                for one in stack.enter_context(setting.toolkit()).definitions()
            ]
        else:
            command, *options = setting.command
            # "failed": by default, the second refusal in a row ends the run.
            toolsets = [
                MCPToolset(
                    StreamableHttpTransport(setting.url, setting.headers)
                    if setting.way == "http"
                    else StdioTransport(command, options, env=setting.environment),
                    elicitation_handler=ask if setting.way == "asks" else None,
                    tool_error_behavior="failed",
                )
            ]
        if setting.way == "http":
            setting.check_list(await toolsets[0].list_tools())
            return
        await Agent(FunctionModel(respond), tools=tools, toolsets=toolsets).run(TASK)


async def openai_agents(setting: Setting, script: Script) -> None:
    """With the ways "strict" and "strict codes", the model gives every argument."""
    from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from openai.types.responses import ResponseFunctionToolCall

    is_strict = setting.way.startswith("strict")

    class Scripted(Model):
        async def get_response(self, **request: Any) -> ModelResponse:
            call = script.next(request["input"][-1]["output"] if script.calls else None)
            name, arguments = call or ("finish", {})
            if is_strict:
                (tool,) = (one for one in request["tools"] if one.name == name)
                arguments = fill(tool.params_json_schema, arguments)
            made = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"{name} {len(script.calls)}",
                name=name,
                arguments=json.dumps(arguments),
            )
            return ModelResponse(output=[made], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    async def finish(*_: object) -> str:
        return "Done."

    end = FunctionTool("finish", "", {"type": "object", "properties": {}}, finish, False)
    agent = Agent("ferries", model=Scripted(), tools=[end])
    agent.tool_use_behavior = {"stop_at_tool_names": ["finish"]}
    if setting.way in {"toolkit", "strict"}:
        with setting.toolkit() as toolkit:
            for one in toolkit.openai(strict=is_strict):

                async def invoke(_: object, given: str, name: str = one["name"]) -> str:
                    return json.dumps(await asyncio.to_thread(toolkit.call, name, given))

                agent.tools.append(
                    FunctionTool(
                        one["name"], one["description"], one["parameters"], invoke, is_strict
                    )
                )
            await Runner.run(agent, TASK, max_turns=20)
    elif setting.way == "http":
        http: Any = {"url": setting.url, "headers": setting.headers}
        async with MCPServerStreamableHttp(http, client_session_timeout_seconds=60) as server:
            setting.check_list(await server.list_tools())
    else:
        command, *options = setting.command
        params: Any = {"command": command, "args": options, "env": setting.environment}
        async with MCPServerStdio(params, client_session_timeout_seconds=60) as server:
            agent.mcp_servers = [server]
            agent.mcp_config = {"convert_schemas_to_strict": is_strict}
            await Runner.run(agent, TASK, max_turns=20)


def fill(schema: Any, given: Any) -> Any:
    """Return arguments with an empty value for each that a strict schema requires."""
    if "anyOf" in schema:
        return None if given is None else fill(schema["anyOf"][0], given)
    if schema["type"] == "object":
        parts = schema.get("properties", {})
        return {name: fill(part, (given or {}).get(name)) for name, part in parts.items()}
    if schema["type"] == "array":
        return [fill(schema["items"], one) for one in given or []]
    if given is not None:
        return given
    least = schema.get("minimum", 1)
    empty = {"string": "", "integer": least, "boolean": False}[schema["type"]]
    return schema.get("enum", [empty])[0]


async def langchain(setting: Setting, script: Script) -> None:
    """Over `MCPAdapter`, and with `interrupt` in `approve`, questions interrupt the graph."""
    from contextlib import AsyncExitStack

    from langchain.agents import create_agent
    from langchain.mcp import MCPAdapter
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    class Scripted(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            call = script.next(messages[-1].content)
            made = (
                [{"name": call[0], "args": call[1], "id": str(len(script.calls))}] if call else []
            )
            message = AIMessage("" if made else "Done.", tool_calls=made)
            return ChatResult(generations=[ChatGeneration(message=message)])

    def ask(request: Any) -> bool:
        answer = interrupt({"summary": request.summary, "digest": request.digest})
        while answer["digest"] != request.digest:  # the answer belongs to another question
            answer = interrupt({"summary": request.summary, "digest": request.digest})
        return answer["agreed"] is True

    async with AsyncExitStack() as stack:
        if setting.way in {"toolkit", "interrupt"}:
            asking = ask if setting.way == "interrupt" else None
            tools = [
                StructuredTool(
                    name=one.name,
                    description=one.description,
                    args_schema=one.input_schema,
                    func=lambda one=one, **given: json.dumps(one.call(given)),
                )
                for one in stack.enter_context(setting.toolkit(asking)).definitions()
            ]
        else:
            command, *options = setting.command
            one = {"command": command, "args": options, "env": setting.environment}
            adapter = await stack.enter_async_context(MCPAdapter({"mcpServers": {"ferry": one}}))
            tools = await adapter.list_tools()
        agent = create_agent(Scripted(), tools, checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "1"}}
        given: Any = {"messages": [TASK]}
        while questions := (await agent.ainvoke(given, config)).get("__interrupt__"):
            if "digest" in (question := questions[0].value):
                given = Command(resume={**question, "agreed": setting.agreed})
                continue
            (request,) = question["requests"]
            action, content = setting.answer_form(request["requested_schema"])
            answer = {"action": action, **({"content": content} if content else {})}
            given = Command(resume={"responses": {request["key"]: answer}})


async def smolagents(setting: Setting, script: Script) -> None:
    from smolagents import MCPClient, Model, ToolCallingAgent
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

    class Scripted(Model):
        def generate(self, messages: list[Any], **_: Any) -> ChatMessage:
            call = script.next(messages[-1].content)
            name, arguments = call or ("final_answer", {"answer": "Done."})
            function = ChatMessageToolCallFunction(arguments, name)
            made = ChatMessageToolCall(function, str(len(script.calls)), "function")
            return ChatMessage(MessageRole.ASSISTANT, tool_calls=[made])

    http = {"url": setting.url, "transport": "streamable-http", "headers": setting.headers}
    where = http if setting.way == "http" else parameters(setting)

    def run() -> None:
        with MCPClient(where, structured_output=False) as tools:
            if setting.way == "http":
                setting.check_list(tools)
            else:
                ToolCallingAgent(tools, Scripted()).run(TASK)

    await asyncio.to_thread(run)


def parameters(setting: Setting) -> Any:
    from mcp import StdioServerParameters

    command, *options = setting.command
    return StdioServerParameters(command=command, args=options, env=setting.environment)


async def google_adk(setting: Setting, script: Script) -> None:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool import (
        McpToolset,
        StdioConnectionParams,
        StreamableHTTPConnectionParams,
    )
    from google.genai import types
    from mcp.types import ElicitResult

    class Scripted(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            answered = request.contents[-1].parts[0].function_response
            call = script.next(answered.response if answered else None)
            part = (
                types.Part.from_function_call(name=call[0], args=call[1])
                if call
                else types.Part(text="Done.")
            )
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def ask(_: object, question: Any) -> ElicitResult:
        action, content = setting.answer_form(question.requested_schema)
        return ElicitResult(action=action, content=content)

    connection = (
        StreamableHTTPConnectionParams(url=setting.url, headers=setting.headers, timeout=60)
        if setting.way == "http"
        else StdioConnectionParams(server_params=parameters(setting), timeout=60)
    )
    asking = ask if setting.way == "asks" else None
    toolset = McpToolset(connection_params=connection, elicitation_callback=asking)
    runner = InMemoryRunner(
        LlmAgent(name="ferries", model=Scripted(model="scripted"), tools=[toolset])
    )
    try:
        if setting.way == "http":
            setting.check_list(await toolset.get_tools())
        else:
            await runner.run_debug(TASK, quiet=True)
    finally:
        await toolset.close()


if __name__ == "__main__":
    chosen, way, answer = sys.argv[1:]
    setting = Setting.read(way, answer)
    script = Script(agreed=setting.agreed)
    asyncio.run(globals()[chosen](setting, script))
    assert script.is_over or way == "http", script.calls
