"""The journey that the agent of every framework makes: search, book, confirm.

It needs only the standard library, as it runs in the environments of the frameworks.
"""

import asyncio
import json
import os
from contextlib import contextmanager
from datetime import date, timedelta

TASK = "A ferry for one from Tarifa to Tangier in a month, please."


class Setting:
    """What the driver gives a program.

    Attributes:
        way: How the agent reaches the tools; `table.toml` explains each way.
        agreed: Whether the person approves.
        stdio: The command, arguments and environment that start the server.
        http: The address and headers of the service's own /mcp.
    """

    def __init__(self, way, answer):
        self.way = way
        self.agreed = answer == "given"
        self._approved = set()
        self._base_url = os.environ["FERRY_BASE_URL"]
        self._token = os.environ["FERRY_TOKEN"]
        command, *options = json.loads(os.environ["FERRY_SERVER"])
        self.stdio = {"command": command, "args": options, "env": dict(os.environ)}
        headers = {"Authorization": f"Bearer {self._token}"}
        self.http = {"url": f"{self._base_url}/mcp", "headers": headers}

    @contextmanager
    def toolkit(self, approve=None):
        """Open a toolkit in this process; without `approve`, it takes the person's answers."""
        from ferry_sdk import Ferry
        from ferry_sdk.agents import Toolkit

        with Ferry(self._token, base_url=self._base_url) as ferry:
            self._toolkit = Toolkit(ferry, writes=True, approve=approve or self._approve)
            yield self._toolkit

    def _approve(self, request):
        if self.way == "interrupt":
            return request.digest in self._approved
        return self.agreed

    def question(self, tool, arguments):
        """Return the request that a person has to answer before a call, or None."""
        if self.way != "interrupt" or tool.read_only:
            return None
        request = self._toolkit.preview(tool.name, arguments)
        return None if isinstance(request, dict) else request

    def take_answer(self, digest, *, agreed):
        """Take the person's answer to a request."""
        if agreed:
            self._approved.add(digest)

    @property
    def parameters(self):
        """The command of the server as most frameworks take it."""
        from mcp import StdioServerParameters

        return StdioServerParameters(**self.stdio)

    def check_list(self, tools):
        """Check that the service's own server lists its five tools."""
        assert len(tools) == 5, tools

    def answer_form(self, schema):
        """Return the action and the content with which the person answers a form."""
        (box,) = schema["properties"]
        if self.agreed:
            return "accept", {box: True}
        return "decline", None

    def asking(self, result):
        """Return a host's callback that makes such results of forms, if the host asks."""

        async def ask(*arguments):
            action, content = self.answer_form(schema_among(arguments))
            return result(action=action, content=content)

        return ask if self.way == "asks" else None


def check_schemas(schemas):
    """Check that a model is shown what a traveller consists of."""
    passengers = schemas["bookings_create"]["properties"]["passengers"]
    assert "first_name" in passengers["items"]["properties"], passengers


def schema_among(arguments):
    """Return the schema of the form; frameworks put it into another argument each."""
    for argument in arguments:
        for name in ("requestedSchema", "requested_schema"):
            schema = getattr(argument, name, None)
            if schema:
                return schema
    raise AssertionError(arguments)


def journey(*, agreed, day):
    """Yield each call of the agent, and take its answer.

    A person who is shown a code and refuses does not give it back; the agent invents one.
    """
    party = {"type": "Adult", "gender": "Female", "age": 34}
    search = {"origin": "Tarifa", "destination": "Tangier (city)", "on": str(day)}
    answer = yield "trips_find", {**search, "passengers": [party]}
    offer = _result(answer)["offers"][0]

    traveller = {**party, "first_name": "Ada", "last_name": "Reyes"}
    order = {"offer": offer["offer"], "passengers": [traveller]}
    answer = yield from _write("bookings_create", agreed, **order)
    if not agreed:
        assert answer["error"]["code"] in {"declined", "code_invalid"}, answer
        return

    booking = _result(answer)
    paid = {"booking_id": booking["booking_id"], "expect_total": booking["total_price"]}
    answer = yield from _write("bookings_confirm", agreed, **paid)
    assert _result(answer)["status"] == "confirmed", answer


def _result(answer):
    assert answer.get("status") == "done", answer
    return answer["result"]


def _write(tool, agreed, **arguments):
    answer = yield tool, arguments
    if answer["status"] == "approval_needed":
        code = answer["approval"]["confirmation_code"] if agreed else "000000"
        answer = yield tool, {**arguments, "confirmation_code": code}
    return answer


def parse(result):
    """Return the answer in a result, an error or a text, which may have words around it."""
    if isinstance(result, dict):
        if "status" in result:
            return result
        return parse(result.get("content") or result.get("text"))
    if isinstance(result, list):
        return parse(result[0])
    if hasattr(result, "exceptions"):
        return parse(result.exceptions[0])

    text = getattr(result, "text", None) or str(result)
    if text.startswith("["):
        return parse(json.loads(text))
    try:
        return json.JSONDecoder().raw_decode(text[text.index('{"status"') :])[0]
    except ValueError:
        raise AssertionError(text) from None


class Script:
    """A model's part of the journey: its next call, when it is given the last answer."""

    def __init__(self, *, agreed, day=None):
        day = day or date.today() + timedelta(days=30)  # noqa: DTZ011 -- any day to come
        self._journey = journey(agreed=agreed, day=day)
        self.calls = []
        self.is_over = False

    def next(self, answer=None):
        """Return the next call, or None at the end of the journey."""
        try:
            call = self._journey.send(parse(answer) if self.calls else None)
        except StopIteration:
            self.is_over = True
            return None
        self.calls.append(call)
        return call


async def walk(tools, agreed):
    """Make the journey with the tools of a framework."""
    script = Script(agreed=agreed)
    answer = None
    while call := script.next(answer):
        name, arguments = call
        try:
            answer = await tools[name](arguments)
        except Exception as error:  # noqa: BLE001 -- many frameworks raise a refusal
            answer = error


def run_loop(programs, name, way, answer):
    """Run a program with a model that follows the script."""
    setting = Setting(way, answer)
    script = Script(agreed=setting.agreed)
    asyncio.run(programs[name](setting, script))
    assert script.is_over or way == "http", script.calls
