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

from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, FerryError, Rate
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


def calls():
    return [thread for thread in threading.enumerate() if thread.name == "ferry_sdk call"]


def when_held(hold, do):
    return UnderWay(lambda: (eventually(lambda: hold.held >= 4), do()))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not wake a wait for a signal")
@pytest.mark.parametrize("is_warm", [False, True], ids=["new connections", "open connections"])
def test_interrupted_search_leaves_no_thread_running(ferry_sandbox, *, is_warm):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        if is_warm:
            ferry.trips.search(**STRAIT)
        hold = Hold(ferry_sandbox, "availability.search", times=4)
        stop = when_held(hold, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            ferry.trips.search(**STRAIT)
        assert calls() == []
        stop.value()
        hold.release()
        assert ferry.trips.search(**STRAIT).report.is_complete


def test_interrupted_searches_in_a_queue_send_nothing(ferry_sandbox):
    rate = Rate("1/minute")

    def interrupt(event):
        eventually(lambda: len(rate._queue()._others) >= 3)
        raise KeyboardInterrupt

    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": {"response": [interrupt]}}
    with Ferry(ferry_sandbox.token, limiter=rate, **settings) as ferry:
        with pytest.raises(KeyboardInterrupt):
            ferry.trips.search(**STRAIT)
        assert calls() == []
        assert not rate._queue()._others
        assert ferry_sandbox.counters.requests["availability.search"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancelled_search_leaves_no_task_running(ferry_sandbox, backend):
    async def main():
        async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            hold = Hold(ferry_sandbox, "availability.search", times=8)
            async with anyio.create_task_group() as group:
                stream = ferry.trips.stream(**STRAIT)
                group.start_soon(anext, stream)
                group.start_soon(partial(ferry.trips.search, **STRAIT))
                while hold.held < 8:  # noqa: ASYNC110 -- the service's thread counts
                    await anyio.sleep(0.005)
                assert len(stream._plan._batch.worker._scopes) == 4
                group.cancel_scope.cancel()
            assert not stream._plan._batch.worker._scopes
            if backend == "asyncio":
                assert asyncio.all_tasks() == {asyncio.current_task()}
            hold.release()
            assert (await ferry.trips.search(**STRAIT)).report.is_complete

    anyio.run(main, backend=backend)


def test_closed_client_ends_its_search(clients, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    hold = Hold(ferry_sandbox, "availability.search", times=4)
    stop = when_held(hold, ferry.close)
    with pytest.raises(FerryError):
        ferry.trips.search(**STRAIT)
    stop.value()
    hold.release()
    with pytest.raises(ConfigurationError):
        ferry.trips.search(**STRAIT)


@pytest.mark.slow
def test_error_of_a_token_function_stops_the_search(clients, ferry_sandbox):
    asked = []

    def token():
        asked.append(1)
        if len(asked) > 1:
            raise LookupError
        return ferry_sandbox.token

    ferry = clients(token, base_url=ferry_sandbox.base_url)
    ferry_sandbox.faults.add("unauthorized", "availability.search", company="AML")
    slow(ferry_sandbox, company="BALEARIA")
    with pytest.raises(LookupError):
        ferry.trips.search(**STRAIT)
    assert calls() == []


def test_batch_has_a_thread_for_each_concurrent_call(ferry_sandbox, monkeypatch):
    started = []

    def start(work):
        started.append(work)
        return ThreadCall(work)

    monkeypatch.setattr("ferry_sdk._transport.threads.ThreadCall", start)
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        days = {"start": DAY, "end": DAY + timedelta(7), "passengers": STRAIT["passengers"]}
        calendar = ferry.trips.calendar("ITGOA", "TNLGN", **days, concurrency=3)
    assert calendar.report.calls == 16
    assert len(started) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_process_knows_the_routes(ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        assert ferry.trips.search(**STRAIT)
        ferry_sandbox.faults.add("server_error", "catalogue.*", times=None)
        *_, key = catalogues._graphs
        catalogues._refreshing.add(key)
        child = os.fork()
        if not child:
            with suppress(BaseException):
                is_stuck = key in catalogues._refreshing  # no thread of the child makes another one
                os._exit(0 if ferry.trips.search(**STRAIT) and not is_stuck else 3)
            os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
