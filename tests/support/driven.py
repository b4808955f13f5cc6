"""A flow driven by hand: its effects answered as a test says, by a clock that nobody waits for."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ferry_sdk._engine import effects
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import (
    CallUser,
    CheckOpen,
    Exclusive,
    RunBlocking,
    Send,
    SingleFlight,
    Sleep,
)
from ferry_sdk._engine.flow import recover, report_interruption, run
from ferry_sdk._engine.http import Headers, Reply
from ferry_sdk._engine.sending import SendState
from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk.errors import FerryError, RequestTimeoutError
from tests.support.operations import described

SETTINGS = Settings(
    base_url="https://ferry.test",
    token=Secret("test-token"),
    organisation_token=Secret("organisation-token"),
)


class Driver:
    """Performs the effects of calls: answers requests, and moves the clock in place of waiting."""

    def __init__(self, answer, session=None):
        self.answer = answer
        self.session = session or Session()
        self.now = 1000.0
        self.epoch = 1_800_000_000.0
        self.latency = 0.25
        self.requests = []
        self.effects = []

    @property
    def waits(self):
        return [effect.seconds for effect in self.effects if isinstance(effect, Sleep)]

    @property
    def paths(self):
        return [request.url.removeprefix(SETTINGS.base_url) for request in self.requests]

    def steps(self, operation, settings):
        context = self._context(operation.name, settings)
        try:
            return (yield from run(operation, context)).raw()
        except FerryError:
            raise
        except BaseException:
            report_interruption(operation, context)
            raise

    def raw(self, call, /, **changes):
        operation = described(call) if isinstance(call, str) else call
        return self.walk(self.steps(operation, replace(SETTINGS, **changes)))

    def error(self, kind, call, /, **changes):
        with pytest.raises(kind) as info:
            self.raw(call, **changes)
        return info.value

    def recover_again(self, error, read_back, **changes):
        context = self._context("recover", replace(SETTINGS, **changes), error.correlation_id)
        return self.walk(recover(error, read_back, context)).value

    def _context(self, name, settings, correlation_id=None):
        return Context.start(
            settings,
            self.session,
            name,
            correlation_id=correlation_id,
            is_raw=True,
            clock=self.clock,
            now=self.calendar,
        )

    def clock(self):
        return self.now

    def calendar(self):
        return self.epoch + self.now

    def moment(self, ahead):
        return datetime.fromtimestamp(self.calendar() + ahead, UTC)

    def walk(self, steps):
        return effects.drive(steps, self.perform)

    def perform(self, effect):
        self.effects.append(effect)
        match effect:
            case Send():
                return self._exchange(effect)
            case Sleep(seconds):
                self.now += seconds
                return None
            case CheckOpen():
                return None
            case Exclusive() | SingleFlight():
                return self.walk(effect.steps())
            case CallUser(function) | RunBlocking(function):
                return function()
        raise NotImplementedError(effect)

    def _exchange(self, effect):
        effect.state = SendState.HANDED_OVER
        self.requests.append(effect.request)
        if effect.until is not None and self.now + self.latency > effect.until:
            self.now = effect.until
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        self.now += self.latency
        return self.answer(effect.request)


class Driven(Driver):
    """Makes calls of one client to an MCP server."""

    def __init__(self, opening, answering):
        super().__init__(self._answered)
        self.latency = 0.0
        self.opening = opening
        self.answering = answering
        self.notified = lambda _: Reply(202, Headers([]), b"")
        self.sent = []

    @property
    def methods(self):
        return [method for method, _ in self.sent]

    def call(self, operation):
        return self.raw(operation).parse()

    def _answered(self, request):
        message = json.loads(request.content or b"null")
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.sent.append((message["method"], headers))
        if message["method"] == "initialize":
            return self.opening(message)
        if "id" not in message:
            return self.notified(message)
        return self.answering(message)


def replied(status=200, session=None, **members):
    """Return a function that answers a JSON-RPC request with these members."""
    named = [] if session is None else [("Mcp-Session-Id", session)]
    headers = Headers([("Content-Type", "application/json"), *named])

    def answer(message):
        body = {"jsonrpc": "2.0", "id": message.get("id"), **members}
        return Reply(status, headers, json.dumps(body).encode())

    return answer


def in_turn(*answers):
    """The answers one after the other, the last for ever."""
    left = list(answers)

    def answer(message):
        return (left.pop(0) if len(left) > 1 else left[0])(message)

    return answer


def raising(error):
    """Return a function that raises an error in place of an answer."""

    def answer(_):
        raise error

    return answer
