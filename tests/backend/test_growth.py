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

from ferry_sdk import AsyncFerry, Ferry, FerryError, OutcomeUnknownError
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


async def forget_timers():
    """Let every event loop drop its cancelled timers, of which it keeps up to a hundred.

    It drops them when there are many; how many it holds at one moment is chance.
    """
    dropped = []
    for loop in _running_loops():
        dropped.append(threading.Event())
        loop.call_soon_threadsafe(_fill_with_cancelled_timers, loop, dropped[-1])
    for event in dropped:
        await anyio.to_thread.run_sync(event.wait)


def _running_loops():
    found = [known for known in gc.get_objects() if isinstance(known, asyncio.BaseEventLoop)]
    return [loop for loop in found if loop.is_running()]


def _fill_with_cancelled_timers(loop, dropped):
    for _ in range(1_000):
        loop.call_later(60, int).cancel()
    loop.call_soon(dropped.set)  # the loop looks at its timers before it comes to this


def on_asyncio(work):
    asyncio.run(work())


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
            return ferry.bookings.confirm("b-1")
        case _:
            return ferry.tickets.get("")


@pytest.fixture(autouse=True)
def few_ids(monkeypatch, ferry_sandbox):
    """Remember few ids and requests, so that no memory fills up while it is counted."""
    monkeypatch.setattr(recent_ids, "_most", 8)
    monkeypatch.setattr(ferry_sandbox.request_log, "_entries", deque(maxlen=8))


def test_ten_thousand_calls():
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        ferry = Ferry("t", base_url=URL, http_client=http_client)
        for _ in range(WARM_UP):
            ferry.catalogue.ports()
        before = used()
        for _ in range(10_000):
            ferry.catalogue.ports()
        has_not_grown(before)


@pytest.mark.parametrize("run", [on_asyncio, trio.run], ids=["asyncio", "trio"])
def test_three_thousand_calls_of_tasks(run):
    async def calls(ferry, count):
        for _ in range(count):
            await ferry.catalogue.ports()

    async def crowd(ferry, count):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(calls, ferry, count // 10)

    async def main():
        transport = httpx.MockTransport(service)
        async with httpx.AsyncClient(transport=transport) as http_client:
            ferry = AsyncFerry("t", base_url=URL, http_client=http_client)
            await crowd(ferry, WARM_UP)
            before, tasks = used(), len(anyio.get_running_tasks())
            await crowd(ferry, 3_000)
            has_not_grown(before, SPARE * 3 // 10)
            assert len(anyio.get_running_tasks()) == tasks

    run(main)


def test_two_thousand_calls_that_fail():
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        ferry = Ferry("t", base_url=URL, http_client=http_client, max_retries=0)

        def calls(count):
            for index in range(count):
                with pytest.raises(FerryError):
                    failing(ferry.with_options(deadline=0.001 if index % 5 == 3 else None), index)

        calls(WARM_UP)
        before = used()
        calls(2_000)
        has_not_grown(before)


@pytest.mark.parametrize("run", [on_asyncio, trio.run], ids=["asyncio", "trio"])
def test_a_thousand_calls_of_tasks_that_fail(run):
    async def calls(ferry, count):
        for index in range(count):
            deadline = 0.001 if index % 5 == 3 else None
            with pytest.raises(FerryError):
                await failing(ferry.with_options(deadline=deadline), index)

    async def main():
        transport = httpx.MockTransport(service)
        async with httpx.AsyncClient(transport=transport) as http_client:
            ferry = AsyncFerry("t", base_url=URL, http_client=http_client, max_retries=0)
            await calls(ferry, WARM_UP)
            await anyio.sleep(0.2)  # the loop forgets its timers when they are due
            before = used()
            await calls(ferry, 1_000)
            await anyio.sleep(0.2)
            has_not_grown(before, SPARE // 2)

    run(main)


def test_calls_over_sockets(ferry, ferry_sandbox):
    def calls(count):
        for index in range(count):
            ferry.catalogue.vehicle_types()
            if index % 5 == 0:
                ferry.mcp.countries()

    calls(50)
    before, connections = used(), ferry_sandbox.counters.connections
    calls(1_500)
    has_not_grown(before)
    assert ferry_sandbox.counters.connections == connections


@pytest.mark.parametrize("run", [on_asyncio, trio.run], ids=["asyncio", "trio"])
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


def test_calls_with_a_deadline_leave_no_thread(ferry, ferry_sandbox):
    hurried = ferry.with_options(deadline=20)
    for _ in range(50):
        hurried.catalogue.vehicle_types()
    before, connections = used(), ferry_sandbox.counters.connections
    for _ in range(500):
        hurried.catalogue.vehicle_types()
    has_not_grown(before)
    assert ferry_sandbox.counters.connections == connections


def test_calls_whose_connection_is_cut_leave_nothing_open(ferry, ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "catalogue.vehicle_types", times=None)

    def calls(count):
        hurried = ferry.with_options(max_retries=0)
        for _ in range(count):
            with pytest.raises(FerryError):
                hurried.catalogue.vehicle_types()

    calls(50)
    before = used()
    calls(500)
    has_not_grown(before)


def test_clients_that_come_and_go_leave_nothing(ferry_sandbox):
    def clients(count):
        for _ in range(count):
            with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                ferry.catalogue.vehicle_types()

    clients(20)
    before = used()
    clients(100)
    has_not_grown(before)


def test_async_clients_that_come_and_go_leave_nothing(ferry_sandbox):
    async def clients(count):
        for _ in range(count):
            async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                await ferry.catalogue.vehicle_types()

    asyncio.run(clients(20))
    before = used()
    asyncio.run(clients(100))
    has_not_grown(before)


# asyncio complains of a loop that ended before its connections; the client closes them itself.
@pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")
@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
def test_a_client_used_by_many_loops_leaves_nothing(ferry_sandbox):
    ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)

    def loops(count):
        for _ in range(count):
            asyncio.run(_call(ferry))

    loops(20)
    before = used()
    loops(100)
    has_not_grown(before)
    asyncio.run(ferry.aclose())
    gc.collect()


async def _call(ferry):
    await ferry.catalogue.vehicle_types()


def test_errors_that_are_dropped_leave_nothing(ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, deadline=0.3) as ferry:
        ferry_sandbox.faults.add("cut_before", "bookings.confirm", times=None)
        references = []
        for _ in range(3):
            try:
                ferry.bookings.confirm("b-1")
            except OutcomeUnknownError as error:
                references.append(weakref.ref(error))

        def are_gone():
            gc.collect()
            return all(reference() is None for reference in references)

        eventually(are_gone)
        assert len(references) == 3


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
