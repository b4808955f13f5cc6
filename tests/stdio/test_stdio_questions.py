"""What a person is asked by a host, and whether the host can ask."""

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace

from mcp.types import ClientCapabilities, ElicitResult

from ferry_sdk.agents import ApprovalRequest
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.stdio.elicitation import Questions, can_ask, parse_answer

CANCEL = {"booking_id": "b1", "max_penalty": "5.00"}
CALL = ("bookings_cancel", CANCEL)


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


def test_a_question_is_taken_once_for_one_call_until_it_expires_or_is_forgotten():
    questions, asked = Questions(State()), request()
    state = questions.keep(*CALL, asked)
    assert questions.take(state, *CALL)
    assert not questions.take(state, *CALL)
    for other in [
        ("tickets_cancel", CANCEL),
        ("bookings_cancel", {**CANCEL, "booking_id": "b2"}),
        ("bookings_cancel", {"booking_id": "b1"}),
        ("bookings_cancel", {**CANCEL, "max_penalty": 5.0}),
        ("bookings_cancel", {**CANCEL, "detail": "full"}),
    ]:
        state = questions.keep(*CALL, asked)
        assert not questions.take(state, *other), other
        assert not questions.take(state, *CALL), other
    questions.keep(*CALL, asked)
    for unknown in (None, "", "guessed"):
        assert not questions.take(unknown, *CALL)
    state = questions.keep(*CALL, request(expires_at=datetime.now(timezone.utc)))
    assert not questions.take(state, *CALL)
    first, second, *_ = [questions.keep(*CALL, asked) for _ in range(101)]
    assert not questions.take(first, *CALL)
    assert questions.take(second, *CALL)


def test_a_checkbox_is_for_one_approval_and_one_server_whenever_it_is_asked_for():
    questions, asked = Questions(State()), request()
    later = request(expires_at=asked.expires_at + timedelta(minutes=1))
    first = questions.box(asked)
    assert re.fullmatch("approve_[0-9a-f]{16}", first)
    assert (asked.digest, first) == (later.digest, questions.box(later))
    for change in [
        {"tool": "tickets_cancel"},
        {"summary": "Cancel b1: 6.00 EUR is kept"},
        {"amount": Decimal("6.00")},
        {"currency": "GBP"},
        {"subject": {"booking_id": "b2"}},
        {"travellers": ()},
        {"contact": ('"somebody@example.net"',)},
        {"arguments_digest": "0"},
    ]:
        assert asked.digest != request(**change).digest, change
        assert first != questions.box(request(**change)), change
    assert Questions(State()).box(asked) != first
    questions.agree(asked)
    assert questions.box(asked) != first


def test_an_approval_is_one_ticked_box():
    for action, content, expected in [
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
    ]:
        answer = ElicitResult(action=action, content=content)
        assert parse_answer(answer, "mine") is expected, answer


def test_a_host_can_ask_if_it_shows_forms():
    form, url = {"form": {}}, {"url": {}}
    for declared, expected in [
        *((None, False), ({}, False), ({"sampling": {}}, False)),
        *(({"elicitation": one}, True) for one in ({}, form, form | url)),
        ({"elicitation": url}, False),
    ]:
        known = None if declared is None else ClientCapabilities.model_validate(declared)
        context = SimpleNamespace(session=SimpleNamespace(client_capabilities=known))
        assert can_ask(context) is expected, declared
