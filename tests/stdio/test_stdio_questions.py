"""What a person is asked by a host, and whether the host can ask."""

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace

import pytest
from mcp.types import ClientCapabilities, ElicitResult

from ferry_sdk.agents import ApprovalRequest
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.stdio.elicitation import Questions, can_ask, parse_answer

CALL = ("bookings_cancel", {"booking_id": "b1", "max_penalty": "5.00"})


def request(**changes):
    facts = {
        "tool": "bookings_cancel",
        "summary": "Cancel b1: 5.00 EUR is kept",
        "amount": Decimal("5.00"),
        "currency": "EUR",
        "subject": {"booking_id": "b1"},
        "expires_at": datetime.now(timezone.utc) + timedelta(minutes=5),
        "travellers": ('"Ada Reyes"',),
    }
    return ApprovalRequest(**{**facts, **changes})


def test_a_question_is_taken_once():
    questions, asked = Questions(State()), request()
    state = questions.keep(*CALL, asked)
    assert questions.take(state, *CALL)
    assert not questions.take(state, *CALL)


@pytest.mark.parametrize(
    "other",
    [
        ("tickets_cancel", CALL[1]),
        ("bookings_cancel", {"booking_id": "b2", "max_penalty": "5.00"}),
        ("bookings_cancel", {"booking_id": "b1"}),
        ("bookings_cancel", {"booking_id": "b1", "max_penalty": 5.0}),
        ("bookings_cancel", {**CALL[1], "detail": "full"}),
    ],
)
def test_a_question_is_for_one_call(other):
    questions = Questions(State())
    state = questions.keep(*CALL, request())
    assert not questions.take(state, *other)
    assert not questions.take(state, *CALL)


@pytest.mark.parametrize("state", [None, "", "guessed"])
def test_an_unknown_state_has_no_question(state):
    questions = Questions(State())
    questions.keep(*CALL, request())
    assert not questions.take(state, *CALL)


def test_a_question_expires_with_its_request():
    questions = Questions(State())
    state = questions.keep(*CALL, request(expires_at=datetime.now(timezone.utc)))
    assert not questions.take(state, *CALL)


def test_the_oldest_unanswered_questions_are_forgotten():
    questions = Questions(State())
    first = questions.keep(*CALL, request())
    others = [questions.keep(*CALL, request()) for _ in range(100)]
    assert not questions.take(first, *CALL)
    assert questions.take(others[0], *CALL)


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "tickets_cancel"},
        {"summary": "Cancel b1: 6.00 EUR is kept"},
        {"amount": Decimal("6.00")},
        {"currency": "GBP"},
        {"subject": {"booking_id": "b2"}},
        {"travellers": ()},
        {"contact": ('"somebody@example.net"',)},
        {"arguments_digest": "0"},
    ],
)
def test_requests_that_differ_only_in_time_are_equal(change):
    asked = request()
    later = request(expires_at=asked.expires_at + timedelta(minutes=1))
    questions = Questions(State())
    assert asked.digest == later.digest
    assert asked.digest != request(**change).digest
    assert questions.box(asked) == questions.box(later)
    assert questions.box(asked) != questions.box(request(**change))


def test_a_checkbox_is_for_one_approval_and_one_server():
    questions, asked = Questions(State()), request()
    first = questions.box(asked)
    assert re.fullmatch("approve_[0-9a-f]{16}", first)
    assert Questions(State()).box(asked) != first
    questions.agree(asked)
    assert questions.box(asked) != first


@pytest.mark.parametrize(
    ("action", "content", "expected"),
    [
        ("accept", {"mine": True}, True),
        ("accept", {"mine": False}, False),
        ("accept", {"mine": "true"}, False),
        ("accept", {"mine": 1}, False),
        ("accept", {}, False),
        ("accept", None, False),
        ("decline", {"mine": True}, False),
        ("cancel", {"other": True}, False),
        ("accept", {"other": True}, None),
        ("accept", {"mine": False, "other": True}, None),
        ("accept", {"mine": True, "other": True}, None),
        ("accept", {"mine": True, "other": False}, True),
    ],
)
def test_an_approval_is_one_ticked_box(action, content, expected):
    assert parse_answer(ElicitResult(action=action, content=content), "mine") is expected


# Whether a host can ask a person, by what it declares


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, False),
        ({}, False),
        ({"sampling": {}}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
    ],
)
def test_a_host_can_ask_if_it_shows_forms(declared, expected):
    capabilities = None if declared is None else ClientCapabilities.model_validate(declared)
    context = SimpleNamespace(session=SimpleNamespace(client_capabilities=capabilities))
    assert can_ask(context) is expected
