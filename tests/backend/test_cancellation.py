"""A write stopped half-way, by Ctrl-C or as a task: it is on record, and its outcome is found."""

import asyncio
import concurrent.futures
import gc
import logging
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry, UnresolvedWriteError
from ferry_sdk._engine import outcomes
from ferry_sdk._runtime import threads as runtime_threads
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually, threads_end
from tests.backend.notes import Noting
from tests.backend.test_interrupted_lines import Interruption
from tests.support.both import Clients
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, selected
from tests.transport.scripted import Service, hang, in_turn, read_bytes, serve


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


@contextmanager
def interrupted(when):
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

    # The collector swallows an exception in a callback, such as that of hypothesis.
    callbacks, gc.callbacks[:] = gc.callbacks[:], ()
    before = signal.signal(signal.SIGINT, interrupt)
    pressing = UnderWay(press)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        is_over.set()
        pressing.outcome()
        signal.signal(signal.SIGINT, before)
        gc.callbacks[:] = callbacks


WAYS = {
    "by task": ("asyncio", by_task, {}),
    "in trio": ("trio", by_scope, {}),
    "Ctrl-C": (None, None, {}),
    "Ctrl-C with a deadline": (None, None, {"deadline": 20}),  # in a thread of its own
    "by task, twice": ("asyncio", partial(by_task, times=2), {}),
    "by scope": ("asyncio", by_scope, {}),
}


class Stopper:
    def __init__(self, way, portal, options):
        self._way, self._portal, self._options = way, portal, options
        self._clients = Clients(portal)

    def make(self, *args, **settings):
        self.ferry = self._clients(*args, **settings, **self._options)
        return self

    def __call__(self, call, when):
        if self._portal is None:
            with interrupted(when):
                call(self.ferry)
        else:
            self._portal.call(self._way, partial(call, self.ferry._target), when)

    def shows(self, holds):
        """Something holds afterwards: at once, or when a thread has put a task's on record."""
        if self._portal is not None:
            eventually(holds)
        assert holds()

    def close(self):
        self._clients.close()


@pytest.fixture(params=mostly_long(WAYS, short=4))
def stop(request, ferry_sandbox, noting):
    loop, way, options = WAYS[request.param]
    stopper = Stopper(way, loop and request.getfixturevalue(f"{loop}_portal"), options)
    yield stopper.make(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
        journal=noting,
    )
    stopper.close()


def in_doubt(stop, journal):
    stop.shows(lambda: [one.state for one in journal.unresolved()] == ["unknown"])
    return journal.unresolved()[0]


@pytest.mark.parametrize("name", ["bookings.confirm", "mcp.confirm_booking"])
@pytest.mark.parametrize("done", [False, True], ids=["not done yet", "done"])
def test_a_confirmation_on_record_is_settled_later(
    stop, ferry_sandbox, journal, booking_id, warnings, done, name
):
    group, method = name.split(".")
    hold = Hold(ferry_sandbox, name, replies=done)
    stop(lambda ferry: getattr(getattr(ferry, group), method)(booking_id), lambda: hold.held)
    hold.release()
    entry = in_doubt(stop, journal)
    assert entry.operation == name
    (line,) = warnings()
    assert "may have happened" in line
    assert entry.correlation_id in line
    eventually(lambda: ferry_sandbox.counters.effects)
    recovered = stop.ferry.recover(entry)
    assert recovered.booking_id == booking_id
    assert recovered.read_back
    assert not journal.unresolved()
    assert (journal.entry(entry.id).state, ferry_sandbox.counters.requests[name]) == ("done", 1)


def test_a_creation_on_record_is_not_repeated(stop, ferry, ferry_sandbox, journal):
    selection = selected(ferry)

    def create(ferry):
        return ferry.bookings.create(availabilities=[selection], passengers=PASSENGERS)

    hold = Hold(ferry_sandbox, "bookings.create", replies=True)
    stop(create, lambda: hold.held)
    entry = in_doubt(stop, journal)
    assert "may have happened already" in str(caught(UnresolvedWriteError, create, stop.ferry))
    assert ferry_sandbox.counters.requests["bookings.create"] == 1
    journal.settle(entry, happened=False)
    assert create(stop.ferry).booking_id


