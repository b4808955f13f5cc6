"""What a flow puts on record: the intent before a byte leaves, the outcome after."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferry_sdk import SAFETY, BookingConfirmation, FerryError, OutcomeUnknownError
from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk._engine.settings import Secret
from ferry_sdk.types import OutcomeDetails
from tests.engine.recorder import Notes, entry, kinds
from tests.engine.replies import booking, good, refused, reply, reset, scripted_driver
from tests.engine.writes import ANSWERS, SHOWN, every_shown, every_write
from tests.support.driven import SETTINGS
from tests.support.operations import OPERATIONS, described
from tests.support.samples import (
    BOOKING_CONFIRMATION,
    BOOKING_CREATED,
    CANCELLATION_FEE,
)
from tests.support.tables import each
from tests.support.trip import PASSENGERS

READS = [name for name in OPERATIONS if SAFETY[name].is_read]


def test_every_write_is_tested_here() -> None:
    assert ANSWERS.keys() == {*OPERATIONS} - {*READS}
    assert SHOWN.keys() == {name for name, row in SAFETY.items() if row.confirmed_by}


@every_write
def test_the_intent_is_on_record_before_the_first_byte_and_the_outcome_after(name: str) -> None:
    notes = Notes()
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(described(name), SETTINGS, journal=notes)
    assert kinds(driver) == [RunBlocking, Send, RunBlocking]
    assert notes.states == {"entry-1": "done"}


@every_write
def test_an_intent_says_what_is_about_to_be_done(name: str) -> None:
    notes = Notes()
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(described(name), SETTINGS, journal=notes, correlation_id="c-1")
    (intent,) = notes.intents.values()
    write = described(name).write
    assert write is not None
    assert (intent.operation, intent.effect) == (name, SAFETY[name].effect)
    assert intent.method == "POST"
    assert intent.path.startswith(driver.paths[0])
    assert (intent.subject, intent.correlation_id) == (write.subject, "c-1")
    assert json.loads(intent.identity)
    assert "identity" not in repr(intent)


def test_a_booking_is_the_same_in_both_protocols_whoever_travels_is_in_its_identity_alone() -> None:
    notes = Notes()
    for name in ("bookings.create", "mcp.create_booking"):
        scripted_driver(good(BOOKING_CREATED)).raw(described(name), SETTINGS, journal=notes)
    first, second = notes.intents.values()
    assert first.identity == second.identity
    assert first.effect == second.effect
    family = str(PASSENGERS[0]["last_name"])
    assert family in first.identity.decode()
    for intent in (first, second):
        assert family not in repr(intent)
        assert family not in intent.path
        assert not intent.subject


@each(
    "calls",
    [
        [("bookings.confirm", {}), ("mcp.confirm_booking", {})],
        [("tickets.cancel", {}), ("mcp.cancel_ticket", {})],
        [("tickets.mark_paid", {}), ("tickets.mark_paid", {"booking_id": "b-1"})],
        [
            ("mcp.call_tool", {"arguments": {"colour": "blue", "deck": 3}}),
            ("mcp.call_tool", {"arguments": {"deck": 3, "colour": "blue"}}),
        ],
    ],
)
def test_the_same_change_has_the_same_identity(calls: list[tuple[str, dict[str, Any]]]) -> None:
    notes = Notes()
    for name, changes in calls:
        driver = scripted_driver(good(ANSWERS[name]))
        driver.raw(described(name, **changes), SETTINGS, journal=notes)
    first, second = notes.intents.values()
    assert (first.identity, first.effect) == (second.identity, second.effect)


def test_other_changes_are_others() -> None:
    notes = Notes()
    changes: list[tuple[str, dict[str, Any]]] = [
        ("bookings.confirm", {}),
        ("bookings.confirm", {"booking_id": "b-2"}),
        ("bookings.cancel", {}),
        ("tickets.mark_paid", {}),
        ("tickets.mark_paid", {"external_payment_ref": "pay-2"}),
        ("tickets.mark_paid", {"ticket_id": "t-2"}),
        ("bookings.create", {}),
        ("bookings.create", {"passengers": PASSENGERS[:1]}),
        ("mcp.call_tool", {}),
    ]
    for name, given in changes:
        driver = scripted_driver(good(ANSWERS[name] | given))
        driver.raw(described(name, **given), SETTINGS, journal=notes)
    known = {(intent.effect, intent.identity) for intent in notes.intents.values()}
    assert len(known) == len(changes)


@pytest.mark.parametrize(
    ("replies", "state"),
    [
        ([refused] * 3, "not_sent"),
        ([lambda: reply(429)] * 3, "rejected"),
        ([lambda: reply(429, retry_after="61")], "rejected"),
        ([refused, refused, lambda: reply(404)], "rejected"),
        ([lambda: reply(401)], "rejected"),
        ([lambda: reply(409), lambda: reply(404)], "rejected"),
        ([lambda: reply(302)], "unknown"),
        ([reset, lambda: reply(404)], "unknown"),
        ([lambda: reply(503), lambda: reply(401)], "unknown"),
        ([lambda: reply(200, {}), lambda: reply(404)], "unknown"),
    ],
)
@every_shown
def test_every_ending_is_put_on_record_as_what_it_was(
    name: str, replies: list[Any], state: str
) -> None:
    notes = Notes()
    driver = scripted_driver(*(make_reply() for make_reply in replies))
    with pytest.raises(FerryError) as info:
        driver.raw(described(name), SETTINGS, journal=notes)
    assert info.value.outcome == state
    assert notes.states == {"entry-1": state}
    assert kinds(driver)[0] == kinds(driver)[-1] == RunBlocking


@each(
    ("code", "kept"),
    [
        ("BOOKING_CREATE_ERROR", "BOOKING_CREATE_ERROR"),
        ("NO_ROOM.2", "NO_ROOM.2"),
        (PASSENGERS[0]["last_name"], None),
        (f"{PASSENGERS[0]['last_name']}_IS_TAKEN", None),
        ("no place for Ferrandini", None),
    ],
)
def test_the_code_of_a_rejection_is_kept_unless_it_may_be_a_name(
    code: str, kept: str | None
) -> None:
    notes = Notes()
    driver = scripted_driver(reply(409, {"code": code, "message": code}))
    with pytest.raises(FerryError):
        driver.raw(described("bookings.create"), SETTINGS, journal=notes)
    assert notes.details == {"entry-1": OutcomeDetails(status_code=409, code=kept)}


@every_write
def test_an_unknown_outcome_names_its_entry(name: str) -> None:
    driver = scripted_driver(reset(), then=reply(404))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described(name), SETTINGS, journal=Notes())
    assert info.value.entry_id == "entry-1"
    with pytest.raises(OutcomeUnknownError) as info:
        scripted_driver(reset(), then=reply(404)).raw(described(name), SETTINGS)
    assert info.value.entry_id is None


@every_shown
def test_what_is_read_back_is_done(name: str) -> None:
    notes = Notes()
    driver = scripted_driver(reset(), reply(503), good(SHOWN[name]))
    driver.raw(described(name), SETTINGS, journal=notes)
    assert notes.states == {"entry-1": "done"}


def test_attempts_of_one_write_are_one_entry() -> None:
    notes = Notes()
    driver = scripted_driver(refused(), reply(401), reply(429), good(BOOKING_CREATED))
    driver.raw(described("bookings.create"), SETTINGS, journal=notes, token=Secret(lambda: "token"))
    assert notes.states == {"entry-1": "done"}


@each("name", READS)
def test_a_read_is_put_on_no_record(name: str) -> None:
    notes = Notes()
    driver = scripted_driver(then=reply(404))
    with pytest.raises(FerryError):
        driver.raw(described(name), SETTINGS, journal=notes)
    assert notes.states == {}


@every_write
def test_a_write_that_is_refused_before_the_wire_is_put_on_no_record(name: str) -> None:
    notes = Notes()
    with pytest.raises(FerryError):
        scripted_driver().raw(described(name), SETTINGS, journal=notes, read_only=True)
    assert notes.states == {}


@each(
    ("name", "guard", "before"),
    [
        ("bookings.confirm", {"expect_total": 1}, booking()),
        ("bookings.cancel", {"max_penalty": 1}, CANCELLATION_FEE),
        ("tickets.cancel", {"max_penalty": 1}, CANCELLATION_FEE),
    ],
)
def test_a_guard_says_no_before_anything_is_on_record(
    name: str, guard: dict[str, Any], before: Any
) -> None:
    notes = Notes()
    driver = scripted_driver(good(before))
    with pytest.raises(FerryError):
        driver.raw(described(name, **guard), SETTINGS, journal=notes)
    assert notes.states == {}
    assert kinds(driver) == [Send]


def test_a_payment_without_a_token_is_put_on_no_record_as_open() -> None:
    notes = Notes()
    with pytest.raises(FerryError):
        scripted_driver().raw(
            described("tickets.mark_paid"), SETTINGS, journal=notes, organisation_token=None
        )
    assert set(notes.states.values()) <= {"not_sent"}


def test_without_a_journal_nothing_is_consulted() -> None:
    driver = scripted_driver(good(BOOKING_CONFIRMATION))
    answer = driver.raw(described("bookings.confirm"), SETTINGS).parse()
    assert isinstance(answer, BookingConfirmation)
    assert kinds(driver) == [Send]


@each("journal", [None, Notes()], ids=["none", "one"])
@each("arguments", [{1: "a", "b": 2}, {None: 1, "b": 2}, {True: 1, "b": 2}])
def test_a_tool_may_have_arguments_of_any_key_that_json_takes(
    journal: Notes | None, arguments: Any
) -> None:
    operation = described("mcp.call_tool", arguments=arguments)
    assert scripted_driver(good(1)).raw(operation, SETTINGS, journal=journal).parse() == 1
    with pytest.raises(OutcomeUnknownError):
        scripted_driver(reset()).raw(operation, SETTINGS, journal=journal)


@each(
    ("state", "is_unresolved"),
    [
        ("open", True),
        ("unknown", True),
        ("done", False),
        ("rejected", False),
        ("not_sent", False),
    ],
)
def test_an_entry_is_unresolved_while_nobody_knows(state: Any, is_unresolved: bool) -> None:
    assert entry("bookings.create", state).is_unresolved is is_unresolved
