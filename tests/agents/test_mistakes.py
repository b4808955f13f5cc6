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
    result_of,
    runner_of,
    sailings,
    selection_of,
)
from tests.support.tables import each


def test_an_invented_id_or_one_of_another_sailing_is_refused(toolkit, sending_nothing):
    first, second = (selection_of(one) for one in sailings(toolkit)[:2])
    for name, value in {**second, "availability_id": "av_2027_TARIFA"}.items():
        wanted = {"availabilities": [{**first, name: value}], "passengers": PASSENGERS}
        with sending_nothing():
            refused = error(toolkit.call("bookings_create", wanted), "unseen_id")
        assert refused["field"] == f"availabilities.0.{name}"
        for advice in ("Search again", "restarted", "one session"):
            assert advice in refused["next_step"], name


def test_a_sailing_that_a_search_found_but_did_not_show_is_refused(
    toolkit, sending_nothing, monkeypatch
):
    found = []
    remember = KnownIds.remember

    def learning(known_ids, result, *asked):
        found[:] = result
        remember(known_ids, result, *asked)

    monkeypatch.setattr(KnownIds, "remember", learning)
    (sailing,) = sailings(toolkit, contains=sailings(toolkit)[0]["depart_at"])
    hidden = {**sailing, "id": next(one.id for one in found if one.id != sailing["id"])}
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(hidden)), "unseen_id")
    assert refused["field"] == "availabilities.0.availability_id"
    result_of(toolkit.call("bookings_create", order(sailing)))


def test_a_price_is_refused_at_the_moment_it_expires_and_a_sailing_only_once(
    toolkit, sending_nothing
):
    sailing = sailings(toolkit)[0]
    sailings(toolkit, passengers=TRAVELLERS * 2)  # changes no price
    with sending_nothing():
        error(toolkit.call("bookings_create", order(sailing, sailing)), "invalid_arguments")
        state = runner_of(toolkit).writes.state
        expires_at = sailing["tariffs"][0]["expiration_date"].replace("Z", "+00:00")
        now, state.now = state.now, datetime.fromisoformat(expires_at).timestamp
        error(toolkit.call("bookings_create", order(sailing)), "offer_expired")
    state.now = now
    result_of(toolkit.call("bookings_create", order(sailing)))


def test_an_expired_price_is_refused(toolkit, asked, sending_nothing, ferry_sandbox):
    wanted = order(sailings(toolkit)[0])
    ferry_sandbox.clock.advance(timedelta(minutes=31))
    result_of(toolkit.call("catalogue_vehicle_types"))  # a reply, whose date tells the time
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", wanted), "offer_expired")
    assert "Search again" in refused["next_step"]
    assert asked == []
    result_of(toolkit.call("bookings_create", order(sailings(toolkit)[0])))


def test_a_price_that_expires_during_approval_is_refused(toolkit_of, sending_nothing):
    def slowly(_):
        runner = runner_of(toolkit)
        runner.transport.session.skew += 31 * 60  # as another call would hear
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    wanted = order(sailings(toolkit)[0])
    with sending_nothing():
        error(toolkit.call("bookings_create", wanted), "offer_expired")


def test_a_price_that_a_later_search_changed_is_refused(toolkit, sending_nothing, ferry_sandbox):
    now = ferry_sandbox.clock.now()
    old = sailings(toolkit)[0]
    ferry_sandbox.clock.travel_to(now + timedelta(days=27))
    new = sailings(toolkit)[0]
    assert new["depart_at"] == old["depart_at"]
    assert new["tariffs"][0]["amount"] != old["tariffs"][0]["amount"]
    ferry_sandbox.clock.travel_to(now + timedelta(minutes=1))
    result_of(toolkit.call("catalogue_vehicle_types"))
    with sending_nothing():
        error(toolkit.call("bookings_create", order(old)), "price_changed")


def test_the_same_write_is_refused_the_second_time(toolkit, sending_nothing):
    sailing = sailings(toolkit)[0]
    booking = result_of(toolkit.call("bookings_create", order(sailing)))
    named = {"booking_id": booking["booking_id"]}
    confirmed = result_of(toolkit.call("bookings_confirm", named))
    with sending_nothing():
        again = error(toolkit.call("bookings_create", order(sailing)), "already_done")
        assert again["result"] == booking
        anew = order(sailings(toolkit)[0], contact={"name": "Ada Reyes", "email": "a@b.example"})
        error(toolkit.call("bookings_create", anew), "already_done")
        again = error(toolkit.call("bookings_confirm", named), "already_done")
        assert again["result"] == confirmed
    result_of(toolkit.call("bookings_cancel", named))
    with sending_nothing():
        error(toolkit.call("bookings_cancel", named), "already_done")
    result_of(toolkit.call("bookings_create", order(sailing)))