@pytest.fixture
def check_not_sent(stop, ferry_sandbox, noting, booking_id, warnings):
    """Returns a check that a confirmation was stopped before its first byte left."""

    def check():
        stop.shows(lambda: noting.states == ["not_sent"])
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
    first = UnderWay(stop.ferry.mcp.countries)
    eventually(lambda: hold.held)
    stop(lambda ferry: ferry.mcp.confirm_booking(booking_id), lambda: noting.ids and hold.held)
    hold.release()
    assert first.value()
    check_not_sent()


# The socket of a TLS handshake that is interrupted is known to nobody yet.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
def test_while_it_connects_it_is_not_sent(stop, noting, warnings):
    # Nobody answers the handshake of TLS, so no request can have left.
    with Service(in_turn(read_bytes(1), hang)) as service:
        stop.make("t", base_url=service.secure_url, journal=noting)
        stop(lambda ferry: ferry.bookings.confirm("b-1"), lambda: service.heard)
        stop.shows(lambda: noting.states == ["not_sent"])
        assert not warnings()
        stop.ferry.close()


@pytest.mark.parametrize("moment", ["token", "record"])
def test_waiting_for_token_or_record_sends_nothing(
    portal, ferry_sandbox, journal, booking_id, moment
):
    reached = []

    async def token():
        reached.append("token")
        await anyio.sleep(60 if moment == "token" else 0)
        return ferry_sandbox.token

    def beginning():
        if moment == "record":
            reached.append("record")
            time.sleep(0.1)

    noting = Noting(journal, beginning)
    ferry = AsyncFerry(token, base_url=ferry_sandbox.base_url, journal=noting)
    portal.call(by_scope, partial(ferry.bookings.confirm, booking_id), lambda: moment in reached)
    eventually(lambda: noting.states == ["not_sent"] and not journal.unresolved())
    assert not ferry_sandbox.counters.requests["bookings.confirm"]
    portal.call(ferry.aclose)


@pytest.mark.parametrize("fault", ["delay_before", "delay_after", "trickle"])
def test_the_next_call_gets_its_own_reply(stop, ferry_sandbox, new_booking, fault):
    first, second = new_booking(), new_booking()
    ferry_sandbox.faults.add(fault, "bookings.confirm", seconds=25)
    stop(
        lambda ferry: ferry.bookings.confirm(first),
        lambda: ferry_sandbox.counters.requests["bookings.confirm"],
    )
    for _ in range(3):
        assert stop.ferry.bookings.get(second).booking_id == second
        assert stop.ferry.catalogue.vehicle_types()
    assert stop.ferry.bookings.confirm(second).booking_id == second


def test_a_stopped_handshake_is_made_again(stop, ferry_sandbox):
    hold = Hold(ferry_sandbox, "mcp.initialize")
    stop(lambda ferry: ferry.mcp.countries(), lambda: hold.held)
    assert stop.ferry.mcp.countries()
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


def test_a_stopped_read_back_stays_on_record(stop, ferry_sandbox, journal, booking_id, warnings):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    hold = Hold(ferry_sandbox, "bookings.get")
    stop(lambda ferry: ferry.bookings.confirm(booking_id), lambda: hold.held)
    entry = in_doubt(stop, journal)
    assert any(entry.correlation_id in line for line in warnings())
    hold.release()
    assert stop.ferry.recover(entry).read_back


def test_one_who_joined_is_stopped_alone(stop, ferry_sandbox, noting, booking_id, joined):
    hold = Hold(ferry_sandbox, "bookings.confirm")
    leader = UnderWay(lambda: stop.ferry.bookings.confirm(booking_id))
    eventually(lambda: hold.held)
    stop(lambda ferry: ferry.bookings.confirm(booking_id), lambda: joined)
    assert not leader.is_over
    hold.release()
    assert leader.value().booking_id == booking_id
    assert not leader.value().read_back
    assert (noting.states, ferry_sandbox.counters.requests["bookings.confirm"]) == (["done"], 1)


