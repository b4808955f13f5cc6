"""A write that is stopped half-way is in the journal, and its outcome can be read later."""

import concurrent.futures
import gc
import logging
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry, UnresolvedWriteError
from ferry_sdk._engine import outcomes
from ferry_sdk._runtime import threads as runtime_threads
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually, threads_end
from tests.backend.notes import Noting
from tests.backend.stops import WAYS, Stopper, by_scope
from tests.backend.test_interrupted_lines import Interruption
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, selected
from tests.transport.scripted import Service, hang, in_turn, read_bytes, serve


@pytest.fixture(params=mostly_long(WAYS, short=4))
def stop(request, ferry_sandbox, noting):
    """Stops calls of a client of the local service, whose journal notes its entries."""
    loop, cancel, options = WAYS[request.param]
    portal = None
    if loop is not None:
        portal = request.getfixturevalue(f"{loop}_portal")

    stopper = Stopper(cancel, portal, options)
    yield stopper.make(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
        journal=noting,
    )
    stopper.close()


def states_of(entries):
    return [entry.state for entry in entries]


def unknown_entry(stop, journal):
    """Return the only unresolved entry of a write that was stopped."""
    stop.assert_afterwards(lambda: states_of(journal.unresolved()) == ["unknown"])
    return journal.unresolved()[0]


@pytest.mark.parametrize("name", ["bookings.confirm", "mcp.confirm_booking"])
@pytest.mark.parametrize("done", [False, True], ids=["not done yet", "done"])
def test_stopped_confirmation_is_settled_later(
    stop, ferry_sandbox, journal, booking_id, warnings, done, name
):
    confirm = attrgetter(name)
    hold = Hold(ferry_sandbox, name, replies=done)

    stop(lambda ferry: confirm(ferry)(booking_id), lambda: hold.held)
    hold.release()

    entry = unknown_entry(stop, journal)
    assert entry.operation == name
    (line,) = warnings()
    assert "may have happened" in line
    assert entry.correlation_id in line

    eventually(lambda: ferry_sandbox.counters.effects)
    recovered = stop.ferry.recover(entry)
    assert recovered.booking_id == booking_id
    assert recovered.read_back
    assert not journal.unresolved()
    assert journal.entry(entry.id).state == "done"
    assert ferry_sandbox.counters.requests[name] == 1


def test_stopped_creation_is_not_repeated(stop, ferry, ferry_sandbox, journal):
    selection = selected(ferry)
    hold = Hold(ferry_sandbox, "bookings.create", replies=True)

    def create(ferry):
        return ferry.bookings.create(availabilities=[selection], passengers=PASSENGERS)

    stop(create, lambda: hold.held)
    entry = unknown_entry(stop, journal)
    assert "may have happened already" in str(caught(UnresolvedWriteError, create, stop.ferry))
    assert ferry_sandbox.counters.requests["bookings.create"] == 1

    journal.settle(entry, happened=False)
    assert create(stop.ferry).booking_id


@pytest.fixture
def check_not_sent(stop, ferry_sandbox, noting, booking_id, warnings):
    """Checks that a confirmation was stopped before its first byte left, and can be made."""

    def check():
        stop.assert_afterwards(lambda: noting.states == ["not_sent"])
        assert not ferry_sandbox.counters.effects
        assert not warnings()
        assert stop.ferry.bookings.confirm(booking_id).booking_id == booking_id

    return check


def test_write_stopped_in_a_pause_is_not_sent(
    stop, ferry_sandbox, booking_id, caplog, check_not_sent
):
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=15)
    caplog.set_level(logging.INFO, "ferry_sdk")

    stop(lambda ferry: ferry.bookings.confirm(booking_id), lambda: "next attempt" in caplog.text)
    ferry_sandbox.faults.clear()

    check_not_sent()


@pytest.mark.parametrize("stop", mostly_long(WAYS), indirect=True)
def test_write_stopped_in_its_handshake_is_not_sent(
    stop, ferry_sandbox, noting, booking_id, check_not_sent
):
    hold = Hold(ferry_sandbox, "mcp.initialize")

    stop(lambda ferry: ferry.mcp.confirm_booking(booking_id), lambda: noting.ids and hold.held)
    hold.release()

    check_not_sent()


@pytest.mark.parametrize("stop", mostly_long(WAYS), indirect=True)
def test_write_stopped_before_its_turn_is_not_sent(
    stop, ferry_sandbox, noting, booking_id, check_not_sent
):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    call_before = UnderWay(stop.ferry.mcp.countries)
    eventually(lambda: hold.held)

    stop(lambda ferry: ferry.mcp.confirm_booking(booking_id), lambda: noting.ids and hold.held)
    hold.release()

    assert call_before.value()
    check_not_sent()


