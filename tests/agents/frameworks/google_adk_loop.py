"""The journey in the loop of Google's ADK: `google_adk_loop.py google_adk WAY ANSWER`.

With the way "interrupt", a write ends the run with a question, and is called again with the answer.
"""

import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool, mcp_tool
from google.genai import types
from journey import TASK, check_schemas, run_loop
from mcp.types import ElicitResult

SESSION = {"user_id": "person", "session_id": "1"}


class Scripted(BaseLlm):
    """A model that follows a script."""

    script: object

    async def generate_content_async(self, request, stream=False):
        (tool,) = request.config.tools
        declared = tool.function_declarations
        check_schemas({one.name: one.parameters_json_schema for one in declared})

        answered = request.contents[-1].parts[0].function_response
        call = self.script.next(answered.response if answered else None)
        part = types.Part(text="Done.")
        if call:
            part = types.Part.from_function_call(name=call[0], args=call[1])
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class FerryTool(BaseTool):
    """A tool of a toolkit."""

    def __init__(self, one, setting):
        super().__init__(name=one.name, description=one.description)
        self.one = one
        self.setting = setting

    def _get_declaration(self):
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.one.input_schema,
        )

    async def run_async(self, *, args, tool_context):
        answer = tool_context.tool_confirmation
        if answer:
            self.setting.take_answer(answer.payload["digest"], agreed=answer.confirmed)
        elif request := await asyncio.to_thread(self.setting.question, self.one, args):
            payload = {"digest": request.digest}
            tool_context.request_confirmation(hint=request.summary, payload=payload)
            tool_context.actions.skip_summarization = True  # the model is not called meanwhile
            return {"status": "a person is asked"}
        return await asyncio.to_thread(self.one.call, args)


async def google_adk(setting, script):
    if setting.way in {"toolkit", "interrupt"}:
        with setting.toolkit() as toolkit:
            tools = [FerryTool(one, setting) for one in toolkit.definitions()]
            await run(setting, script, tools)
        return

    if setting.way == "http":
        connection = mcp_tool.StreamableHTTPConnectionParams(**setting.http, timeout=60)
    else:
        connection = mcp_tool.StdioConnectionParams(server_params=setting.parameters, timeout=60)
    asking = setting.asking(ElicitResult)
    toolset = mcp_tool.McpToolset(connection_params=connection, elicitation_callback=asking)
    try:
        if setting.way == "http":
            setting.check_list(await toolset.get_tools())
        else:
            await run(setting, script, [toolset])
    finally:
        await toolset.close()


async def run(setting, script, tools):
    """Run the agent, and answer the questions that end a run."""
    model = Scripted(model="scripted", script=script)
    runner = InMemoryRunner(LlmAgent(name="ferries", model=model, tools=tools))
    events = await runner.run_debug(TASK, **SESSION, quiet=True)
    while parts := [answer_to(call, setting.agreed) for call in questions_in(events)]:
        message = types.Content(role="user", parts=parts)
        events = [event async for event in runner.run_async(**SESSION, new_message=message)]


def questions_in(events):
    """Return the calls by which ADK asks a person, in the events of a run."""
    calls = [call for event in events for call in event.get_function_calls()]
    return [call for call in calls if call.name == "adk_request_confirmation"]


def answer_to(call, agreed):
    """Return the person's answer, with the payload of the question."""
    answer = {**call.args["toolConfirmation"], "confirmed": agreed}
    response = types.FunctionResponse(id=call.id, name=call.name, response=answer)
    return types.Part(function_response=response)


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
