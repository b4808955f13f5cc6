"""What a cancellation may cost: of a booking, all its tickets together."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk.sandbox.network.network import journey_id
from tests.agents.agent import TANGIER, TARIFA, booked, done, error, order, sailings
from tests.support.trip import DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox


def yes(_: object) -> bool:
    return True


@pytest.fixture
def toolkit(toolkit_of: Callable[..., Any]) -> Any:
    return toolkit_of(writes=True, approve=yes)


@pytest.mark.parametrize("limit", [{"EUR": 1}, {"USD": 10_000}, {}])
def test_a_penalty_that_is_too_high(
    toolkit_of: Callable[..., Any], sending_nothing: Any, limit: dict[str, int]
) -> None:
    toolkit = toolkit_of(writes=True, approve=yes, penalty_limit=limit)
    named = {"booking_id": booked(toolkit)["booking_id"]}
    confirmed = done(toolkit.call("bookings_confirm", named))
    with sending_nothing():
        refused = error(toolkit.call("bookings_cancel", named), "penalty_limit")
        error(
            toolkit.call("tickets_cancel", {"ticket_id": confirmed["ticket_id"]}), "penalty_limit"
        )
    assert float(refused["penalty"]) > 1


def cancelled_by_tickets(toolkit: Any, booking_id: str) -> list[Any]:
    """What a booking's tickets are cancelled for, one by one, and what that costs."""
    read = done(toolkit.call("bookings_get", {"booking_id": booking_id}))
    return [
        (
            one["id"],
            Decimal(done(toolkit.call("bookings_cancel_fee", {"id": one["id"]}))["penalty_amount"]),
        )
        for one in read["tickets"]
    ]


def there_and_back(toolkit: Any) -> str:
    """A confirmed booking of two tickets."""
    found = sailings(
        toolkit,
        ret_journey_id=journey_id(TANGIER, TARIFA),
        ret_at=str(DAY + timedelta(days=3)),
        ret_time="08:00",
    )
    pair = [next(one for one in found if one["direction"] == way) for way in ("Outward", "Return")]
    booking = done(toolkit.call("bookings_create", order(*pair)))
    done(toolkit.call("bookings_confirm", {"booking_id": booking["booking_id"]}))
    made: str = booking["booking_id"]
    return made


@pytest.mark.parametrize("is_known", [True, False], ids=["of a booking", "by themselves"])
def test_penalties_count_over_all_tickets_of_a_booking(
    toolkit_of: Callable[..., Any], sending_nothing: Any, is_known: bool
) -> None:
    booking_id = there_and_back(toolkit_of(writes=True, approve=yes))
    tickets = cancelled_by_tickets(toolkit_of(), booking_id)
    total = sum(penalty for _, penalty in tickets)
    (first, _), (second, last) = tickets
    short = toolkit_of(writes=True, approve=yes, penalty_limit={"EUR": total - Decimal("0.01")})
    enough = toolkit_of(writes=True, approve=yes, penalty_limit={"EUR": total})
    for toolkit in (short, enough):
        if is_known:
            done(toolkit.call("bookings_get", {"booking_id": booking_id}))
        for ticket_id in (first, second):
            done(toolkit.call("tickets_get", {"ticket_id": ticket_id}))
    with sending_nothing():
        if is_known:
            error(short.call("bookings_cancel", {"booking_id": booking_id}), "penalty_limit")
        error(
            short.perform("tickets_cancel", {"ticket_id": first}, approve=lambda _: False),
            "declined",
        )
    done(short.call("tickets_cancel", {"ticket_id": first}))
    with sending_nothing():
        refused = error(short.call("tickets_cancel", {"ticket_id": second}), "penalty_limit")
    assert Decimal(refused["penalty"]) == last
    assert Decimal(refused["kept"]) == total - last
    done(enough.call("tickets_cancel", {"ticket_id": second}))


def test_a_penalty_of_another_booking_is_counted_by_itself(toolkit_of: Callable[..., Any]) -> None:
    maker = toolkit_of(writes=True, approve=yes)
    both = [booked(maker, which)["booking_id"] for which in (0, 1)]
    for booking_id in both:
        done(maker.call("bookings_confirm", {"booking_id": booking_id}))
    fees = [done(maker.call("bookings_cancel_fee", {"id": one}))["penalty_amount"] for one in both]
    toolkit = toolkit_of(
        writes=True, approve=yes, penalty_limit={"EUR": max(map(Decimal, fees))}
    )  # a penalty equal to the ceiling is within it
    for booking_id in both:
        done(toolkit.call("bookings_get", {"booking_id": booking_id}))
        done(toolkit.call("bookings_cancel", {"booking_id": booking_id}))


@pytest.mark.usefixtures("read_back_once")
def test_a_penalty_that_may_have_been_kept_counts_until_a_person_says_no(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
    booking_id = there_and_back(toolkit_of(writes=True, approve=yes))
    (first, one), (second, other) = cancelled_by_tickets(toolkit_of(), booking_id)
    toolkit = toolkit_of(
        {"deadline": None}, writes=True, approve=yes, penalty_limit={"EUR": max(one, other)}
    )
    done(toolkit.call("bookings_get", {"booking_id": booking_id}))
    ferry_sandbox.faults.add("cut_before", "tickets.cancel")
    lost = error(
        toolkit.call("tickets_cancel", {"ticket_id": first}), "outcome_unknown", status="unknown"
    )
    error(toolkit.call("tickets_cancel", {"ticket_id": second}), "penalty_limit")
    toolkit.settle(lost["correlation_id"], happened=False)
    done(toolkit.call("tickets_cancel", {"ticket_id": second}))


def test_an_own_ceiling_that_is_just_met(toolkit: Any) -> None:
    booking_id = booked(toolkit)["booking_id"]
    done(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = done(toolkit.call("bookings_cancel_fee", {"id": booking_id}))["penalty_amount"]
    assert Decimal(fee) > 0
    done(toolkit.call("bookings_cancel", {"booking_id": booking_id, "max_penalty": fee}))


def test_a_penalty_above_the_agents_own_limit(toolkit: Any, sending_nothing: Any) -> None:
    named = {"booking_id": booked(toolkit)["booking_id"]}
    done(toolkit.call("bookings_confirm", named))
    with sending_nothing():
        error(toolkit.call("bookings_cancel", {**named, "max_penalty": "0.01"}), "penalty_exceeded")


def test_nothing_is_said_of_a_refund_that_is_as_previewed(toolkit: Any) -> None:
    booking_id = booked(toolkit)["booking_id"]
    done(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = done(toolkit.call("bookings_cancel_fee", {"id": booking_id}))
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    assert done(answer)["refund_amount"] == fee["refund_amount"]
    assert "notes" not in answer


def test_a_refund_that_is_smaller_than_previewed_is_said(
    toolkit: Any, ferry_sandbox: Sandbox
) -> None:
    booking_id = booked(toolkit)["booking_id"]
    done(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    fee = done(toolkit.call("bookings_cancel_fee", {"id": booking_id}))
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel", field="refund_amount", value="1.00")
    answer = toolkit.call("bookings_cancel", {"booking_id": booking_id})
    done(answer)
    lost = Decimal(fee["refund_amount"]) - 1
    assert answer["notes"] == [f"{lost} EUR less was paid back than was previewed."]
