"""Run each recipe with the scripted model that its framework has for tests.

An adapter starts a recipe of docs/agent-recipes.md with a script, and returns the last words of the
model. A script is a function: it gets the results of the tools so far, and returns the next call of
the model, or the text that it ends with.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import AsyncFerry, Ferry
from tests.support.blocks import RECIPES

if TYPE_CHECKING:
    from ferry_sdk.sandbox import Sandbox

Script = Callable[[list[Any]], "tuple[str, dict[str, Any]] | str"]
Ask = Callable[[str], bool]
TEXT = "One adult from Tarifa to Tangier, please."


def recipe(name: str) -> dict[str, Any]:
    """Return what the recipe of a framework defines."""
    block = RECIPES[f"book_with_{name}.py"]
    names: dict[str, Any] = {"__name__": name}
    exec(compile(block.source, block.place, "exec", dont_inherit=True), names)  # noqa: S102 -- the documents' own code
    return names


def client_of(sandbox: Sandbox, kind: type[Any] = Ferry) -> Any:
    return kind(sandbox.token, base_url=sandbox.base_url, deadline=60)


def read(text: Any) -> Any:
    """Return the result of a tool; a framework's own words are a text."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def langgraph(sandbox: Sandbox, script: Script, ask: Ask) -> str:
    pytest.importorskip("langchain", reason="langchain is not installed")
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Model(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, tools: Any, **_: Any) -> Any:
            assert tools
            return self

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            results = [read(one.text) for one in messages if isinstance(one, ToolMessage)]
            move = script(results)
            if isinstance(move, str):
                message = AIMessage(move)
            else:
                call = {"name": move[0], "args": move[1], "id": f"call-{len(results)}"}
                message = AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=message)])

    with client_of(sandbox) as ferry:
        return recipe("langgraph")["run"](ferry, Model(), TEXT, ask)


def pydantic_ai(sandbox: Sandbox, script: Script, ask: Ask) -> str:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def respond(messages: list[Any], _: Any) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        results = [one.content for one in parts if isinstance(one, ToolReturnPart)]
        move = script(results)
        return ModelResponse([TextPart(move) if isinstance(move, str) else ToolCallPart(*move)])

    loop = asyncio.new_event_loop()  # `run_sync` would make one, and leave it open
    asyncio.set_event_loop(loop)
    try:
        with client_of(sandbox) as ferry:
            return recipe("pydantic_ai")["run"](ferry, FunctionModel(respond), TEXT, ask)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def openai_agents(sandbox: Sandbox, script: Script, ask: Ask) -> str:
    # Not `agents`: the folder of these tests has that name too.
    pytest.importorskip("agents.testing", reason="openai-agents is not installed")
    from agents import set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    def respond(call: Any) -> Any:
        items = [one for one in call.input if isinstance(one, dict)]
        outputs = [one for one in items if one.get("type") == "function_call_output"]
        move = script([read(one["output"]) for one in outputs])
        if isinstance(move, str):
            return [assistant_message(move)]
        name, arguments = move
        return [function_call(name, json.dumps(arguments), call_id=f"call-{len(outputs)}")]

    set_tracing_disabled(disabled=True)  # traces go to OpenAI

    async def main() -> str:
        async with client_of(sandbox, AsyncFerry) as ferry:
            model = ScriptedModel([{"responder": respond}] * 20)
            return await recipe("openai_agents")["run"](ferry, model, TEXT, ask)

    return asyncio.run(main())


def anthropic(sandbox: Sandbox, script: Script, ask: Ask) -> str:
    module = pytest.importorskip("anthropic", reason="anthropic is not installed")
    import httpx2

    results: dict[str, Any] = {}  # the service holds the conversation, and is sent what is new

    def respond(request: httpx2.Request) -> httpx2.Response:
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
        message = {
            "id": f"message-{len(results)}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [content],
            "stop_reason": reason,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    transport = httpx2.Client(transport=httpx2.MockTransport(respond))
    model = module.Anthropic(api_key="key", http_client=transport, max_retries=0)
    with client_of(sandbox) as ferry, closing(transport):
        return recipe("anthropic")["run"](ferry, model, TEXT, ask)


def mcp(sandbox: Sandbox, script: Script, ask: Ask) -> str:
    pytest.importorskip("mcp", reason="mcp is not installed")

    async def main() -> str:
        environment = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        with TemporaryDirectory() as folder:
            path = f"{install_uvx(Path(folder))}{os.pathsep}{os.environ['PATH']}"
            env = {**os.environ, **environment, "PATH": path}
            results: list[Any] = []
            async with recipe("mcp")["host"](env, ask) as client:
                while not isinstance(move := script(results), str):
                    answer = await client.call_tool(*move)
                    results.append(read(answer.content[0].text))
            return move

    return asyncio.run(main())


def install_uvx(folder: Path) -> Path:
    """Write a `uvx` that starts the library of this environment, and return its folder."""
    program = folder / "uvx"
    start = f'exec "{sys.executable}" -m ferry_sdk'
    program.write_text(
        f'#!/bin/sh\n[ "$1 $2 $3" = "--from ferry-sdk[agents] ferry" ] && shift 3 && {start} "$@"\n'
    )
    program.chmod(0o700)
    return folder


ADAPTERS = {
    "langgraph": langgraph,
    "openai_agents": openai_agents,
    "pydantic_ai": pydantic_ai,
    "anthropic": anthropic,
    "mcp": mcp,
}
