"""Thousands of calls leave nothing behind: no memory, descriptors, threads, tasks."""

import asyncio
import gc
import sys
import threading
import tracemalloc
import weakref
from collections import deque
from functools import partial
from time import monotonic

import anyio
import httpx
import pytest

from ferry_sdk import AsyncFerry, Ferry, FerryError, OutcomeUnknownError, RequestTimeoutError
from ferry_sdk._engine.correlation import recent_ids
from ferry_sdk._transport import single_flight
from tests.backend.descriptors import descriptors
from tests.backend.gathering import eventually
from tests.support.exchanges import URL
from tests.support.tiers import LONG

pytestmark = LONG

WARM_UP = 300
SPARE = 1500
"""Blocks that may be left of hundreds or thousands of calls."""
IDLE = 4.0
"""Seconds after which a pool may close an idle connection; it waits for five."""


def used():
    """Return the numbers of blocks of memory, of descriptors and of threads."""
    gc.collect()
    gc.collect()
    return sys.getallocatedblocks(), len(descriptors()), threading.active_count()


def check_growth(before, spare=SPARE):
    """Check that what is left is no more than a few caches, whatever the number of calls."""
    blocks, files, threads = before
    eventually(lambda: threading.active_count() <= threads)
    eventually(lambda: len(descriptors()) <= files + 2)
    assert used()[0] - blocks < spare
    assert not single_flight._shared_calls


def measure(use, warm_up, count):
    """Check that `count` calls leave nothing behind, after some that fill the caches."""
    use(warm_up)
    before = used()
    use(count)
    check_growth(before)


async def forget_timers():
    """Let every event loop drop its cancelled timers, of which it keeps up to a hundred.

    It drops them when there are many; how many it holds at one moment is chance.
    """

    def fill_with_cancelled_timers(loop, dropped):
        for _ in range(1_000):
            loop.call_later(60, int).cancel()
        loop.call_soon(dropped.set)  # the loop looks at its timers before it comes to this

    for loop in [one for one in gc.get_objects() if isinstance(one, asyncio.BaseEventLoop)]:
        if loop.is_running():
            dropped = threading.Event()
            loop.call_soon_threadsafe(fill_with_cancelled_timers, loop, dropped)
            await anyio.to_thread.run_sync(dropped.wait)


def service(request):
    match request.url.path:
        case "/api/port":
            return httpx.Response(200, json=[{"code": "A", "name": "n", "country": "c"}])
        case "/api/booking/confirm":
            raise httpx.ReadError("lost")
        case "/api/booking/refused":
            raise httpx.ConnectError("refused")
        case "/api/ticket/html":
            return httpx.Response(200, text="<p>no</p>")
        case _:
            return httpx.Response(404, json={"error": True, "code": "NO", "message": "no"})


OFFLINE = httpx.MockTransport(service)


def make_failing_call(ferry, index):
    match index % 5:
        case 0:
            return ferry.with_options(deadline=0.001).bookings.confirm("b-1")
        case 1:
            return ferry.bookings.get("refused")
        case 2:
            return ferry.tickets.get("t-1")
        case 3:
            return ferry.tickets.get("html")
        case _:
            return ferry.tickets.get("")


@pytest.fixture(autouse=True)
def few_ids(monkeypatch, ferry_sandbox):
    """Remember few ids and requests, so that no memory fills up while it is counted."""
    monkeypatch.setattr(recent_ids, "_most", 8)
    monkeypatch.setattr(ferry_sandbox.request_log, "_entries", deque(maxlen=8))


async def measure_tasks(use, count, spare):
    """Check that `count` calls leave nothing behind; `use` has made some before.

    Caches may still fill up in the first rounds, but what is left of each call is left each time.
    """
    for _ in range(3):
        await forget_timers()
        before = used()
        tasks = len(anyio.get_running_tasks())
        await use(count)
        await forget_timers()
        if used()[0] - before[0] < spare:
            break
    check_growth(before, spare)
    assert len(anyio.get_running_tasks()) == tasks


