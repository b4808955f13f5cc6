"""Questions whose answer comes with another call."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from mcp.types import ElicitResult

from ferry_sdk.agents import ApprovalRequest
from ferry_sdk.agents.stdio.elicitation import Questions, parse_answer

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
    questions, asked = Questions(), request()
    state = questions.keep(*CALL, asked)
    assert questions.take(state, *CALL) is asked
    assert questions.take(state, *CALL) is None


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
    questions = Questions()
    state = questions.keep(*CALL, request())
    assert questions.take(state, *other) is None
    assert questions.take(state, *CALL) is None


@pytest.mark.parametrize("state", [None, "", "guessed"])
def test_an_unknown_state_has_no_question(state):
    questions = Questions()
    questions.keep(*CALL, request())
    assert questions.take(state, *CALL) is None


def test_a_question_expires_with_its_request():
    questions = Questions()
    state = questions.keep(*CALL, request(expires_at=datetime.now(timezone.utc)))
    assert questions.take(state, *CALL) is None


def test_the_oldest_unanswered_questions_are_forgotten():
    questions = Questions()
    first = questions.keep(*CALL, request())
    others = [questions.keep(*CALL, request()) for _ in range(100)]
    assert questions.take(first, *CALL) is None
    assert questions.take(others[0], *CALL) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "tickets_cancel"},
        {"summary": "Cancel b1: 6.00 EUR is kept"},
        {"amount": Decimal("6.00")},
        {"currency": "GBP"},
        {"subject": {"booking_id": "b2"}},
        {"travellers": ()},
    ],
)
def test_requests_that_differ_only_in_time_are_equal(change):
    asked = request()
    later = request(expires_at=asked.expires_at + timedelta(minutes=1))
    questions = Questions()
    assert asked.digest == later.digest
    assert asked.digest != request(**change).digest
    assert questions.box(asked) == questions.box(later)
    assert questions.box(asked) != questions.box(request(**change))


def test_a_checkbox_is_for_one_approval_and_one_server():
    questions, asked = Questions(), request()
    first = questions.box(asked)
    assert re.fullmatch("approve_[0-9a-f]{16}", first)
    assert Questions().box(asked) != first
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
