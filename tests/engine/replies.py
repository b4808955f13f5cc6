"""Replies of a scripted service, and drivers that receive them in order."""

import json

from ferry_sdk import ConfigurationError
from ferry_sdk._engine.context import Session
from ferry_sdk._engine.effects import Sleep
from ferry_sdk._engine.http import Headers, Reply
from tests.support.driven import Driver
from tests.support.samples import BOOKING, TICKET


class Script:
    """Answers each request with the next of its replies, and all later ones with `then`.

    A reply is a `Reply`, an exception to raise, or a function of the request that gives either.
    """

    def __init__(self, *replies, then=None):
        self._left = list(replies)
        self._then = then

    def __call__(self, request):
        answer = self._left.pop(0) if self._left else self._then
        assert answer is not None, f"one request too many: {request.method} {request.url}"
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def scripted_driver(*replies, then=None):
    """Return a driver whose requests a script answers, without an MCP handshake."""
    return Driver(Script(*replies, then=then), Session(opened_at=0.0))


def reply(status, body=None, **headers):
    """Return a reply; the names of its headers have underscores in place of hyphens."""
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    content = b"" if body is None else json.dumps(body).encode()
    return Reply(status, Headers([("content-type", "application/json"), *named]), content)


def good(value, **headers):
    """Return a function that gives a value with the status 200, in the protocol of the request."""

    def answer(request):
        if not request.url.endswith("/mcp"):
            return reply(200, value, **headers)
        message = json.loads(request.content or b"null")
        result = {"structuredContent": value}
        return reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, **headers)

    return answer


def booking(stage="payment_due", *statuses, **changes):
    """Return a booking at a stage, with a ticket of each status."""
    return {
        **BOOKING,
        "booking_id": "b-1",
        "stage": stage,
        "tickets": [ticket(status, f"t-{number}") for number, status in enumerate(statuses, 1)],
        "payment_status": "unpaid",
        "expire_at": None,
        "possible_actions": {},
        **changes,
    }


def ticket(status, name="t-1"):
    return TICKET | {"id": name, "status": status}


def close_in_a_pause(driver, number=1):
    """Close the client in a pause of the driver's next call, and return the driver."""
    perform = driver.perform

    def close(effect):
        if isinstance(effect, Sleep) and len(driver.waits) == number - 1:
            driver.effects.append(effect)
            raise ConfigurationError("the client is closed")
        return perform(effect)

    driver.perform = close
    return driver
