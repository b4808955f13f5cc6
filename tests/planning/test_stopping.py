"""A search that is interrupted, cancelled or closed leaves nothing running."""

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from functools import partial

import anyio
import pytest

from ferry_sdk import (
    AsyncFerry,
    AuthenticationError,
    ConfigurationError,
    Ferry,
    FerryError,
    Rate,
)
from ferry_sdk._runtime.threads import ThreadCall
from ferry_sdk.planning import catalogues
from tests.backend.gathering import UnderWay, eventually
from tests.planning.strait import DAY, STRAIT, slow
from tests.support.hold import Hold

pytestmark = [
    pytest.mark.usefixtures("with_routes"),
    pytest.mark.own_http_client(reason="another client's open connections cannot be known"),
    # One test forks beside other threads.
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]


@pytest.fixture
def sync_ferry(ferry_sandbox):
    """A sync client of the test's own service."""
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        yield ferry


def threads_of_calls():
    return [thread for thread in threading.enumerate() if thread.name == "ferry_sdk call"]


def act_when_held(hold, act):
    """Begin a thread that does something as soon as the service holds four searches."""

    def wait():
        eventually(lambda: hold.held >= 4)
        act()

    return UnderWay(wait)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not wake a wait for a signal")
@pytest.mark.parametrize("is_warm", [False, True], ids=["new connections", "open connections"])
def test_interrupted_search_leaves_no_thread_running(sync_ferry, ferry_sandbox, *, is_warm):
    if is_warm:
        sync_ferry.trips.search(**STRAIT)
    hold = Hold(ferry_sandbox, "availability.search", times=4)
    pressing = act_when_held(hold, lambda: os.kill(os.getpid(), signal.SIGINT))

    with pytest.raises(KeyboardInterrupt):
        sync_ferry.trips.search(**STRAIT)

    assert threads_of_calls() == []
    pressing.value()
    hold.release()
    assert sync_ferry.trips.search(**STRAIT).report.is_complete


def test_interrupted_searches_in_a_queue_send_nothing(ferry_sandbox):
    rate = Rate("1/minute")

    def interrupt(event):
        eventually(lambda: len(rate._queue()._others) >= 3)
        raise KeyboardInterrupt

    with Ferry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        limiter=rate,
        event_hooks={"response": [interrupt]},
    ) as ferry:
        with pytest.raises(KeyboardInterrupt):
            ferry.trips.search(**STRAIT)

        assert threads_of_calls() == []
        assert not rate._queue()._others
        assert ferry_sandbox.counters.requests["availability.search"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancelled_search_leaves_no_task_running(ferry_sandbox, backend):
    hold = Hold(ferry_sandbox, "availability.search", times=8)

    async def cancel_both(ferry, stream):
        """Cancel a stream and a search while the service holds four requests of each."""
        async with anyio.create_task_group() as group:
            group.start_soon(anext, stream)
            other_day = DAY + timedelta(1)  # an equal search would share the stream's requests
            group.start_soon(partial(ferry.trips.search, **STRAIT | {"on": other_day}))
            while hold.held < 8:  # noqa: ASYNC110 -- the service's thread counts
                await anyio.sleep(0.005)
            assert len(stream._plan._batch.worker._scopes) == 4
            group.cancel_scope.cancel()

    async def main():
        async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            stream = ferry.trips.stream(**STRAIT)
            await cancel_both(ferry, stream)

            assert not stream._plan._batch.worker._scopes
            if backend == "asyncio":
                assert asyncio.all_tasks() == {asyncio.current_task()}

            hold.release()
            assert (await ferry.trips.search(**STRAIT)).report.is_complete

    anyio.run(main, backend=backend)


def test_closed_client_ends_its_search(clients, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    hold = Hold(ferry_sandbox, "availability.search", times=4)
    closing = act_when_held(hold, ferry.close)

    with pytest.raises(FerryError):
        ferry.trips.search(**STRAIT)

    closing.value()
    hold.release()
    with pytest.raises(ConfigurationError):
        ferry.trips.search(**STRAIT)


@pytest.mark.slow
def test_error_of_a_token_function_stops_the_search(clients, ferry_sandbox):
    tokens = [ferry_sandbox.token]

    def token():
        if not tokens:
            raise LookupError
        return tokens.pop()

    ferry = clients(token, base_url=ferry_sandbox.base_url)
    ferry_sandbox.faults.add("unauthorized", "availability.search", company="AML")
    slow(ferry_sandbox, company="BALEARIA")

    with pytest.raises(LookupError):
        ferry.trips.search(**STRAIT)

    assert threads_of_calls() == []


def test_stopped_searches_are_told_as_cancelled(clients, ferry_sandbox):
    outcomes = []
    hooks = {"outcome": [outcomes.append]}
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, event_hooks=hooks)
    ferry.routes.find()
    outcomes.clear()
    hold = Hold(ferry_sandbox, "availability.search", times=3)
    ferry_sandbox.faults.add("unauthorized", "availability.search")

    with pytest.raises(AuthenticationError):
        ferry.trips.search(**STRAIT)

    hold.release()
    problems = sorted((event.problem, event.outcome) for event in outcomes)
    assert problems == [("AuthenticationError", "rejected"), *[("CancelledError", "unknown")] * 3]


def test_batch_has_a_thread_for_each_concurrent_call(sync_ferry, monkeypatch):
    threads = []

    def start(work):
        thread = ThreadCall(work)
        threads.append(thread)
        return thread

    monkeypatch.setattr("ferry_sdk._transport.threads.ThreadCall", start)
    calendar = sync_ferry.trips.calendar(
        "ITGOA",
        "TNLGN",
        start=DAY,
        end=DAY + timedelta(7),
        passengers=STRAIT["passengers"],
        concurrency=3,
    )

    assert calendar.report.calls == 16
    assert len(threads) == 3


def fork_and_run(run):
    """Run a function in a child process, and return whether it returned True there."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os._exit(0 if run() else 3)
        os._exit(4)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_process_knows_the_routes(sync_ferry, ferry_sandbox):
    assert sync_ferry.trips.search(**STRAIT)
    ferry_sandbox.faults.add("server_error", "catalogue.*", times=None)
    *_, key = catalogues._graphs
    catalogues._refreshing.add(key)

    def search():
        # No thread of the child ends the refresh that its parent had begun.
        is_refreshing = key in catalogues._refreshing
        return bool(sync_ferry.trips.search(**STRAIT)) and not is_refreshing

    assert fork_and_run(search)
