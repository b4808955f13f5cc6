"""A flow driven by hand: its effects answered from a script, by a clock that nobody waits for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ferry_sdk.effects import Headers, InTurn, Reply, Send, Sleep
from ferry_sdk.flow import run
from ferry_sdk.session import McpSession
from ferry_sdk.settings import Secret, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.effects import Effect, Steps
    from ferry_sdk.operation import Operation

    Answer = Callable[[dict[str, Any]], Reply]

SETTINGS = Settings(base_url="https://ferry.test", token=Secret("test-token"))


class Driven:
    """Makes calls of one client without any I/O.

    Attributes:
        session: The client's session.
        now: What the clock says; a wait moves it.
        sent: Method and headers of every request.
        waits: Seconds waited between attempts.
    """

    def __init__(self, opening: Answer, answering: Answer) -> None:
        self.opening = opening
        self.answering = answering
        self.notified: Answer = lambda _: Reply(202, Headers([]), b"")
        self.session = McpSession()
        self.now = 1000.0
        self.sent: list[tuple[str, dict[str, str]]] = []
        self.waits: list[float] = []

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.sent]

    def call(self, operation: Operation[Any], settings: Settings = SETTINGS) -> Any:
        """The call's answer."""
        steps = run(operation, settings, self.session, lambda: self.now)
        return self._walk(steps).parse()

    def _walk(self, steps: Steps[Any]) -> Any:
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._perform(effect)
                except Exception as error:  # noqa: BLE001 -- the flow decides what it means
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            return end.value

    def _perform(self, effect: Effect[Any]) -> Any:
        match effect:
            case InTurn():
                return self._walk(effect.steps())
            case Sleep(seconds):
                self.waits.append(seconds)
                self.now += seconds
                return None
            case Send(request):
                message = json.loads(request.content or b"null")
                headers = {name.lower(): value for name, value in request.headers.items()}
                self.sent.append((message["method"], headers))
                if message["method"] == "initialize":
                    return self.opening(message)
                if "id" not in message:
                    return self.notified(message)
                return self.answering(message)
        raise NotImplementedError(effect)


def replied(status: int = 200, session: str | None = None, **members: Any) -> Answer:
    """A JSON-RPC message with these members, in JSON."""
    named = [] if session is None else [("Mcp-Session-Id", session)]
    headers = Headers([("Content-Type", "application/json"), *named])

    def answer(message: dict[str, Any]) -> Reply:
        body = {"jsonrpc": "2.0", "id": message.get("id"), **members}
        return Reply(status, headers, json.dumps(body).encode())

    return answer


def in_turn(*answers: Answer) -> Answer:
    """The answers one after the other, the last for ever."""
    left = list(answers)

    def answer(message: dict[str, Any]) -> Reply:
        return (left.pop(0) if len(left) > 1 else left[0])(message)

    return answer


def raising(error: Exception) -> Answer:
    """No reply but a failure."""

    def answer(_: dict[str, Any]) -> Reply:
        raise error

    return answer
