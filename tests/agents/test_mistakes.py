"""Mistakes of a model: each is refused with a clear reason, and nothing is sent."""

from datetime import datetime, timedelta

import httpx
import pytest

from ferry_sdk import Records
from ferry_sdk.agents.policy.known_ids import KnownIds
from tests.agents.agent import (
    PASSENGERS,
    TRAVELLERS,
    answer_to,
    approve_all,
    error,
    order,
    query,
    runner_of,
    selection_of,
)


@pytest.mark.parametrize("name", ["availability_id", "tariff_id", "place_id"])
def test_an_id_that_was_not_shown_is_refused(toolkit, sending_nothing, name):
    first, second = (selection_of(sailing) for sailing in toolkit.sailings()[:2])
    wrong = {**second, "availability_id": "av_2027_TARIFA"}
    wanted = {"availabilities": [{**first, name: wrong[name]}], "passengers": PASSENGERS}
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "unseen_id", **wanted)
    assert refused["field"] == f"availabilities.0.{name}"
    advice = ["Search again", "restarted", "one session"]
    assert [words for words in advice if words not in refused["next_step"]] == []


def test_a_sailing_that_was_not_shown_is_refused(toolkit, sending_nothing, monkeypatch):
    found = []
    remember = KnownIds.remember

    def learning(known_ids, result, *asked):
        found[:] = result
        remember(known_ids, result, *asked)

    monkeypatch.setattr(KnownIds, "remember", learning)
    (sailing,) = toolkit.sailings(contains=toolkit.sailings()[0]["depart_at"])
    hidden = {**sailing, "id": next(one.id for one in found if one.id != sailing["id"])}
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "unseen_id", **order(hidden))
    assert refused["field"] == "availabilities.0.availability_id"
    toolkit.do("bookings_create", **order(sailing))


def test_a_sailing_given_twice_is_refused(toolkit, sending_nothing):
    sailing = toolkit.sailings()[0]
    with sending_nothing():
        toolkit.fail("bookings_create", "invalid_arguments", **order(sailing, sailing))


def test_a_price_is_refused_once_it_expires(toolkit, asked, sending_nothing):
    sailing = toolkit.sailings()[0]
    toolkit.sailings(passengers=TRAVELLERS * 2)  # changes no price
    state = runner_of(toolkit).writes.state
    expires_at = sailing["tariffs"][0]["expiration_date"].replace("Z", "+00:00")
    now, state.now = state.now, datetime.fromisoformat(expires_at).timestamp
    with sending_nothing():
        toolkit.fail("bookings_create", "offer_expired", **order(sailing))
    assert asked == []
    state.now = now
    toolkit.do("bookings_create", **order(sailing))


def test_a_price_that_expires_during_approval_is_refused(toolkit, sending_nothing):
    runner = runner_of(toolkit)
    session = runner.transport.session

    def slowly(_):
        session.skew += 31 * 60  # as another call would hear
        return True

    sailing = toolkit.sailings()[0]
    agree, skew = runner.approve, session.skew
    runner.approve = slowly
    with sending_nothing():
        toolkit.fail("bookings_create", "offer_expired", **order(sailing))
    runner.approve, session.skew = agree, skew
    toolkit.do("bookings_create", **order(sailing))


def test_the_service_tells_when_a_price_expires(toolkit, asked, sending_nothing, ferry_sandbox):
    sailing = toolkit.sailings()[1]
    ferry_sandbox.clock.advance(timedelta(minutes=31))
    toolkit.do("catalogue_vehicle_types")  # a reply, whose date tells the time
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "offer_expired", **order(sailing))
    assert "Search again" in refused["next_step"]
    assert asked == []
    toolkit.do("bookings_create", **order(toolkit.sailings()[1]))


def test_a_price_changed_by_another_search_is_refused(toolkit, sending_nothing, ferry_sandbox):
    now = ferry_sandbox.clock.now()
    old = toolkit.sailings()[0]
    ferry_sandbox.clock.travel_to(now + timedelta(days=27))
    new = toolkit.sailings()[0]
    assert new["depart_at"] == old["depart_at"]
    assert new["tariffs"][0]["amount"] != old["tariffs"][0]["amount"]
    ferry_sandbox.clock.travel_to(now + timedelta(minutes=1))
    toolkit.do("catalogue_vehicle_types")
    with sending_nothing():
        toolkit.fail("bookings_create", "price_changed", **order(old))


def test_a_second_booking_of_a_sailing_is_refused(toolkit, sending_nothing):
    sailing = toolkit.sailings()[0]
    booking = toolkit.do("bookings_create", **order(sailing))
    anew = order(toolkit.sailings()[0], contact={"name": "Ada Reyes", "email": "a@b.example"})
    with sending_nothing():
        again = toolkit.fail("bookings_create", "already_done", **order(sailing))
        toolkit.fail("bookings_create", "already_done", **anew)
    assert again["result"] == booking


