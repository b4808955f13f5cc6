"""The journey in the loop of smolagents: `smolagents_loop.py smolagents WAY ANSWER`."""

import asyncio
import json
import sys
from contextlib import ExitStack

from journey import TASK, check_schemas, run_loop
from smolagents import MCPClient, Model, Tool, ToolCallingAgent, models


class Scripted(Model):
    """A model that follows a script."""

    def __init__(self, script):
        super().__init__()
        self.script = script

    def generate(self, messages, tools_to_call_from, **_):
        declared = [models.get_tool_json_schema(tool)["function"] for tool in tools_to_call_from]
        check_schemas({one["name"]: one["parameters"] for one in declared})

        call = self.script.next(messages[-1].content)
        name, arguments = call or ("final_answer", {"answer": "Done."})
        function = models.ChatMessageToolCallFunction(arguments, name)
        made = models.ChatMessageToolCall(function, str(len(self.script.calls)), "function")
        return models.ChatMessage(models.MessageRole.ASSISTANT, tool_calls=[made])


def tool_of(one):
    """Return a tool of a toolkit as one of smolagents."""
    made = Tool()
    made.name = one.name
    made.description = one.description
    made.inputs = one.input_schema["properties"]
    made.output_type = "string"
    made.forward = lambda **given: json.dumps(one.call(given))
    return made


def run(setting, script):
    with ExitStack() as stack:
        if setting.way == "toolkit":
            toolkit = stack.enter_context(setting.toolkit())
            tools = [*map(tool_of, toolkit.definitions())]
        else:
            http = {"transport": "streamable-http", **setting.http}
            server = http if setting.way == "http" else setting.parameters
            tools = stack.enter_context(MCPClient(server, structured_output=False))

        if setting.way == "http":
            setting.check_list(tools)
        else:
            ToolCallingAgent(tools, Scripted(script)).run(TASK)


async def smolagents(setting, script):
    await asyncio.to_thread(run, setting, script)


if __name__ == "__main__":
    run_loop(globals(), *sys.argv[1:])
