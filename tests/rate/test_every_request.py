"""A limiter is asked before every request, and nothing leaves that it does not let go."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from ferry_sdk import (
    AsyncFerry,
    ConfigurationError,
    Ferry,
    OutcomeUnknownError,
    Rate,
    RequestTimeoutError,
)
from ferry_sdk._engine.limiter import current_request
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox.http.conventions import Conventions
from tests.backend.gathering import UnderWay, eventually
from tests.support.tables import each
from tests.support.trip import DAY, TRAVELLERS, booked


@pytest.fixture
def requests(monkeypatch):
    """The path of every request that the local service got, those that it does not count too."""
    paths = []
    answer = Conventions.__call__

    async def note(self, scope, receive, send):
        paths.append(scope["path"])
        await answer(self, scope, receive, send)

    monkeypatch.setattr(Conventions, "__call__", note)
    return paths


@pytest.fixture
def journal():
    with Journal("sqlite://") as made:
        yield made


@pytest.fixture
def limited(clients, ferry_sandbox):
    """Make clients of the local service with a limiter."""

    def make(limiter, token=None, **settings):
        return clients(
            token or ferry_sandbox.token,
            base_url=ferry_sandbox.base_url,
            limiter=limiter,
            **settings,
        )

    return make


def limiter_of(acquire):
    """Return a limiter that does this when it is asked."""
    return SimpleNamespace(acquire=acquire)


def fail(error):
    raise error


@pytest.fixture
def used_up():
    """A rate without a turn for a minute."""
    rate = Rate("1/minute")
    rate.acquire("the only turn of this minute")
    return rate


class Counting:
    """Lets everything go.

    Attributes:
        asked: What for, in order.
        first: The same, of those that go before all others.
    """

    def __init__(self):
        self.asked: list[str] = []
        self.first: list[str] = []

    def acquire(self, operation):
        self.asked.append(operation)
        if current_request.get().goes_first:
            self.first.append(operation)


class AsyncCounting(Counting):
    async def acquire(self, operation):
        super().acquire(operation)


def read(ferry, sandbox):
    ferry.catalogue.ports()


def retry(ferry, sandbox):
    sandbox.faults.add("server_error", "catalogue.ports", times=2)
    ferry.catalogue.ports()


def resend(ferry, sandbox):
    sandbox.faults.add("unauthorized", "catalogue.ports")
    ferry.catalogue.ports()


def handshake(ferry, sandbox):
    ferry.mcp.ports()


def new_session(ferry, sandbox):
    ferry.mcp.ports()
    sandbox.faults.add("session_expired", "mcp.ports")
    ferry.mcp.ports()


def guard(ferry, sandbox):
    booking = booked(ferry)
    total = ferry.bookings.get(booking.booking_id).total_price
    ferry.bookings.confirm(booking.booking_id, expect_total=total)


def read_back(ferry, sandbox):
    booking = booked(ferry)
    sandbox.faults.add("lose_reply", "bookings.confirm")
    assert ferry.bookings.confirm(booking.booking_id).read_back


def recover(ferry, sandbox):
    booking = booked(ferry)
    sandbox.faults.add("lose_reply", "bookings.confirm")
    sandbox.faults.add("not_json", "bookings.get", times=None)
    with pytest.raises(OutcomeUnknownError) as unknown:
        ferry.bookings.confirm(booking.booking_id)
    sandbox.faults.clear()
    assert ferry.recover(unknown.value).read_back


def wait(ferry, sandbox):
    booking = booked(ferry)
    ferry.bookings.wait(booking.booking_id, until="payment_due", deadline=30)


def voucher(ferry, sandbox):
    ticket_id = ferry.bookings.confirm(booked(ferry).booking_id).ticket_id
    with TemporaryDirectory() as folder:
        ferry.tickets.save_pdf(ticket_id, Path(folder) / "voucher.pdf")


def batch(ferry, sandbox):
    ferry.trips.search("Marseille", "Tunis", on=DAY, passengers=TRAVELLERS)


KINDS = {
    read: ["catalogue.ports"],
    retry: ["catalogue.ports"] * 3,
    resend: ["catalogue.ports"] * 2,
    handshake: ["mcp.ports"] * 3,  # initialize, its notification, the read
    new_session: ["mcp.ports"] * 7,
    guard: ["bookings.get", "bookings.confirm"],
    read_back: ["bookings.confirm", "bookings.get"],
    recover: ["bookings.get"],
    wait: ["bookings.wait"],
    voucher: ["tickets.save_pdf"] * 2,
    batch: ["availability.search"],
}
"""What makes requests, and what the limiter is asked for last."""


@pytest.mark.usefixtures("look_once")
@each("kind", KINDS)
def test_a_limiter_is_asked_as_often_as_the_service(
    clients, limited, ferry_sandbox, requests, kind
):
    requests.clear()
    limiter = AsyncCounting() if clients.is_async else Counting()
    kind(limited(limiter, lambda: ferry_sandbox.token), ferry_sandbox)
    assert len(limiter.asked) == len(requests)
    assert limiter.asked[-len(KINDS[kind]) :] == KINDS[kind]


def test_read_backs_and_handshakes_go_first(limited, ferry_sandbox):
    limiter = Counting()
    ferry = limited(limiter)
    for kind in (read, guard, read_back, handshake):
        kind(ferry, ferry_sandbox)
    assert limiter.first == ["bookings.get", "mcp.ports", "mcp.ports"]


def test_what_a_limiter_raises_reaches_the_caller_and_nothing_leaves(limited, ferry_sandbox):
    ferry = limited(limiter_of(lambda operation: fail(LookupError(operation))))
    for call in (ferry.catalogue.ports, ferry.mcp.ports, partial(ferry.bookings.cancel, "b-1")):
        with pytest.raises(LookupError):
            call()
    assert not ferry_sandbox.counters.connections


def test_a_limiter_that_raises_leaves_the_outcome_of_a_lost_write_unknown(
    limited, ferry_sandbox, journal
):
    def acquire(operation):
        if operation == "bookings.get":
            raise LookupError(operation)

    ferry = limited(limiter_of(acquire), journal=journal)
    booking = booked(ferry)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    with pytest.raises(OutcomeUnknownError) as unknown:
        ferry.bookings.confirm(booking.booking_id)
    assert unknown.value.attempts[-1].problem == "ConfigurationError"
    with pytest.raises(OutcomeUnknownError) as again:
        ferry.recover(unknown.value)
    assert isinstance(again.value.__cause__, ConfigurationError)
    assert isinstance(again.value.__cause__.__cause__, LookupError)
    assert [entry.state for entry in journal.unresolved()] == ["unknown"]


def test_a_write_that_waits_until_its_deadline_is_not_sent(limited, ferry_sandbox, journal):
    ends = threading.Event()
    ferry = limited(limiter_of(lambda _: ends.wait() and None), journal=journal, deadline=0.1)
    try:
        with pytest.raises(RequestTimeoutError) as late:
            ferry.bookings.cancel("b-1")
    finally:
        ends.set()
    assert late.value.outcome == "not_sent"
    eventually(lambda: not journal.unresolved())  # a thread withdraws an entry made too late
    assert not ferry_sandbox.counters.connections


def test_a_write_that_is_interrupted_in_the_line_is_not_sent(ferry_sandbox, journal):
    limiter = limiter_of(lambda _: fail(KeyboardInterrupt()))
    settings = {"base_url": ferry_sandbox.base_url, "limiter": limiter, "journal": journal}
    with Ferry(ferry_sandbox.token, **settings) as ferry, pytest.raises(KeyboardInterrupt):
        ferry.bookings.cancel("b-1")
    assert not journal.unresolved()
    assert not ferry_sandbox.counters.connections


def test_a_deadline_ends_the_wait_for_a_rate(limited, ferry_sandbox, used_up):
    with pytest.raises(RequestTimeoutError) as late:
        limited(used_up, deadline=0.1).catalogue.ports()
    assert late.value.outcome == "not_sent"
    assert not ferry_sandbox.counters.connections


def test_a_limiter_of_ones_own_can_ask_a_rate(limited, ferry_sandbox):
    class Two(Rate):
        def acquire(self, operation):
            asked.append(operation)
            super().acquire(operation)

    asked = []
    ferry = limited(Two("1/minute"))
    ferry.catalogue.ports()
    with pytest.raises(RequestTimeoutError):
        ferry.with_options(deadline=0.3).catalogue.ports()
    assert asked == ["catalogue.ports"] * 2
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 1


@each("limiter", [object(), Counting, "50/second", AsyncCounting()])
def test_a_client_takes_no_limiter_that_it_cannot_ask(limiter):
    with pytest.raises(ConfigurationError, match="limiter: "):
        Ferry("token", base_url="https://ferry.example", limiter=limiter)


def test_an_awaitable_is_not_awaited_by_threads(ferry_sandbox):
    hidden = limiter_of(lambda operation: AsyncCounting().acquire(operation))
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=hidden) as ferry,
        pytest.raises(ConfigurationError, match="AsyncFerry"),
    ):
        ferry.catalogue.ports()


def test_a_hundred_tasks_can_wait_for_a_limiter_that_blocks(ferry_sandbox):
    barrier = threading.Barrier(100)
    limiter = limiter_of(lambda _: barrier.wait() and None)

    async def search_together():
        async with AsyncFerry(
            ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=limiter
        ) as ferry:
            await asyncio.gather(*(ferry.catalogue.vehicle_types() for _ in range(100)))

    asyncio.run(search_together())


def test_a_task_that_is_cancelled_in_the_line_takes_no_turn_and_no_connection(ferry_sandbox):
    rate = Rate("10/second")

    async def search_and_stop():
        async with AsyncFerry(
            ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=rate
        ) as ferry:
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