def test_a_second_confirmation_is_refused(toolkit, sending_nothing):
    named = {"booking_id": toolkit.book()["booking_id"]}
    confirmed = toolkit.do("bookings_confirm", **named)
    with sending_nothing():
        again = toolkit.fail("bookings_confirm", "already_done", **named)
    assert again["result"] == confirmed


def test_a_second_cancellation_is_refused(toolkit, sending_nothing):
    named = {"booking_id": toolkit.book_and_pay()["booking_id"]}
    toolkit.do("bookings_cancel", **named)
    with sending_nothing():
        toolkit.fail("bookings_cancel", "already_done", **named)


def test_a_cancelled_booking_may_be_made_again(toolkit):
    sailing = toolkit.sailings()[0]
    booking = toolkit.do("bookings_create", **order(sailing))
    toolkit.pay(booking["booking_id"])
    toolkit.do("bookings_cancel", booking_id=booking["booking_id"])
    toolkit.do("bookings_create", **order(sailing))


def test_a_duplicate_of_an_unresolved_booking_is_refused(toolkit, sending_nothing, ferry_sandbox):
    sailing = toolkit.sailings()[0]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    lost = toolkit.fail("bookings_create", "outcome_unknown", "unknown", **order(sailing))
    found_again = toolkit.sailings()[0]
    with sending_nothing():
        duplicate = toolkit.fail("bookings_create", "outcome_unknown", **order(sailing))
        searched = toolkit.fail("bookings_create", "outcome_unknown", **order(found_again))
    assert duplicate["correlation_id"] == searched["correlation_id"] == lost["correlation_id"]
    assert lost["correlation_id"] in lost["next_step"]
    (write,) = toolkit.unresolved
    assert (write.tool, write.correlation_id) == ("bookings_create", lost["correlation_id"])


@pytest.mark.parametrize(
    ("limit", "shown", "message"),
    [
        pytest.param({"EUR": "10"}, "10", "", id="too low"),
        pytest.param(
            {"USD": 10_000}, "0", " may not be spent: the limit is in USD", id="another currency"
        ),
    ],
)
def test_a_booking_above_the_limit_is_refused(
    toolkit_of, agree, asked, sending_nothing, limit, shown, message
):
    toolkit = toolkit_of(writes=True, approve=agree, spend_limit=limit)
    with sending_nothing():
        answer = toolkit.call("bookings_create", order(toolkit.sailings()[0]))
    refused = error(answer, "spend_limit")
    assert (refused["limit"], refused["spent"], refused["currency"]) == (shown, "0", "EUR")
    assert refused["message"].endswith(message)
    assert asked == []


@pytest.mark.parametrize(
    "name", ["tickets_mark_paid", "bookings.create", "mcp_call_tool", "", 7], ids=repr
)
def test_an_unknown_tool_is_refused(toolkit, sending_nothing, name):
    with sending_nothing():
        toolkit.fail(name, "unknown_tool", ticket_id="t", external_payment_ref="p")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("bookings_cancel", "booking_id"),
        ("bookings_confirm", "booking_id"),
        ("tickets_cancel", "ticket_id"),
    ],
    ids=["cancelled booking", "confirmed booking", "cancelled ticket"],
)
def test_a_record_that_was_not_shown_is_refused(toolkit, sending_nothing, name, field):
    with sending_nothing():
        assert toolkit.fail(name, "unseen_id", **{field: "b-4711"})["field"] == field


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="toolkit"),
        pytest.param({"writes": True, "client": {"read_only": True}}, id="client"),
    ],
)
def test_writes_are_refused_in_a_read_only_toolkit(toolkit_of, sending_nothing, settings):
    toolkit = toolkit_of(approve=approve_all, **settings)
    with sending_nothing():
        toolkit.fail("bookings_create", "writes_disabled", **order(toolkit.sailings()[0]))


def test_tariffs_in_two_currencies_are_refused(toolkit, sending_nothing):
    first, second = toolkit.sailings()[:2]
    known_ids = runner_of(toolkit).writes.state.known_ids
    sailing = known_ids.sailings.get(second["id"]).sailing
    tariffs = [one.model_copy(update={"currency": "GBP"}) for one in sailing.tariffs]
    sterling = sailing.model_copy(update={"tariffs": tariffs})
    known_ids.remember(Records([sterling]), {"passengers": []})
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "invalid_arguments", **order(first, second))
    assert refused["field"] == "availabilities"
    assert "currency" in refused["message"]


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (404, "Try another day"),
        (422, "company has to sail"),
        (400, "route"),
    ],
    ids=["not found", "not valid", "another refusal"],
)
def test_an_empty_search_says_what_to_change(status, advice):
    reply = httpx.Response(status, json={"code": "AVAILABILITY_ERROR", "message": "no"})
    answer = answer_to(reply, "availability_search", query())
    assert advice in error(answer, "availability_error", "failed")["next_step"]


def test_a_company_that_does_not_sail_is_named(toolkit):
    wanted = query(company="GNV")
    refused = toolkit.fail("availability_search", "availability_error", "failed", **wanted)
    assert "company has to sail this journey" in refused["next_step"]