# The socket of a TLS handshake that is interrupted is known to nobody yet.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
def test_write_stopped_while_connecting_is_not_sent(stop, noting, warnings):
    # Nobody answers the handshake of TLS, so no request can have left.
    with Service(in_turn(read_bytes(1), hang)) as service:
        stop.make("t", base_url=service.secure_url, journal=noting)

        stop(lambda ferry: ferry.bookings.confirm("b-1"), lambda: service.heard)

        stop.assert_afterwards(lambda: noting.states == ["not_sent"])
        assert not warnings()
        stop.ferry.close()


@pytest.fixture
def stop_confirmation(portal, ferry_sandbox, booking_id):
    """Cancels a confirmation of an async client with a token and a journal."""
    clients = []

    def stop(token, journal, when):
        ferry = AsyncFerry(token, base_url=ferry_sandbox.base_url, journal=journal)
        clients.append(ferry)
        portal.call(by_scope, partial(ferry.bookings.confirm, booking_id), when)

    yield stop
    for ferry in clients:
        portal.call(ferry.aclose)


def test_write_stopped_before_its_token_is_not_sent(ferry_sandbox, journal, stop_confirmation):
    noting = Noting(journal)
    is_asked = threading.Event()

    async def token():
        is_asked.set()
        await anyio.sleep(60)
        return ferry_sandbox.token

    stop_confirmation(token, noting, is_asked.is_set)

    eventually(lambda: noting.states == ["not_sent"] and not journal.unresolved())
    assert not ferry_sandbox.counters.requests["bookings.confirm"]


def test_write_stopped_before_its_record_is_not_sent(ferry_sandbox, journal, stop_confirmation):
    is_asked = threading.Event()

    def beginning():
        is_asked.set()
        time.sleep(0.1)

    noting = Noting(journal, beginning)
    stop_confirmation(ferry_sandbox.token, noting, is_asked.is_set)

    eventually(lambda: noting.states == ["not_sent"] and not journal.unresolved())
    assert not ferry_sandbox.counters.requests["bookings.confirm"]


@pytest.mark.parametrize("fault", ["delay_before", "delay_after", "trickle"])
def test_call_after_a_stop_gets_its_own_reply(stop, ferry_sandbox, new_booking, fault):
    stopped_id = new_booking()
    next_id = new_booking()
    ferry_sandbox.faults.add(fault, "bookings.confirm", seconds=25)

    stop(
        lambda ferry: ferry.bookings.confirm(stopped_id),
        lambda: ferry_sandbox.counters.requests["bookings.confirm"],
    )

    for _ in range(3):
        assert stop.ferry.bookings.get(next_id).booking_id == next_id
        assert stop.ferry.catalogue.vehicle_types()
    assert stop.ferry.bookings.confirm(next_id).booking_id == next_id


def test_stopped_handshake_is_made_again(stop, ferry_sandbox):
    hold = Hold(ferry_sandbox, "mcp.initialize")

    stop(lambda ferry: ferry.mcp.countries(), lambda: hold.held)

    assert stop.ferry.mcp.countries()
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


def test_write_with_a_stopped_read_back_stays_unknown(
    stop, ferry_sandbox, journal, booking_id, warnings
):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    hold = Hold(ferry_sandbox, "bookings.get")

    stop(lambda ferry: ferry.bookings.confirm(booking_id), lambda: hold.held)

    entry = unknown_entry(stop, journal)
    assert any(entry.correlation_id in line for line in warnings())
    hold.release()
    assert stop.ferry.recover(entry).read_back


def test_stopped_follower_does_not_stop_its_leader(stop, ferry_sandbox, noting, booking_id, joined):
    hold = Hold(ferry_sandbox, "bookings.confirm")
    leader = UnderWay(lambda: stop.ferry.bookings.confirm(booking_id))
    eventually(lambda: hold.held)

    stop(lambda ferry: ferry.bookings.confirm(booking_id), lambda: joined)
    assert not leader.is_over

    hold.release()
    assert leader.value().booking_id == booking_id
    assert not leader.value().read_back
    assert noting.states == ["done"]
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize("done", [True, False], ids=["done", "not done yet"])
def test_follower_of_a_stopped_leader_reads_back(stop, ferry_sandbox, booking_id, joined, done):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=done)
    followers = []

    def has_follower():
        if hold.held and not followers:
            followers.append(UnderWay(lambda: stop.ferry.bookings.confirm(booking_id)))
        return joined

    stop(lambda ferry: ferry.bookings.confirm(booking_id), has_follower)
    hold.release()

    confirmation = followers[0].value()
    assert confirmation.booking_id == booking_id
    assert confirmation.read_back
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    assert len(ferry_sandbox.counters.effects) == 1


