"""A limiter is asked before every request, and nothing leaves that it does not let go."""

import asyncio
import threading
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, Rate, errors
from ferry_sdk._engine.limiter import current_request
from ferry_sdk.sandbox.http.conventions import Conventions
from tests.backend.gathering import UnderWay, eventually
from tests.support.exchanges import caught
from tests.support.trip import DAY, TRAVELLERS, booked


@pytest.fixture
def requests(monkeypatch):
    paths = []
    answer = Conventions.__call__

    async def note(self, scope, receive, send):
        paths.append(scope["path"])
        await answer(self, scope, receive, send)

    monkeypatch.setattr(Conventions, "__call__", note)
    return paths


@pytest.fixture
def limited(clients, ferry_sandbox):
    def make(limiter, token=None, **settings):
        settings |= {"base_url": ferry_sandbox.base_url, "limiter": limiter}
        return clients(token or ferry_sandbox.token, **settings)

    return make


def limiter_of(acquire):
    return SimpleNamespace(acquire=acquire)


@pytest.fixture
def used_up():
    rate = Rate("1/minute")
    rate.acquire("the only turn of this minute")
    return rate


class Counting:
    def __init__(self):
        self.asked, self.first = [], []

    def acquire(self, operation):
        self.asked.append(operation)
        if current_request.get().goes_first:
            self.first.append(operation)


class AsyncCounting(Counting):
    async def acquire(self, operation):
        super().acquire(operation)


def lost(ferry, sandbox):
    booking = booked(ferry)
    sandbox.faults.add("lose_reply", "bookings.confirm")
    return caught(errors.OutcomeUnknownError, ferry.bookings.confirm, booking.booking_id)


@pytest.mark.usefixtures("look_once")
def test_a_limiter_is_asked_before_each_request(
    clients, limited, ferry_sandbox, requests, tmp_path
):
    limiter = AsyncCounting() if clients.is_async else Counting()
    ferry = limited(limiter, lambda: ferry_sandbox.token)
    faults = ferry_sandbox.faults

    @contextmanager
    def asks(*operations, first=()):
        for seen in (limiter.asked, limiter.first, requests):
            seen.clear()
        yield
        assert len(limiter.asked) == len(requests), operations
        assert limiter.asked[-len(operations) :] == [*operations]
        assert limiter.first == [*first], operations

    with asks("catalogue.ports"):
        ferry.catalogue.ports()
    with asks(*["catalogue.ports"] * 3):
        faults.add("server_error", "catalogue.ports", times=2)
        ferry.catalogue.ports()
    with asks(*["catalogue.ports"] * 2):
        faults.add("unauthorized", "catalogue.ports")
        ferry.catalogue.ports()
    with asks(*["mcp.ports"] * 3, first=["mcp.ports"] * 2):  # initialize, initialized, read
        ferry.mcp.ports()
    with asks(*["mcp.ports"] * 4, first=["mcp.ports"] * 2):  # the read of a session that has ended
        faults.add("session_expired", "mcp.ports")
        ferry.mcp.ports()
    booking = booked(ferry)
    with asks("bookings.get", "bookings.confirm"):
        ferry.bookings.confirm(booking.booking_id, expect_total=booking.total_price)
    booking = booked(ferry)
    with asks("bookings.confirm", "bookings.get", first=["bookings.get"]):
        faults.add("lose_reply", "bookings.confirm")
        confirmation = ferry.bookings.confirm(booking.booking_id)
    assert confirmation.read_back
    faults.add("not_json", "bookings.get", times=None)
    unknown = lost(ferry, ferry_sandbox)
    faults.clear()
    with asks("bookings.get", first=["bookings.get"]):
        assert ferry.recover(unknown).read_back
    booking = booked(ferry)
    with asks("bookings.wait"):
        ferry.bookings.wait(booking.booking_id, until="payment_due", deadline=30)
    ticket_id = ferry.bookings.confirm(booking.booking_id).ticket_id
    with asks(*["tickets.save_pdf"] * 2):
        ferry.tickets.save_pdf(ticket_id, tmp_path / "voucher.pdf")
    with asks("availability.search"):
        ferry.trips.search("Marseille", "Tunis", on=DAY, passengers=TRAVELLERS)


