"""What the tests let other processes do; small, and imported before they start."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

from ferry_sdk import AsyncFerry, Ferry, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal

Moment = Literal["before_begin", "begun", "before_end", "ended"]


def begin(url, intents, gate, told):
    """Begin each write the moment all others do; tell each time who won."""
    with Journal(url) as journal:
        for intent in intents:
            gate.wait()
            try:
                told.send(("won", journal.begin(intent)))
            except UnresolvedWriteError as error:
                told.send(("lost", error.entry.id))
            except JournalError as error:
                told.send(("failed", str(error)))


@dataclass(frozen=True)
class Order:
    """A write to make, and at which step of the journal's to stand still; None: at none."""

    url: str
    call: str
    arguments: dict[str, Any] = field(repr=False)
    client: dict[str, Any] = field(repr=False)
    is_async: bool
    halt: Moment | None


class Halting:
    """A journal that says each step, and stands still at one for ever."""

    accepts_keys = True

    def __init__(self, journal, halt, told):
        self._journal = journal
        self._halt = halt
        self._told = told

    def begin(self, intent):
        self._reached("before_begin")
        entry_id = self._journal.begin(intent)
        self._reached("begun")
        return entry_id

    def end(self, entry_id, state, details=None):
        self._reached("before_end")
        self._journal.end(entry_id, state, details)
        self._reached("ended")

    def _reached(self, moment):
        self._told.send(moment)
        if moment == self._halt:
            threading.Event().wait()


def write(order, told):
    journal = Halting(Journal(order.url), order.halt, told)

    async def write_async():
        async with AsyncFerry(**order.client, journal=journal) as ferry:
            await method_of(ferry, order.call)(**order.arguments)

    if order.is_async:
        asyncio.run(write_async())
    else:
        with Ferry(**order.client, journal=journal) as ferry:
            method_of(ferry, order.call)(**order.arguments)
    threading.Event().wait()


def book(url, client, trips, told):
    """Book each trip under its key; tell its booking, None for one that is unresolved."""
    with Journal(url) as journal, Ferry(**client, journal=journal) as ferry:
        for key, trip in trips.items():
            try:
                told.send((key, ferry.bookings.create(**trip, idempotency_key=key).booking_id))
            except UnresolvedWriteError:
                told.send((key, None))


def method_of(ferry, call):
    group, name = call.split(".")
    return getattr(getattr(ferry, group), name)