class CountingJournal:
    """A journal that only counts the writes that begin.

    Attributes:
        begun: How many have begun.
    """

    def __init__(self):
        self.begun = 0

    def begin(self, intent):
        self.begun += 1
        return str(self.begun)

    def end(self, entry_id, state):
        """Accept any outcome."""


@contextmanager
def confirming_client():
    """Yield a call in a thread of its own, its journal and its service; one call was made."""
    journal = CountingJournal()
    with (
        Service(serve) as service,
        Ferry("t", base_url=service.url, journal=journal, deadline=60) as ferry,
    ):
        ferry.bookings.confirm("b-1")
        yield lambda: ferry.bookings.confirm("b-1"), journal, service
    threads_end()


def test_interrupted_start_leaves_no_thread(record_property):
    files = (threading.__file__, concurrent.futures.__path__[0], runtime_threads.__file__)
    with confirming_client() as (confirm, journal, _):

        def interrupt_each_line():
            """Interrupt one call at each line that starts its thread; return how many there are."""
            number = 0
            while True:
                interruption = Interruption(number, KeyboardInterrupt, files)
                interruption.left()
                with suppress(KeyboardInterrupt), interruption:
                    confirm()
                assert journal.begun <= number + 2
                if interruption.where is None:
                    return number
                number += 1

        # In a thread that ends: an interruption in a handler may leave its error there, as the
        # context of every later one.
        lines = UnderWay(interrupt_each_line).value()

    assert lines > 20
    record_property("lines at which the start of a thread was interrupted", lines)


class Alarm:
    """Interrupts the main thread at a moment of a call.

    A signal that comes late, after the call has ended, raises nothing.
    """

    def __init__(self):
        self._is_armed = False

    def __enter__(self):
        self._handler_before = signal.signal(signal.SIGALRM, self._interrupt)
        return self

    def __exit__(self, *_):
        self._is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler_before)

    def interrupts(self, call, seconds):
        """Make a call, and return whether the alarm interrupted it after so many seconds."""
        try:
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call()
            self._is_armed = False
        except KeyboardInterrupt:
            return True
        return False

    def _interrupt(self, *_):
        if self._is_armed:
            self._is_armed = False
            raise KeyboardInterrupt


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal")
@pytest.mark.timeout(1800)  # thousands of calls
# What was being connected is closed by the collector, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("signals", mostly_long([100, 4_000], ids=str))
def test_signals_at_any_moment_repeat_nothing(signals, record_property):
    moments = random.Random(7)  # noqa: S311 -- no secret
    calls = 0
    interruptions = 0
    with Alarm() as alarm, confirming_client() as (confirm, journal, service):
        began_at = time.monotonic()
        confirm()
        seconds = time.monotonic() - began_at

        while interruptions < signals:
            calls += 1
            interruptions += alarm.interrupts(confirm, moments.uniform(1e-5, seconds))

        gc.collect()
        eventually(lambda: len(connections_to(service.url)) <= 1)

    assert journal.begun <= calls + 2
    gc.collect()  # what is left says so in this test, not in a later one
    record_property("signals in calls with a deadline", interruptions)


class LateEnd:
    """A journal that records no outcome before the test lets it.

    Attributes:
        may_go_on: Set by the test.
    """

    def __init__(self, journal):
        self._journal = journal
        self.may_go_on = threading.Event()
        self.begin = journal.begin

    def end(self, entry_id, state, details=None):
        self.may_go_on.wait()
        self._journal.end(entry_id, state, details)


@pytest.fixture
def late_end(journal, monkeypatch):
    """A journal that records outcomes late; a call that is stopped waits 0.2 s for it."""
    monkeypatch.setattr(outcomes, "_AFTER_INTERRUPTION", 0.2)
    late = LateEnd(journal)
    yield late
    late.may_go_on.set()


def test_late_record_delays_no_stopped_call(stop, ferry_sandbox, journal, booking_id, late_end):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)

    def confirm(ferry):
        return ferry.with_options(journal=late_end).bookings.confirm(booking_id)

    stop(confirm, lambda: hold.held)  # it returns while the record still waits
    hold.release()
    assert states_of(journal.unresolved()) == ["open"]

    late_end.may_go_on.set()
    eventually(lambda: states_of(journal.unresolved()) == ["unknown"])