async def crowd(ferry, count):
    async def calls():
        for _ in range(count // 10):
            await ferry.catalogue.ports()

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(calls)


async def fail(ferry, count):
    for index in range(count):
        with pytest.raises(FerryError):
            await make_failing_call(ferry, index)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("use", "count", "spare"),
    [
        pytest.param(crowd, 1_500, SPARE * 3 // 10, id="crowd"),
        pytest.param(fail, 800, SPARE // 2, id="fail"),
    ],
)
def test_calls_of_tasks_leave_nothing(loop, use, count, spare):
    async def main():
        async with httpx.AsyncClient(transport=OFFLINE) as http_client:
            ferry = AsyncFerry("t", base_url=URL, max_retries=0, http_client=http_client)
            await use(ferry, WARM_UP)
            await measure_tasks(partial(use, ferry), count, spare)

    anyio.run(main, backend=loop)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_calls_of_tasks_keep_their_connections(async_ferry, ferry_sandbox, loop):
    pauses = 0
    last = monotonic()

    async def call(count):
        nonlocal pauses, last
        for index in range(count):
            pauses += monotonic() - last > IDLE  # the pool may have closed its connection
            last = monotonic()
            await async_ferry.catalogue.vehicle_types()
            if index % 5 == 0:
                await async_ferry.mcp.countries()

    async def main():
        async with async_ferry:
            await call(WARM_UP)
            connections = ferry_sandbox.counters.connections - pauses
            await measure_tasks(call, 500, SPARE // 2)
            assert ferry_sandbox.counters.connections - connections <= pauses

    anyio.run(main, backend=loop)


@pytest.mark.parametrize("deadline", [None, 20])
class TestCallsOverSockets:
    """Hundreds of calls of one client over its connections."""

    @pytest.fixture
    def view(self, ferry, deadline):
        return ferry.with_options(deadline=deadline)

    def test_calls_leave_nothing(self, view, ferry_sandbox):
        def calls(count):
            for index in range(count):
                view.catalogue.vehicle_types()
                if index % 5 == 0:
                    view.mcp.countries()

        calls(1)
        connections = ferry_sandbox.counters.connections
        measure(calls, 50, 1_500)
        assert ferry_sandbox.counters.connections == connections

    def test_cut_calls_leave_nothing(self, view, ferry_sandbox):
        def cut(count):
            for _ in range(count):
                with pytest.raises(FerryError):
                    view.with_options(max_retries=0).catalogue.vehicle_types()

        ferry_sandbox.faults.add("cut_before", "catalogue.vehicle_types", times=None)
        measure(cut, 50, 500)


# asyncio complains of a loop that ended before its connections; the client closes them itself.
@pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")
@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
class TestClients:
    """A hundred clients, or a hundred event loops of one client."""

    @pytest.fixture
    def settings(self, ferry_sandbox):
        return {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}

    def test_sync_clients_leave_nothing(self, settings):
        def come_and_go(count):
            for _ in range(count):
                with Ferry(**settings) as ferry:
                    ferry.catalogue.vehicle_types()

        measure(come_and_go, 20, 100)

    def test_async_clients_leave_nothing(self, settings):
        async def come_and_go(count):
            for _ in range(count):
                async with AsyncFerry(**settings) as ferry:
                    await ferry.catalogue.vehicle_types()

        measure(lambda count: asyncio.run(come_and_go(count)), 20, 100)

    def test_loops_of_one_client_leave_nothing(self, settings):
        ferry = AsyncFerry(**settings)

        async def call():
            await ferry.catalogue.vehicle_types()

        def loops(count):
            for _ in range(count):
                asyncio.run(call())

        measure(loops, 20, 100)
        asyncio.run(ferry.aclose())
        gc.collect()


def test_dropped_errors_leave_nothing(ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, deadline=0.3) as ferry:
        ferry_sandbox.faults.add("cut_before", "bookings.confirm", times=None)
        references = []
        while len(references) < 3:
            try:
                ferry.bookings.confirm("b-1")
            except OutcomeUnknownError as error:
                references.append(weakref.ref(error))
            except RequestTimeoutError:
                """A busy machine left no time to send it."""

        def are_gone():
            gc.collect()
            return all(reference() is None for reference in references)

        eventually(are_gone)


def test_large_replies_leave_nothing():
    large = httpx.Response(200, json=[{"code": "A", "name": "n" * 100_000, "country": "c"}])
    with httpx.Client(transport=httpx.MockTransport(lambda _: large)) as http_client:
        ferry = Ferry("t", base_url=URL, http_client=http_client)
        ferry.catalogue.ports()
        gc.collect()
        tracemalloc.start()
        for _ in range(50):
            ferry.catalogue.ports()
        gc.collect()
        left, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert left < 1_000_000