@pytest.mark.parametrize("anew", [False, True], ids=["the same", "searched again"])
def test_a_duplicate_of_an_unresolved_booking_is_refused(
    toolkit, sending_nothing, ferry_sandbox, anew
):
    sailing = sailings(toolkit)[0]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    lost = error(
        toolkit.call("bookings_create", order(sailing)), "outcome_unknown", status="unknown"
    )
    with sending_nothing():
        if anew:
            sailing = sailings(toolkit)[0]
        duplicate = error(toolkit.call("bookings_create", order(sailing)), "outcome_unknown")
    assert duplicate["correlation_id"] == lost["correlation_id"]
    assert lost["correlation_id"] in lost["next_step"]
    (write,) = toolkit.unresolved
    assert (write.tool, write.correlation_id) == ("bookings_create", lost["correlation_id"])


def test_a_booking_above_the_spend_limit_is_refused(toolkit_of, agree, asked, sending_nothing):
    for limit, shown, message in (
        ({"EUR": "10"}, "10", ""),
        ({"USD": 10_000}, "0", " may not be spent: the limit is in USD"),
    ):
        toolkit = toolkit_of(writes=True, approve=agree, spend_limit=limit)
        with sending_nothing():
            answer = toolkit.call("bookings_create", order(sailings(toolkit)[0]))
        refused = error(answer, "spend_limit")
        assert (refused["limit"], refused["spent"], refused["currency"]) == (shown, "0", "EUR")
        assert refused["message"].endswith(message)
        assert asked == []


def test_an_unknown_tool_and_a_record_that_was_not_shown_are_refused(toolkit, sending_nothing):
    with sending_nothing():
        for name in ("tickets_mark_paid", "bookings.create", "mcp_call_tool", "", 7):
            wanted = {"ticket_id": "t", "external_payment_ref": "p"}
            error(toolkit.call(name, wanted), "unknown_tool")
        for name in ("bookings_cancel", "bookings_confirm", "tickets_cancel"):
            field = f"{name.split('_')[0][:-1]}_id"
            assert error(toolkit.call(name, {field: "b-4711"}), "unseen_id")["field"] == field


@pytest.mark.parametrize("settings", [{}, {"writes": True, "client": {"read_only": True}}])
def test_writes_are_refused_in_a_read_only_toolkit(toolkit_of, sending_nothing, settings):
    toolkit = toolkit_of(approve=approve_all, **settings)
    with sending_nothing():
        error(toolkit.call("bookings_create", order(sailings(toolkit)[0])), "writes_disabled")


def test_tariffs_in_two_currencies_are_refused(toolkit, sending_nothing):
    first, second = sailings(toolkit)[:2]
    known_ids = runner_of(toolkit).writes.state.known_ids
    sailing = known_ids.sailings.get(second["id"]).sailing
    tariffs = [one.model_copy(update={"currency": "GBP"}) for one in sailing.tariffs]
    known_ids.remember(
        Records([sailing.model_copy(update={"tariffs": tariffs})]), {"passengers": []}
    )
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(first, second)), "invalid_arguments")
    assert refused["field"] == "availabilities"
    assert "currency" in refused["message"]


def test_a_vehicle_code_of_a_search_is_refused_in_a_booking(toolkit, asked, sending_nothing):
    car = {"code": "FIAT__500"}
    sailing = sailings(toolkit, vehicle=car)[0]
    with sending_nothing():
        answer = toolkit.call("bookings_create", order(sailing, vehicle=car))
    refused = error(answer, "party_changed")
    assert refused["field"] == "vehicle.code"
    assert 'expected code "CAR"' in refused["message"]
    assert asked == []
    result_of(toolkit.call("bookings_create", order(sailing, vehicle={"code": "CAR"})))
    assert "1 traveller and a vehicle" in asked[0].summary


@each(
    ("status", "expected"), [(404, "Try another day"), (422, "company has to sail"), (400, "route")]
)
def test_a_day_without_a_sailing_and_a_company_without_one_differ(status, expected):
    reply = httpx.Response(status, json={"code": "AVAILABILITY_ERROR", "message": "no"})
    refused = answer_to(reply, "availability_search", query())
    assert expected in error(refused, "availability_error", status="failed")["next_step"]


def test_the_answer_of_an_empty_search_suggests_changes(toolkit):
    refused = toolkit.call("availability_search", query(company="GNV"))
    step = error(refused, "availability_error", status="failed")["next_step"]
    assert "company has to sail this journey" in step
