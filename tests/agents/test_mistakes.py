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


def test_an_invented_id_or_one_of_another_sailing_is_refused(toolkit, sending_nothing):
    first, second = (selection_of(one) for one in toolkit.sailings()[:2])
    for name, value in {**second, "availability_id": "av_2027_TARIFA"}.items():
        wanted = {"availabilities": [{**first, name: value}], "passengers": PASSENGERS}
        with sending_nothing():
            refused = toolkit.fail("bookings_create", "unseen_id", **wanted)
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
    (sailing,) = toolkit.sailings(contains=toolkit.sailings()[0]["depart_at"])
    hidden = {**sailing, "id": next(one.id for one in found if one.id != sailing["id"])}
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "unseen_id", **order(hidden))
    assert refused["field"] == "availabilities.0.availability_id"
    toolkit.do("bookings_create", **order(sailing))


def test_a_price_is_refused_from_the_moment_it_expires_and_a_sailing_given_twice(
    toolkit, asked, sending_nothing, ferry_sandbox
):
    sailing = toolkit.sailings()[0]
    toolkit.sailings(passengers=TRAVELLERS * 2)  # changes no price
    runner = runner_of(toolkit)
    state, skew = runner.writes.state, runner.transport.session.skew
    expires_at = sailing["tariffs"][0]["expiration_date"].replace("Z", "+00:00")
    with sending_nothing():
        toolkit.fail("bookings_create", "invalid_arguments", **order(sailing, sailing))
        now, state.now = state.now, datetime.fromisoformat(expires_at).timestamp
        toolkit.fail("bookings_create", "offer_expired", **order(sailing))
        state.now = now
        assert asked == []

        def slowly(_):
            runner.transport.session.skew += 31 * 60  # as another call would hear
            return True

        agree, runner.approve = runner.approve, slowly
        toolkit.fail("bookings_create", "offer_expired", **order(sailing))
        runner.approve, runner.transport.session.skew = agree, skew
    toolkit.do("bookings_create", **order(sailing))
    sailing = toolkit.sailings()[1]
    ferry_sandbox.clock.advance(timedelta(minutes=31))
    toolkit.do("catalogue_vehicle_types")  # a reply, whose date tells the time
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "offer_expired", **order(sailing))
    assert "Search again" in refused["next_step"]
    assert len(asked) == 1
    toolkit.do("bookings_create", **order(toolkit.sailings()[1]))


def test_a_price_that_a_later_search_changed_is_refused(toolkit, sending_nothing, ferry_sandbox):
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


def test_the_same_write_is_refused_the_second_time(toolkit, sending_nothing):
    sailing = toolkit.sailings()[0]
    booking = toolkit.do("bookings_create", **order(sailing))
    named = {"booking_id": booking["booking_id"]}
    confirmed = toolkit.do("bookings_confirm", **named)
    with sending_nothing():
        again = toolkit.fail("bookings_create", "already_done", **order(sailing))
        assert again["result"] == booking
        anew = order(toolkit.sailings()[0], contact={"name": "Ada Reyes", "email": "a@b.example"})
        toolkit.fail("bookings_create", "already_done", **anew)
        again = toolkit.fail("bookings_confirm", "already_done", **named)
        assert again["result"] == confirmed
    toolkit.do("bookings_cancel", **named)
    with sending_nothing():
        toolkit.fail("bookings_cancel", "already_done", **named)
    toolkit.do("bookings_create", **order(sailing))


def test_a_duplicate_of_an_unresolved_booking_is_refused(toolkit, sending_nothing, ferry_sandbox):
    sailing = toolkit.sailings()[0]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    lost = toolkit.fail("bookings_create", "outcome_unknown", "unknown", **order(sailing))
    with sending_nothing():
        for again in (sailing, toolkit.sailings()[0]):
            duplicate = toolkit.fail("bookings_create", "outcome_unknown", **order(again))
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
            answer = toolkit.call("bookings_create", order(toolkit.sailings()[0]))
        refused = error(answer, "spend_limit")
        assert (refused["limit"], refused["spent"], refused["currency"]) == (shown, "0", "EUR")
        assert refused["message"].endswith(message)
        assert asked == []


def test_an_unknown_tool_and_a_record_that_was_not_shown_are_refused(toolkit, sending_nothing):
    with sending_nothing():
        for name in ("tickets_mark_paid", "bookings.create", "mcp_call_tool", "", 7):
            wanted = {"ticket_id": "t", "external_payment_ref": "p"}
            toolkit.fail(name, "unknown_tool", **wanted)
        for name in ("bookings_cancel", "bookings_confirm", "tickets_cancel"):
            field = f"{name.split('_')[0][:-1]}_id"
            assert toolkit.fail(name, "unseen_id", **{field: "b-4711"})["field"] == field


@pytest.mark.parametrize("settings", [{}, {"writes": True, "client": {"read_only": True}}])
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


def test_a_day_without_a_sailing_and_a_company_without_one_differ(toolkit):
    failure = ("availability_error", "failed")
    steps = {404: "Try another day", 422: "company has to sail", 400: "route"}
    for status, expected in steps.items():
        reply = httpx.Response(status, json={"code": "AVAILABILITY_ERROR", "message": "no"})
        refused = error(answer_to(reply, "availability_search", query()), *failure)
        assert expected in refused["next_step"], status
    refused = toolkit.fail("availability_search", *failure, **query(company="GNV"))
    assert "company has to sail this journey" in refused["next_step"]
