"""A transport of the caller's own may tell less than the truth, and never makes us say more."""

from contextlib import suppress

import pytest

from ferry_sdk import ConnectionFailedError, OutcomeUnknownError
from tests.support.exchanges import caught
from tests.transport.calls import ABANDONED_BODY, CREATE, is_never_sent, is_sent_once, sent
from tests.transport.scripted import Service, cut, in_turn, read_request, serve

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


class Silent:
    """A transport around one of the library's own, which tells nothing of what it does."""

    def __init__(self, inner):
        self.inner = inner
        self.close = getattr(inner, "close", None)
        self.aclose = getattr(inner, "aclose", None)

    def handle_request(self, request):
        request.extensions.pop("trace", None)
        return self.inner.handle_request(request)

    async def handle_async_request(self, request):
        request.extensions.pop("trace", None)
        return await self.inner.handle_async_request(request)


class Insistent(Silent):
    """Sends again by itself, once, and asks nobody."""

    def handle_request(self, request):
        with suppress(Exception):
            return self.inner.handle_request(request)
        return self.inner.handle_request(request)

    async def handle_async_request(self, request):
        with suppress(Exception):
            return await self.inner.handle_async_request(request)
        return await self.inner.handle_async_request(request)


def test_a_silent_transport_that_loses_the_reply(caller, any_call):
    with Service(in_turn(read_request, cut), serve) as service:
        ferry = caller.ferry(service.url, transport=Silent(caller.transport()))
        is_sent_once(caller, any_call, ferry, service, seen=1)


@pytest.mark.parametrize("kind", [Silent, Insistent])
def test_a_transport_that_is_refused(caller, call, kind):
    with Service(serve, listening=False) as service:
        ferry = caller.ferry(service.url, transport=kind(caller.transport()))
        is_never_sent(caller, call, ferry, ConnectionFailedError)


def test_a_silent_transport_whose_proxy_hangs_up(caller, good):
    with Service(in_turn(read_request, cut)) as service:
        transport = Silent(caller.transport(proxy=service.url))
        ferry = caller.ferry("https://localhost", transport=transport)
        assert sent(caught(OutcomeUnknownError, CREATE.make, ferry).attempts) == [True]


def test_an_insistent_transport_that_is_refused_later(caller):
    def refuse(connection):
        connection.service.refuse()

    with Service(in_turn(read_request, refuse, cut)) as service:
        ferry = caller.ferry(service.url, transport=Insistent(caller.transport()))
        error = caught(OutcomeUnknownError, CREATE.make, ferry)
        assert "ConnectError" in str(error)
        assert (sent(error.attempts), service.asked) == ([True], [CREATE.line])
