"""The journey in the loops of model providers' own clients: `providers.py NAME WAY ANSWER`.

The provider is a function that follows a script. Imports are inside, as in `loops.py`.
"""

import json
import sys

from journey import TASK, run_loop


async def google_genai(setting, script):
    import httpx
    from google import genai
    from google.genai import types

    def respond(request):
        part = json.loads(request.content)["contents"][-1]["parts"][0]
        call = script.next(part.get("functionResponse", {}).get("response"))
        made = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "Done."}
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


async def anthropic(setting, script):
    import httpx2
    from anthropic import Anthropic, beta_tool

    def respond(request):
        content = json.loads(request.content)["messages"][-1]["content"]
        call = script.next(content[0]["content"] if script.calls else None)
        made = {"type": "text", "text": "Done."}
        if call:
            made = {"type": "tool_use", "id": "1", "name": call[0], "input": call[1]}
        message = {"id": "1", "type": "message", "role": "assistant", "model": "none"}
        message |= {"usage": {"input_tokens": 1, "output_tokens": 1}, "content": [made]}
        return httpx2.Response(
            200, json={**message, "stop_reason": "tool_use" if call else "end_turn"}
        )

    def tool(one):
        words = {"name": one.name, "description": one.description}
        words |= {"input_schema": one.input_schema}
        return beta_tool(lambda **given: json.dumps(one.call(given)), **words)

    http_client = httpx2.Client(transport=httpx2.MockTransport(respond))
    tools = Anthropic(api_key="none", http_client=http_client).beta.messages.tool_runner
    with setting.toolkit() as toolkit:
        asked = {"model": "none", "max_tokens": 1_000}
        asked |= {"messages": [{"role": "user", "content": TASK}]}
        tools(tools=[tool(one) for one in toolkit.definitions()], **asked).until_done()


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
