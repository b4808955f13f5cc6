"""Limits on the cost of a cancellation, for all tickets of a booking together."""

from decimal import Decimal

import pytest

from tests.agents.agent import approve_all, book_and_pay, error, order, pay, result_of, round_trip


@pytest.mark.parametrize("limit", [{"EUR": 1}, {"USD": 10_000}, {}])
def test_a_penalty_above_the_limit_is_refused(toolkit_of, sending_nothing, limit):
    toolkit = toolkit_of(writes=True, approve=approve_all, penalty_limit=limit)
    confirmed = book_and_pay(toolkit)
    with sending_nothing():
        for name in ("ticket_id", "booking_id"):
            answer = toolkit.call(f"{name[:-3]}s_cancel", {name: confirmed[name]})
            refused = error(answer, "penalty_limit")
    assert float(refused["penalty"]) > 1
    words = {"EUR": "is more than allowed", "USD": "the limit is in USD"}
    assert words.get("".join(limit), "the limit is in no currency") in refused["message"]


def fee_of(toolkit, some_id):
    """Return the preview of a cancellation."""
    return result_of(toolkit.call("bookings_cancel_fee", {"id": some_id}))


def penalties_of(toolkit, booking_id):
    """Return the ids of a booking's tickets with the penalty of each."""
    read = result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
    return [
        (one["id"], Decimal(fee_of(toolkit, one["id"])["penalty_amount"]))
        for one in read["tickets"]
    ]


def book_round_trip(toolkit):
    """Make a confirmed booking of two tickets, and return its id."""
    booking = result_of(toolkit.call("bookings_create", order(*round_trip(toolkit))))
    return pay(toolkit, booking["booking_id"])["booking_id"]


@pytest.mark.parametrize("is_known", [True, False], ids=["of a booking", "by themselves"])
def test_penalties_of_all_tickets_of_a_booking_add_up(toolkit_of, sending_nothing, is_known):
    booking_id = book_round_trip(toolkit_of(writes=True, approve=approve_all))
    tickets = penalties_of(toolkit_of(), booking_id)
    total = sum(penalty for _, penalty in tickets)
    (first, _), (second, last) = tickets
    short = toolkit_of(
        writes=True, approve=approve_all, penalty_limit={"EUR": total - Decimal("0.01")}
    )
    enough = toolkit_of(writes=True, approve=approve_all, penalty_limit={"EUR": total})
    for toolkit in (short, enough):
        if is_known:
            result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
        for ticket_id in (first, second):
            result_of(toolkit.call("tickets_get", {"ticket_id": ticket_id}))
    with sending_nothing():
        if is_known:
            error(short.call("bookings_cancel", {"booking_id": booking_id}), "penalty_limit")
        error(
            short.perform("tickets_cancel", {"ticket_id": first}, approve=lambda _: False),
            "declined",
        )
    result_of(short.call("tickets_cancel", {"ticket_id": first}))
    with sending_nothing():
        refused = error(short.call("tickets_cancel", {"ticket_id": second}), "penalty_limit")
    assert Decimal(refused["penalty"]) == last
    assert Decimal(refused["kept"]) == total - last
    result_of(enough.call("tickets_cancel", {"ticket_id": second}))


def test_penalties_of_different_bookings_are_counted_separately(toolkit_of):
    maker = toolkit_of(writes=True, approve=approve_all)
    both = [book_and_pay(maker, which)["booking_id"] for which in (0, 1)]
    fees = [fee_of(maker, one)["penalty_amount"] for one in both]
    toolkit = toolkit_of(
        writes=True, approve=approve_all, penalty_limit={"EUR": max(map(Decimal, fees))}
    )  # a penalty equal to the ceiling is within it
    for booking_id in both:
        result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
        result_of(toolkit.call("bookings_cancel", {"booking_id": booking_id}))


@pytest.mark.usefixtures("read_back_once")
def test_an_unresolved_penalty_counts_until_it_is_settled(toolkit_of, ferry_sandbox):
    booking_id = book_round_trip(toolkit_of(writes=True, approve=approve_all))
    (first, one), (second, other) = penalties_of(toolkit_of(), booking_id)
    toolkit = toolkit_of(
        {"deadline": None}, writes=True, approve=approve_all, penalty_limit={"EUR": max(one, other)}
    )
    result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
    ferry_sandbox.faults.add("cut_before", "tickets.cancel")
    lost = error(
        toolkit.call("tickets_cancel", {"ticket_id": first}), "outcome_unknown", status="unknown"
    )
    error(toolkit.call("tickets_cancel", {"ticket_id": second}), "penalty_limit")
    toolkit.settle(lost["correlation_id"], happened=False)
    result_of(toolkit.call("tickets_cancel", {"ticket_id": second}))


def test_only_a_refund_smaller_than_previewed_adds_a_note(toolkit, ferry_sandbox):
    booking_id = book_and_pay(toolkit)["booking_id"]
    fee = fee_of(toolkit, booking_id)
    assert Decimal(fee["penalty_amount"]) > 0
    limited = {"booking_id": booking_id, "max_penalty": fee["penalty_amount"]}
    answer = toolkit.call("bookings_cancel", limited)
    assert result_of(answer)["refund_amount"] == fee["refund_amount"]
    assert "notes" not in answer
    booking_id = book_and_pay(toolkit)["booking_id"]
    lost = Decimal(fee_of(toolkit, booking_id)["refund_amount"]) - 1
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel", field="refund_amount", value="1.00")
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    result_of(answer)
    assert answer["notes"] == [f"{lost} EUR less was paid back than was previewed."]
