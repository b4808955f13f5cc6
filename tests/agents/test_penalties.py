"""Limits on the cost of a cancellation, for all tickets of a booking together."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.agent import approve_all, book, error, order, result_of, round_trip

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox


@pytest.mark.parametrize("limit", [{"EUR": 1}, {"USD": 10_000}, {}])
def test_a_penalty_above_the_limit_is_refused(
    toolkit_of: Callable[..., Any], sending_nothing: Any, limit: dict[str, int]
) -> None:
    toolkit = toolkit_of(writes=True, approve=approve_all, penalty_limit=limit)
    named = {"booking_id": book(toolkit)["booking_id"]}
    confirmed = result_of(toolkit.call("bookings_confirm", named))
    with sending_nothing():
        refused = error(toolkit.call("bookings_cancel", named), "penalty_limit")
        error(
            toolkit.call("tickets_cancel", {"ticket_id": confirmed["ticket_id"]}), "penalty_limit"
        )
    assert float(refused["penalty"]) > 1
    words = {"EUR": "is more than allowed", "USD": "the limit is in USD"}
    assert words.get("".join(limit), "the limit is in no currency") in refused["message"]


def penalties_of(toolkit: Any, booking_id: str) -> list[Any]:
    """Return the ids of a booking's tickets with the penalty of each."""
    read = result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
    return [
        (
            one["id"],
            Decimal(
                result_of(toolkit.call("bookings_cancel_fee", {"id": one["id"]}))["penalty_amount"]
            ),
        )
        for one in read["tickets"]
    ]


def book_round_trip(toolkit: Any) -> str:
    """Make a confirmed booking of two tickets, and return its id."""
    booking = result_of(toolkit.call("bookings_create", order(*round_trip(toolkit))))
    result_of(toolkit.call("bookings_confirm", {"booking_id": booking["booking_id"]}))
    made: str = booking["booking_id"]
    return made


@pytest.mark.parametrize("is_known", [True, False], ids=["of a booking", "by themselves"])
def test_penalties_of_all_tickets_of_a_booking_add_up(
    toolkit_of: Callable[..., Any], sending_nothing: Any, is_known: bool
) -> None:
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


def test_penalties_of_different_bookings_are_counted_separately(
    toolkit_of: Callable[..., Any],
) -> None:
    maker = toolkit_of(writes=True, approve=approve_all)
    both = [book(maker, which)["booking_id"] for which in (0, 1)]
    for booking_id in both:
        result_of(maker.call("bookings_confirm", {"booking_id": booking_id}))
    fees = [
        result_of(maker.call("bookings_cancel_fee", {"id": one}))["penalty_amount"] for one in both
    ]
    toolkit = toolkit_of(
        writes=True, approve=approve_all, penalty_limit={"EUR": max(map(Decimal, fees))}
    )  # a penalty equal to the ceiling is within it
    for booking_id in both:
        result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
        result_of(toolkit.call("bookings_cancel", {"booking_id": booking_id}))


@pytest.mark.usefixtures("read_back_once")
def test_an_unresolved_penalty_counts_until_it_is_settled(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
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


def test_a_penalty_equal_to_max_penalty_is_accepted(toolkit: Any) -> None:
    booking_id = book(toolkit)["booking_id"]
    result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = result_of(toolkit.call("bookings_cancel_fee", {"id": booking_id}))["penalty_amount"]
    assert Decimal(fee) > 0
    result_of(toolkit.call("bookings_cancel", {"booking_id": booking_id, "max_penalty": fee}))


def test_a_refund_as_previewed_adds_no_note(toolkit: Any) -> None:
    booking_id = book(toolkit)["booking_id"]
    result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = result_of(toolkit.call("bookings_cancel_fee", {"id": booking_id}))
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    assert result_of(answer)["refund_amount"] == fee["refund_amount"]
    assert "notes" not in answer


def test_a_refund_smaller_than_previewed_adds_a_note(toolkit: Any, ferry_sandbox: Sandbox) -> None:
    booking_id = book(toolkit)["booking_id"]
    result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = result_of(toolkit.call("bookings_cancel_fee", {"id": booking_id}))
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel", field="refund_amount", value="1.00")
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    result_of(answer)
    lost = Decimal(fee["refund_amount"]) - 1
    assert answer["notes"] == [f"{lost} EUR less was paid back than was previewed."]
