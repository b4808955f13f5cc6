"""A task cancelled in the middle of a write: it is on record, and what became of it is found."""

import asyncio
import logging
import time
from contextlib import suppress
from functools import partial

import anyio
import pytest

from ferry_sdk import AsyncFerry
from tests.backend.descriptors import connections_to
from tests.backend.gathering import eventually
from tests.backend.notes import Noting
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, found
from tests.transport.scripted import Service, hang


async def by_task(call, when, *, times=1):
    """Cancel a call's task as asyncio does, perhaps twice; a time-out of asyncio does the same."""
    task = asyncio.ensure_future(call())
    while not when():
        assert not task.done(), f"it is over too soon: {task}"
        await asyncio.sleep(0.01)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_scope(call, when):
    """Cancel the scope around a call; a nursery and a time-out of trio do the same."""
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:

            async def cancel():
                while not when():  # noqa: ASYNC110 -- another thread counts
                    await anyio.sleep(0.01)
                scope.cancel()

            group.start_soon(cancel)
            await call()
    assert scope.cancelled_caught


WAYS = {
    "by task": ("asyncio", by_task),
    "in trio": ("trio", by_scope),
    "by task, twice": ("asyncio", partial(by_task, times=2)),
    "by scope": ("asyncio", by_scope),
}


class Stopper:
    """Stops calls of one kind of event loop in one way."""

    def __init__(self, way, portal):
        self.way, self.portal = way, portal

    def __call__(self, call, when):
        self.portal.call(self.way, call, when)


@pytest.fixture(params=mostly_long(WAYS, short=2))
def stop(request):
    loop, way = WAYS[request.param]
    return Stopper(way, request.getfixturevalue(f"{loop}_portal"))


@pytest.fixture
def aferry(ferry_sandbox, noting, stop):
    made = AsyncFerry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
        journal=noting,
    )
    yield made
    stop.portal.call(made.aclose)


def in_doubt(journal):
    """The only entry, once it is on record as unknown: a thread puts it there."""
    eventually(lambda: [one.state for one in journal.unresolved()] == ["unknown"])
    return journal.unresolved()[0]


@pytest.mark.parametrize("protocol", ["REST", "MCP"])
@pytest.mark.parametrize("done", [False, True], ids=["not done yet", "done"])
def test_a_confirmation_is_on_record_and_settled_later(
    stop, aferry, ferry_sandbox, journal, booking_id, warnings, done, protocol
):
    name = "bookings.confirm" if protocol == "REST" else "mcp.confirm_booking"
    method = aferry.bookings.confirm if protocol == "REST" else aferry.mcp.confirm_booking
    hold = Hold(ferry_sandbox, name, replies=done)
    stop(partial(method, booking_id), lambda: hold.held)
    hold.release()
    entry = in_doubt(journal)
    assert entry.operation == name
    (line,) = warnings()
    assert "may have happened" in line
    assert entry.correlation_id in line
    eventually(lambda: ferry_sandbox.counters.effects)
    recovered = stop.portal.call(aferry.recover, entry)
    assert recovered.booking_id == booking_id
    assert recovered.read_back
    assert not journal.unresolved()
    assert journal.entry(entry.id).state == "done"
    assert ferry_sandbox.counters.requests[name] == 1


def test_a_creation_is_on_record_and_not_made_twice(stop, aferry, ferry, ferry_sandbox, journal):
    sailing = found(ferry)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    call = partial(aferry.bookings.create, availabilities=[selection], passengers=PASSENGERS)
    hold = Hold(ferry_sandbox, "bookings.create", replies=True)
    stop(call, lambda: hold.held)
    entry = in_doubt(journal)
    with pytest.raises(Exception, match="may have happened already"):
        stop.portal.call(call)
    assert ferry_sandbox.counters.requests["bookings.create"] == 1
    journal.settle(entry, happened=False)
    assert stop.portal.call(call).booking_id


