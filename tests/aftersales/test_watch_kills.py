"""The example of a worker, killed again and again, and a report at the end.

The service loses replies, fails, and has its clock moved.
"""

import os
import signal
import sys
import time
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from ferry_sdk import Ferry
from ferry_sdk.aftersales import reconcile
from ferry_sdk.journal import Journal
from tests.aftersales.history import History, rows_of
from tests.support.processes import start
from tests.support.summer import stopped

EXAMPLES = Path(__file__).parents[2] / "examples"
WORK = """
import os, sys, time
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace

sys.path.insert(0, sys.argv[1])
import worker
from ferry_sdk._transport.pools import Shared
from ferry_sdk.aftersales import watcher
from ferry_sdk.aftersales.schedule import Schedule

slept = 0.0

def sleep(seconds):
    global slept
    slept += seconds
    time.sleep(min(seconds, 0.01))

def clock():
    return time.monotonic() + slept

file = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND)

def react(event):
    os.write(file, f"{event.booking_id} {event.kind}\\n".encode())

worker.time = SimpleNamespace(sleep=sleep, monotonic=clock)
Shared.sleep = lambda _, seconds, *__: sleep(seconds)
watcher.Schedule = partial(Schedule, clock, datetime(2026, 5, 1, tzinfo=UTC).timestamp)
worker.work(sys.argv[2], react=react)
"""


class Worker:
    """A process that is started again whenever it is killed; it does not wait for long."""

    def __init__(self, url, sandbox, file):
        self._file = file
        self._command = [sys.executable, "-c", WORK, str(EXAMPLES), url, str(file)]
        address = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        self._environment = {**os.environ, **address}
        self.kills = 0
        file.touch()
        self._start()

    def _start(self):
        self._process = start(self._command, env=self._environment)

    def kill(self):
        self._process.kill()
        assert self._process.wait() in {-9, 137}
        self.kills += 1
        self._start()

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def events(self):
        events = defaultdict(set)
        for booking_id, kind in map(str.split, self._file.read_text("ascii").splitlines()):
            events[booking_id].add(kind)
        return events

    def wait(self, holds, kill=lambda: False):
        """Wait for a fact, for 200 seconds at most, and kill the worker now and then."""
        until = time.monotonic() + 200
        while not holds():
            assert self._process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.03)
            if kill():
                self.kill()


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("number", "seed"), [(6, 1), (80, 2)])
def test_killed_worker_loses_no_event(ferry_sandbox, url, tmp_path, number, seed, record_property):
    clock = stopped(ferry_sandbox).clock
    with (
        Journal(url) as journal,
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as ferry,
    ):
        history = History(ferry, journal, ferry_sandbox, seed)
        history.create(number)
        ids = [sale.booking_id for sale in history.sales]
        with Worker(url, ferry_sandbox, tmp_path / "events") as worker:

            def lot():
                return history.random.random() < 0.02

            def all_given(kinds):
                events = worker.events()
                return all(kinds(sale) <= events[sale.booking_id] for sale in history.sales)

            worker.wait(lambda: len(journal.load_snapshots(ids)) == number, lot)
            for index, _ in enumerate(history.act()):
                if index % 7 == 3:
                    worker.kill()
            for minutes in (20, -10, 25):
                clock.travel_to(clock.now() + timedelta(minutes=minutes))
            worker.wait(lambda: all_given(lambda sale: sale.fate.events - {"lapsed"}), lot)
            clock.advance(timedelta(minutes=30))
            worker.wait(lambda: all_given(lambda sale: sale.fate.events), lot)

            history.act_later()
            clock.advance(timedelta(days=1))  # a booking at rest is read once a day
            cancelled = {"cancel": {"voided"}, "cancel one": {"partially_voided"}}
            worker.wait(lambda: all_given(lambda sale: cancelled.get(sale.fate.later, set())), lot)
            reads = ferry_sandbox.counters.requests["bookings.get"]  # then it expects SIGTERM
            worker.wait(lambda: ferry_sandbox.counters.requests["bookings.get"] > reads)
            assert worker.stop() == 0
            for sale in history.sales:
                possible = sale.fate.events | cancelled.get(sale.fate.later, set()) | {"lapsing"}
                assert worker.events()[sale.booking_id] <= possible

        ferry_sandbox.faults.clear()
        assert rows_of(reconcile(ferry, journal, history.payments())) == history.discrepancies()
    record_property("workers killed while they watched", worker.kills)
