"""The model cannot go around the human: where the host can ask, nothing else counts as a yes."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from mcp import types
from mcp.types import ElicitResult

from tests.agents.agent import WRITES, booked, done, error, order, sailings
from tests.stdio.host import NOT_AN_APPROVAL, YES, Person, answer_of, named
from tests.support.tiers import LONG

pytestmark = LONG


NAMES = [name.replace(".", "_") for name in WRITES]


def test_no_write_takes_a_code_where_a_person_can_be_asked(hosts):
    tools = hosts(Person(), "--writes").tools()
    for name in NAMES:
        assert "confirmation_code" not in tools[name].input_schema["properties"]
        assert "confirmation_code" not in str(tools[name].output_schema)
        assert "code" not in tools[name].description
    by_code = hosts(None, "--writes").tools()
    for name in NAMES:
        assert "confirmation_code" in by_code[name].input_schema["properties"]
        assert "confirmation_code" in by_code[name].description


def test_a_guessed_code_is_an_unknown_argument(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    wanted = order(sailings(host)[0])
    for code in ("BCDFGHJKLM", "yes", True, {"approve": True}):
        asked = {**wanted, "confirmation_code": code}
        refused = error(host.call("bookings_create", asked), "invalid_arguments")
        assert refused["field"] == "confirmation_code"
    assert person.shown == []
    assert ferry_sandbox.counters.effects == ()


def test_an_approval_among_the_arguments_is_an_unknown_argument(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    wanted = order(sailings(host)[0])
    for field in ("ok", "approval", "approve", "approved", "inputResponses", "requestState"):
        asked = {**wanted, field: {"approve": True}}
        assert error(host.call("bookings_create", asked), "invalid_arguments")["field"] == field
    assert person.shown == []
    assert ferry_sandbox.counters.effects == ()


def test_what_the_preview_gives_is_of_no_use_instead_of_a_person(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    booking = booked(host)
    named = {"booking_id": booking["booking_id"]}
    person.answer = NOT_AN_APPROVAL["declined"]
    before = ferry_sandbox.counters.effects
    fee = done(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    price = {"expect_total": booking["total_price"]}
    error(host.call("bookings_confirm", {**named, **price}), "declined")
    penalty = {"max_penalty": fee["penalty_amount"]}
    error(host.call("bookings_cancel", {**named, **penalty}), "declined")
    for value in fee.values():
        asked = {**named, **penalty, "confirmation_code": str(value)}
        error(host.call("bookings_cancel", asked), "invalid_arguments")
    assert len(person.shown) == 3
    assert ferry_sandbox.counters.effects == before


def test_a_person_who_declined_is_asked_again_and_not_overruled(hosts, ferry_sandbox):
    person = Person(NOT_AN_APPROVAL["declined"])
    host = hosts(person, "--writes")
    asked = order(sailings(host)[0])
    for _ in range(3):
        error(host.call("bookings_create", asked), "declined")
    assert len(person.shown) == 3
    assert ferry_sandbox.counters.effects == ()


def half_a_day_before(host, ticket_id):
    """When the fee is higher than at first, and the ship has not left."""
    ticket = done(host.call("tickets_get", {"ticket_id": ticket_id}))
    leaving = ticket["availability"]["outward"]["journey"]["depart_at"]
    return datetime.fromisoformat(leaving) - timedelta(hours=12)


def test_a_yes_is_for_one_price_only(hosts, ferry_sandbox):
    """The fee rises while the person thinks: the yes was to another question."""
    person = Person()
    host = hosts(person, "--writes")
    booking = booked(host)
    named = {"booking_id": booking["booking_id"]}
    ticket_id = done(host.call("bookings_confirm", named))["ticket_id"]
    before = done(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    late = half_a_day_before(host, ticket_id)

    def yes_but_late():
        ferry_sandbox.clock.travel_to(late)
        person.answer = NOT_AN_APPROVAL["declined"]
        return YES

    person.answer = yes_but_late
    refused = host.call("bookings_cancel", named)["error"]
    after = done(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
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
    done(host.call("bookings_cancel", named))
    assert f"{after['penalty_amount']} EUR" in person.shown[-1]


def test_a_recorded_yes_is_no_answer_to_another_question(hosts, ferry_sandbox):
    """A host that gives every new question the answer to an old one."""
    person = Person()
    host = hosts(person, "--writes")
    booking = {"booking_id": booked(host)["booking_id"]}
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
    done(host.call("bookings_confirm", booking))


def other(host):
    """A booking of another sailing than the first."""
    return order(sailings(host)[1])


@pytest.mark.parametrize("hosts", ["modern"], indirect=True)
class TestRounds:
    """Where the answer comes with the call made again, it counts for that call alone, once."""

    def asked(self, host, arguments):
        return self.question(host.wait(self.sends(host, arguments)))

    def question(self, result):
        """The state of a question, and the yes to it."""
        assert isinstance(result, types.InputRequiredResult)
        (box,) = result.input_requests["approval"].params.requested_schema["properties"]
        return result.request_state, named(YES, box)

    def sends(self, host, arguments, state=None, answer=None, name="bookings_create"):
        async def send():
            responses = {} if answer is None else {"input_responses": {"approval": answer}}
            return await host.client.session.call_tool(
                name,
                arguments,
                request_state=state,
                allow_input_required=True,
                **responses,
            )

        return send

    def test_an_answer_without_a_question_is_a_question(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        asked = order(sailings(host)[0])
        for state in (None, "", "guessed", "A" * 32):
            result = host.wait(self.sends(host, asked, state, YES))
            assert isinstance(result, types.InputRequiredResult)
        assert ferry_sandbox.counters.effects == ()

    def test_an_answer_is_for_the_arguments_that_were_asked_about(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        first, second = (order(one) for one in sailings(host)[:2])
        state, yes = self.asked(host, first)
        result = host.wait(self.sends(host, second, state, yes))
        assert isinstance(result, types.InputRequiredResult)
        result = host.wait(self.sends(host, first, state, yes))
        assert isinstance(result, types.InputRequiredResult)
        assert ferry_sandbox.counters.effects == ()

    def test_an_answer_counts_once(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        asked = order(sailings(host)[0])
        state, yes = self.asked(host, asked)
        done(answer_of(host.wait(self.sends(host, asked, state, yes))))
        again = host.wait(self.sends(host, asked, state, yes))
        error(answer_of(again), "already_done")
        assert len(ferry_sandbox.counters.effects) == 1

    def test_a_no_uses_the_question_up(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        asked = order(sailings(host)[0])
        state, yes = self.asked(host, asked)
        no = NOT_AN_APPROVAL["declined"]
        error(answer_of(host.wait(self.sends(host, asked, state, no))), "declined")
        result = host.wait(self.sends(host, asked, state, yes))
        assert isinstance(result, types.InputRequiredResult)
        assert ferry_sandbox.counters.effects == ()

    def test_a_yes_that_is_replayed_to_a_new_question_is_asked_again(self, hosts, ferry_sandbox):
        """LangGraph runs a node from its start, and gives the answer it has on record again."""
        host = hosts(Person(), "--writes")
        asked = order(sailings(host)[0])
        _, recorded = self.asked(host, asked)
        done(host.call("bookings_create", asked))
        booking_id = ferry_sandbox.counters.effects[0].subject
        named_ = {"booking_id": booking_id}
        done(host.call("bookings_confirm", named_))
        effects = ferry_sandbox.counters.effects
        for name, arguments in (("bookings_cancel", named_), ("bookings_create", other(host))):
            state, _ = self.question(host.wait(self.sends(host, arguments, name=name)))
            for _ in range(5):
                result = host.wait(self.sends(host, arguments, state, recorded, name=name))
                state, yes = self.question(result)
            assert ferry_sandbox.counters.effects == effects
        done(answer_of(host.wait(self.sends(host, arguments, state, yes, name=name))))

    def test_a_yes_is_for_the_fee_that_was_shown(self, hosts, ferry_sandbox):
        """The fee rises between the answer and the call that is made anew."""
        host = hosts(Person(), "--writes")
        named_ = {"booking_id": booked(host)["booking_id"]}
        ticket_id = done(host.call("bookings_confirm", named_))["ticket_id"]
        _, recorded = self.question(host.wait(self.sends(host, named_, name="bookings_cancel")))
        ferry_sandbox.clock.travel_to(half_a_day_before(host, ticket_id))
        state, _ = self.question(host.wait(self.sends(host, named_, name="bookings_cancel")))
        result = host.wait(self.sends(host, named_, state, recorded, name="bookings_cancel"))
        state, yes = self.question(result)
        assert ferry_sandbox.counters.effects_of("bookings.cancel") == ()
        done(answer_of(host.wait(self.sends(host, named_, state, yes, name="bookings_cancel"))))

    def test_a_yes_is_for_the_total_that_was_shown(self, hosts, ferry_sandbox):
        host = hosts(Person(), "--writes")
        booking_id = booked(host)["booking_id"]
        named_ = {"booking_id": booking_id}
        kept, recorded = self.question(host.wait(self.sends(host, named_, name="bookings_confirm")))
        (ticket,) = ferry_sandbox.service._sales._bookings[booking_id].tickets
        ticket.reprice(Decimal(2), Decimal(0))
        anew, _ = self.question(host.wait(self.sends(host, named_, name="bookings_confirm")))
        for old in (kept, anew):
            result = host.wait(self.sends(host, named_, old, recorded, name="bookings_confirm"))
            state, yes = self.question(result)
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 0
        done(answer_of(host.wait(self.sends(host, named_, state, yes, name="bookings_confirm"))))

    def test_a_yes_to_the_same_question_counts_though_the_call_is_made_anew(
        self, hosts, ferry_sandbox
    ):
        host = hosts(Person(), "--writes")
        asked = order(sailings(host)[0])
        _, recorded = self.asked(host, asked)
        state, yes = self.asked(host, asked)
        assert yes == recorded
        done(answer_of(host.wait(self.sends(host, asked, state, recorded))))
        booking = {"booking_id": ferry_sandbox.counters.effects[0].subject}
        done(host.call("bookings_cancel", booking))
        state, yes = self.asked(host, asked)  # the same again, and yet another booking
        assert yes != recorded
        self.question(host.wait(self.sends(host, asked, state, recorded)))
        assert len(ferry_sandbox.counters.effects) == 2
