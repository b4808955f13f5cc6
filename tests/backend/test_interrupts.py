"""Ctrl-C in the middle of a write: it is on record, and what became of it is found."""

import concurrent.futures
import gc
import logging
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from ferry_sdk import Ferry
from ferry_sdk._runtime import threads as runtime_threads
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually, threads_end
from tests.backend.test_interrupted_lines import Interruption
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.transport.scripted import Service, hang, in_turn, read_bytes, serve


@pytest.fixture(params=[None, 20], ids=["no deadline", "deadline"])
def deadline(request):
    """With a deadline a request is made in a thread of its own."""
    return request.param


@pytest.fixture
def noted(ferry_sandbox, noting, deadline):
    with Ferry(
        ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=noting, deadline=deadline
    ) as made:
        yield made


@contextmanager
def interrupted(when):
    """The block, which Ctrl-C ends at that moment."""
    assert threading.current_thread() is threading.main_thread()
    is_over, is_interrupted = threading.Event(), threading.Event()

    def interrupt(_, __):
        if not is_interrupted.is_set():
            is_interrupted.set()
            raise KeyboardInterrupt

    def press():
        eventually(lambda: is_over.is_set() or when())
        while not is_over.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            # A signal just before the main thread begins to wait does not wake it; the next does.
            is_over.wait(0.05)

    before = signal.signal(signal.SIGINT, interrupt)
    pressing = UnderWay(press)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        is_over.set()
        pressing.outcome()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("protocol", ["REST", "MCP"])
@pytest.mark.parametrize("done", [False, True], ids=["not done yet", "done"])
def test_a_write_is_on_record_and_settled_later(
    noted, ferry_sandbox, journal, booking_id, warnings, done, protocol
):
    name = "bookings.confirm" if protocol == "REST" else "mcp.confirm_booking"
    method = noted.bookings.confirm if protocol == "REST" else noted.mcp.confirm_booking
    hold = Hold(ferry_sandbox, name, replies=done)
    with interrupted(lambda: hold.held):
        method(booking_id)
    hold.release()
    (entry,) = journal.unresolved()
    assert (entry.operation, entry.state) == (name, "unknown")
    (line,) = warnings()
    assert entry.correlation_id in line
    eventually(lambda: ferry_sandbox.counters.effects)
    assert noted.recover(entry).read_back
    assert not journal.unresolved()
    assert ferry_sandbox.counters.requests[name] == 1


def test_the_next_call_does_not_get_the_reply_of_the_last(noted, ferry_sandbox, new_booking):
    first, second = new_booking(), new_booking()
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)
    with interrupted(lambda: hold.held):
        noted.bookings.confirm(first)
    hold.release()
    for _ in range(3):
        assert noted.bookings.get(second).booking_id == second
    assert noted.bookings.confirm(second).booking_id == second


# The socket of a TLS handshake that is interrupted is known to nobody yet.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
def test_before_the_first_byte_it_is_on_record_as_not_sent(noting, deadline, warnings):
    # Nobody answers the handshake of TLS, so no request can have left.
    with (
        Service(in_turn(read_bytes(1), hang)) as service,
        Ferry("t", base_url=service.secure_url, journal=noting, deadline=deadline) as noted,
    ):
        with interrupted(lambda: service.heard):
            noted.bookings.confirm("b-1")
        assert noting.states == ["not_sent"]
        assert not warnings()


@pytest.mark.parametrize("moment", ["handshake", "pause"])
def test_before_it_is_sent_it_is_on_record_as_not_sent(
    noted, ferry_sandbox, noting, booking_id, caplog, moment
):
    caplog.set_level(logging.INFO, "ferry_sdk")
    hold = Hold(ferry_sandbox, "mcp.initialize")
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=15)
    with interrupted(lambda: hold.held or "next attempt" in caplog.text):
        call = noted.mcp.confirm_booking if moment == "handshake" else noted.bookings.confirm
        call(booking_id)
    assert noting.states == ["not_sent"]
    ferry_sandbox.faults.clear()
    assert call(booking_id).booking_id == booking_id


def test_one_who_joined_is_interrupted_alone(noted, ferry_sandbox, noting, booking_id, joined):
    hold = Hold(ferry_sandbox, "bookings.confirm")
    leader = UnderWay(lambda: noted.bookings.confirm(booking_id))
    eventually(lambda: hold.held)
    with interrupted(lambda: joined):
        noted.bookings.confirm(booking_id)
    assert not leader.is_over
    hold.release()
    assert leader.value().booking_id == booking_id
    assert noting.states == ["done"]
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_those_who_joined_one_that_is_interrupted_read_back(
    noted, ferry_sandbox, booking_id, joined
):
    hold = Hold(ferry_sandbox, "bookings.confirm")
    followers = []

    def join():
        if hold.held and not followers:
            followers.append(UnderWay(lambda: noted.bookings.confirm(booking_id)))
        return joined

    with interrupted(join):
        noted.bookings.confirm(booking_id)
    hold.release()
    assert followers[0].value().read_back
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


class Counting:
    """A recorder that counts the writes that begin."""

    def __init__(self):
        self.begun = 0

    def begin(self, intent):
        del intent
        self.begun += 1
        return str(self.begun)

    def end(self, entry_id, state):
        """Accept any outcome."""


def test_an_interruption_at_any_line_of_a_threads_start_leaves_no_thread_and_repeats_nothing(
    record_property,
):
    recorder = Counting()
    files = (threading.__file__, concurrent.futures.__path__[0], runtime_threads.__file__)
    with (
        Service(serve) as service,
        Ferry("t", base_url=service.url, journal=recorder, deadline=60) as ferry,
    ):
        ferry.bookings.confirm("b-1")

        def interrupt_each_line():
            number = 0
            while True:
                interruption = Interruption(number, KeyboardInterrupt, files)
                interruption.left()
                with suppress(KeyboardInterrupt), interruption:
                    ferry.bookings.confirm("b-1")
                assert recorder.begun <= number + 2
                if interruption.where is None:
                    return number
                number += 1

        # In a thread that ends: an interruption in a handler may leave its error there, as the
        # context of every later one.
        number = UnderWay(interrupt_each_line).value()
    threads_end()
    assert number > 20
    record_property("lines at which the start of a thread was interrupted", number)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal")
@pytest.mark.timeout(1800)  # thousands of calls
# What was being connected is closed by the collector, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("signals", mostly_long([100, 10_000], ids=str))
def test_signals_at_any_moment_leave_no_thread_and_repeat_nothing(signals, record_property):
    recorder = Counting()
    is_armed = False

    def interrupt(*_):
        nonlocal is_armed
        if is_armed:
            is_armed = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    calls = interruptions = 0
    moments = random.Random(7)  # noqa: S311 -- no secret
    try:
        with (
            Service(serve) as service,
            Ferry("t", base_url=service.url, journal=recorder, deadline=60) as ferry,
        ):
            ferry.bookings.confirm("b-1")
            took = time.monotonic()
            ferry.bookings.confirm("b-1")
            took = time.monotonic() - took
            while interruptions < signals:
                calls += 1
                try:
                    is_armed = True
                    signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-5, took))
                    ferry.bookings.confirm("b-1")
                    is_armed = False
                except KeyboardInterrupt:
                    interruptions += 1
            gc.collect()
            eventually(lambda: len(connections_to(service.url)) <= 1)
        threads_end()
    finally:
        is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert recorder.begun <= calls + 2
    gc.collect()  # what is left says so in this test, not in a later one
    record_property("signals in calls with a deadline", interruptions)
