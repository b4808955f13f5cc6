"""One client in a process and in the children that are forked from it."""

import asyncio
import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry, FerryError, OutcomeUnknownError
from tests.backend.children import Child
from tests.backend.descriptors import connections_to
from tests.backend.gathering import LONG, UnderWay, eventually
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long

pytestmark = [
    pytest.mark.own_http_client(reason="a caller's own client is of one process"),
    # To fork beside other threads is what these tests are about.
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]


def calls(ferry, *, closing=False):
    """Call by both protocols; return how many records they gave."""
    count = len(ferry.catalogue.vehicle_types()) + len(ferry.mcp.countries())
    if closing:
        ferry.close()
    return count


async def async_calls(ferry, *, closing=False):
    count = len(await ferry.catalogue.vehicle_types()) + len(await ferry.mcp.countries())
    if closing:
        await ferry.aclose()
    return count


def recover(settings, is_async, error):
    async def recover_async():
        async with AsyncFerry(**settings) as ferry:
            return await ferry.recover(error)

    if is_async:
        return asyncio.run(recover_async())
    with Ferry(**settings) as ferry:
        return ferry.recover(error)


@pytest.fixture
def aferry(ferry_sandbox):
    made = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    yield made
    asyncio.run(made.aclose())


def test_a_child_has_connections_of_its_own(ferry, ferry_sandbox):
    before = calls(ferry)
    connections = ferry_sandbox.counters.connections
    own = connections_to(ferry_sandbox.base_url)
    for number, closing in enumerate((False, True, True), 1):
        assert Child(partial(calls, ferry, closing=closing)).result() == before
        assert ferry_sandbox.counters.connections == connections + number
        assert calls(ferry) == before
        assert connections_to(ferry_sandbox.base_url) == own
        assert ferry_sandbox.counters.connections == connections + number


def test_a_client_cannot_be_pickled(ferry):
    calls(ferry)
    caught(TypeError, pickle.dumps, ferry)


def test_children_call_at_the_same_time(ferry):
    expected = 5 * calls(ferry)

    def five():
        return sum(calls(ferry) for _ in range(5))

    forked = [Child(five) for _ in range(4)]
    assert five() == expected
    assert [child.result() for child in forked] == [expected] * 4
    assert five() == expected


def test_a_child_uses_a_view_first(ferry):
    view = ferry.with_options(language="fr", deadline=20)
    assert Child(lambda: calls(view)).result() == calls(view)


def test_a_child_forks_a_child(ferry):
    def child():
        return calls(ferry), Child(lambda: calls(ferry, closing=True)).result(), calls(ferry)

    assert Child(child).result() == (calls(ferry),) * 3


def test_a_fork_while_a_thread_holds_the_lock(ferry, ferry_sandbox):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    slow = UnderWay(ferry.mcp.countries)
    eventually(lambda: hold.held)
    assert Child(lambda: calls(ferry)).result()
    hold.release()
    assert slow.value() == ferry.mcp.countries()


def test_a_fork_while_a_thread_confirms(ferry, ferry_sandbox, booking_id):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)
    slow = UnderWay(lambda: ferry.bookings.confirm(booking_id))
    eventually(lambda: hold.held)

    def confirm_again():
        try:
            ferry.bookings.confirm(booking_id)
        except FerryError as error:
            return type(error).__name__
        return "done"

    assert Child(confirm_again).result() == "AlreadyDoneError"
    hold.release()
    assert slow.value().booking_id == booking_id


def test_a_fork_while_a_thread_gets_a_token(ferry_sandbox):
    is_asked = threading.Event()
    may_go_on = threading.Event()

    def token():
        is_asked.set()
        eventually(may_go_on.is_set)
        return ferry_sandbox.token

    with Ferry(token, base_url=ferry_sandbox.base_url) as ferry:
        slow = UnderWay(lambda: calls(ferry))
        assert is_asked.wait(LONG)  # what a thread imports at the fork, no child can import

        def child():
            may_go_on.set()  # the child's own copy of the event
            return calls(ferry)

        assert Child(child).result()
        may_go_on.set()
        assert slow.value() == calls(ferry)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_an_async_client_goes_on_in_both(aferry, ferry_sandbox, loop, asyncio_portal):
    expected = asyncio_portal.call(async_calls, aferry)
    connections = ferry_sandbox.counters.connections
    for closing in (False, True):
        work = partial(async_calls, aferry, closing=closing)
        assert Child(partial(anyio.run, work, backend=loop)).result() == expected
    assert ferry_sandbox.counters.connections == connections + 2
    assert asyncio_portal.call(async_calls, aferry) == expected
    assert ferry_sandbox.counters.connections == connections + 2
    asyncio_portal.call(aferry.aclose)


def test_a_child_that_closes_cuts_nothing_in_flight(ferry, aferry, ferry_sandbox, asyncio_portal):
    hold = Hold(ferry_sandbox, "catalogue.vehicle_types", times=2)
    slow = [
        UnderWay(ferry.catalogue.vehicle_types),
        UnderWay(lambda: asyncio_portal.call(aferry.catalogue.vehicle_types)),
    ]
    eventually(lambda: hold.held == 2)

    def close():
        ferry.close()
        asyncio.run(aferry.aclose())

    Child(close).result()
    hold.release()
    assert all(call.value() for call in slow)
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == 2
    asyncio_portal.call(aferry.aclose)


@pytest.mark.usefixtures("look_once")
@pytest.mark.parametrize("is_async", mostly_long([False, True]))
@pytest.mark.parametrize("start", mostly_long(["fork", "spawn", "forkserver"]))
def test_another_process_recovers_an_unknown_outcome(
    ferry, ferry_sandbox, booking_id, start, is_async
):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    error = caught(OutcomeUnknownError, ferry.bookings.confirm, booking_id)
    ferry_sandbox.faults.clear()
    settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        confirmation = pool.submit(recover, settings, is_async, error).result(40)
    assert confirmation.booking_id == booking_id
    assert confirmation.read_back
    assert len(ferry_sandbox.counters.effects) == 1
