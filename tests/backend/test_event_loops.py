"""One async client on one event loop after another, and on several at a time."""

import asyncio
import gc
import weakref

import anyio
import pytest
import trio

from ferry_sdk import AsyncFerry, ConfigurationError
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support.hold import Hold
from tests.support.tiers import mostly_long

pytestmark = [
    pytest.mark.own_http_client(reason="a caller's own client is of one event loop"),
    # asyncio complains of a loop that ended before its connections; the client closes them itself.
    pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning"),
]


@pytest.fixture
def ferry(ferry_sandbox):
    made = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    yield made
    asyncio.run(made.aclose())
    del made
    gc.collect()  # what was not closed complains in this test


def on_asyncio(work, *args):
    return asyncio.run(work(*args))


on_trio = trio.run
each_loop = pytest.mark.parametrize("run", mostly_long([on_asyncio, on_trio]))


async def journey(ferry):
    return len(await ferry.catalogue.vehicle_types()) + len(await ferry.mcp.countries())


@pytest.mark.parametrize(
    "loops",
    [
        *((on_asyncio, on_asyncio, on_asyncio), (on_asyncio, on_trio)),
        *((on_trio, on_asyncio), (on_trio, on_trio)),
    ],
)
def test_one_loop_after_the_other(ferry, ferry_sandbox, loops):
    assert len({run(journey, ferry) for run in loops}) == 1
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == len(loops)
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1
    gc.collect()


def test_a_connection_serves_its_loop_and_closes_on_all(ferry, ferry_sandbox, asyncio_portal):
    asyncio_portal.call(journey, ferry)
    first = ferry_sandbox.counters.connections
    asyncio.run(journey(ferry))
    second = ferry_sandbox.counters.connections
    assert second > first
    asyncio_portal.call(journey, ferry)
    assert ferry_sandbox.counters.connections == second
    assert connections_to(ferry_sandbox.base_url)
    trio.run(ferry.aclose)
    with pytest.raises(ConfigurationError, match="the client is closed"):
        asyncio_portal.call(journey, ferry)
    eventually(lambda: not connections_to(ferry_sandbox.base_url))


@pytest.mark.usefixtures("quick_switches")
def test_loops_in_threads_at_the_same_time(ferry):
    async def crowd():
        counts = []

        async def one():
            counts.append(await journey(ferry))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
        return counts

    def short_loops():
        return {asyncio.run(journey(ferry)) for _ in range(10)}

    crowds = [lambda: on_asyncio(crowd)] * 3, [lambda: on_trio(crowd)] * 3
    for work in (crowds[0] + crowds[1], [short_loops] * 8):
        counts = [call.value() for call in at_once(*work)]
        assert len(set().union(*counts)) == 1


def test_a_handshake_of_another_loop_is_not_waited_for_in_vain(
    ferry, ferry_sandbox, asyncio_portal
):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    slow = asyncio_portal.start_task_soon(ferry.mcp.countries)
    eventually(lambda: hold.held)
    other = UnderWay(lambda: trio.run(ferry.mcp.countries))
    hold.release()
    assert other.value() == slow.result(20)
    asyncio_portal.call(ferry.aclose)


@each_loop
def test_ended_loops_and_their_connections_are_forgotten(ferry, ferry_sandbox, run):
    loops = []

    async def call():
        is_asyncio = run is on_asyncio
        loop = asyncio.get_running_loop() if is_asyncio else trio.lowlevel.current_trio_token()
        loops.append(weakref.ref(loop))
        await journey(ferry)

    for _ in range(4):
        run(call)
        gc.collect()
    assert sum(loop() is not None for loop in loops) <= 1
    assert len(connections_to(ferry_sandbox.base_url)) <= 1  # of the loop that ended last
    on_asyncio(journey, ferry)
    gc.collect()
    assert [loop() for loop in loops] == [None] * 4
    asyncio.run(ferry.aclose())
    gc.collect()
    assert not connections_to(ferry_sandbox.base_url)


@each_loop
def test_a_loop_of_which_a_call_is_cut_off_leaves_the_client_whole(ferry, ferry_sandbox, run):
    # The program leaves its loop while a task still holds the client's lock.
    hold = Hold(ferry_sandbox, "mcp.initialize")

    async def leave():
        if run is on_asyncio:
            task = asyncio.ensure_future(ferry.mcp.countries())
            while not hold.held:  # noqa: ASYNC110 -- another thread counts
                await asyncio.sleep(0.01)
            del task
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ferry.mcp.countries)
            while not hold.held:  # noqa: ASYNC110 -- another thread counts
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    run(leave)
    call = UnderWay(lambda: asyncio.run(journey(ferry)))
    assert call.value()
    assert call.outcome().seconds < 10
