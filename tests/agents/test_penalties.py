"""Limits on the cost of a cancellation, for all tickets of a booking together."""

from decimal import Decimal

import pytest

from tests.agents.agent import approve_all, error, order, result_of


@pytest.mark.parametrize("limit", [{"EUR": 1}, {"USD": 10_000}, {}])
def test_a_penalty_above_the_limit_is_refused(toolkit_of, sending_nothing, limit):
    toolkit = toolkit_of(writes=True, approve=approve_all, penalty_limit=limit)
    confirmed = toolkit.book_and_pay()
    with sending_nothing():
        for name in ("ticket_id", "booking_id"):
            named = {name: confirmed[name]}
            refused = toolkit.fail(f"{name[:-3]}s_cancel", "penalty_limit", **named)
    assert float(refused["penalty"]) > 1
    words = {"EUR": "is more than allowed", "USD": "the limit is in USD"}
    assert words.get("".join(limit), "the limit is in no currency") in refused["message"]


def fee_of(toolkit, some_id):
    return toolkit.do("bookings_cancel_fee", id=some_id)


def penalties_of(toolkit, booking_id):
    ids = [one["id"] for one in toolkit.do("bookings_get", booking_id=booking_id)["tickets"]]
    return [(one, Decimal(fee_of(toolkit, one)["penalty_amount"])) for one in ids]


def book_round_trip(toolkit):
    booking = toolkit.do("bookings_create", **order(*toolkit.round_trip()))
    return toolkit.pay(booking["booking_id"])["booking_id"]


@pytest.mark.parametrize("is_known", [True, False], ids=["of a booking", "by themselves"])
def test_penalties_of_all_tickets_of_a_booking_add_up(toolkit_of, sending_nothing, is_known):
    booking_id = book_round_trip(toolkit_of(writes=True, approve=approve_all))
    tickets = penalties_of(toolkit_of(), booking_id)
    total = sum(penalty for _, penalty in tickets)
    (first, _), (second, last) = tickets
    short, enough = (
        toolkit_of(writes=True, approve=approve_all, penalty_limit={"EUR": limit})
        for limit in (total - Decimal("0.01"), total)
    )
    for toolkit in (short, enough):
        if is_known:
            toolkit.do("bookings_get", booking_id=booking_id)
        for ticket_id in (first, second):
            toolkit.do("tickets_get", ticket_id=ticket_id)
    with sending_nothing():
        if is_known:
            short.fail("bookings_cancel", "penalty_limit", booking_id=booking_id)
        refused = short.perform("tickets_cancel", {"ticket_id": first}, approve=lambda _: False)
        error(refused, "declined")
    short.do("tickets_cancel", ticket_id=first)
    with sending_nothing():
        refused = short.fail("tickets_cancel", "penalty_limit", ticket_id=second)
    assert Decimal(refused["penalty"]) == last
    assert Decimal(refused["kept"]) == total - last
    enough.do("tickets_cancel", ticket_id=second)


def test_penalties_of_different_bookings_are_counted_separately(toolkit_of):
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


def test_only_a_refund_smaller_than_previewed_adds_a_note(toolkit, ferry_sandbox):
    booking_id = toolkit.book_and_pay()["booking_id"]
    fee = fee_of(toolkit, booking_id)
    assert Decimal(fee["penalty_amount"]) > 0
    limited = {"booking_id": booking_id, "max_penalty": fee["penalty_amount"]}
    answer = toolkit.call("bookings_cancel", limited)
    assert result_of(answer)["refund_amount"] == fee["refund_amount"]
    assert "notes" not in answer
    booking_id = toolkit.book_and_pay()["booking_id"]
    lost = Decimal(fee_of(toolkit, booking_id)["refund_amount"]) - 1
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel", field="refund_amount", value="1.00")
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    result_of(answer)
    assert answer["notes"] == [f"{lost} EUR less was paid back than was previewed."]
