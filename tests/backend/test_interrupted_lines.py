"""A write that is interrupted at any line of the library, from its first byte to its record.

A trace function raises at one line after the other, as a signal that raises, a cancelled task or a
lack of memory may. After each: the service was asked once at the most, the journal does not say
that nothing was done unless nothing was, and the interruption is in the log.

Some writes read a guard first. Some are refused, or not sent, because they were done before.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import json
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

import ferry_sdk
import ferry_sdk as sdk
from ferry_sdk import AlreadyDoneError, AsyncFerry, Ferry, FerryError, OutcomeUnknownError
from ferry_sdk._transport.send_guard import SendGuard
from ferry_sdk.journal import Journal
from tests.backend.gathering import eventually, threads_end
from tests.backend.notes import Noting
from tests.support.mcp_samples import PASSENGERS, SELECTION
from tests.support.samples import BOOKING, BOOKING_CREATED
from tests.support.tiers import LONG
from tests.transport.scripted import Service, answer_to

PACKAGE = str(Path(ferry_sdk.__file__).parent)
TRACED = (PACKAGE, threading.__file__, concurrent.futures.__path__[0])
FINALIZERS = {"__del__", "drop"}
"""What these raise reaches nobody."""
STATES = {"open", "unknown", "done"}
ENDINGS = {
    "answered": set[str](),
    "lost": set[str](),
    "named": set[str](),  # by a reply that cannot be read
    "refused": {"rejected"},
    "done before": {"not_sent"},
}
"""What becomes of a write, and the states that prove that this call did nothing."""
NAMED = BOOKING_CREATED | {"currency": "?"}
CALLS = {
    "create": lambda ferry: ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS),
    "confirm": lambda ferry: ferry.bookings.confirm("b-1"),
    "guarded": lambda ferry: ferry.bookings.confirm("b-1", expect_total="148.18", currency="eur"),
}


def is_called_by_del(frame):
    """Return whether a `__del__` calls what runs: Python drops an exception there."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


class Interruption:
    """Raises at one line of the library, counted from a request's first byte.

    `where` is the file and the line; None if the call ended before.
    """

    def __init__(self, number, kind, files=TRACED):
        self._files = files
        self._left = number
        self._kind = kind
        self._counts = False
        self._met = set()
        self.where = None
        self._trace = self._of_call  # held, because Python calls it after it raised in a finalizer

    def left(self):
        self._counts = True

    def __enter__(self):
        # What is raised in a generator that the collector closes reaches nobody, and is kept by
        # pytest, with all its frames.
        gc.disable()
        sys.settrace(self._trace)

    def __exit__(self, *_):
        sys.settrace(None)
        gc.enable()

    def _of_call(self, frame, *_):
        code = frame.f_code
        is_ours = code.co_filename.startswith(self._files) and code.co_name not in FINALIZERS
        return self._of_line if is_ours and not is_called_by_del(frame) else None

    def _of_line(self, frame, event, arg):
        del arg
        if event == "line" and self._counts and self.where is None:
            line = frame.f_code.co_filename, frame.f_lineno
            if line in self._met:
                return self._of_line
            self._met.add(line)
            if self._left == 0:
                self.where = line
                raise self._kind
            self._left -= 1
        return self._of_line


@dataclass(frozen=True)
class Course:
    call: str
    client: str
    ending: str
    has_journal: bool
    deadline: float | None
    kind: type[BaseException]

    def run(self, step, patch, log):
        lines = set()
        gateway = Gateway(self.ending)
        not_sent = 0
        with Service(gateway) as service, Journal("sqlite://") as journal:
            noting = Noting(journal)
            with self._caller(service.url, noting if self.has_journal else None) as call:
                for calls in count(1):
                    interruption = Interruption((calls - 1) * step, self.kind)
                    patch.setattr(SendGuard, "_check_may_send", leaving(interruption.left))
                    log.clear()
                    gateway.is_done = self.ending in {"refused", "done before"}
                    sent_before = sum(asked.startswith("POST") for asked in service.asked)
                    result = call(interruption)
                    states = self._judge_and_settle(journal, noting, interruption)
                    writes = [asked for asked in service.asked if asked.startswith("POST")]
                    self._judge(result, log, interruption, states, len(writes) > sent_before)
                    # A guard that was interrupted leaves nothing on record.
                    not_sent += states <= {"not_sent"} if self.call == "guarded" else 0
                    assert len(writes) <= calls - not_sent, interruption.where
                    if interruption.where is None:
                        break
                    lines.add(interruption.where)
        return lines

    @contextmanager
    def _caller(self, url, noting):
        options = {"base_url": url, "journal": noting, "deadline": self.deadline}
        if self.client == "sync":
            with Ferry("t", max_retries=0, **options) as ferry:
                yield lambda interruption: in_new_thread(lambda: self._made(ferry, interruption))
            return
        later = AsyncFerry("t", max_retries=0, **options)
        with start_blocking_portal("asyncio") as portal:
            yield lambda interruption: portal.call(self._awaited, later, interruption)
            portal.call(later.aclose)

    def _made(self, ferry, interruption):
        try:
            with interruption:
                return CALLS[self.call](ferry)
        except BaseException as error:  # noqa: BLE001 -- it is judged
            return without_frames(error)
        finally:
            eventually(lambda: no_slot_is_taken(ferry), about=interruption.where)

    async def _awaited(self, ferry, interruption):
        try:
            with interruption:
                return await CALLS[self.call](ferry)
        except BaseException as error:  # noqa: BLE001 -- it is judged
            return without_frames(error)
        finally:
            while not no_slot_is_taken(ferry):  # noqa: ASYNC110 -- until it is collected
                await asyncio.sleep(0.01)

    def _judge(self, result, log, interruption, states, has_left):
        where = interruption.where
        outcomes = {"unknown"} | ENDINGS[self.ending]
        if self.call == "guarded":
            outcomes.add("not_sent")
        if isinstance(result, FerryError):
            assert result.outcome in outcomes, where
            if where is None:  # no read shows the effect of a create
                expected = OutcomeUnknownError if self.call == "create" else AlreadyDoneError
                assert isinstance(result, expected)
                assert self.ending != "named"
        elif (
            isinstance(result, BaseException)
            and has_left  # an entry alone, before the write, is left open
            and (states & STATES or not self.has_journal)
        ):
            told = [record.getMessage() for record in log.records if record.levelname == "WARNING"]
            is_told = any("may have happened" in one or "was done" in one for one in told)
            # The error that it replaced says it as well.
            replaced = result.__context__
            assert is_told or isinstance(replaced, OutcomeUnknownError | AlreadyDoneError), where

    def _judge_and_settle(self, journal, noting, interruption):
        """See what is on record of a write, and let it be made again; return the states."""
        states = {*noting.states}
        possible = STATES | ENDINGS[self.ending]
        if self.call == "guarded":
            possible.add("not_sent")  # the guard was interrupted, or the intent had no use
        assert states <= possible, interruption.where
        for entry in noting.entries:
            if entry.state in {"open", "unknown"}:
                with suppress(sdk.InvalidInputError):  # it was put on record as done meanwhile
                    journal.settle(entry, happened=False)
        noting.ids.clear()
        return states


