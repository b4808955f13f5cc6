"""Run each recipe with the scripted model that its framework has for tests.

An adapter starts a recipe of docs/agent-recipes.md with a script, and returns the last words of the
model. A script is a function: it gets the results of the tools so far, and returns the next call of
the model, a list of calls of one turn, or the text that it ends with.
"""

import asyncio
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ferry_sdk import AsyncFerry, Ferry
from tests.support.blocks import RECIPES

TEXT = "One adult from Tarifa to Tangier, please."


def recipe(name):
    block = RECIPES[f"book_with_{name}.py"]
    names = {"__name__": name}
    exec(compile(block.source, block.place, "exec", dont_inherit=True), names)  # noqa: S102 -- the documents' own code
    return names


def client_of(sandbox, kind=Ferry):
    return kind(sandbox.token, base_url=sandbox.base_url, deadline=60)


def read(text):
    """Return the result of a tool; a framework's own words are a text."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def calls_of(move):
    """Return the calls of a turn."""
    return move if isinstance(move, list) else [move]


def langgraph(sandbox, script, ask):
    pytest.importorskip("langchain", reason="langchain is not installed")
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Model(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, tools, **_):
            assert tools
            return self

        def _generate(self, messages, *_, **__):
            results = [read(one.text) for one in messages if isinstance(one, ToolMessage)]
            move = script(results)
            if isinstance(move, str):
                message = AIMessage(move)
            else:
                calls = [
                    {"name": name, "args": arguments, "id": f"call-{len(results)}-{number}"}
                    for number, (name, arguments) in enumerate(calls_of(move))
                ]
                message = AIMessage("", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    with client_of(sandbox) as ferry:
        return recipe("langgraph")["run"](ferry, Model(), TEXT, ask)


def pydantic_ai(sandbox, script, ask):
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def respond(messages, _):
        parts = [part for message in messages for part in message.parts]
        results = [one.content for one in parts if isinstance(one, ToolReturnPart)]
        move = script(results)
        if isinstance(move, str):
            return ModelResponse([TextPart(move)])
        return ModelResponse([ToolCallPart(*call) for call in calls_of(move)])

    loop = asyncio.new_event_loop()  # `run_sync` would make one, and leave it open
    asyncio.set_event_loop(loop)
    try:
        with client_of(sandbox) as ferry:
            return recipe("pydantic_ai")["run"](ferry, FunctionModel(respond), TEXT, ask)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def openai_agents(sandbox, script, ask):
    # Not `agents`: the folder of these tests has that name too.
    pytest.importorskip("agents.testing", reason="openai-agents is not installed")
    from agents import set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    def respond(call):
        items = [one for one in call.input if isinstance(one, dict)]
        outputs = [one for one in items if one.get("type") == "function_call_output"]
        move = script([read(one["output"]) for one in outputs])
        if isinstance(move, str):
            return [assistant_message(move)]
        return [
            function_call(name, json.dumps(arguments), call_id=f"call-{len(outputs)}-{number}")
            for number, (name, arguments) in enumerate(calls_of(move))
        ]

    set_tracing_disabled(disabled=True)  # traces go to OpenAI

    async def main():
        async with client_of(sandbox, AsyncFerry) as ferry:
            model = ScriptedModel([{"responder": respond}] * 20)
            return await recipe("openai_agents")["run"](ferry, model, TEXT, ask)

    return asyncio.run(main())


def anthropic(sandbox, script, ask):
    module = pytest.importorskip("anthropic", reason="anthropic is not installed")
    import httpx2

    results = {}  # the service holds the conversation, and is sent what is new

    def respond(request):
        for message in json.loads(request.content)["messages"]:
            for part in message["content"]:
                if isinstance(part, dict) and part["type"] == "tool_result":
                    results[part["tool_use_id"]] = read(part["content"])
        move = script(list(results.values()))
        if isinstance(move, str):
            content, reason = {"type": "text", "text": move}, "end_turn"
        else:
            call = {"id": f"call-{len(results)}", "name": move[0], "input": move[1]}
            content, reason = {"type": "tool_use", **call}, "tool_use"
        message = {"id": f"message-{len(results)}", "type": "message", "role": "assistant"}
        message |= {"model": "scripted", "content": [content], "stop_reason": reason}
        message |= {"usage": {"input_tokens": 1, "output_tokens": 1}}
        return httpx2.Response(200, json=message)

    transport = httpx2.Client(transport=httpx2.MockTransport(respond))
    model = module.Anthropic(api_key="key", http_client=transport, max_retries=0)
    with client_of(sandbox) as ferry, closing(transport):
        return recipe("anthropic")["run"](ferry, model, TEXT, ask)


def smolagents(sandbox, script, ask):
    module = pytest.importorskip("smolagents", reason="smolagents is not installed")
    from smolagents import models

    class Scripted(module.Model):
        def generate(self, messages, **_):
            texts = [one.content[0]["text"] for one in messages if one.role == "tool-response"]
            results = [read(text.partition("Observation:\n")[2]) for text in texts]
            move = script(results)
            calls = (
                [("final_answer", {"answer": move})] if isinstance(move, str) else calls_of(move)
            )
            made = [
                models.ChatMessageToolCall(
                    function=models.ChatMessageToolCallFunction(arguments, name),
                    id=f"call-{len(results)}-{number}",
                    type="function",
                )
                for number, (name, arguments) in enumerate(calls)
            ]
            return models.ChatMessage(models.MessageRole.ASSISTANT, tool_calls=made)

    with client_of(sandbox) as ferry:
        return recipe("smolagents")["run"](ferry, Scripted(), TEXT, ask)


def mcp(sandbox, script, ask):
    pytest.importorskip("mcp", reason="mcp is not installed")

    async def main():
        environment = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        with TemporaryDirectory() as folder:
            path = f"{install_uvx(Path(folder))}{os.pathsep}{os.environ['PATH']}"
            env = {**os.environ, **environment, "PATH": path}
            results = []
            async with recipe("mcp")["host"](env, ask) as client:
                while not isinstance(move := script(results), str):
                    answer = await client.call_tool(*move)
                    results.append(read(answer.content[0].text))
            return move

    return asyncio.run(main())


def install_uvx(folder):
    """Write a `uvx` that starts the library of this environment, and return its folder."""
    program = folder / "uvx"
    start = f'exec "{sys.executable}" -m ferry_sdk'
    program.write_text(
        f'#!/bin/sh\n[ "$1 $2 $3" = "--from ferry-sdk[agents] ferry" ] && shift 3 && {start} "$@"\n'
    )
    program.chmod(0o700)
    return folder


ADAPTERS = {
    one.__name__: one for one in (langgraph, openai_agents, pydantic_ai, anthropic, smolagents, mcp)
}
