"""Limits on the cost of a cancellation, for all tickets of a booking together."""

from decimal import Decimal

import pytest

from ferry_sdk.agents.policy.budget import Budget
from tests.agents.agent import approve_all, error, order, result_of
from tests.support.tiers import mostly_long


@pytest.mark.parametrize(
    ("tool", "subject"),
    [("bookings_cancel", "booking_id"), ("tickets_cancel", "ticket_id")],
    ids=["booking", "ticket"],
)
@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        pytest.param({"EUR": 1}, "is more than allowed", id="too low"),
        pytest.param({"USD": 10_000}, "the limit is in USD", id="another currency"),
        pytest.param({}, "the limit is in no currency", id="no currency"),
    ],
)
def test_a_penalty_above_the_limit_is_refused(
    toolkit_of, sending_nothing, limit, problem, tool, subject
):
    toolkit = toolkit_of(writes=True, approve=approve_all, penalty_limit=limit)
    named = {subject: toolkit.book_and_pay()[subject]}
    with sending_nothing():
        refused = toolkit.fail(tool, "penalty_limit", **named)
    assert float(refused["penalty"]) > 1
    assert problem in refused["message"]


def test_a_currency_without_a_limit_shows_zero():
    limits = Budget(None, {"EUR": 50}).limits("USD")
    assert limits == {"Limit for a cancellation": "0.00 USD"}


def fee_of(toolkit, some_id):
    return toolkit.do("bookings_cancel_fee", id=some_id)


def penalties_of(toolkit, booking_id):
    ids = [one["id"] for one in toolkit.do("bookings_get", booking_id=booking_id)["tickets"]]
    return [(one, Decimal(fee_of(toolkit, one)["penalty_amount"])) for one in ids]


def book_round_trip(toolkit):
    booking = toolkit.do("bookings_create", **order(*toolkit.round_trip()))
    return toolkit.pay(booking["booking_id"])["booking_id"]


class RoundTrip:
    """A paid booking of two tickets.

    Attributes:
        booking_id: Its id.
        first: The id of its first ticket.
        second: The id of the other one.
        last_penalty: That of the second ticket.
        total: The penalties of both.
    """

    def __init__(self, toolkit_of):
        self._toolkit_of = toolkit_of
        self.booking_id = book_round_trip(toolkit_of(writes=True, approve=approve_all))
        tickets = penalties_of(toolkit_of(), self.booking_id)
        (self.first, first_penalty), (self.second, self.last_penalty) = tickets
        self.total = first_penalty + self.last_penalty

    def toolkit(self, limit, *, knows_booking):
        """Return a toolkit that has shown the tickets, and perhaps their booking."""
        toolkit = self._toolkit_of(writes=True, approve=approve_all, penalty_limit={"EUR": limit})
        if knows_booking:
            toolkit.do("bookings_get", booking_id=self.booking_id)
        toolkit.do("tickets_get", ticket_id=self.first)
        toolkit.do("tickets_get", ticket_id=self.second)
        return toolkit


@pytest.fixture
def trip(toolkit_of):
    return RoundTrip(toolkit_of)


CENT = Decimal("0.01")
either_way = pytest.mark.parametrize(
    "knows_booking", [True, False], ids=["of a booking", "by themselves"]
)


@either_way
def test_penalties_of_a_booking_add_up(trip, sending_nothing, knows_booking):
    toolkit = trip.toolkit(trip.total - CENT, knows_booking=knows_booking)
    with sending_nothing():
        declined = toolkit.perform(
            "tickets_cancel", {"ticket_id": trip.first}, approve=lambda _: False
        )
    error(declined, "declined")  # and no longer counted
    toolkit.do("tickets_cancel", ticket_id=trip.first)
    with sending_nothing():
        refused = toolkit.fail("tickets_cancel", "penalty_limit", ticket_id=trip.second)
    assert Decimal(refused["penalty"]) == trip.last_penalty
    assert Decimal(refused["kept"]) == trip.total - trip.last_penalty


@pytest.mark.parametrize("knows_booking", mostly_long([True, False]))
def test_penalties_up_to_the_limit_are_allowed(trip, knows_booking):
    toolkit = trip.toolkit(trip.total, knows_booking=knows_booking)
    toolkit.do("tickets_cancel", ticket_id=trip.first)
    toolkit.do("tickets_cancel", ticket_id=trip.second)


def test_a_booking_costs_the_penalties_of_its_tickets(trip, sending_nothing):
    toolkit = trip.toolkit(trip.total - CENT, knows_booking=True)
    with sending_nothing():
        toolkit.fail("bookings_cancel", "penalty_limit", booking_id=trip.booking_id)


def test_penalties_of_different_bookings_count_separately(toolkit_of):
    maker = toolkit_of(writes=True, approve=approve_all)
    both = [maker.book_and_pay(which)["booking_id"] for which in (0, 1)]
    fees = [fee_of(maker, one)["penalty_amount"] for one in both]
    toolkit = toolkit_of(
        writes=True, approve=approve_all, penalty_limit={"EUR": max(map(Decimal, fees))}
    )  # a penalty equal to the ceiling is within it
    for booking_id in both:
        toolkit.do("bookings_get", booking_id=booking_id)
        toolkit.do("bookings_cancel", booking_id=booking_id)


@pytest.mark.usefixtures("read_back_once")
def test_an_unresolved_penalty_counts_until_it_is_settled(toolkit_of, ferry_sandbox):
    booking_id = book_round_trip(toolkit_of(writes=True, approve=approve_all))
    (first, one), (second, other) = penalties_of(toolkit_of(), booking_id)
    toolkit = toolkit_of(
        {"deadline": None}, writes=True, approve=approve_all, penalty_limit={"EUR": max(one, other)}
    )
    toolkit.do("bookings_get", booking_id=booking_id)
    ferry_sandbox.faults.add("cut_before", "tickets.cancel")
    lost = toolkit.fail("tickets_cancel", "outcome_unknown", "unknown", ticket_id=first)
    toolkit.fail("tickets_cancel", "penalty_limit", ticket_id=second)
    toolkit.settle(lost["correlation_id"], happened=False)
    toolkit.do("tickets_cancel", ticket_id=second)


def test_a_refund_as_previewed_adds_no_note(toolkit):
    booking_id = toolkit.book_and_pay()["booking_id"]
    fee = fee_of(toolkit, booking_id)
    assert Decimal(fee["penalty_amount"]) > 0
    limited = {"booking_id": booking_id, "max_penalty": fee["penalty_amount"]}
    answer = toolkit.call("bookings_cancel", limited)
    assert result_of(answer)["refund_amount"] == fee["refund_amount"]
    assert "notes" not in answer


def test_a_smaller_refund_adds_a_note(toolkit, ferry_sandbox):
    booking_id = toolkit.book_and_pay()["booking_id"]
    lost = Decimal(fee_of(toolkit, booking_id)["refund_amount"]) - 1
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel", field="refund_amount", value="1.00")
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    result_of(answer)
    assert answer["notes"] == [f"{lost} EUR less was paid back than was previewed."]
