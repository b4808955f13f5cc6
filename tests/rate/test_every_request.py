"""A limiter is asked before every request, and nothing leaves that it does not let go."""

import asyncio
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, Rate, errors
from ferry_sdk._engine.limiter import current_request
from ferry_sdk.sandbox.http.conventions import Conventions
from tests.backend.gathering import UnderWay, eventually
from tests.support.exchanges import caught
from tests.support.trip import DAY, TRAVELLERS, booked


class Counting:
    """A limiter that notes what it is asked for: all operations, and those that go first."""

    def __init__(self):
        self.asked = []
        self.first = []

    def acquire(self, operation):
        self.asked.append(operation)
        if current_request.get().goes_first:
            self.first.append(operation)


class AsyncCounting(Counting):
    async def acquire(self, operation):
        super().acquire(operation)


def limiter_of(acquire):
    return SimpleNamespace(acquire=acquire)


def lose_confirmation(ferry, sandbox):
    """Confirm a booking, and return the error of the reply that is lost."""
    booking = booked(ferry)
    sandbox.faults.add("lose_reply", "bookings.confirm")
    return caught(errors.OutcomeUnknownError, ferry.bookings.confirm, booking.booking_id)


@pytest.fixture
def requests(monkeypatch):
    """The paths of the requests that the service has received."""
    paths = []
    answer = Conventions.__call__

    async def note(self, scope, receive, send):
        paths.append(scope["path"])
        await answer(self, scope, receive, send)

    monkeypatch.setattr(Conventions, "__call__", note)
    return paths


@pytest.fixture
def limited(clients, ferry_sandbox):
    """Makes a client with a limiter."""

    def make(limiter, token=None, **settings):
        settings |= {"base_url": ferry_sandbox.base_url, "limiter": limiter}
        return clients(token or ferry_sandbox.token, **settings)

    return make


@pytest.fixture
def used_up():
    """A rate that has no turn for a minute."""
    rate = Rate("1/minute")
    rate.acquire("the only turn of this minute")
    return rate


@pytest.fixture
def limiter(clients):
    return AsyncCounting() if clients.is_async else Counting()


@pytest.fixture
def ferry(limited, limiter, ferry_sandbox):
    """A client with a limiter that counts, and a function that returns its token."""
    return limited(limiter, lambda: ferry_sandbox.token)


@pytest.fixture
def asks(limiter, requests):
    """Checks that a block sends a request for each that its limiter is asked for.

    The last ones are those of the operations that are named.
    """

    @contextmanager
    def check(*operations, first=()):
        for noted in (limiter.asked, limiter.first, requests):
            noted.clear()
        yield
        assert len(limiter.asked) == len(requests)
        assert limiter.asked[-len(operations) :] == [*operations]
        assert limiter.first == [*first]

    return check


def test_a_read_asks_once(ferry, asks):
    with asks("catalogue.ports"):
        ferry.catalogue.ports()


def test_each_retry_asks(ferry, asks, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=2)
    with asks(*["catalogue.ports"] * 3):
        ferry.catalogue.ports()


def test_a_call_with_a_new_token_asks(ferry, asks, ferry_sandbox):
    ferry_sandbox.faults.add("unauthorized", "catalogue.ports")
    with asks(*["catalogue.ports"] * 2):
        ferry.catalogue.ports()


def test_a_handshake_asks_first(ferry, asks):
    with asks(*["mcp.ports"] * 3, first=["mcp.ports"] * 2):  # initialize, initialized, read
        ferry.mcp.ports()


def test_a_handshake_after_an_ended_session_asks_first(ferry, asks, ferry_sandbox):
    ferry.mcp.ports()
    ferry_sandbox.faults.add("session_expired", "mcp.ports")
    with asks(*["mcp.ports"] * 4, first=["mcp.ports"] * 2):  # the read that fails is before them
        ferry.mcp.ports()


def test_a_guard_asks(ferry, asks):
    booking = booked(ferry)
    with asks("bookings.get", "bookings.confirm"):
        ferry.bookings.confirm(booking.booking_id, expect_total=booking.total_price)


@pytest.mark.usefixtures("look_once")
def test_a_read_back_asks_first(ferry, asks, ferry_sandbox):
    booking = booked(ferry)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    with asks("bookings.confirm", "bookings.get", first=["bookings.get"]):
        confirmation = ferry.bookings.confirm(booking.booking_id)
    assert confirmation.read_back


@pytest.mark.usefixtures("look_once")
def test_a_recovery_asks_first(ferry, asks, ferry_sandbox):
    ferry_sandbox.faults.add("not_json", "bookings.get", times=None)
    unknown = lose_confirmation(ferry, ferry_sandbox)
    ferry_sandbox.faults.clear()
    with asks("bookings.get", first=["bookings.get"]):
        assert ferry.recover(unknown).read_back


def test_polling_asks(ferry, asks):
    booking = booked(ferry)
    with asks("bookings.wait"):
        ferry.bookings.wait(booking.booking_id, until="payment_due", deadline=30)


def test_each_part_of_a_download_asks(ferry, asks, tmp_path):
    ticket_id = ferry.bookings.confirm(booked(ferry).booking_id).ticket_id
    with asks(*["tickets.save_pdf"] * 2):
        ferry.tickets.save_pdf(ticket_id, tmp_path / "voucher.pdf")