def in_new_thread(function):
    """Return the result of a function that runs in a thread of its own.

    CPython 3.11 goes on handling an error if a trace function raises at its `except` line, until
    the thread ends.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def without_frames(error):
    error.__traceback__ = None
    for other in (error.__context__, error.__cause__):
        if other is not None and other.__traceback__ is not None:
            without_frames(other)
    return error


class Gateway:
    """Answers reads, and does with writes what the ending says."""

    def __init__(self, ending):
        self._ending = ending
        self.is_done = False  # whether the booking is confirmed

    def __call__(self, connection):
        while (asked := connection.request()) is not None:
            if asked.startswith("POST"):
                self.is_done = True
                if self._ending == "lost":
                    return
                if self._ending == "named":
                    connection.send("201 Created", json.dumps(NAMED).encode())
                    continue
                if self._ending == "refused":
                    connection.send("409 Conflict", b"{}")
                    continue
            elif not self.is_done:
                connection.send("200 OK", json.dumps(BOOKING).encode())
                continue
            connection.send("200 OK", answer_to(asked))


def leaving(tell):
    original = SendGuard._check_may_send

    def leaves(self):
        getattr(original, "original", original)(self)
        tell()

    leaves.original = getattr(original, "original", original)
    return leaves


def no_slot_is_taken(ferry):
    """Whether all places of the pool are free, once what was interrupted is collected."""
    slots = next(iter(ferry._transport.shared._resources.values())).client._slots
    return not slots._taken or not (gc.collect(), slots._taken)[1]


INTERRUPTIONS = [
    ("sync", None, KeyboardInterrupt),
    ("async", None, asyncio.CancelledError),
    ("sync", None, MemoryError),
    ("sync", 20, KeyboardInterrupt),
]
WRITES = [
    *[
        (call, end, kept)
        for end in ("answered", "lost")
        for kept in (True, False)
        for call in CALLS
    ],
    ("create", "named", True),
    ("create", "named", False),
    ("confirm", "refused", True),
    ("guarded", "done before", True),
]
COURSES = [
    Course(call, client, ending, has_journal, deadline, kind)
    for client, deadline, kind in INTERRUPTIONS
    for call, ending, has_journal in WRITES
    if has_journal or call != "guarded"  # without one, nothing says whether it had left
]
SAMPLED = (
    Course("create", "sync", "named", True, None, KeyboardInterrupt),
    Course("create", "sync", "answered", True, None, KeyboardInterrupt),
    Course("create", "async", "answered", True, None, asyncio.CancelledError),
    Course("confirm", "sync", "refused", True, None, KeyboardInterrupt),
    Course("guarded", "async", "done before", True, None, asyncio.CancelledError),
)


def named(course):
    journal = "journal" if course.has_journal else "no journal"
    deadline = "deadline" if course.deadline else "no deadline"
    return (
        f"{course.call}-{course.ending}-{journal}-{course.client}-{deadline}-{course.kind.__name__}"
    )


@pytest.mark.own_http_client(reason="it looks at the pool of the library's own clients")
@pytest.mark.timeout(300)  # hundreds of calls, each traced line by line
# What was being connected is closed by the collector, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("course", "step"),
    [
        *(pytest.param(course, 29, id=f"{named(course)}-sample") for course in SAMPLED),
        *(pytest.param(course, 1, id=named(course), marks=LONG) for course in COURSES),
    ],
)
def test_interruption_at_any_line_leaves_a_record(
    course, step, monkeypatch, caplog, record_property
):
    monkeypatch.setattr("ferry_sdk._engine.retry._poll_delay", lambda _: 0.0)
    gc.freeze()  # so that what an interruption left is collected quickly
    try:
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            lines = course.run(step, monkeypatch, caplog)
        threads_end()
    finally:
        gc.collect()  # what is left says so in this test, not in a later one
    assert len(lines) > 40 / step
    record_property("lines at which a write was interrupted", len(lines))
