"""The journey in the frameworks' own loops, with models that follow a script.

`loops.py NAME WAY ANSWER`. Imports are inside, as each runs in the environment of its framework.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack, ExitStack

from journey import TASK, run_loop


async def pydantic_ai(setting, script):
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai import Agent, Tool
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def respond(messages, _):
        call = script.next(getattr(messages[-1].parts[0], "content", None))
        return ModelResponse([ToolCallPart(*call) if call else TextPart("Done.")])

    def tool(one):
        words = (one.name, one.description, one.input_schema)
        return Tool.from_schema(lambda **given: one.call(given), *words)

    with ExitStack() as stack:
        tools, toolsets = [], []
        if setting.way == "toolkit":
            tools = [*map(tool, stack.enter_context(setting.toolkit()).definitions())]
        else:
            over_http = setting.way == "http"
            # "failed": by default, the second refusal in a row ends the run.
            toolset = MCPToolset(
                StreamableHttpTransport(**setting.http)
                if over_http
                else StdioTransport(**setting.stdio),
                elicitation_handler=setting.asking(ElicitResult),
                tool_error_behavior="failed",
                init_timeout=60,
            )
            if over_http:
                setting.check_list(await toolset.list_tools())
                return
            toolsets = [toolset]
        await Agent(FunctionModel(respond), tools=tools, toolsets=toolsets).run(TASK)


async def openai_agents(setting, script):
    """With the ways "strict" and "strict codes", the model gives every argument."""
    from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from openai.types.responses import ResponseFunctionToolCall

    is_strict = setting.way.startswith("strict")

    class Scripted(Model):
        async def get_response(self, **request):
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

        def stream_response(self, *_, **__):
            raise NotImplementedError

    async def finish(*_):
        return "Done."

    end = FunctionTool("finish", "", {"type": "object", "properties": {}}, finish, False)
    agent = Agent("ferries", model=Scripted(), tools=[end])
    agent.tool_use_behavior = {"stop_at_tool_names": ["finish"]}
    if setting.way in {"toolkit", "strict"}:
        with setting.toolkit() as toolkit:
            for one in toolkit.openai(strict=is_strict):

                async def invoke(_, given, name=one["name"]):
                    return json.dumps(await asyncio.to_thread(toolkit.call, name, given))

                words = (one["name"], one["description"], one["parameters"])
                agent.tools.append(FunctionTool(*words, invoke, is_strict))
            await Runner.run(agent, TASK, max_turns=20)
        return
    over_http = setting.way == "http"
    kind, params = (
        (MCPServerStreamableHttp, setting.http) if over_http else (MCPServerStdio, setting.stdio)
    )
    async with kind(params, client_session_timeout_seconds=60) as server:
        if over_http:
            setting.check_list(await server.list_tools())
            return
        agent.mcp_servers = [server]
        agent.mcp_config = {"convert_schemas_to_strict": is_strict}
        await Runner.run(agent, TASK, max_turns=20)


def fill(schema, given):
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


async def langchain(setting, script):
    """Over `MCPAdapter`, and with `interrupt` in `approve`, questions interrupt the graph."""
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

        def bind_tools(self, *_, **__):
            return self

        def _generate(self, messages, *_, **__):
            call = script.next(messages[-1].content)
            made = call and [{"name": call[0], "args": call[1], "id": str(len(script.calls))}]
            message = AIMessage("" if made else "Done.", tool_calls=made or [])
            return ChatResult(generations=[ChatGeneration(message=message)])

    def ask(request):
        answer = {"digest": None}
        while answer["digest"] != request.digest:  # an answer may belong to another question
            answer = interrupt({"summary": request.summary, "digest": request.digest})
        return answer["agreed"] is True

    def tool(one):
        return StructuredTool(
            name=one.name,
            description=one.description,
            args_schema=one.input_schema,
            func=lambda **given: json.dumps(one.call(given)),
        )

    async with AsyncExitStack() as stack:
        if setting.way in {"toolkit", "interrupt"}:
            asking = ask if setting.way == "interrupt" else None
            tools = [*map(tool, stack.enter_context(setting.toolkit(asking)).definitions())]
        else:
            adapter = MCPAdapter({"mcpServers": {"ferry": setting.stdio}})
            tools = await (await stack.enter_async_context(adapter)).list_tools()
        agent = create_agent(Scripted(), tools, checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        given = {"messages": [TASK]}
        while questions := (await agent.ainvoke(given, config)).get("__interrupt__"):
            if "digest" in (question := questions[0].value):
                given = Command(resume={**question, "agreed": setting.agreed})
                continue
            (request,) = question["requests"]
            action, content = setting.answer_form(request["requested_schema"])
            answer = {"action": action, **({"content": content} if content else {})}
            given = Command(resume={"responses": {request["key"]: answer}})


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