def test_a_plan_asks(ferry, asks):
    with asks("availability.search", first=["mcp.companies"] * 2):  # the handshake of a read
        ferry.trips.search("Marseille", "Tunis", on=DAY, passengers=TRAVELLERS)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda ferry: ferry.catalogue.ports(), id="REST"),
        pytest.param(lambda ferry: ferry.mcp.ports(), id="MCP"),
        pytest.param(lambda ferry: ferry.bookings.cancel("b-1"), id="a write"),
    ],
)
def test_the_error_of_a_limiter_is_raised(call, limited, ferry_sandbox):
    ferry = limited(limiter_of(Mock(side_effect=LookupError)))
    caught(LookupError, call, ferry)
    assert not ferry_sandbox.counters.connections


def test_a_limiter_may_ask_a_rate(limited, ferry_sandbox):
    asked = []

    class Noting(Rate):
        def acquire(self, operation):
            asked.append(operation)
            super().acquire(operation)

    ferry = limited(Noting("1/minute"))
    ferry.catalogue.ports()
    caught(errors.RequestTimeoutError, ferry.with_options(deadline=0.3).catalogue.ports)
    assert asked == ["catalogue.ports"] * 2
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 1


@pytest.fixture
def unread(limited, ferry_sandbox, journal):
    """A client whose limiter fails before reads of bookings, and the lost write that it made."""

    def acquire(operation):
        if operation == "bookings.get":
            raise LookupError(operation)

    ferry = limited(limiter_of(acquire), journal=journal)
    return ferry, lose_confirmation(ferry, ferry_sandbox)


def test_a_failing_limiter_ends_the_read_back(unread):
    _, unknown = unread
    assert unknown.attempts[-1].problem == "ConfigurationError"


def test_a_failing_limiter_ends_a_recovery(unread):
    ferry, unknown = unread
    again = caught(errors.OutcomeUnknownError, ferry.recover, unknown)
    assert isinstance(again.__cause__, errors.ConfigurationError)
    assert isinstance(again.__cause__.__cause__, LookupError)


def test_a_failing_limiter_leaves_a_write_unknown(unread, journal):
    ferry, unknown = unread
    caught(errors.OutcomeUnknownError, ferry.recover, unknown)
    assert [entry.state for entry in journal.unresolved()] == ["unknown"]


def test_a_write_that_waits_long_is_not_sent(limited, ferry_sandbox, journal):
    ends = threading.Event()
    blocking = limited(limiter_of(lambda _: ends.wait() and None), journal=journal, deadline=0.1)
    try:
        late = caught(errors.RequestTimeoutError, blocking.bookings.cancel, "b-1")
    finally:
        ends.set()
    assert late.outcome == "not_sent"
    eventually(lambda: not journal.unresolved())  # a thread withdraws an entry made too late
    assert not ferry_sandbox.counters.connections


def test_a_read_that_waits_long_is_not_sent(limited, ferry_sandbox, used_up):
    late = caught(errors.RequestTimeoutError, limited(used_up, deadline=0.1).catalogue.ports)
    assert late.outcome == "not_sent"
    assert not ferry_sandbox.counters.connections


def test_a_write_interrupted_while_waiting_is_not_sent(ferry_sandbox, journal):
    limiter = limiter_of(Mock(side_effect=KeyboardInterrupt))
    settings = {"base_url": ferry_sandbox.base_url, "limiter": limiter, "journal": journal}
    with Ferry(ferry_sandbox.token, **settings) as ferry, pytest.raises(KeyboardInterrupt):
        ferry.bookings.cancel("b-1")
    assert not journal.unresolved()
    assert not ferry_sandbox.counters.connections


@pytest.mark.parametrize(
    "limiter",
    [
        pytest.param(object(), id="no acquire"),
        pytest.param(Counting, id="a class"),
        pytest.param("50/second", id="a text"),
        pytest.param(AsyncCounting(), id="async for a sync client"),
    ],
)
def test_an_unusable_limiter_is_refused(limiter):
    with pytest.raises(errors.ConfigurationError, match="limiter: "):
        Ferry("token", base_url="http://localhost", limiter=limiter)


def test_a_hidden_async_limiter_is_refused(ferry_sandbox):
    hidden = limiter_of(lambda operation: AsyncCounting().acquire(operation))
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=hidden) as ferry,
        pytest.raises(errors.ConfigurationError, match="AsyncFerry"),
    ):
        ferry.catalogue.ports()


@pytest.mark.slow
def test_a_plain_limiter_blocks_a_hundred_tasks(ferry_sandbox):
    barrier = threading.Barrier(100)
    limiter = limiter_of(lambda _: barrier.wait() and None)
    settings = {"base_url": ferry_sandbox.base_url, "limiter": limiter}

    async def search_together():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            await asyncio.gather(*(ferry.catalogue.vehicle_types() for _ in range(100)))

    asyncio.run(search_together())


def test_cancelled_tasks_take_no_turns(ferry_sandbox):
    settings = {"base_url": ferry_sandbox.base_url, "limiter": Rate("10/second")}

    async def search_and_stop():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            await ferry.catalogue.vehicle_types()
            tasks = [asyncio.create_task(ferry.catalogue.vehicle_types()) for _ in range(50)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await ferry.catalogue.vehicle_types()
            return sum(task.cancelled() for task in tasks)

    stopped = asyncio.run(search_and_stop())
    assert stopped >= 40
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == 52 - stopped
    assert ferry_sandbox.counters.connections <= 11


@pytest.mark.own_http_client(reason="close leaves the calls of a caller's own client alone")
def test_closing_the_client_ends_the_wait(limited, used_up):
    ferry = limited(used_up)
    call = UnderWay(ferry.catalogue.ports)
    eventually(lambda: used_up._queue()._others)
    ferry.close()
    with pytest.raises(ConfigurationError, match="closed"):
        call.value()