@pytest.mark.parametrize("done", [True, False], ids=["done", "not done yet"])
def test_who_joined_a_stopped_one_reads_back(stop, ferry_sandbox, booking_id, joined, done):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=done)
    followers = []

    def join():
        if hold.held and not followers:
            followers.append(UnderWay(lambda: stop.ferry.bookings.confirm(booking_id)))
        return joined

    stop(lambda ferry: ferry.bookings.confirm(booking_id), join)
    hold.release()
    confirmation = followers[0].value()
    assert confirmation.booking_id == booking_id
    assert confirmation.read_back
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    assert len(ferry_sandbox.counters.effects) == 1


class Counting:
    def __init__(self):
        self.begun = 0

    def begin(self, intent):
        self.begun += 1
        return str(self.begun)

    def end(self, entry_id, state):
        """Accept any outcome."""


@contextmanager
def caller():
    recorder = Counting()
    with (
        Service(serve) as service,
        Ferry("t", base_url=service.url, journal=recorder, deadline=60) as ferry,
    ):
        ferry.bookings.confirm("b-1")
        yield lambda: ferry.bookings.confirm("b-1"), recorder, service
    threads_end()


def test_an_interrupted_start_leaves_no_thread(record_property):
    files = (threading.__file__, concurrent.futures.__path__[0], runtime_threads.__file__)
    with caller() as (call, recorder, _):

        def interrupt_each_line():
            number = 0
            while True:
                interruption = Interruption(number, KeyboardInterrupt, files)
                interruption.left()
                with suppress(KeyboardInterrupt), interruption:
                    call()
                assert recorder.begun <= number + 2
                if interruption.where is None:
                    return number
                number += 1

        # In a thread that ends: an interruption in a handler may leave its error there, as the
        # context of every later one.
        number = UnderWay(interrupt_each_line).value()
    assert number > 20
    record_property("lines at which the start of a thread was interrupted", number)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal")
@pytest.mark.timeout(1800)  # thousands of calls
# What was being connected is closed by the collector, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("signals", mostly_long([100, 4_000], ids=str))
def test_signals_at_any_moment_repeat_nothing(signals, record_property):
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
        with caller() as (call, recorder, service):
            took = time.monotonic()
            call()
            took = time.monotonic() - took
            while interruptions < signals:
                calls += 1
                try:
                    is_armed = True
                    signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-5, took))
                    call()
                    is_armed = False
                except KeyboardInterrupt:
                    interruptions += 1
            gc.collect()
            eventually(lambda: len(connections_to(service.url)) <= 1)
    finally:
        is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert recorder.begun <= calls + 2
    gc.collect()  # what is left says so in this test, not in a later one
    record_property("signals in calls with a deadline", interruptions)


class LateEnd:
    """A journal whose outcomes are not on record before somebody lets it go on."""

    def __init__(self, journal):
        self._journal = journal
        self.may_go_on = threading.Event()
        self.begin = journal.begin

    def end(self, entry_id, state, details=None):
        self.may_go_on.wait()
        self._journal.end(entry_id, state, details)


@pytest.fixture
def late_end(journal, monkeypatch):
    monkeypatch.setattr(outcomes, "_AFTER_INTERRUPTION", 0.2)
    late = LateEnd(journal)
    yield late
    late.may_go_on.set()


def test_late_record_holds_no_cancelled_call(stop, ferry_sandbox, journal, booking_id, late_end):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)

    def confirm(ferry):
        return ferry.with_options(journal=late_end).bookings.confirm(booking_id)

    stop(confirm, lambda: hold.held)  # it returns while the record still waits
    hold.release()
    assert [entry.state for entry in journal.unresolved()] == ["open"]
    late_end.may_go_on.set()
    eventually(lambda: [entry.state for entry in journal.unresolved()] == ["unknown"])
