"""The variants of each write, and the replies of the service to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.flow import run
from tests.engine.replies import booking, good, ticket
from tests.engine.writes import ANSWERS, SHOWN
from tests.support.driven import SETTINGS, Driver
from tests.support.operations import described
from tests.support.samples import CANCELLATION_FEE

_NEEDED = {"id", "booking_id", "booking_reference", "stage", "status", "total_price", "currency"}
_NEEDED |= {"payment_status", "ticket_number", "tickets"}


def _brief(record):
    """Return the fields that matter of a booking or ticket; the others only take time to parse."""
    brief = {name: value for name, value in record.items() if name in _NEEDED}
    if "tickets" in brief:
        brief["tickets"] = [_brief(one) for one in brief["tickets"]]
    return brief


SEEN = {name: _brief(record) for name, record in SHOWN.items()}
"""Of each write that a read shows, what the read shows when it is done."""
UNSEEN = {
    name: _brief(ticket("Pending") if "id" in record else booking("payment_due"))
    for name, record in SHOWN.items()
}
_LIMITS = {"max_penalty": 50, "min_refund": 100, "currency": "EUR"}
_FEES = {
    "good": CANCELLATION_FEE,
    "other": CANCELLATION_FEE | {"penalty_amount": 51},
    "there": CANCELLATION_FEE | {"ticket_status": "Canceled"},
}
GUARDS = {
    "bookings.confirm": (
        {"expect_total": "148.18", "currency": "EUR"},
        {"good": booking(), "other": booking(total_price=150), "there": SEEN["bookings.confirm"]},
    ),
    "bookings.cancel": (_LIMITS, _FEES),
    "tickets.cancel": (_LIMITS, _FEES),
}
"""Of each write that can be guarded: how, and what is read: what lets it leave (``good``), what
holds it back, and what says that it is done already (``there``)."""


@dataclass(frozen=True)
class Kind:
    """How the call of a course is made.

    Attributes:
        name: The write.
        has_journal: Whether writes are kept on record.
        is_guarded: Whether something is read before it leaves.
        deadline: Seconds that it may take.
        has_function: Whether a function gives the token.
        stage: What is known of the MCP session.
    """

    name: str
    has_journal: bool = False
    is_guarded: bool = False
    deadline: float | None = None
    has_function: bool = False
    stage: Any = "bare"


def kinds(name):
    """Yield the variants of a write."""
    for has_journal in (True, False):
        for deadline in (None, 1.0):
            yield Kind(name, has_journal, deadline=deadline)
        if name in GUARDS:
            yield Kind(name, has_journal, is_guarded=True)
    if name == "bookings.confirm":
        yield Kind(name, has_journal=True, is_guarded=True, deadline=1.0)
    if name in {"bookings.create", "bookings.confirm", "mcp.create_booking"}:
        yield Kind(name, has_journal=True, has_function=True)
    if name == "mcp.create_booking":
        yield Kind(name, has_journal=True, stage="open")
        yield Kind(name, stage="unknown")


@cache
def describe_call(name, *, is_guarded):
    """Return the description of a call."""
    return described(name, **(GUARDS[name][0] if is_guarded else {}))


@cache
def answer(name):
    """Return the reply of the service to a successful write."""
    subject = described(name).write.subject
    known = {key: value for key, value in subject.items() if key in ANSWERS[name]}
    return {**ANSWERS[name], **known}


@cache
def path(name):
    """Return the path of the write below the base URL."""
    return described(name).call.digest().path


@cache
def answer_of_another(name):
    """Return the result of another call of the same write."""
    driver = Driver(good(answer(name)), Session(stage="bare"))
    context = Context.start(SETTINGS, driver.session, name, clock=driver.clock, now=driver.calendar)
    return driver.walk(run(described(name), context))
