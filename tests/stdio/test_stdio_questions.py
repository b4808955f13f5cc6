"""A whole booking over stdio, and what a person is asked: approved, declined, and with codes."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from mcp.types import ClientCapabilities, ElicitResult

from ferry_sdk.agents import ApprovalRequest
from ferry_sdk.agents.mcp_server.elicitation import can_ask, parse_answer
from ferry_sdk.agents.mcp_server.questions import Questions
from ferry_sdk.agents.policy.approval import VALID_FOR
from ferry_sdk.agents.policy.state import State
from tests.agents.agent import ShortWay, book, error, order, result_of, sailings
from tests.stdio.conftest import NO, NOT_AN_APPROVAL, YES, Person
from tests.support.effects import effects
from tests.support.tiers import mostly_long

CANCEL = {"booking_id": "b1", "max_penalty": "5.00"}
CALL = ("bookings_cancel", CANCEL)


def request(**changes):
    usual = {
        "tool": "bookings_cancel",
        "summary": "Cancel b1: 5.00 EUR is kept",
        "amount": Decimal("5.00"),
        "currency": "EUR",
        "subject": {"booking_id": "b1"},
        "expires_at": datetime.now(UTC) + timedelta(minutes=5),
        "travellers": ('"Ada Reyes"',),
    }
    return ApprovalRequest(**{**usual, **changes})


@pytest.fixture
def questions():
    return Questions(State())


def test_a_question_is_taken_once(questions):
    state = questions.keep(*CALL, request())
    assert questions.take(state, *CALL)
    assert not questions.take(state, *CALL)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("tickets_cancel", CANCEL), id="tool"),
        pytest.param(("bookings_cancel", {**CANCEL, "booking_id": "b2"}), id="booking"),
        pytest.param(("bookings_cancel", {"booking_id": "b1"}), id="fewer"),
        pytest.param(("bookings_cancel", {**CANCEL, "max_penalty": 5.0}), id="type"),
        pytest.param(("bookings_cancel", {**CANCEL, "detail": "full"}), id="more"),
    ],
)
def test_a_question_is_used_up_by_another_call(questions, other):
    state = questions.keep(*CALL, request())
    assert not questions.take(state, *other)
    assert not questions.take(state, *CALL)


@pytest.mark.parametrize("state", [None, "", "guessed"])
def test_an_invented_state_answers_nothing(questions, state):
    questions.keep(*CALL, request())
    assert not questions.take(state, *CALL)


def test_a_question_expires_with_its_request(questions):
    state = questions.keep(*CALL, request(expires_at=datetime.now(UTC)))
    assert not questions.take(state, *CALL)


def test_the_oldest_of_many_questions_is_forgotten(questions):
    first, second, *_ = [questions.keep(*CALL, request()) for _ in range(101)]
    assert not questions.take(first, *CALL)
    assert questions.take(second, *CALL)


def test_a_question_is_being_asked_until_its_answer(questions):
    state = questions.keep(*CALL, request())
    assert questions.is_being_asked(*CALL)
    questions.take(state, *CALL)
    assert not questions.is_being_asked(*CALL)


def test_another_call_is_not_being_asked(questions):
    questions.keep(*CALL, request())
    assert not questions.is_being_asked("tickets_cancel", CANCEL)


@pytest.mark.parametrize(("seconds", "is_asked"), [(5, True), (10, False), (200, False)])
def test_a_question_is_being_asked_for_one_turn(questions, seconds, is_asked):
    left = timedelta(seconds=VALID_FOR - seconds)
    questions.keep(*CALL, request(expires_at=datetime.now(UTC) + left))
    assert questions.is_being_asked(*CALL) is is_asked


def test_equal_questions_have_the_same_box(questions):
    asked = request()
    later = request(expires_at=asked.expires_at + timedelta(minutes=1))
    assert re.fullmatch("approve_[0-9a-f]{16}", questions.box(asked))
    assert (asked.digest, questions.box(asked)) == (later.digest, questions.box(later))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool", "tickets_cancel"),
        pytest.param("amount", Decimal("6.00"), id="amount"),
        ("currency", "GBP"),
        ("summary", "Cancel b1: 6.00 EUR is kept"),
        pytest.param("subject", {"booking_id": "b2"}, id="subject"),
        pytest.param("travellers", (), id="travellers"),
        pytest.param("contact", ('"a@example.net"',), id="contact"),
        ("arguments_digest", "0"),
    ],
)
def test_another_question_has_another_box(questions, field, value):
    asked, other = request(), request(**{field: value})
    assert asked.digest != other.digest
    assert questions.box(asked) != questions.box(other)


def test_another_server_has_another_box(questions):
    assert Questions(State()).box(request()) != questions.box(request())


def test_an_approval_changes_the_box(questions):
    before = questions.box(request())
    questions.agree(request())
    assert questions.box(request()) != before


@pytest.mark.parametrize(
    ("content", "is_agreed"),
    [
        ({"mine": True}, True),
        ({"mine": True, "other": False}, True),
        ({"mine": False}, False),
        ({"mine": "true"}, False),
        ({"mine": 1}, False),
        ({}, False),
        (None, False),
        ({"other": True}, None),
        ({"mine": False, "other": True}, None),
        ({"mine": True, "other": True}, None),
    ],
    ids=str,
)
def test_an_approval_is_one_ticked_box(content, is_agreed):
    answer = ElicitResult(action="accept", content=content)
    assert parse_answer(answer, "mine") is is_agreed


@pytest.mark.parametrize(
    ("action", "content"), [("decline", {"mine": True}), ("cancel", {"other": True})], ids=str
)
def test_a_form_that_is_not_sent_approves_nothing(action, content):
    assert parse_answer(ElicitResult(action=action, content=content), "mine") is False


@pytest.mark.parametrize(
    ("declared", "shows_forms"),
    [
        pytest.param(None, False, id="nothing"),
        pytest.param({}, False, id="no capability"),
        pytest.param({"sampling": {}}, False, id="another capability"),
        pytest.param({"elicitation": {}}, True, id="no mode"),
        pytest.param({"elicitation": {"form": {}}}, True, id="forms"),
        pytest.param({"elicitation": {"form": {}, "url": {}}}, True, id="both modes"),
        pytest.param({"elicitation": {"url": {}}}, False, id="addresses"),
    ],
)
def test_a_host_declares_that_it_shows_forms(declared, shows_forms):
    known = None if declared is None else ClientCapabilities.model_validate(declared)
    context = SimpleNamespace(session=SimpleNamespace(client_capabilities=known))
    assert can_ask(context) is shows_forms


def test_a_person_approves_each_write(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    booking = book(host)
    named = {"booking_id": booking["booking_id"]}
    confirmed = result_of(host.call("bookings_confirm", named))
    assert result_of(host.call("tickets_pdf", {"ticket_id": confirmed["ticket_id"]}))["url"]
    fee = result_of(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    assert result_of(host.call("bookings_cancel", named))["refund_amount"] == fee["refund_amount"]
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm", "bookings.cancel"]
    create, confirm, cancel = person.shown
    expected = [f"{booking['total_price']} EUR", "Tarifa", '"Marguerite Okonkwo"']
    assert [words for words in expected if words not in create] == []
    assert f"{booking['total_price']} EUR" in confirm
    assert f"{fee['penalty_amount']} EUR" in cancel


@pytest.mark.parametrize("answer", mostly_long(NOT_AN_APPROVAL, short=2))
def test_a_write_without_approval_is_not_sent(hosts, ferry_sandbox, answer):
    person = Person(NOT_AN_APPROVAL[answer])
    host = hosts(person, "--writes")
    refused = error(host.call("bookings_create", order(sailings(host)[0])), "declined")
    assert refused["outcome"] == "not_sent"
    assert refused["next_step"].startswith("Do not")
    assert len(person.shown) == 1
    assert ferry_sandbox.counters.requests["bookings.create"] == 0


@pytest.mark.parametrize(
    ("answer", "made"),
    [pytest.param(YES, ["bookings.create"], id="yes"), pytest.param(NO, [], id="no")],
)
def test_older_host_is_asked_during_the_call(older_hosts, ferry_sandbox, answer, made):
    person = Person(answer)
    host = older_hosts(person, "--writes")
    host.call("bookings_create", order(sailings(host)[0]))
    assert len(person.shown) == 1
    assert effects(ferry_sandbox) == made


def test_approval_at_an_older_host_counts_once(older_hosts, ferry_sandbox):
    person = Person()
    host = older_hosts(person, "--writes")
    wanted = order(sailings(host)[0])
    ferry_sandbox.faults.add("refused", "bookings.create")
    error(host.call("bookings_create", wanted), "booking_create_error", "failed")
    result_of(host.call("bookings_create", wanted))
    first, second = person.boxes
    assert first != second


def test_a_new_search_makes_no_new_question(hosts):
    person = Person(NO)
    host = hosts(person, "--writes")
    for _ in range(4):
        error(host.call("bookings_create", order(sailings(host)[0])), "declined")
    assert len(person.shown) == 2


def test_a_host_without_elicitation_uses_codes(hosts, ferry_sandbox):
    host = hosts(None, "--writes")
    assert [*host.tools()][:3] == ["trips_find", "places_find", "bookings_create"]

    def call_with_code(name, arguments):
        before = len(ferry_sandbox.counters.effects)
        needed = host.call(name, arguments)
        assert needed["status"] == "approval_needed"
        assert len(ferry_sandbox.counters.effects) == before
        approval = needed["approval"]
        coded = {**arguments, "confirmation_code": approval["confirmation_code"]}
        return result_of(host.call(name, coded)), approval

    booking, asked = call_with_code("bookings_create", order(sailings(host)[0]))
    assert (Decimal(asked["amount"]), asked["currency"]) == (Decimal(booking["total_price"]), "EUR")
    call_with_code("bookings_confirm", {"booking_id": booking["booking_id"]})
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]
    frugal = hosts(None, "--writes", "--spend-limit", "EUR=0.01")
    error(frugal.call("bookings_create", order(sailings(frugal)[1])), "spend_limit")


def test_a_person_sees_the_offer_being_booked(hosts):
    person = Person()
    host = hosts(person, "--writes")
    agent = ShortWay(host)
    booking = agent.book()
    assert agent.calls == ["trips_find", "bookings_create"]
    (question,) = person.shown
    assert '"Genoa" to "Tunis (La Goulette)"' in question
    assert "cabin" in question
    assert f"{booking['total_price']} EUR" not in question  # a cabin costs more than the offer
    assert "may cost more than that" in question
    error(host.call("bookings_confirm", {"booking_id": booking["booking_id"]}), "price_changed")
    assert person.shown == [question]
    agent.pay(booking)
    assert f"{booking['total_price']} EUR" in person.shown[-1]
