"""A watch of bookings of the local service, on both clients."""

import os
import signal
import sys
import threading
from contextlib import aclosing
from datetime import timedelta

import pytest

from ferry_sdk import ConfigurationError, Ferry
from ferry_sdk.aftersales import watch
from ferry_sdk.journal import Journal
from tests.backend.gathering import UnderWay, eventually
from tests.support import summer
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.trip import booked

DAY = 86_400.0


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


def test_departures_are_given_until_the_last_ship_left(sandbox, ferry, events_of):
    booking_id = booked(ferry).booking_id
    ferry.bookings.confirm(booking_id)
    sold = ferry.bookings.get(booking_id)
    sandbox.faults.add("departure_moved", "bookings.get", minutes=90)
    sandbox.clock.advance(timedelta(days=20))
    leads = [timedelta(days=1), timedelta(hours=2)]
    options = {"deadline": 15 * DAY, "until": "departure", "remind": leads}
    changed, ticketed, *departing, departed = events_of([sold], **options)
    assert [changed.kind, ticketed.kind, departed.kind] == ["changed", "ticketed", "departed"]
    assert [event.lead for event in departing] == leads
    assert {event.leg for event in departing} == {"Outward"}
    assert sandbox.clock.now() - departed.departs_at < timedelta(seconds=5)


def test_both_tickets_of_a_round_trip_depart(sandbox, ferry, events_of):
    summer.stopped(sandbox)
    sold = summer.booked(ferry, back=True)
    ferry.bookings.confirm(sold.booking_id)
    sandbox.clock.advance(timedelta(days=70))
    events = events_of([sold], deadline=20 * DAY, until="departure")
    assert [event.leg for event in events if event.kind == "departed"] == ["Outward", "Return"]


def test_open_ticket_has_no_departure(sandbox, ferry, events_of, tmp_path):
    summer.stopped(sandbox)
    selections = summer.chosen(ferry.availability.search(**summer.search(out_is_open=True)))
    sold = ferry.bookings.create(availabilities=selections, passengers=[summer.TRAVELLER])
    ferry.bookings.confirm(sold.booking_id)
    with Journal(f"sqlite:///{tmp_path / 'ferry.db'}") as journal:
        options = {"journal": journal, "until": "departure", "remind": [timedelta(days=1)]}
        events = [event.kind for _ in range(5) for event in events_of([sold], **options)]
    assert events == ["ticketed", "not_known"]


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


def threads_of_calls():
    return [thread for thread in threading.enumerate() if thread.name == "ferry_sdk call"]


def test_interrupted_watch_leaves_no_read_running(sandbox, ferry):
    made = [booked(ferry).booking_id for _ in range(4)]
    hold = Hold(sandbox, "bookings.get", times=3)

    def interrupt(event):
        eventually(lambda: hold.held >= 3)
        raise KeyboardInterrupt

    address = {"base_url": sandbox.base_url}
    with Ferry(sandbox.token, **address, event_hooks={"response": [interrupt]}) as client:
        caught(KeyboardInterrupt, next, watch(client, made, deadline=DAY))
        assert not threads_of_calls()
    hold.release()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not wake a wait for a signal")
@pytest.mark.parametrize(
    ("bookings", "method"),
    [
        pytest.param(None, "booking_ids", id="list"),
        pytest.param(["b-1"], "load_snapshots", id="snapshots"),
        pytest.param(["b-1"], "load_departures", id="departures"),
    ],
)
def test_interrupted_watch_does_not_use_its_journal(ferry, monkeypatch, bookings, method):
    released = threading.Event()

    def press(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(30)

    eventually(lambda: not threads_of_calls())  # those of earlier tests
    with Journal("sqlite://") as journal:
        monkeypatch.setattr(journal, method, press)
        options = {"deadline": DAY, "journal": journal, "until": "departure"}
        caught(KeyboardInterrupt, next, watch(ferry, bookings, **options))
        assert not threads_of_calls()
    released.set()
