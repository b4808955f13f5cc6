"""The gate that keeps a fork from coming in the middle of a use of the database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from ferry_sdk.journal.fork import Gate

MOMENT = 0.2


def test_any_number_is_let_in_together():
    gate = Gate()
    met = threading.Barrier(2)

    def entering():
        with gate.passed():
            met.wait(10)

    with ThreadPoolExecutor(2) as threads:
        for meeting in [threads.submit(entering) for _ in range(2)]:
            meeting.result()


def test_who_shuts_it_waits_for_those_inside():
    gate, shut = Gate(), threading.Event()

    def shutting():
        gate.shut()
        shut.set()

    with ThreadPoolExecutor(1) as threads:
        with gate.passed():
            threads.submit(shutting)
            assert not shut.wait(MOMENT)
        assert shut.wait(10)


def test_nobody_is_let_in_before_all_who_shut_it_opened_it():
    gate, inside = Gate(), threading.Event()

    def entering():
        with gate.passed():
            inside.set()

    gate.shut()
    gate.shut()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(entering)
        gate.open()
        assert not inside.wait(MOMENT)
        gate.open()
        assert inside.wait(10)


def test_who_had_to_wait_is_waited_for_by_the_next_who_shuts_it():
    gate, inside, leave, shut = Gate(), threading.Event(), threading.Event(), threading.Event()

    def entering():
        with gate.passed():
            inside.set()
            leave.wait(10)

    def shutting():
        gate.shut()
        shut.set()

    gate.shut()
    with ThreadPoolExecutor(2) as threads:
        threads.submit(entering)
        assert not inside.wait(MOMENT)
        gate.open()
        assert inside.wait(10)
        threads.submit(shutting)
        assert not shut.wait(MOMENT)
        leave.set()
        assert shut.wait(10)


def test_it_is_left_by_whoever_fails_inside():
    gate, nothing = Gate(), {}
    with suppress(LookupError), gate.passed():
        nothing["there"]
    gate.shut()


def test_a_child_forgets_the_threads_it_does_not_have():
    gate = Gate()
    lost = gate.passed()
    lost.__enter__()
    gate.renew()
    gate.shut()
    gate.open()
    with gate.passed():
        pass
