"""Changes during an approval are noticed before the write is sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import Records, SearchPassenger
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Budget
from tests.agents.agent import TRAVELLERS, book, error, order, result_of, runner_of, sailings

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox

PARTY = [SearchPassenger(**one) for one in TRAVELLERS]


@pytest.mark.parametrize("name", ["bookings_cancel", "tickets_cancel"])
def test_a_penalty_that_rises_during_approval_is_refused(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox, name: str
) -> None:
    def slowly(request: Any) -> bool:
        if request.tool == name:
            ferry_sandbox.clock.travel_to(leaving - timedelta(minutes=30))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    sailing = sailings(toolkit)[0]
    leaving = datetime.fromisoformat(sailing["depart_at"])
    flexible = {**order(sailing)["availabilities"][0], "tariff_id": f"{sailing['id']}.FLEX"}
    booking = result_of(toolkit.call("bookings_create", order(sailing, availabilities=[flexible])))
    confirmed = result_of(toolkit.call("bookings_confirm", {"booking_id": booking["booking_id"]}))
    named = {key: confirmed[key] for key in ("booking_id", "ticket_id") if key[:4] == name[:4]}
    refused = toolkit.call(name, named)
    assert error(refused, "penalty_exceeded", status="failed")["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests[name.replace("_", ".")] == 0


def test_a_total_that_changes_during_approval_is_refused(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
    def slowly(request: Any) -> bool:
        if request.tool == "bookings_confirm":
            (ticket,) = ferry_sandbox.service._sales._bookings[booking_id].tickets
            ticket.reprice(Decimal(2), Decimal(0))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    booking_id = book(toolkit)["booking_id"]
    refused = toolkit.call("bookings_confirm", {"booking_id": booking_id})
    assert error(refused, "price_changed", status="failed")["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0


def test_a_failed_read_before_a_write_sends_nothing(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
    toolkit = toolkit_of({"max_retries": 0}, writes=True, approve=lambda _: True)
    named = {"booking_id": book(toolkit)["booking_id"]}
    ferry_sandbox.faults.add("cut_before", "bookings.get")
    refused = toolkit.call("bookings_confirm", named)
    assert error(refused, "connection_failed", status="failed")["outcome"] == "not_sent"
    result_of(toolkit.call("bookings_confirm", named))


@pytest.mark.parametrize("is_refused", [False, True])
def test_an_unsent_write_frees_its_part_of_the_limit(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox, is_refused: bool
) -> None:
    found = sailings(toolkit_of())[:2]
    price = max((one["tariffs"][0]["amount"] for one in found), key=Decimal)
    saying = iter([is_refused, True])
    toolkit = toolkit_of(writes=True, approve=lambda _: next(saying), spend_limit={"EUR": price})
    first, second = sailings(toolkit)[:2]
    if is_refused:
        ferry_sandbox.faults.add("unauthorized", "bookings.create", status=403)
        error(toolkit.call("bookings_create", order(first)), "forbidden", status="failed")
    else:
        error(toolkit.call("bookings_create", order(first)), "declined")
    result_of(toolkit.call("bookings_create", order(second)))


def test_the_same_amount_in_another_currency_is_another_price(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
    toolkit = toolkit_of(writes=True, approve=lambda _: True, spend_limit={"EUR": 100, "GBP": 100})
    ferry_sandbox.faults.add("unknown_enum", "bookings.create", field="currency", value="GBP")
    sailing = sailings(toolkit)[0]
    answer = toolkit.call("bookings_create", order(sailing))
    price = sailing["tariffs"][0]["amount"]
    assert (result_of(answer)["total_price"], result_of(answer)["currency"]) == (price, "GBP")
    (note,) = answer["notes"]
    assert f"approved were {price} EUR, the booking costs {price} GBP" in note


def test_a_later_search_in_another_currency_is_another_price(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox
) -> None:
    toolkit = toolkit_of(writes=True, approve=lambda _: True)
    sailing = sailings(toolkit)[0]
    offer = runner_of(toolkit)._state.known_ids.offer(sailing["id"])
    tariffs = [one.model_copy(update={"currency": "GBP"}) for one in offer.sailing.tariffs]
    again = offer.sailing.model_copy(update={"id": "another", "tariffs": tariffs})
    runner_of(toolkit)._state.known_ids.remember(Records([again]), {"passengers": PARTY})
    error(toolkit.call("bookings_create", order(sailing)), "price_changed")
    assert ferry_sandbox.counters.requests["bookings.create"] == 0


def test_money_spent_in_one_currency_is_not_counted_in_another() -> None:
    budget = Budget({"EUR": 20, "GBP": 20}, {"EUR": 20, "GBP": 20})
    for currency in ("EUR", "GBP"):
        budget.hold(f"in {currency}", Decimal(20), currency)
        budget.hold_penalty("b-1", f"in {currency}", Decimal(20), currency)
    with pytest.raises(RefusedError) as caught:
        budget.hold("more", Decimal("0.01"), "EUR")
    assert caught.value.details["spent"] == "20"
    with pytest.raises(RefusedError) as caught:
        budget.hold_penalty("b-1", "more", Decimal("0.01"), "GBP")
    assert caught.value.details["kept"] == "20"
    budget.hold_penalty("b-2", "more", Decimal(20), "GBP")
