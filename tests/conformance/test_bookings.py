"""The booking that a check makes is cancelled, whatever happens."""

import gc
import json
import logging
import signal
import sys
import time
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

import ferry_sdk.conformance
from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk.cli.terminal.errors import _interruption
from ferry_sdk.conformance import (
    ConformanceReport,
    bookings,
    check,
    check_with_booking,
    checks,
    probes,
)
from ferry_sdk.conformance.assumptions import BOOK, ids_shown_by
from ferry_sdk.conformance.findings import Findings
from tests.conformance.conftest import holding, make, seen, start_anew
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import NOW, booked

BY_WRITES = {*ids_shown_by(BOOK)}
BOTH = ["bookings.create", "bookings.cancel"]
PARTS = (0.03, 0.1, 0.2, 0.4)
"""When the second of two signals comes: after so much of the time that a check with one took."""
CHECK = str(Path(ferry_sdk.conformance.__file__).parent)


class StopError(Exception):
    """An error of the program that makes the check."""


class Before:
    """A limiter that acts once before a request of an operation, if a booking was made by then."""

    def __init__(self, sandbox, operation, act):
        self.sandbox, self.operation, self.act = sandbox, operation, act

    def acquire(self, operation):
        if operation == self.operation and effects(self.sandbox):
            self.operation = ""
            self.act()


def raising(error):
    def act(*_):
        raise error

    return act


class Ran(NamedTuple):
    """A check that has made a booking: its report, what it asked to approve, and the effects."""

    report: ConformanceReport
    approvals: list
    effects: list


@pytest.fixture(scope="module")
def ran(service):
    start_anew(service)
    approvals = []
    with Ferry(service.token, base_url=service.base_url) as ferry:
        report = check_with_booking(
            ferry,
            max_price=300,
            approve=lambda sailing, tariff: approvals.append((sailing, tariff)),
        )
    return Ran(report, approvals, effects(service))


def test_booking_shows_its_assumptions(ran):
    assert holding(ran.report) >= BY_WRITES


def test_no_booking_is_left(ran):
    assert ran.effects == BOTH
    assert ran.report.left is None


def test_check_with_a_booking_sends_few_requests(ran):
    assert ran.report.requests <= 40


def test_sailing_to_approve_is_a_month_ahead(ran):
    ((sailing, _),) = ran.approvals
    assert (sailing.depart_at - NOW).days >= 30


def test_tariff_to_approve_is_within_the_limit(ran):
    ((_, tariff),) = ran.approvals
    assert tariff.amount <= 300


@pytest.mark.slow
def test_async_client_leaves_no_booking(sandbox):
    async def main():
        async with AsyncFerry(sandbox.token, base_url=sandbox.base_url) as client:
            return await check_with_booking(client, max_price=300)

    assert holding(anyio.run(main)) >= BY_WRITES
    assert effects(sandbox) == BOTH


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit",
    [{"max_price": "0.01"}, {"max_price": 300, "currency": "TND"}],
    ids=["price", "currency"],
)
def test_nothing_beyond_the_limit_is_booked(ferry, sandbox, limit):
    shown = seen(check_with_booking(ferry, **limit))
    assert {shown[name] for name in BY_WRITES} == {"no sailing within the price was found"}
    assert effects(sandbox) == []


def test_nothing_is_booked_without_approval(ferry, sandbox):
    with pytest.raises(StopError):
        check_with_booking(ferry, max_price=300, approve=raising(StopError))
    assert effects(sandbox) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "stop"),
    mostly_long(
        [
            ("bookings.get", KeyboardInterrupt),
            ("tickets.pdf", KeyboardInterrupt),
            ("bookings.get", StopError),
        ]
    ),
)
def test_interruption_cancels_the_booking(sandbox, operation, stop):
    limiter = Before(sandbox, operation, raising(stop))
    settings = {"base_url": sandbox.base_url, "limiter": limiter}
    with Ferry(sandbox.token, **settings) as client, pytest.raises(stop):
        check_with_booking(client, max_price=300)
    assert effects(sandbox) == BOTH