def test_what_a_limiter_raises_is_raised_and_it_may_ask_a_rate(limited, ferry_sandbox):
    ferry = limited(limiter_of(Mock(side_effect=LookupError)))
    for call in (ferry.catalogue.ports, ferry.mcp.ports, partial(ferry.bookings.cancel, "b-1")):
        caught(LookupError, call)
    assert not ferry_sandbox.counters.connections

    class Two(Rate):
        def acquire(self, operation):
            asked.append(operation)
            super().acquire(operation)

    asked = []
    ferry = limited(Two("1/minute"))
    ferry.catalogue.ports()
    caught(errors.RequestTimeoutError, ferry.with_options(deadline=0.3).catalogue.ports)
    assert asked == ["catalogue.ports"] * 2
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 1


def test_a_limiter_that_raises_leaves_a_lost_write_unknown(limited, ferry_sandbox, journal):
    def acquire(operation):
        if operation == "bookings.get":
            raise LookupError(operation)

    ferry = limited(limiter_of(acquire), journal=journal)
    unknown = lost(ferry, ferry_sandbox)
    assert unknown.attempts[-1].problem == "ConfigurationError"
    again = caught(errors.OutcomeUnknownError, ferry.recover, unknown)
    assert isinstance(again.__cause__, errors.ConfigurationError)
    assert isinstance(again.__cause__.__cause__, LookupError)
    assert [entry.state for entry in journal.unresolved()] == ["unknown"]


def test_what_waits_until_its_deadline_is_not_sent(limited, ferry_sandbox, journal, used_up):
    ends = threading.Event()
    blocking = limited(limiter_of(lambda _: ends.wait() and None), journal=journal, deadline=0.1)
    try:
        late = caught(errors.RequestTimeoutError, blocking.bookings.cancel, "b-1")
    finally:
        ends.set()
    assert late.outcome == "not_sent"
    eventually(lambda: not journal.unresolved())  # a thread withdraws an entry made too late
    late = caught(errors.RequestTimeoutError, limited(used_up, deadline=0.1).catalogue.ports)
    assert late.outcome == "not_sent"
    assert not ferry_sandbox.counters.connections


def test_a_write_that_is_interrupted_in_the_line_is_not_sent(ferry_sandbox, journal):
    limiter = limiter_of(Mock(side_effect=KeyboardInterrupt))
    settings = {"base_url": ferry_sandbox.base_url, "limiter": limiter, "journal": journal}
    with Ferry(ferry_sandbox.token, **settings) as ferry, pytest.raises(KeyboardInterrupt):
        ferry.bookings.cancel("b-1")
    assert not journal.unresolved()
    assert not ferry_sandbox.counters.connections


def test_a_client_takes_a_limiter_that_it_can_ask_for_a_hundred_tasks(ferry_sandbox):
    settings = {"base_url": ferry_sandbox.base_url}
    for limiter in (object(), Counting, "50/second", AsyncCounting()):
        with pytest.raises(errors.ConfigurationError, match="limiter: "):
            Ferry("token", **settings, limiter=limiter)
    hidden = limiter_of(lambda operation: AsyncCounting().acquire(operation))
    with (
        Ferry(ferry_sandbox.token, **settings, limiter=hidden) as ferry,
        pytest.raises(errors.ConfigurationError, match="AsyncFerry"),
    ):
        ferry.catalogue.ports()
    barrier = threading.Barrier(100)
    settings["limiter"] = limiter_of(lambda _: barrier.wait() and None)

    async def search_together():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            await asyncio.gather(*(ferry.catalogue.vehicle_types() for _ in range(100)))

    asyncio.run(search_together())


def test_a_task_that_is_cancelled_in_the_line_takes_no_turn_and_no_connection(ferry_sandbox):
    settings = {"base_url": ferry_sandbox.base_url, "limiter": Rate("10/second")}

    async def search_and_stop():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            await ferry.catalogue.vehicle_types()
            tasks = [asyncio.create_task(ferry.catalogue.vehicle_types()) for _ in range(50)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            stopped = sum(task.cancelled() for task in tasks)
            await ferry.catalogue.vehicle_types()
            assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == 52 - stopped
            assert stopped >= 40

    asyncio.run(search_and_stop())
    assert ferry_sandbox.counters.connections <= 11


@pytest.mark.own_http_client(reason="close leaves the calls of a caller's own client alone")
def test_closing_the_client_ends_the_wait(limited, used_up):
    ferry = limited(used_up)
    call = UnderWay(ferry.catalogue.ports)
    eventually(lambda: used_up._queue()._others)
    ferry.close()
    with pytest.raises(ConfigurationError, match="closed"):
        call.value()
