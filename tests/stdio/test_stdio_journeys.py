"""A whole booking over stdio, in both protocol versions: approved, declined, and with codes."""

from decimal import Decimal

import pytest

from tests.agents.agent import ShortWay, book, error, order, result_of, sailings
from tests.stdio.host import NOT_AN_APPROVAL, Person
from tests.support.effects import effects
from tests.support.tiers import mostly_long


def test_a_person_approves_each_write(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    booking = book(host)
    named = {"booking_id": booking["booking_id"]}
    confirmed = result_of(host.call("bookings_confirm", named))
    assert result_of(host.call("tickets_pdf", {"ticket_id": confirmed["ticket_id"]}))["url"]
    fee = result_of(host.call("bookings_cancel_fee", {"id": booking["booking_id"]}))
    cancelled = result_of(host.call("bookings_cancel", named))
    assert cancelled["refund_amount"] == fee["refund_amount"]
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm", "bookings.cancel"]
    create, confirm, cancel = person.shown
    for words in (f"{booking['total_price']} EUR", "Tarifa", '"Marguerite Okonkwo"'):
        assert words in create
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
    confirmed, _ = call_with_code("bookings_confirm", {"booking_id": booking["booking_id"]})
    ticket = confirmed["ticket_id"]
    fee = result_of(host.call("bookings_cancel_fee", {"id": ticket}))
    _, asked = call_with_code("tickets_cancel", {"ticket_id": ticket})
    assert Decimal(asked["amount"]) == Decimal(fee["penalty_amount"])
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm", "tickets.cancel"]


def test_a_person_is_shown_the_offer_that_is_booked(hosts):
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
