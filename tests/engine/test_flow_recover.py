"""A write whose outcome is unknown is read back once more, by its error or its journal entry."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    SAFETY,
    BookingCancellation,
    BookingConfirmation,
    InvalidInputError,
    OutcomeUnknownError,
    PaymentRecorded,
    TicketCancellation,
)
from ferry_sdk._engine.settings import Secret
from ferry_sdk.client import _unknown_outcome
from ferry_sdk.hooks import Hooks, OutcomeEvent
from tests.engine.recorder import Notes, entry
from tests.engine.replies import booking, good, reply, reset, scripted_driver, ticket
from tests.support.driven import SETTINGS
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each
from tests.support.trip import booked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferry_sdk import Ferry
    from tests.support.driven import Driver

BOOKING = {"booking_id": "b-1"}
TICKET = {"ticket_id": "t-1"}


@dataclass(frozen=True)
class Case:
    """A write that can be recovered.

    Attributes:
        name: The operation.
        subject: The ids of what was to be changed.
        path: What is read.
        before: What is read without the effect.
        after: What is read with it.
        kind: What the write gives.
    """

    name: str
    subject: Mapping[str, str]
    path: str
    before: Any
    after: Any
    kind: type

    def lost(self) -> OutcomeUnknownError:
        driver = scripted_driver(reset(), reply(404))
        with pytest.raises(OutcomeUnknownError) as info:
            driver.raw(
                described(self.name, **self.subject),
                SETTINGS,
                correlation_id="c-7",
                journal=Notes(),
            )
        return info.value


CASES = [
    Case(
        "bookings.confirm",
        BOOKING,
        "/api/booking/b-1",
        booking("payment_due", "Pending"),
        booking("ticketed", "Issued"),
        BookingConfirmation,
    ),
    Case(
        "mcp.confirm_booking",
        BOOKING,
        "/api/booking/b-1",
        booking("payment_due", "Pending"),
        booking("ticketed", "Issued"),
        BookingConfirmation,
    ),
    Case(
        "bookings.cancel",
        BOOKING,
        "/api/booking/b-1",
        booking("ticketed", "Issued"),
        booking("voided", "Canceled"),
        BookingCancellation,
    ),
    Case(
        "tickets.cancel",
        TICKET,
        "/api/ticket/t-1",
        ticket("Issued"),
        ticket("Canceled"),
        TicketCancellation,
    ),
    Case(
        "mcp.cancel_ticket",
        TICKET,
        "/mcp",
        ticket("Issued"),
        ticket("Canceled"),
        TicketCancellation,
    ),
    Case(
        "tickets.mark_paid",
        TICKET,
        "/api/ticket/t-1",
        ticket("Pending"),
        ticket("Issued"),
        PaymentRecorded,
    ),
    Case(
        "tickets.mark_paid",
        BOOKING | TICKET,
        "/api/booking/b-1",
        booking("issuance_due", "Pending"),
        booking("issuance_due", "Pending", payment_status="paid"),
        PaymentRecorded,
    ),
]
COPIES: dict[str, Callable[[OutcomeUnknownError], OutcomeUnknownError]] = {
    "the error": lambda error: error,
    "a copy": copy,
    "a deep copy": deepcopy,
    "a pickled one": lambda error: pickle.loads(pickle.dumps(error)),
}
every_case = each("case", CASES, ids=lambda case: f"{case.name} {case.path}")
every_copy = each("made", COPIES.values(), ids=COPIES)


def recover_again(driver: Driver, error: object, **changes: Any) -> Any:
    return driver.recover_again(*_unknown_outcome(error), SETTINGS, **changes)


def test_every_write_that_a_read_shows_is_recovered_here() -> None:
    assert {case.name for case in CASES} == {
        name for name, row in SAFETY.items() if row.confirmed_by
    }


@every_copy
@every_case
def test_an_effect_that_is_seen_gives_the_writes_result(case: Case, made: Any) -> None:
    driver = scripted_driver(good(case.after))
    result = recover_again(driver, made(case.lost()))
    assert type(result) is case.kind
    assert result.read_back
    assert getattr(result, "refund_amount", None) is None
    assert driver.paths == [case.path]


@every_copy
@every_case
def test_an_effect_that_is_not_seen_gives_the_same_error_with_fresher_facts(
    case: Case, made: Any
) -> None:
    error = made(case.lost())
    before = len(error.attempts)
    driver = scripted_driver(good(case.before))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error)
    fresher = info.value
    assert fresher is not error
    assert fresher.last_seen.model_dump()["status"] == case.before["status"]
    assert len(fresher.attempts) == before + 1
    assert len(error.attempts) == before
    for name in ("operation", "correlation_id", "request", "subject", "entry_id", "outcome"):
        assert getattr(fresher, name) == getattr(error, name)
    assert str(fresher) == str(error)


@every_case
def test_the_correlation_id_is_that_of_the_write(case: Case) -> None:
    driver = scripted_driver(good(case.after))
    recover_again(driver, case.lost(), correlation_id="another")
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"


@every_case
def test_a_reading_that_fails_for_good_keeps_what_was_seen(case: Case) -> None:
    error = case.lost()
    error.last_seen = "what was seen"
    driver = scripted_driver(reply(404))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error)
    assert info.value.last_seen == "what was seen"
    assert [attempt.status_code for attempt in info.value.attempts[-2:]] == [404, 404]
    assert info.value.__cause__ is not None


def test_a_reading_is_repeated_as_any_read_is() -> None:
    driver = scripted_driver(reset(), reply(503), good(CASES[0].after))
    assert recover_again(driver, CASES[0].lost(), max_retries=2).read_back
    assert len(driver.waits) == 2


def test_a_reading_has_the_deadline_of_the_client() -> None:
    driver = scripted_driver(then=reset())
    with pytest.raises(OutcomeUnknownError):
        recover_again(driver, CASES[0].lost(), max_retries=10**6, deadline=3.0)
    assert driver.now <= 1003


def test_an_error_can_be_recovered_again_and_again() -> None:
    error = CASES[0].lost()
    for count in range(1, 4):
        with pytest.raises(OutcomeUnknownError) as info:
            recover_again(scripted_driver(good(CASES[0].before)), error)
        assert len(info.value.attempts) == 2 + count
        error = info.value
    assert recover_again(scripted_driver(good(CASES[0].after)), error).read_back


@every_case
def test_an_entry_is_recovered_as_its_error_is(case: Case) -> None:
    known = entry(case.name, **case.subject)
    driver = scripted_driver(good(case.after))
    assert type(recover_again(driver, known)) is case.kind
    assert driver.paths == [case.path]
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(scripted_driver(good(case.before)), known)
    error = info.value
    assert (error.operation, error.subject, error.entry_id) == (case.name, case.subject, "entry-7")
    assert (error.correlation_id, error.request.method, error.request.path) == (
        "c-7",
        "POST",
        "/api/somewhere",
    )
    assert error.last_seen is not None


@every_case
def test_what_is_recovered_is_on_record_as_done(case: Case) -> None:
    for known in (case.lost(), entry(case.name, **case.subject)):
        notes = Notes()
        recover_again(scripted_driver(good(case.after)), known, journal=notes)
        name = "entry-1" if isinstance(known, OutcomeUnknownError) else "entry-7"
        assert notes.states == {name: "done"}


@every_case
def test_what_is_not_recovered_stays_on_record_as_it_was(case: Case) -> None:
    for answer in (good(case.before), reply(404)):
        notes = Notes()
        with pytest.raises(OutcomeUnknownError):
            recover_again(scripted_driver(answer), case.lost(), journal=notes)
        assert notes.states == {}


def test_a_write_without_an_entry_is_put_on_no_record() -> None:
    error = CASES[0].lost()
    error.entry_id = None
    notes = Notes()
    assert recover_again(scripted_driver(good(CASES[0].after)), error, journal=notes).read_back
    assert notes.states == {}


@each(
    "name",
    [name for name in OPERATIONS if not SAFETY[name].is_read and not SAFETY[name].confirmed_by],
)
def test_what_no_read_shows_cannot_be_recovered(name: str) -> None:
    with pytest.raises(OutcomeUnknownError) as lost:
        scripted_driver(reset()).raw(described(name), SETTINGS)
    with pytest.raises(OutcomeUnknownError) as info:
        _unknown_outcome(lost.value)
    assert info.value is lost.value
    with pytest.raises(OutcomeUnknownError) as made:
        _unknown_outcome(entry(name))
    assert (made.value.operation, made.value.entry_id) == (name, "entry-7")


@each("name", ["bookings.paint", "bookings.get", "bookings.wait", ""])
def test_what_is_no_write_cannot_be_recovered(name: str) -> None:
    with pytest.raises(OutcomeUnknownError):
        _unknown_outcome(entry(name, booking_id="b-1"))


@each("subject", [{}, {"ticket_id": "t-1"}])
def test_an_entry_without_the_id_that_is_read_cannot_be_recovered(subject: dict[str, str]) -> None:
    with pytest.raises(OutcomeUnknownError):
        _unknown_outcome(entry("bookings.confirm", **subject))


@pytest.mark.parametrize("wrong", [None, "bookings.confirm", RuntimeError(), reset(), {}, 7])
def test_nothing_else_can_be_recovered(both: Ferry, wrong: Any) -> None:
    with pytest.raises(InvalidInputError) as info:
        both.recover(wrong)
    assert info.value.field == "error"


def test_either_client_recovers_an_error_and_an_entry(both: Ferry) -> None:
    made = booked(both)
    error = CASES[0].lost()
    error.subject = {"booking_id": made.booking_id}
    with pytest.raises(OutcomeUnknownError) as info:
        both.recover(error)
    assert info.value.last_seen.booking_id == made.booking_id
    both.bookings.confirm(made.booking_id)
    for known in (info.value, pickle.loads(pickle.dumps(error))):
        assert both.recover(known).read_back
    assert both.recover(entry("bookings.confirm", booking_id=made.booking_id)).read_back


def test_recovering_that_is_interrupted_leaves_the_write_unknown() -> None:
    told: list[OutcomeEvent] = []

    def interrupted() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recover_again(
            scripted_driver(),
            CASES[0].lost(),
            token=Secret(interrupted),
            hooks=Hooks({OutcomeEvent: [told.append]}),
        )
    assert [event.outcome for event in told] == ["unknown"]
