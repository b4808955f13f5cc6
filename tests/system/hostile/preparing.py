"""What a run needs beforehand: a traveller, bookings, a journal; and what is counted after it."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import count
from random import Random
from tempfile import TemporaryDirectory

from ferry_sdk.journal import Journal
from tests.system.effects.schedules import EFFECTS
from tests.system.effects.world import CALLS, GUARDED, Subject

from .judging import Outcome
from .runs import TOKENS

_NAMES = (
    *(("Zoë", "Quarrington-Ünsal"), ("Noëlle", "O'Cañary"), ("Qi", "Xø")),
    *(("Straße", "Ğüvenoğlu"), ("ANNELIESE", "van der Qvist")),
)
_OF_SAMPLES = ("Marguerite", "Okonkwo", "AB1234567")
_UNCONFIRMED = {"bookings.confirm", "mcp.confirm_booking", "tickets.mark_paid"}
_OF_BOOKING = {"bookings.confirm", "bookings.cancel", "bookings.get", "mcp.confirm_booking"}
WELL = {"deadline": 4.0, "timeout": 4.0, "max_retries": 2}
"""The options of a call that nothing happens to."""
_SOON = 1.0
"""Seconds within which an outcome that came too late for its call is on record."""
_numbers = count(1)


class Preparation:
    """Prepares the calls of a run, and counts what came of them."""

    def __init__(self, server, evidence):
        self._server = server
        self._evidence = evidence
        self._folder = TemporaryDirectory()
        url = f"sqlite:///{self._folder.name}/journal.db"
        self._journal = Journal(url) if evidence.run.has_journal else None
        self._subjects = []
        dice = Random(evidence.run.number)  # noqa: S311 -- no secret is drawn
        first, last = dice.choice(_NAMES)
        self._document = f"QX{next(_numbers)}Z"
        self._traveller = {
            "type": "Adult",
            "first_name": first,
            "last_name": last,
            "birth_date": "1987-11-23",
            "email": f"{self._document.lower()}@mail.example",
        }
        told = (f"{first} {last}", last, first, f"{self._document}-0", "23.11.1987", "1987-11-23")
        server.reset(dice.choice(told))
        documents = [f"{self._document}-{number}" for number in range(len(evidence.run.calls))]
        evidence.secrets = (*TOKENS, *_OF_SAMPLES, first, last, "23.11.1987", *documents)
        evidence.secrets += (self._traveller["birth_date"], self._traveller["email"])
        self.settings = {"base_url": server.base_url, "journal": self._journal}
        self.settings |= dict(zip(("token", "organisation_token"), TOKENS, strict=True))

    def begin(self, call, ferry):
        """Prepare a call; what will become of it, and what makes it."""
        number = len(self._subjects)
        booking = self._server.service.book(is_confirmed=call.operation not in _UNCONFIRMED)
        selection = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}
        traveller = self._traveller | {"doc_number": f"{self._document}-{number}"}
        subject = Subject([selection], booking.booking_id, booking.ticket_id, "148.18", traveller)
        about = ""  # where it makes one or reads a list
        if call.operation in _OF_BOOKING:
            about = subject.booking_id
        elif "ticket" in call.operation:
            about = subject.ticket_id
        intent = (EFFECTS.get(call.operation, ""), about or traveller["doc_number"])
        outcome = Outcome(call, f"call-{next(_numbers)}", intent, about)
        self._subjects.append(subject)
        self._evidence.outcomes.append(outcome)
        self._server.begin(outcome.correlation_id, call.strokes)
        view = ferry.with_options(**call.options, correlation_id=outcome.correlation_id)
        function = (GUARDED if call.is_guarded else CALLS)[call.operation]
        return outcome, partial(function, view, subject)

    def count(self):
        """See what came of every call, once nothing is on its way."""
        for outcome in self._evidence.outcomes:
            outcome.exchanges = self._server.of_call(outcome.correlation_id)
            outcome.effects = self._effects(outcome)
            outcome.effects_after = len(outcome.effects)
            if self._journal is not None and outcome.call.operation in EFFECTS:
                outcome.state = self._state_of(outcome)

    def again(self, ferry):
        """Writes that did not end well, and what makes each once more, if that may be done."""
        for outcome, subject in zip(self._evidence.outcomes, self._subjects, strict=True):
            operation = outcome.call.operation
            may_be_made = not outcome.effects or outcome.state in {"open", "unknown", "not_sent"}
            if outcome.error is not None and operation in EFFECTS and may_be_made:
                name = f"{outcome.correlation_id}-again"
                view = ferry.with_options(**WELL, correlation_id=name)
                yield outcome, partial(CALLS[operation], view, subject)
                outcome.effects_after = len(self._effects(outcome))

    def close(self):
        if self._journal is not None:
            self._journal.close()
        self._folder.cleanup()

    def _state_of(self, outcome):
        """How a call that is over stands on record; ``none`` where it does not."""
        until = time.monotonic() + _SOON
        while True:
            entries = self._journal.entries(correlation_id=outcome.correlation_id)
            state = entries[-1].state if entries else "none"
            if state != "open" or time.monotonic() > until:
                return state
            time.sleep(0.01)

    def _effects(self, outcome):
        return [one for one in self._server.service.effects if one.intent == outcome.intent]


def interruptible(server, call, interrupt):
    """Have a call that begins now interrupted when it says so."""
    when = call.interrupt
    server.on_event = lambda _: None
    if when is None:
        return
    timer = threading.Timer(when.seconds, interrupt)
    timer.daemon = True
    events = []

    def on_event(event):
        events.append(event)
        if events.count(when.event) == 1 and event == when.event:
            timer.start()

    server.on_event = on_event
    on_event("start")


class _Log(logging.Handler):
    """Keeps what is logged, but for what HTTP libraries say of the replies that they read."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []
        self.setFormatter(logging.Formatter())

    def emit(self, record):
        if not record.getMessage().startswith("receive_response_headers"):
            self.lines.append(self.format(record))


@contextmanager
def capture_log():
    log, root = _Log(), logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        yield log.lines
    finally:
        root.setLevel(level)
        root.removeHandler(log)