@pytest.mark.slow
@pytest.mark.parametrize("backend", mostly_long(["asyncio", "trio"]))
def test_cancelled_task_cancels_the_booking(sandbox, backend):
    async def main():
        with anyio.CancelScope() as scope:

            class Limiter:
                async def acquire(self, operation):
                    if operation == "bookings.get" and effects(sandbox):
                        scope.cancel()
                        await anyio.sleep_forever()

            settings = {"base_url": sandbox.base_url, "limiter": Limiter()}
            async with AsyncFerry(sandbox.token, **settings) as client:
                await check_with_booking(client, max_price=300)
        assert scope.cancelled_caught

    anyio.run(main, backend=backend)
    assert effects(sandbox) == BOTH


@LONG
def test_failed_read_does_not_keep_the_booking(ferry, sandbox):
    sandbox.faults.add("server_error", "bookings.get", times=None)
    report = check_with_booking(ferry, max_price=300)
    assert seen(report)["times"].startswith("ServerError")
    assert seen(report)["created_stage"] == "payment_due"
    assert effects(sandbox) == BOTH


@pytest.mark.slow
def test_booking_that_somebody_else_cancelled_is_not_left(ferry, sandbox):
    def cancel():
        ferry.bookings.cancel(sandbox.counters.effects[0].subject)

    limiter = Before(sandbox, "bookings.get", cancel)
    with Ferry(sandbox.token, base_url=sandbox.base_url, limiter=limiter) as client:
        report = check_with_booking(client, max_price=300)
    assert report.left is None
    assert seen(report)["cancelled_status"] == "the booking was cancelled before"
    assert seen(report)["created_stage"] == "payment_due"


@pytest.mark.slow
def test_booking_with_a_lost_cancellation_is_not_left(ferry, sandbox):
    sandbox.faults.add("lose_reply", "bookings.cancel")
    report = check_with_booking(ferry, max_price=300)
    assert report.left is None
    assert seen(report)["cancelled_status"] == "the reply was lost"


@pytest.mark.slow
def test_booking_that_is_left_is_named(ferry, sandbox, caplog):
    sandbox.faults.add("refused", "bookings.cancel", times=None)
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        report = check_with_booking(ferry, max_price=300)
    (effect,) = sandbox.counters.effects
    assert report.left.startswith(f"booking {effect.subject} is not cancelled")
    assert "correlation id" in report.left
    assert f"the check leaves a booking: {report.left}" in caplog.messages


@pytest.mark.slow
def test_refused_booking_is_not_left(ferry, sandbox):
    sandbox.faults.add("refused", "bookings.create")
    assert check_with_booking(ferry, max_price=300).left is None
    assert effects(sandbox) == []


@pytest.mark.slow
def test_booking_whose_reply_is_lost_may_be_left(ferry, sandbox):
    sandbox.faults.add("lose_reply", "bookings.create")
    report = check_with_booking(ferry.with_options(correlation_id="check-7"), max_price=300)
    assert report.left.startswith("a booking may have been made")
    assert report.left.endswith("correlation id check-7)")
    assert {seen(report)[name] for name in BY_WRITES} == {"OutcomeUnknownError"}


class Signals:
    """Raises `KeyboardInterrupt` once or twice in the check that makes a booking.

    Python ends a trace that raises. So the first signal comes from a trace, after so many lines
    (one counts once between two requests), and the second is a real one, so many seconds later.
    """

    def __init__(self, count_requests, lines=None, seconds=None):
        self.lines, self.seconds = lines, seconds
        self._count_requests = count_requests
        self._trace = self._of_call  # held, because Python calls it after it raised in a finalizer
        self._met: set[tuple[str, int, int]] = set()

    def __enter__(self):
        self._handler = signal.signal(signal.SIGALRM, self._interrupt)
        sys.settrace(self._trace)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        sys.settrace(None)

    def _of_call(self, frame, *_):
        return self._at_line if frame.f_code.co_filename.startswith(CHECK) else None

    def _at_line(self, frame, event, _):
        line = (frame.f_code.co_filename, frame.f_lineno, self._count_requests())
        if event == "line" and self.lines is not None and line not in self._met:
            self._met.add(line)
            self.lines -= 1
            if self.lines < 0:
                self.lines = None
                if self.seconds is not None:
                    signal.setitimer(signal.ITIMER_REAL, self.seconds)
                raise KeyboardInterrupt
        return self._at_line

    def _interrupt(self, *_):
        if self.seconds is not None:
            self.seconds = None
            raise KeyboardInterrupt