@pytest.mark.parametrize("moment", ["handshake", "token", "pause", "turn"])
def test_before_the_first_byte_it_is_on_record_as_not_sent(
    stop, aferry, ferry_sandbox, noting, booking_id, caplog, warnings, moment
):
    if moment == "token":
        asked = []

        async def token():
            asked.append(True)
            await anyio.sleep(60)
            return ferry_sandbox.token

        slow = AsyncFerry(token, base_url=ferry_sandbox.base_url, journal=noting)
        stop(partial(slow.bookings.confirm, booking_id), lambda: asked)
    elif moment == "pause":
        ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=20)
        caplog.set_level(logging.INFO, "ferry_sdk")
        stop(partial(aferry.bookings.confirm, booking_id), lambda: "next attempt" in caplog.text)
    else:
        hold = Hold(ferry_sandbox, "mcp.initialize")
        first = None
        if moment == "turn":
            first = stop.portal.start_task_soon(aferry.mcp.countries)
            eventually(lambda: hold.held)
        stop(partial(aferry.mcp.confirm_booking, booking_id), lambda: noting.ids and hold.held)
        hold.release()
        if first is not None:
            assert first.result(20)
    eventually(lambda: noting.states == ["not_sent"])  # a thread puts it there, whatever comes
    assert not ferry_sandbox.counters.effects
    assert not warnings()
    assert stop.portal.call(aferry.bookings.confirm, booking_id).booking_id == booking_id


def test_while_it_connects_it_is_on_record_as_not_sent(stop, noting, warnings):
    # Nobody answers the handshake of TLS, so no request can have left.
    with Service(hang) as service:
        ferry = AsyncFerry("t", base_url=service.secure_url, journal=noting)
        stop(partial(ferry.bookings.confirm, "b-1"), lambda: connections_to(service.secure_url))
        eventually(lambda: noting.states == ["not_sent"])
        assert not warnings()
        stop.portal.call(ferry.aclose)


def test_while_it_is_put_on_record_nothing_stays_open(stop, ferry_sandbox, journal, booking_id):
    began = []

    def beginning():
        began.append(True)
        time.sleep(0.1)

    noting = Noting(journal, beginning)
    ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=noting)
    stop(partial(ferry.bookings.confirm, booking_id), lambda: began)
    eventually(lambda: noting.states == ["not_sent"] and not journal.unresolved())
    assert not ferry_sandbox.counters.requests["bookings.confirm"]
    stop.portal.call(ferry.aclose)


@pytest.mark.parametrize("fault", ["delay_before", "delay_after", "trickle"])
def test_the_next_call_does_not_get_the_reply_of_the_last(
    stop, aferry, ferry_sandbox, new_booking, fault
):
    first, second = new_booking(), new_booking()
    ferry_sandbox.faults.add(fault, "bookings.confirm", seconds=25)
    stop(
        partial(aferry.bookings.confirm, first),
        lambda: ferry_sandbox.counters.requests["bookings.confirm"],
    )
    for _ in range(3):
        assert stop.portal.call(aferry.bookings.get, second).booking_id == second
        assert stop.portal.call(aferry.catalogue.vehicle_types)
    assert stop.portal.call(aferry.bookings.confirm, second).booking_id == second


def test_a_cancelled_handshake_does_not_keep_others_from_theirs(stop, aferry, ferry_sandbox):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    stop(aferry.mcp.countries, lambda: hold.held)
    assert stop.portal.call(aferry.mcp.countries)
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


def test_a_read_back_that_is_cancelled_leaves_the_write_on_record(
    stop, aferry, ferry_sandbox, journal, booking_id, warnings
):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    hold = Hold(ferry_sandbox, "bookings.get")
    stop(partial(aferry.bookings.confirm, booking_id), lambda: hold.held)
    entry = in_doubt(journal)
    assert any(entry.correlation_id in line for line in warnings())
    assert stop.portal.call(aferry.recover, entry).read_back
