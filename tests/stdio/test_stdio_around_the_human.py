"""If the host can ask a person, no write is sent without that person's approval."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from mcp import types
from mcp.types import ElicitResult

from tests.agents.agent import PASSENGERS, WRITES, book, error, order, result_of, sailings
from tests.stdio.host import NOT_AN_APPROVAL, YES, Person, answer_of, named
from tests.support.tiers import LONG

pytestmark = LONG


NAMES = [name.replace(".", "_") for name in WRITES]


def test_no_write_accepts_a_code_if_a_person_can_be_asked(hosts):
    tools = hosts(Person(), "--writes").tools()
    for name in NAMES:
        assert "confirmation_code" not in tools[name].input_schema["properties"]
        assert "confirmation_code" not in str(tools[name].output_schema)
        assert "code" not in tools[name].description
    by_code = hosts(None, "--writes").tools()
    for name in NAMES:
        assert "confirmation_code" in by_code[name].input_schema["properties"]
        assert "confirmation_code" in by_code[name].description


def test_a_guessed_code_or_approval_is_an_unknown_argument(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    wanted = order(sailings(host)[0])
    codes = ("BCDFGHJKLM", "yes", True, {"approve": True})
    fields = ("ok", "approval", "approve", "approved", "inputResponses", "requestState")
    guesses = [("confirmation_code", code) for code in codes]
    guesses += [(field, {"approve": True}) for field in fields]
    for field, value in guesses:
        refused = host.call("bookings_create", {**wanted, field: value})
        assert error(refused, "invalid_arguments")["field"] == field
    assert person.shown == []
    assert ferry_sandbox.counters.effects == ()


def test_the_result_of_a_fee_read_does_not_replace_a_person(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    booking = book(host)
    named = {"booking_id": booking["booking_id"]}
    person.answer = NOT_AN_APPROVAL["declined"]
    before = ferry_sandbox.counters.effects
    fee = result_of(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    price = {"expect_total": booking["total_price"]}
    error(host.call("bookings_confirm", {**named, **price}), "declined")
    penalty = {"max_penalty": fee["penalty_amount"]}
    error(host.call("bookings_cancel", {**named, **penalty}), "declined")
    for value in fee.values():
        arguments = {**named, **penalty, "confirmation_code": str(value)}
        error(host.call("bookings_cancel", arguments), "invalid_arguments")
    assert len(person.shown) == 3
    assert ferry_sandbox.counters.effects == before


def test_a_declined_write_is_asked_about_once_more(hosts, ferry_sandbox):
    person = Person(NOT_AN_APPROVAL["declined"])
    host = hosts(person, "--writes")
    contact = {"name": "Noel Okonkwo", "email": "noel@example.org"}
    arguments = order(sailings(host)[0], contact=contact)
    for _ in range(4):
        error(host.call("bookings_create", arguments), "declined")
    assert len(person.shown) == 2
    assert '\nContact: "Noel Okonkwo", "noel@example.org"' in person.shown[0]
    assert ferry_sandbox.counters.effects == ()


def half_a_day_before(host, ticket_id):
    """Return a moment at which the fee has risen, and the ship has not left."""
    ticket = result_of(host.call("tickets_get", {"ticket_id": ticket_id}))
    leaving = ticket["availability"]["outward"]["journey"]["depart_at"]
    return datetime.fromisoformat(leaving) - timedelta(hours=12)


def test_an_approval_is_for_one_price(hosts, ferry_sandbox):
    """The fee rises before the person answers, so the approval is for another question."""
    person = Person()
    host = hosts(person, "--writes")
    booking = book(host)
    named = {"booking_id": booking["booking_id"]}
    ticket_id = result_of(host.call("bookings_confirm", named))["ticket_id"]
    before = result_of(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    late = half_a_day_before(host, ticket_id)

    def yes_but_late():
        ferry_sandbox.clock.travel_to(late)
        person.answer = NOT_AN_APPROVAL["declined"]
        return YES

    person.answer = yes_but_late
    refused = host.call("bookings_cancel", named)["error"]
    after = result_of(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    assert before["penalty_amount"] != after["penalty_amount"]
    assert f"{before['penalty_amount']} EUR" in person.shown[2]
    if hosts.era == "modern":  # asked again in the same call
        assert refused["code"] == "declined"
        assert f"{after['penalty_amount']} EUR" in person.shown[3]
    else:
        assert refused["code"] == "penalty_exceeded"
        assert len(person.shown) == 3
    assert ferry_sandbox.counters.effects_of("bookings.cancel") == ()
    person.answer = YES
    result_of(host.call("bookings_cancel", named))
    assert f"{after['penalty_amount']} EUR" in person.shown[-1]


def test_a_recorded_approval_does_not_answer_another_question(hosts, ferry_sandbox):
    """Some hosts answer each new question with the answer to an earlier one."""
    person = Person()
    host = hosts(person, "--writes")
    booking = {"booking_id": book(host)["booking_id"]}
    recorded = ElicitResult(action="accept", content={person.boxes[0]: True})
    for answer in (recorded, ElicitResult(action="accept", content={"approve_": True})):
        person.answer, before = answer, len(person.shown)
        if hosts.era == "modern":  # each question is a call of its own, and the client gives up
            with pytest.raises(Exception, match="round"):
                host.call("bookings_confirm", booking)
        else:
            error(host.call("bookings_confirm", booking), "approval_failed")
        assert len(person.shown) > before + 1
        assert len({*person.boxes}) == 2
    assert len(ferry_sandbox.counters.effects) == 1
    person.answer = YES
    result_of(host.call("bookings_confirm", booking))


def other(host):
    """Return a booking of another sailing than the first."""
    return order(sailings(host)[1])


@pytest.mark.parametrize("hosts", ["modern"], indirect=True)
class TestRounds:
    """If the host repeats the call with the answer, the answer counts once, for that call only."""

    def ask(self, host, arguments):
        return self.question(host.wait(self.send(host, arguments)))

    def question(self, result):
        """Return the state of a question, and an approval of it."""
        assert isinstance(result, types.InputRequiredResult)
        (box,) = result.input_requests["approval"].params.requested_schema["properties"]
        return result.request_state, named(YES, box)

    def send(self, host, arguments, state=None, answer=None, name="bookings_create"):
        async def send():
            responses = {} if answer is None else {"input_responses": {"approval": answer}}
            return await host.client.session.call_tool(
                name, arguments, request_state=state, allow_input_required=True, **responses
            )

        return send

    def test_an_answer_without_a_question_is_a_question(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        arguments = order(sailings(host)[0])
        for state in (None, "", "guessed", "A" * 32):
            self.question(host.wait(self.send(host, arguments, state, YES)))
        assert ferry_sandbox.counters.effects == ()

    def test_an_answer_counts_once_for_the_arguments_that_were_asked_about(
        self, hosts, ferry_sandbox
    ):
        host = hosts(Person(), "--writes")
        first, second = (order(one) for one in sailings(host)[:2])
        state, yes = self.ask(host, first)
        for arguments in (second, first):
            self.question(host.wait(self.send(host, arguments, state, yes)))
        assert ferry_sandbox.counters.effects == ()
        state, yes = self.ask(host, first)
        result_of(answer_of(host.wait(self.send(host, first, state, yes))))
        again = host.wait(self.send(host, first, state, yes))
        error(answer_of(again), "already_done")
        assert len(ferry_sandbox.counters.effects) == 1

    def test_an_answer_reaches_another_process_with_the_same_state_file(
        self, hosts, ferry_sandbox, tmp_path
    ):
        file = tmp_path / "agent.db"
        first, second = (hosts(Person(), "--writes", "--state", str(file)) for _ in range(2))
        arguments = order(sailings(first)[0])
        state, yes = self.ask(first, arguments)
        result_of(answer_of(second.wait(self.send(second, arguments, state, yes))))
        assert len(ferry_sandbox.counters.effects) == 1
        assert PASSENGERS[0]["last_name"].encode() not in file.read_bytes()

    def test_a_refusal_uses_the_question_up(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        arguments = order(sailings(host)[0])
        state, yes = self.ask(host, arguments)
        no = NOT_AN_APPROVAL["declined"]
        error(answer_of(host.wait(self.send(host, arguments, state, no))), "declined")
        self.question(host.wait(self.send(host, arguments, state, yes)))
        assert ferry_sandbox.counters.effects == ()

    def test_an_approval_replayed_to_a_new_question_is_asked_again(self, hosts, ferry_sandbox):
        """LangGraph restarts a node, and repeats the answer that it has recorded."""
        host = hosts(Person(), "--writes")
        arguments = order(sailings(host)[0])
        _, recorded = self.ask(host, arguments)
        result_of(host.call("bookings_create", arguments))
        booking_id = ferry_sandbox.counters.effects[0].subject
        named_ = {"booking_id": booking_id}
        result_of(host.call("bookings_confirm", named_))
        effects = ferry_sandbox.counters.effects
        for name, arguments in (("bookings_cancel", named_), ("bookings_create", other(host))):
            state, _ = self.question(host.wait(self.send(host, arguments, name=name)))
            for _ in range(5):
                result = host.wait(self.send(host, arguments, state, recorded, name=name))
                state, yes = self.question(result)
            assert ferry_sandbox.counters.effects == effects
        result_of(answer_of(host.wait(self.send(host, arguments, state, yes, name=name))))

    def test_an_approval_is_for_the_fee_that_was_shown(self, hosts, ferry_sandbox):
        """The fee rises between the answer and the repeated call."""
        host = hosts(Person(), "--writes")
        named_ = {"booking_id": book(host)["booking_id"]}
        ticket_id = result_of(host.call("bookings_confirm", named_))["ticket_id"]
        _, recorded = self.question(host.wait(self.send(host, named_, name="bookings_cancel")))
        ferry_sandbox.clock.travel_to(half_a_day_before(host, ticket_id))
        state, _ = self.question(host.wait(self.send(host, named_, name="bookings_cancel")))
        result = host.wait(self.send(host, named_, state, recorded, name="bookings_cancel"))
        state, yes = self.question(result)
        assert ferry_sandbox.counters.effects_of("bookings.cancel") == ()
        result_of(answer_of(host.wait(self.send(host, named_, state, yes, name="bookings_cancel"))))

    def test_an_approval_is_for_the_total_that_was_shown(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        booking = book(host)
        booking_id = booking["booking_id"]
        named_ = {"booking_id": booking_id}
        kept, recorded = self.question(host.wait(self.send(host, named_, name="bookings_confirm")))
        (ticket,) = ferry_sandbox.service._sales._bookings[booking_id].tickets
        ticket.reprice(Decimal(2), Decimal(0))
        for state in (None, kept):
            dearer = host.wait(self.send(host, named_, state, recorded, name="bookings_confirm"))
            error(answer_of(dearer), "price_changed")
        named_["expect_total"] = str(2 * Decimal(str(booking["total_price"])))
        anew, _ = self.question(host.wait(self.send(host, named_, name="bookings_confirm")))
        for old in (kept, anew):
            result = host.wait(self.send(host, named_, old, recorded, name="bookings_confirm"))
            state, yes = self.question(result)
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 0
        result_of(
            answer_of(host.wait(self.send(host, named_, state, yes, name="bookings_confirm")))
        )

    def test_an_approval_of_the_same_question_counts_in_a_new_call(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        arguments = order(sailings(host)[0])
        _, recorded = self.ask(host, arguments)
        state, yes = self.ask(host, arguments)
        assert yes == recorded
        result_of(answer_of(host.wait(self.send(host, arguments, state, recorded))))
        booking = {"booking_id": ferry_sandbox.counters.effects[0].subject}
        result_of(host.call("bookings_cancel", booking))
        state, yes = self.ask(host, arguments)  # the same again, and yet another booking
        assert yes != recorded
        self.question(host.wait(self.send(host, arguments, state, recorded)))
        assert len(ferry_sandbox.counters.effects) == 2
