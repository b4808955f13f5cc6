"""One async client on one event loop after another, and on several at a time."""

import asyncio
import gc
import weakref
from functools import partial

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
        pytest.param((on_asyncio, on_asyncio, on_asyncio), id="three of asyncio"),
        pytest.param((on_asyncio, on_trio), id="asyncio, then trio"),
        pytest.param((on_trio, on_asyncio), id="trio, then asyncio"),
        pytest.param((on_trio, on_trio), id="two of trio"),
    ],
)
def test_one_loop_after_the_other(ferry, ferry_sandbox, loops):
    assert len({run(journey, ferry) for run in loops}) == 1
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == len(loops)
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1
    gc.collect()


def test_a_connection_serves_its_loop_again(ferry, ferry_sandbox, asyncio_portal):
    asyncio_portal.call(journey, ferry)
    first = ferry_sandbox.counters.connections
    asyncio.run(journey(ferry))
    second = ferry_sandbox.counters.connections
    assert second > first
    asyncio_portal.call(journey, ferry)
    assert ferry_sandbox.counters.connections == second


def test_closing_on_one_loop_closes_all(ferry, ferry_sandbox, asyncio_portal):
    asyncio_portal.call(journey, ferry)
    asyncio.run(journey(ferry))
    assert connections_to(ferry_sandbox.base_url)
    trio.run(ferry.aclose)
    with pytest.raises(ConfigurationError, match="the client is closed"):
        asyncio_portal.call(journey, ferry)
    eventually(lambda: not connections_to(ferry_sandbox.base_url))


async def crowd(ferry):
    """Return the counts of five journeys at the same time."""
    counts = []

    async def travel():
        counts.append(await journey(ferry))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(travel)
    return counts


def crowd_on_asyncio(ferry):
    return on_asyncio(crowd, ferry)


def crowd_on_trio(ferry):
    return on_trio(crowd, ferry)


def short_loops(ferry):
    return {asyncio.run(journey(ferry)) for _ in range(10)}


@pytest.mark.slow
@pytest.mark.usefixtures("quick_switches")
@pytest.mark.parametrize(
    "threads",
    [
        pytest.param([crowd_on_asyncio] * 3 + [crowd_on_trio] * 3, id="crowds"),
        pytest.param([short_loops] * 8, id="short loops"),
    ],
)
def test_loops_in_threads_at_the_same_time(ferry, threads):
    calls = at_once(*[partial(work, ferry) for work in threads])
    counts = [call.value() for call in calls]
    assert len(set().union(*counts)) == 1


def test_waiting_for_another_loops_handshake_ends(ferry, ferry_sandbox, asyncio_portal):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    slow = asyncio_portal.start_task_soon(ferry.mcp.countries)
    eventually(lambda: hold.held)
    other = UnderWay(lambda: trio.run(ferry.mcp.countries))
    hold.release()
    assert other.value() == slow.result(20)
    asyncio_portal.call(ferry.aclose)


def current_loop(run):
    return asyncio.get_running_loop() if run is on_asyncio else trio.lowlevel.current_trio_token()


def run_loops(run, ferry):
    """Call on four loops, one after the other; return weak references to them."""
    loops = []

    async def call():
        loops.append(weakref.ref(current_loop(run)))
        await journey(ferry)

    for _ in range(4):
        run(call)
        gc.collect()
    return loops


@pytest.mark.slow
@each_loop
def test_ended_loops_are_forgotten(ferry, run):
    loops = run_loops(run, ferry)
    assert sum(loop() is not None for loop in loops) <= 1
    on_asyncio(journey, ferry)
    gc.collect()
    assert [loop() for loop in loops] == [None] * 4


@pytest.mark.slow
@each_loop
def test_connections_of_ended_loops_are_closed(ferry, ferry_sandbox, run):
    run_loops(run, ferry)
    assert len(connections_to(ferry_sandbox.base_url)) <= 1, "that of the loop that ended last"
    asyncio.run(ferry.aclose())
    gc.collect()
    assert not connections_to(ferry_sandbox.base_url)


async def leave_asyncio(ferry, hold):
    task = asyncio.ensure_future(ferry.mcp.countries())
    while not hold.held:  # noqa: ASYNC110 -- another thread counts
        await asyncio.sleep(0.01)
    del task


async def leave_trio(ferry, hold):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ferry.mcp.countries)
        while not hold.held:  # noqa: ASYNC110 -- another thread counts
            await trio.sleep(0.01)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("run", "leave"), mostly_long([(on_asyncio, leave_asyncio), (on_trio, leave_trio)])
)
def test_a_loop_left_mid_call_keeps_no_lock(ferry, ferry_sandbox, run, leave):
    # The program leaves its loop while a task still holds the client's lock.
    run(leave, ferry, Hold(ferry_sandbox, "mcp.initialize"))
    call = UnderWay(lambda: asyncio.run(journey(ferry)))
    assert call.value()
    assert call.outcome().seconds < 10
