"""Changes during an approval are noticed before the write is sent."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferry_sdk import Records, SearchPassenger
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Budget
from tests.agents.agent import (
    TRAVELLERS,
    approve_all,
    error,
    order,
    result_of,
    runner_of,
    selection_of,
)

PARTY = [SearchPassenger(**one) for one in TRAVELLERS]


@pytest.mark.parametrize("name", ["bookings_cancel", "tickets_cancel"])
def test_a_penalty_that_rises_during_approval_is_refused(toolkit_of, ferry_sandbox, name):
    def slowly(request):
        if request.tool == name:
            ferry_sandbox.clock.travel_to(leaving - timedelta(minutes=30))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    sailing = toolkit.sailings()[0]
    leaving = datetime.fromisoformat(sailing["depart_at"])
    flexible = {**selection_of(sailing), "tariff_id": f"{sailing['id']}.FLEX"}
    made = toolkit.do("bookings_create", **order(sailing, availabilities=[flexible]))
    confirmed = toolkit.pay(made["booking_id"])
    named = {key: confirmed[key] for key in ("booking_id", "ticket_id") if key[:4] == name[:4]}
    assert toolkit.fail(name, "penalty_exceeded", "failed", **named)["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests[name.replace("_", ".")] == 0


def test_a_total_that_changes_during_approval_is_refused(toolkit_of, ferry_sandbox):
    def slowly(request):
        if request.tool == "bookings_confirm":
            (ticket,) = ferry_sandbox.service._sales._bookings[booking_id].tickets
            ticket.reprice(Decimal(2), Decimal(0))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    booking_id = toolkit.book()["booking_id"]
    refused = toolkit.fail("bookings_confirm", "price_changed", "failed", booking_id=booking_id)
    assert refused["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0


def test_a_currency_or_a_refund_that_changes_during_approval_is_refused(toolkit_of, ferry_sandbox):
    changes = []

    def slowly(request):
        read = "bookings.get" if request.tool == "bookings_confirm" else "bookings.cancel_fee"
        if changes:
            ferry_sandbox.faults.add("unknown_enum", read, **changes.pop())
        return True

    limits = {"EUR": 1000, "KWD": 1000}
    toolkit = toolkit_of(writes=True, approve=slowly, spend_limit=limits, penalty_limit=limits)
    booking = toolkit.book()
    confirm = ("bookings_confirm", {"booking_id": booking["booking_id"]})
    changes.append({"field": "currency", "value": "KWD"})
    refused = error(toolkit.call(*confirm), "price_changed", status="failed")
    assert refused["expected"] == refused["found"] == booking["total_price"]
    assert (refused["expected_currency"], refused["currency"]) == ("EUR", "KWD")
    assert {"EUR", "KWD"} <= {*refused["message"].replace(",", "").split()}
    confirmed = result_of(toolkit.call(*confirm))
    for name in ("booking_id", "ticket_id"):
        cancel = (f"{name[:-3]}s_cancel", {name: confirmed[name]})
        changes.append({"field": "currency", "value": "KWD"})
        refused = error(toolkit.call(*cancel), "penalty_exceeded", status="failed")
        assert refused["max_penalty"] == refused["penalty"]
        assert (refused["expected_currency"], refused["currency"]) == ("EUR", "KWD")
        changes.append({"field": "refund_amount", "value": "0.01"})
        refused = error(toolkit.call(*cancel), "penalty_exceeded", status="failed")
        assert Decimal(refused["min_refund"]) > Decimal(refused["refund"]) == Decimal("0.01")
        assert refused["min_refund"] in refused["message"]
    for name in ("bookings.cancel", "tickets.cancel"):
        assert ferry_sandbox.counters.requests[name] == 0
    result_of(toolkit.call(*cancel))


def test_a_currency_without_a_limit_is_refused_before_anybody_is_asked(
    toolkit_of, agree, asked, ferry_sandbox, sending_nothing
):
    limits = {"EUR": 1000}
    toolkit = toolkit_of(writes=True, approve=agree, spend_limit=limits, penalty_limit=limits)
    named = {"booking_id": toolkit.book()["booking_id"]}
    for tool, read, code in (
        ("bookings_confirm", "bookings.get", "spend_limit"),
        ("bookings_cancel", "bookings.cancel_fee", "penalty_limit"),
    ):
        ferry_sandbox.faults.add("unknown_enum", read, field="currency", value="KWD")
        with sending_nothing():
            assert toolkit.fail(tool, code, **named)["currency"] == "KWD"
    assert [one.tool for one in asked] == ["bookings_create"]


def test_nobody_is_asked_to_pay_or_to_cancel_in_vain(
    toolkit_of, agree, asked, ferry_sandbox, sending_nothing
):
    maker = toolkit_of(writes=True, approve=approve_all)

    def codes_of(*calls):
        """Return the codes of calls by a toolkit that has read the booking and has done nothing."""
        toolkit = toolkit_of(writes=True, approve=agree)
        toolkit.do("bookings_get", **calls[0][1])
        with sending_nothing():
            answers = [toolkit.call(*one) for one in calls]
        assert {one["status"] for one in answers} == {"refused"}
        assert all(one["error"]["next_step"] for one in answers)
        return [one["error"]["code"] for one in answers]

    named = {"booking_id": maker.book()["booking_id"]}
    confirm, cancel = ("bookings_confirm", named), ("bookings_cancel", named)
    ticket_id = result_of(maker.call(*confirm))["ticket_id"]
    cancel_ticket = ("tickets_cancel", {"ticket_id": ticket_id})
    assert codes_of(confirm) == ["already_paid"]
    result_of(maker.call(*cancel))
    assert codes_of(confirm, cancel, cancel_ticket) == ["already_cancelled"] * 3
    ferry_sandbox.faults.add("refused", "bookings.cancel_fee", status=409, code="CONFLICT")
    assert codes_of(cancel) == ["already_cancelled"]

    named["booking_id"] = maker.book()["booking_id"]
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=3600)
    result_of(maker.call(*confirm))
    assert codes_of(confirm) == ["already_paid"]

    named["booking_id"] = maker.book(1)["booking_id"]
    read = maker.do("bookings_get", **named)
    cancel_ticket[1]["ticket_id"] = read["tickets"][0]["id"]
    ferry_sandbox.clock.advance(timedelta(hours=3))
    assert codes_of(confirm, cancel, cancel_ticket) == ["booking_ended"] * 3
    assert asked == []
    error(maker.call(*confirm), "booking_ended")
    maker.book(1)  # what has ended may be booked again


def test_a_repeated_confirmation_is_answered_by_what_is_true_now(
    toolkit, ferry, ferry_sandbox, sending_nothing
):
    named = {"booking_id": toolkit.book()["booking_id"]}
    confirmed = toolkit.do("bookings_confirm", **named)
    with sending_nothing():
        assert toolkit.fail("bookings_confirm", "already_done", **named)["result"] == confirmed
        ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
        toolkit.fail("bookings_confirm", "already_done", **named)
        ferry_sandbox.faults.clear()
    ferry.bookings.cancel(**named)
    with sending_nothing():
        toolkit.fail("bookings_confirm", "already_cancelled", **named)


def test_a_failed_read_before_a_write_sends_nothing_and_a_fee_of_a_cancelled_ticket_ends_nothing(
    toolkit_of, agree, ferry_sandbox
):
    toolkit = toolkit_of({"max_retries": 0}, writes=True, approve=agree)
    named = {"booking_id": toolkit.book()["booking_id"]}
    ferry_sandbox.faults.add("cut_before", "bookings.get")
    failed = toolkit.fail("bookings_confirm", "connection_failed", "failed", **named)
    assert failed["outcome"] == "not_sent"
    ended = {"field": "ticket_status", "value": "Canceled"}
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", **ended)
    toolkit.do("bookings_cancel", **named)


def test_a_write_that_another_makes_during_approval_is_not_repeated_but_may_be_made_again(
    toolkit_of, ferry, sending_nothing
):
    def slowly(request):
        if request.tool != "bookings_create":
            is_payment = request.tool == "bookings_confirm"
            (ferry.bookings.confirm if is_payment else ferry.bookings.cancel)(**request.subject)
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    named = {"booking_id": toolkit.book()["booking_id"]}
    for tool, code in (("confirm", "already_paid"), ("cancel", "already_cancelled")):
        refused = toolkit.fail(f"bookings_{tool}", code, "failed", **named)
        assert refused["outcome"] == "not_sent"
        assert refused["result"]["booking_id"] == named["booking_id"]
        with sending_nothing():
            toolkit.fail(f"bookings_{tool}", code, **named)
    toolkit.book()


@pytest.mark.parametrize("is_refused", [False, True])
def test_an_unsent_write_frees_its_part_of_the_limit(toolkit_of, ferry_sandbox, is_refused):
    found = toolkit_of().sailings()[:2]
    price = max((one["tariffs"][0]["amount"] for one in found), key=Decimal)
    saying = iter([is_refused, True])
    toolkit = toolkit_of(writes=True, approve=lambda _: next(saying), spend_limit={"EUR": price})
    first, second = toolkit.sailings()[:2]
    if is_refused:
        ferry_sandbox.faults.add("unauthorized", "bookings.create", status=403)
        toolkit.fail("bookings_create", "forbidden", "failed", **order(first))
    else:
        toolkit.fail("bookings_create", "declined", **order(first))
    toolkit.do("bookings_create", **order(second))


def test_the_same_amount_in_another_currency_is_another_price(toolkit_of, ferry_sandbox):
    limits = {"EUR": 100, "GBP": 100}
    toolkit = toolkit_of(writes=True, approve=approve_all, spend_limit=limits)
    ferry_sandbox.faults.add("unknown_enum", "bookings.create", field="currency", value="GBP")
    sailing, other = toolkit.sailings()[:2]
    answer = toolkit.call("bookings_create", order(sailing))
    price = sailing["tariffs"][0]["amount"]
    assert (result_of(answer)["total_price"], result_of(answer)["currency"]) == (price, "GBP")
    (note,) = answer["notes"]
    assert f"approved were {price} EUR, the booking costs {price} GBP" in note
    # A later search shows the other sailing in another currency.
    known_ids = runner_of(toolkit).writes.state.known_ids
    offer = known_ids.sailings.get(other["id"])
    tariffs = [one.model_copy(update={"currency": "GBP"}) for one in offer.sailing.tariffs]
    again = offer.sailing.model_copy(update={"id": "another", "tariffs": tariffs})
    known_ids.remember(Records([again]), {"passengers": PARTY})
    toolkit.fail("bookings_create", "price_changed", **order(other))
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


def test_money_spent_in_one_currency_is_not_counted_in_another():
    budget = Budget({"EUR": 20, "GBP": 20}, {"EUR": 20, "GBP": 20})
    for currency in ("EUR", "GBP"):
        budget.hold(f"in {currency}", Decimal(20), currency)
        budget.hold_penalty("b-1", f"in {currency}", Decimal(20), currency)
    with pytest.raises(RefusedError) as caught:
        budget.hold("more", Decimal("0.01"), "EUR")
    assert caught.value.answer["error"]["spent"] == "20"
    with pytest.raises(RefusedError) as caught:
        budget.hold_penalty("b-1", "more", Decimal("0.01"), "GBP")
    assert caught.value.answer["error"]["kept"] == "20"
    budget.hold_penalty("b-2", "more", Decimal(20), "GBP")
