"""The journey that the agent of every framework makes: search, book, confirm.

It needs only the standard library, as it runs in the environments of the frameworks.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Generator

    Answer = dict[str, Any]
    Call = tuple[str, dict[str, Any]]
    Tool = Callable[[dict[str, Any]], Awaitable[object]]
    Tools = dict[str, Tool]

TASK = "A ferry for one from Tarifa to Tangier in a month, please."


@dataclass(frozen=True)
class Setting:
    """What a program is given by the driver.

    Attributes:
        way: How the agent reaches the tools: "toolkit", "codes", "asks", "state" or "http".
        agreed: Whether the person approves.
        command: The command that starts the server, in the server's own environment.
        environment: The variables of the server.
        url: The service's own MCP endpoint.
        token: The service's token.
    """

    way: str
    agreed: bool
    command: list[str]
    environment: dict[str, str] = field(repr=False)
    url: str
    token: str = field(repr=False)

    @classmethod
    def read(cls, way: str, answer: str) -> Setting:
        """Return the setting from the environment."""
        url, token = f"{os.environ['FERRY_BASE_URL']}/mcp", os.environ["FERRY_TOKEN"]
        command = json.loads(os.environ["FERRY_SERVER"])
        return cls(way, answer == "given", command, dict(os.environ), url, token)

    @contextmanager
    def toolkit(self, approve: Callable[[Any], bool] | None = None) -> Generator[Any, None, None]:
        """Open a toolkit in this process; without `approve`, the person answers at once."""
        from ferry_sdk import Ferry
        from ferry_sdk.agents import Toolkit

        with Ferry(self.token, base_url=self.url.removesuffix("/mcp")) as ferry:
            yield Toolkit(ferry, writes=True, approve=approve or (lambda _: self.agreed))

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the service's own /mcp."""
        return {"Authorization": f"Bearer {self.token}"}

    def check_list(self, tools: Collection[object]) -> None:
        """Check that these are the tools of the service's own /mcp."""
        assert len(tools) == 5, tools

    def answer_form(self, schema: dict[str, Any]) -> tuple[str, dict[str, bool] | None]:
        """Return the action and the content with which the person answers a form."""
        (box,) = schema["properties"]
        return ("accept", {box: True}) if self.agreed else ("decline", None)


def journey(*, agreed: bool, day: date) -> Generator[Call, Answer, None]:
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


def _result(answer: Answer) -> Answer:
    assert answer.get("status") == "done", answer
    return answer["result"]


def _write(tool: str, agreed: bool, **arguments: Any) -> Generator[Call, Answer, Answer]:
    answer = yield tool, arguments
    if answer["status"] == "approval_needed":
        code = answer["approval"]["confirmation_code"] if agreed else "000000"
        answer = yield tool, {**arguments, "confirmation_code": code}
    return answer


def parse(found: Any) -> Answer:
    """Return the answer in a result, an error or a text, which may have words around it."""
    if isinstance(found, dict) and "status" in found:
        return found
    if isinstance(found, dict):
        return parse(found.get("content") or found.get("text"))
    if isinstance(found, list) or hasattr(found, "exceptions"):
        return parse(next(iter(getattr(found, "exceptions", found))))
    text = getattr(found, "text", None) or str(found)
    if text.startswith("["):
        return parse(json.loads(text))
    try:
        return json.JSONDecoder().raw_decode(text[text.index('{"status"') :])[0]
    except ValueError:
        raise AssertionError(text) from None


class Script:
    """A model's part of the journey: its next call, when it is given the last answer."""

    def __init__(self, *, agreed: bool, day: date | None = None) -> None:
        day = day or date.today() + timedelta(days=30)  # noqa: DTZ011 -- any day to come
        self._journey = journey(agreed=agreed, day=day)
        self.calls: list[Call] = []
        self.is_over = False

    def next(self, answer: object = None) -> Call | None:
        """Return the next call, or None at the end of the journey."""
        try:
            call = self._journey.send(parse(answer) if self.calls else None)
        except StopIteration:
            self.is_over = True
            return None
        self.calls.append(call)
        return call


async def walk(
    tools: dict[str, Callable[[dict[str, Any]], Awaitable[object]]], agreed: bool
) -> None:
    """Make the journey by calling the tools."""
    script, answer = Script(agreed=agreed), None
    while call := script.next(answer):
        try:
            answer = await tools[call[0]](call[1])
        except Exception as error:  # noqa: BLE001 -- many frameworks raise a refusal
            answer = error
