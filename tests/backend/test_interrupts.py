"""Ctrl-C at any line of a thread's start, and at any moment of a call."""

import concurrent.futures
import gc
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
from tests.support.tiers import mostly_long
from tests.transport.scripted import Service, serve


class Counting:
    """A recorder that counts the writes that begin."""

    def __init__(self):
        self.begun = 0

    def begin(self, intent):
        self.begun += 1
        return str(self.begun)

    def end(self, entry_id, state):
        """Accept any outcome."""


@contextmanager
def caller():
    """What makes a write with a deadline, the recorder, and the service; a first call is made."""
    recorder = Counting()
    with (
        Service(serve) as service,
        Ferry("t", base_url=service.url, journal=recorder, deadline=60) as ferry,
    ):
        ferry.bookings.confirm("b-1")
        yield lambda: ferry.bookings.confirm("b-1"), recorder, service
    threads_end()


def test_an_interruption_at_any_line_of_a_threads_start_leaves_no_thread_and_repeats_nothing(
    record_property,
):
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
@pytest.mark.parametrize("signals", mostly_long([100, 10_000], ids=str))
def test_signals_at_any_moment_leave_no_thread_and_repeat_nothing(signals, record_property):
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