def check_left_booking_named(ferry, sandbox, choice, signals, caplog):
    """Make a booking and cancel it under signals; return whether each signal came.

    A booking that is left must be named by the error and in the log.
    """
    findings = Findings(ferry)
    caplog.clear()
    before = len(sandbox.counters.effects)
    interruption = None
    try:
        with signals:
            checks.perform(findings, bookings.book(findings, choice, "check-7"))
    except KeyboardInterrupt as error:
        interruption = error

    made = sandbox.counters.effects[before:]
    if [effect.operation for effect in made] == ["bookings.create"]:
        assert interruption is not None
        names = (made[0].subject, "check-7")
        assert any(name in str(_interruption(interruption)) for name in names)
        assert any(name in message for name in names for message in caplog.messages)
    return signals.lines is None and signals.seconds is None


@pytest.mark.slow
@pytest.mark.own_http_client(reason="a signal may leave the lock of a caller's own pool taken")
@pytest.mark.skipif(sys.platform == "win32", reason="it has no timer that sends a signal")
@pytest.mark.timeout(600)  # hundreds of bookings
@pytest.mark.parametrize(
    "step", [pytest.param(29, id="sample"), pytest.param(1, id="every line", marks=LONG)]
)
def test_booking_that_signals_leave_is_named(
    ferry, sandbox, caplog, monkeypatch, record_property, step
):
    # What was being connected is closed by the collector, which says so, and a signal may come.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    probing = probes.Probes(Findings(ferry))
    make(ferry, probing.steps())
    choice = make(ferry, bookings.choose(Findings(ferry), probing.sample(), Decimal(300), "EUR"))
    signals = partial(Signals, lambda: sum(sandbox.counters.requests.values()))
    assert check_left_booking_named(ferry, sandbox, choice, signals(), caplog)

    line = 0
    doubles = 0
    while True:
        began = time.monotonic()
        if not check_left_booking_named(ferry, sandbox, choice, signals(line), caplog):
            break
        took = time.monotonic() - began
        for part in PARTS:
            both = signals(line, took * part)
            doubles += check_left_booking_named(ferry, sandbox, choice, both, caplog)
        line += step

    gc.collect()  # what is left says so in this test, not in a later one
    assert line > 50
    assert doubles > line / step / 2
    record_property("pairs of signals in a check that makes a booking", doubles)


@pytest.mark.parametrize(
    "change",
    [
        {"possible_actions": []},
        {"possible_actions": None},
        {"possible_actions": {"Cancel": {"type": "optional"}}},
        {"expire_at": None},
    ],
    ids=str,
)
def test_fields_that_decide_nothing_hide_no_row(ferry, change):
    booking_id = booked(ferry).booking_id
    body = json.loads(ferry.with_raw_response.bookings.get(booking_id).content)
    findings = Findings(ferry)
    bookings._see_times(findings, body | change)
    assert findings.seen["times"] == "with_offset"


@pytest.mark.slow
def test_booking_without_tickets_is_called_so(ferry, sandbox):
    booking_id = booked(ferry).booking_id
    body = json.loads(ferry.with_raw_response.bookings.get(booking_id).content)
    sandbox.faults.add("wrong_shape", "bookings.get", times=None, value=body | {"tickets": []})
    assert seen(check(ferry, booking_id=booking_id))["qr_code"] == "the booking has no tickets"
