"""The journey in the loops of model providers' own clients: `providers.py NAME WAY ANSWER`.

The provider is a function that follows a script. Imports are inside, as in `loops.py`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from journey import TASK, Script, Setting


async def google_genai(setting: Setting, script: Script) -> None:
    import httpx
    from google import genai
    from google.genai import types

    def respond(request: httpx.Request) -> httpx.Response:
        part = json.loads(request.content)["contents"][-1]["parts"][0]
        answered = part.get("functionResponse", {}).get("response")
        call = script.next(answered)
        made: Any = (
            {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "Done."}
        )
        content = {"role": "model", "parts": [made]}
        return httpx.Response(200, json={"candidates": [{"content": content}]})

    transport = httpx.MockTransport(respond)
    options = types.HttpOptions(httpx_client=httpx.Client(transport=transport))
    client = genai.Client(api_key="none", http_options=options)
    with setting.toolkit() as toolkit:
        known = {one.name: one for one in toolkit.definitions()}
        declared = [
            types.FunctionDeclaration(
                name=one.name, description=one.description, parameters=one.input_schema
            )
            for one in known.values()
        ]
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declared)])
        contents = [types.UserContent(TASK)]
        while True:
            reply = client.models.generate_content(model="none", contents=contents, config=config)
            if not reply.function_calls:
                return
            (call,) = reply.function_calls
            answer = known[call.name].call(call.args)
            part = types.Part.from_function_response(name=call.name, response=answer)
            contents += [reply.candidates[0].content, types.Content(role="user", parts=[part])]


async def anthropic(setting: Setting, script: Script) -> None:
    import httpx2
    from anthropic import Anthropic, beta_tool

    def respond(request: httpx2.Request) -> httpx2.Response:
        content = json.loads(request.content)["messages"][-1]["content"]
        call = script.next(content[0]["content"] if script.calls else None)
        made: Any = {"type": "text", "text": "Done."}
        if call:
            made = {"type": "tool_use", "id": "1", "name": call[0], "input": call[1]}
        message = {"id": "1", "type": "message", "role": "assistant", "model": "none"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        stop = "tool_use" if call else "end_turn"
        return httpx2.Response(
            200, json={**message, "content": [made], "usage": usage, "stop_reason": stop}
        )

    client = Anthropic(
        api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(respond))
    )

    def tool(one: Any) -> Any:
        return beta_tool(
            lambda **given: json.dumps(one.call(given)),
            name=one.name,
            description=one.description,
            input_schema=one.input_schema,
        )

    with setting.toolkit() as toolkit:
        tools = [tool(one) for one in toolkit.definitions()]
        client.beta.messages.tool_runner(
            model="none",
            max_tokens=1_000,
            tools=tools,
            messages=[{"role": "user", "content": TASK}],
        ).until_done()


if __name__ == "__main__":
    chosen, way, answer = sys.argv[1:]
    setting = Setting.read(way, answer)
    script = Script(agreed=setting.agreed)
    asyncio.run(globals()[chosen](setting, script))
    assert script.is_over, script.calls
