"""Thousands of calls leave nothing behind: no memory, descriptors, threads, tasks."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import tracemalloc
import weakref
from collections import deque
from dataclasses import dataclass
from time import monotonic

import anyio
import httpx
import pytest
import trio

from ferry_sdk import AsyncFerry, Ferry, FerryError, OutcomeUnknownError, RequestTimeoutError
from ferry_sdk._engine.correlation import recent_ids
from ferry_sdk._transport import single_flight
from tests.backend.descriptors import descriptors
from tests.backend.gathering import eventually
from tests.support.tiers import LONG

pytestmark = LONG

URL = "https://ferry.example"
WARM_UP = 300
SPARE = 1500
"""Blocks that may be left of hundreds or thousands of calls."""
IDLE = 4.0
"""Seconds after which a pool may close an idle connection; it waits for five."""


@dataclass(frozen=True)
class Use:
    """What this process uses.

    Attributes:
        blocks: Pieces of memory that hold something small, as every object does.
        descriptors: Files and sockets.
        threads: Threads.
    """

    blocks: int
    descriptors: int
    threads: int


def used():
    gc.collect()
    gc.collect()
    return Use(sys.getallocatedblocks(), len(descriptors()), threading.active_count())


def has_not_grown(before, spare=SPARE):
    """Check that what is left is no more than a few caches, whatever the number of calls."""
    eventually(lambda: threading.active_count() <= before.threads)
    eventually(lambda: len(descriptors()) <= before.descriptors + 2)
    assert used().blocks - before.blocks < spare
    assert not single_flight._shared_calls


def measure(use, warm_up, count):
    """Use something so often; it uses no more than it did after it was warm."""
    use(warm_up)
    before = used()
    use(count)
    has_not_grown(before)


async def forget_timers():
    """Let every event loop drop its cancelled timers, of which it keeps up to a hundred.

    It drops them when there are many; how many it holds at one moment is chance.
    """
    known = [one for one in gc.get_objects() if isinstance(one, asyncio.BaseEventLoop)]
    for loop in known:
        if loop.is_running():
            dropped = threading.Event()
            loop.call_soon_threadsafe(_fill_with_cancelled_timers, loop, dropped)
            await anyio.to_thread.run_sync(dropped.wait)


def _fill_with_cancelled_timers(loop, dropped):
    for _ in range(1_000):
        loop.call_later(60, int).cancel()
    loop.call_soon(dropped.set)  # the loop looks at its timers before it comes to this


def on_asyncio(work):
    asyncio.run(work())


each_loop = pytest.mark.parametrize("run", [on_asyncio, trio.run], ids=["asyncio", "trio"])


def service(request):
    """Ports for those who ask, and trouble of every kind for everyone else."""
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


def failing(ferry, index):
    """A call that fails, in one of several ways."""
    match index % 5:
        case 0:
            return ferry.tickets.get("t-1")
        case 1:
            return ferry.tickets.get("html")
        case 2:
            return ferry.bookings.get("refused")
        case 3:
            return ferry.with_options(deadline=0.001).bookings.confirm("b-1")
        case _:
            return ferry.tickets.get("")


@pytest.fixture
def offline():
    """A client of a service that is a function."""
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        yield Ferry("t", base_url=URL, http_client=http_client, max_retries=0)


@pytest.fixture(autouse=True)
def few_ids(monkeypatch, ferry_sandbox):
    """Remember few ids and requests, so that no memory fills up while it is counted."""
    monkeypatch.setattr(recent_ids, "_most", 8)
    monkeypatch.setattr(ferry_sandbox.request_log, "_entries", deque(maxlen=8))


def test_ten_thousand_calls(offline):
    def calls(count):
        for _ in range(count):
            offline.catalogue.ports()

    measure(calls, WARM_UP, 10_000)


def test_two_thousand_calls_that_fail(offline):
    def calls(count):
        for index in range(count):
            with pytest.raises(FerryError):
                failing(offline, index)

    measure(calls, WARM_UP, 2_000)


@each_loop
def test_thousands_of_calls_of_tasks(run):
    async def calls(ferry, count):
        for _ in range(count):
            await ferry.catalogue.ports()

    async def crowd(ferry, count):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(calls, ferry, count // 10)

    async def fail(ferry, count):
        for index in range(count):
            with pytest.raises(FerryError):
                await failing(ferry, index)
        await anyio.sleep(0.2)  # the loop forgets its timers when they are due

    async def main():
        transport = httpx.MockTransport(service)
        async with httpx.AsyncClient(transport=transport) as http_client:
            ferry = AsyncFerry("t", base_url=URL, http_client=http_client, max_retries=0)
            for use, number, spare in ((crowd, 3_000, SPARE * 3 // 10), (fail, 1_000, SPARE // 2)):
                await use(ferry, WARM_UP)
                before, tasks = used(), len(anyio.get_running_tasks())
                await use(ferry, number)
                has_not_grown(before, spare)
                assert len(anyio.get_running_tasks()) == tasks

    run(main)


@pytest.mark.parametrize("deadline", [None, 20])
def test_calls_over_sockets(ferry, ferry_sandbox, deadline):
    view = ferry.with_options(deadline=deadline)

    def calls(count):
        for index in range(count):
            view.catalogue.vehicle_types()
            if index % 5 == 0:
                view.mcp.countries()

    calls(1)
    connections = ferry_sandbox.counters.connections
    measure(calls, 50, 1_500)
    assert ferry_sandbox.counters.connections == connections


@each_loop
def test_calls_of_tasks_over_sockets(async_ferry, ferry_sandbox, run):
    async def calls(count):
        """Give the number of pauses in which the pool may have closed its connection."""
        pauses, last = 0, monotonic()
        for index in range(count):
            pauses += monotonic() - last > IDLE
            last = monotonic()
            await async_ferry.catalogue.vehicle_types()
            if index % 5 == 0:
                await async_ferry.mcp.countries()
        return pauses

    async def main():
        async with async_ferry:
            await calls(WARM_UP)
            await forget_timers()
            before, tasks = used(), len(anyio.get_running_tasks())
            await async_ferry.catalogue.vehicle_types()  # after what may have been a long pause
            connections = ferry_sandbox.counters.connections
            pauses = await calls(500)
            await forget_timers()
            has_not_grown(before, SPARE // 2)
            assert len(anyio.get_running_tasks()) == tasks
            assert ferry_sandbox.counters.connections - connections <= pauses

    run(main)


def test_calls_whose_connection_is_cut_leave_nothing_open(ferry, ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "catalogue.vehicle_types", times=None)

    def calls(count):
        hurried = ferry.with_options(max_retries=0)
        for _ in range(count):
            with pytest.raises(FerryError):
                hurried.catalogue.vehicle_types()

    measure(calls, 50, 500)


def test_clients_that_come_and_go_leave_nothing(ferry_sandbox):
    def clients(count):
        for _ in range(count):
            with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                ferry.catalogue.vehicle_types()

    async def come_and_go(count):
        for _ in range(count):
            async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                await ferry.catalogue.vehicle_types()

    measure(clients, 20, 100)
    measure(lambda count: asyncio.run(come_and_go(count)), 20, 100)


# asyncio complains of a loop that ended before its connections; the client closes them itself.
@pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")
@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
def test_a_client_used_by_many_loops_leaves_nothing(ferry_sandbox):
    ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)

    async def call():
        await ferry.catalogue.vehicle_types()

    def loops(count):
        for _ in range(count):
            asyncio.run(call())

    measure(loops, 20, 100)
    asyncio.run(ferry.aclose())
    gc.collect()


def test_errors_that_are_dropped_leave_nothing(ferry_sandbox):
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


def test_a_large_reply_is_let_go():
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
