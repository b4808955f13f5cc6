"""A watch of bookings of the local service, on both clients."""

import threading
from contextlib import aclosing
from datetime import timedelta
from functools import partial

import pytest

from ferry_sdk import ConfigurationError, Ferry
from ferry_sdk._transport.pools import AsyncShared, Shared
from ferry_sdk.aftersales import watch, watcher
from ferry_sdk.aftersales.schedule import Schedule
from ferry_sdk.journal import Journal
from tests.backend.gathering import UnderWay, eventually
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.trip import booked

DAY = 86_400.0


@pytest.fixture
def sandbox(ferry_sandbox, monkeypatch):
    """A service whose clock moves where a watch sleeps, and is the clock of the watch."""
    ferry_sandbox.clock.freeze()

    def sleep(_, seconds, *__):
        ferry_sandbox.clock.advance(seconds + 0.001)  # it counts in microseconds

    async def sleep_async(_, seconds, *__):
        sleep(_, seconds)

    def now():
        return ferry_sandbox.clock.now().timestamp()

    monkeypatch.setattr(Shared, "sleep", sleep)
    monkeypatch.setattr(AsyncShared, "sleep", sleep_async)
    monkeypatch.setattr(watcher, "Schedule", partial(Schedule, now))
    return ferry_sandbox


@pytest.fixture
def events_of(any_clients, sandbox):
    """Return a function that watches bookings and returns the events."""

    def collect(bookings, *, react=lambda _: None, **options):
        client = any_clients(sandbox.token, base_url=sandbox.base_url)
        options = {"deadline": DAY, **options}
        events = []

        async def watch_async():
            async with aclosing(watch(client._target, bookings, **options)) as watched:
                async for event in watched:
                    events.append(event)
                    react(event)

        if any_clients.is_async:
            any_clients.portal.call(watch_async)
            return events
        for event in watch(client, bookings, **options):
            events.append(event)
            react(event)
        return events

    return collect


def kinds(events):
    return sorted((event.booking_id, event.kind) for event in events)


@pytest.mark.slow
def test_watch_outlives_faults_until_all_rest(sandbox, ferry, events_of):
    confirmed, cancelled, left = (booked(ferry) for _ in range(3))
    ferry.bookings.confirm(confirmed.booking_id)
    ferry.bookings.cancel(cancelled.booking_id)
    sandbox.faults.add("server_error", "bookings.get", times=2)
    sandbox.faults.add("rate_limited", "bookings.get", times=2, retry_after=40)
    sandbox.faults.add("not_json", "bookings.get", times=1)
    sandbox.faults.add("cut_before", "bookings.get", times=1)
    events = events_of([confirmed, cancelled.booking_id, left, "no-such-booking"])
    assert kinds(events) == sorted(
        [
            (confirmed.booking_id, "ticketed"),
            (cancelled.booking_id, "voided"),
            (left.booking_id, "lapsing"),
            (left.booking_id, "lapsed"),
            ("no-such-booking", "not_known"),
        ]
    )
    by_kind = {event.kind: event for event in events}
    assert by_kind["ticketed"].booking.tickets[0].ticket_number
    assert by_kind["not_known"].error.status_code == 404
    assert by_kind["lapsed"].before.stage == "payment_due"
    assert sandbox.clock.now() - by_kind["lapsed"].at < timedelta(seconds=5)


def test_journal_repeats_only_an_event_in_doubt(sandbox, ferry, events_of, tmp_path):
    confirmed, other = (booked(ferry).booking_id for _ in range(2))
    bookings = [confirmed, other]
    sandbox.clock.advance(2400)

    def stop(event):
        if event.kind == "ticketed":
            raise InterruptedError

    with Journal(f"sqlite:///{tmp_path / 'ferry.db'}") as journal:
        events = events_of(bookings, deadline=60, journal=journal)
        assert kinds(events) == sorted([(confirmed, "lapsing"), (other, "lapsing")])

        ferry.bookings.confirm(confirmed)
        caught(InterruptedError, events_of, bookings, deadline=60, journal=journal, react=stop)
        (again,) = events_of(bookings, deadline=60, journal=journal)
        assert (again.booking_id, again.kind) == (confirmed, "ticketed")
        assert again.before.stage == "payment_due"
        assert events_of(bookings, deadline=60, journal=journal) == []


class TestClosedClients:
    def test_closing_ends_a_pause(self, ferry_sandbox):
        with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            made = booked(ferry)
        client = Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
        events = watch(client, [made], deadline=DAY)

        def close():
            eventually(lambda: client._transport.shared.resources().closing._callbacks)
            client.close()

        closing = UnderWay(close)
        caught(ConfigurationError, next, events)
        closing.value()

    def test_closed_client_is_refused(self, ferry_sandbox):
        client = Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
        client.close()
        caught(ConfigurationError, next, watch(client, ["b1", "b2"], deadline=5))


def test_interrupted_watch_leaves_no_read_running(sandbox, ferry):
    made = [booked(ferry).booking_id for _ in range(4)]
    hold = Hold(sandbox, "bookings.get", times=3)

    def interrupt(event):
        eventually(lambda: hold.held >= 3)
        raise KeyboardInterrupt

    address = {"base_url": sandbox.base_url}
    with Ferry(sandbox.token, **address, event_hooks={"response": [interrupt]}) as client:
        caught(KeyboardInterrupt, next, watch(client, made, deadline=DAY))
        assert not [one for one in threading.enumerate() if one.name == "ferry_sdk call"]
    hold.release()
