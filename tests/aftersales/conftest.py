"""The databases of the journal's tests, and a local service in virtual time."""

from functools import partial

import pytest

from ferry_sdk._transport.pools import AsyncShared, Shared
from ferry_sdk.aftersales import watcher
from ferry_sdk.aftersales.schedule import Schedule
from tests.journal.conftest import postgres, sqlite_url, url

__all__ = ["postgres", "sandbox", "sqlite_url", "url"]


@pytest.fixture
def sandbox(ferry_sandbox, monkeypatch):
    """A service whose clock moves where a watch sleeps, and is the clock of the watch."""
    ferry_sandbox.clock.freeze()

    def sleep(_, seconds, *__):
        ferry_sandbox.clock.advance(seconds + 0.001)  # it counts in microseconds

    async def sleep_async(_, seconds, *__):
        sleep(_, seconds)

    def now():
        return ferry_sandbox.clock.now().timestamp()

    monkeypatch.setattr(Shared, "sleep", sleep)
    monkeypatch.setattr(AsyncShared, "sleep", sleep_async)
    monkeypatch.setattr(watcher, "Schedule", partial(Schedule, now))
    return ferry_sandbox
