"""Fixtures: the tests of the transport use the library's own clients in place of httpx."""

from functools import partial
from types import SimpleNamespace

import pytest

from ferry_sdk._transport.http11 import client, replies
from ferry_sdk._transport.http11.async_client import AsyncConnections
from ferry_sdk._transport.http11.client import Connections
from tests.support.tiers import mostly_long
from tests.transport.calls import Caller
from tests.transport.conftest import *  # noqa: F403 -- fixtures
from tests.transport.conftest import caller_of

READERS = {"llhttp": replies.LlhttpReader, "h11": replies.H11Reader}


class Requests:
    """Calls hooks with each request, as httpx does; `hurried` changes its seconds."""

    def __init__(self, *, verify, event_hooks, limits=200):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "MOST_CONNECTIONS", limits)
            super().__init__(verify)
        self.hooks = event_hooks["request"]
        self.hurried = {}


class HookedConnections(Requests, Connections):
    def send(self, request, **options):
        for hook in self.hooks:
            hook(self)
        return super().send(request._replace(**self.hurried), **options)


class HookedAsyncConnections(Requests, AsyncConnections):
    async def send(self, request, **options):
        for hook in self.hooks:
            await hook(self)
        return await super().send(request._replace(**self.hurried), **options)


class OwnCaller(Caller):
    """Makes clients on top of the library's own connections."""

    def __init__(self, portal, trusted):
        super().__init__("httpx", portal, trusted)
        self.library = SimpleNamespace(
            Client=HookedConnections,
            AsyncClient=HookedAsyncConnections,
            Limits=lambda max_connections: max_connections,
        )

    def ferry(self, url, **options):
        return super().ferry(url, verify=lambda: self._trusted, **options)

    def hurry(self, request, limits):
        request.hurried = limits


@pytest.fixture(params=mostly_long(READERS))
def reader(request, monkeypatch):
    monkeypatch.setattr(replies, "new_reader", READERS[request.param])
    return request.param


@pytest.fixture(params=mostly_long(["sync", "asyncio", "trio"], short=2))
def caller(request, trusted, reader):
    yield from caller_of(request, partial(OwnCaller, trusted=trusted))
