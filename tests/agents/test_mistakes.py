"""Mistakes of a model: each is refused with a clear reason, and nothing is sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ferry_sdk import Ferry, Records
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy.known_ids import KnownIds
from tests.agents.agent import (
    TRAVELLERS,
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.agents import ApprovalRequest
    from ferry_sdk.sandbox import Sandbox


def test_an_invented_id_is_refused(toolkit: Any, sending_nothing: Any) -> None:
    sailing = sailings(toolkit)[0]
    with sending_nothing():
        invented = {**selection_of(sailing), "availability_id": "av_2027_TARIFA"}
        refused = error(
            toolkit.call("bookings_create", {**order(sailing), "availabilities": [invented]}),
            "unseen_id",
        )
    assert refused["field"] == "availabilities.0.availability_id"
    assert "Search again" in refused["next_step"]
    assert "restarted" in refused["next_step"]
    assert "one session" in refused["next_step"]


def test_a_sailing_that_a_search_found_but_did_not_show_is_refused(
    toolkit: Any, sending_nothing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []
    remember = KnownIds.remember

    def learning(known_ids: KnownIds, result: Any, *asked: Any) -> None:
        found[:] = result
        remember(known_ids, result, *asked)

    monkeypatch.setattr(KnownIds, "remember", learning)
    (sailing,) = sailings(toolkit, contains=sailings(toolkit)[0]["depart_at"])
    hidden = {**sailing, "id": next(one.id for one in found if one.id != sailing["id"])}
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(hidden)), "unseen_id")
    assert refused["field"] == "availabilities.0.availability_id"
    result_of(toolkit.call("bookings_create", order(sailing)))


@pytest.mark.parametrize("part", ["tariff_id", "place_id"])
def test_a_tariff_or_place_of_another_sailing_is_refused(
    toolkit: Any, sending_nothing: Any, part: str
) -> None:
    first, second = sailings(toolkit)[:2]
    with sending_nothing():
        mixed = {**selection_of(first), part: selection_of(second)[part]}
        refused = error(
            toolkit.call("bookings_create", {**order(first), "availabilities": [mixed]}),
            "unseen_id",
        )
    assert refused["field"] == f"availabilities.0.{part}"


def test_a_sailing_listed_twice_is_refused(toolkit: Any, sending_nothing: Any) -> None:
    sailing = sailings(toolkit)[0]
    with sending_nothing():
        error(toolkit.call("bookings_create", order(sailing, sailing)), "invalid_arguments")


def test_an_expired_price_is_refused(
    toolkit_of: Callable[..., Any], sending_nothing: Any, ferry_sandbox: Sandbox
) -> None:
    asked: list[ApprovalRequest] = []
    toolkit = toolkit_of(writes=True, approve=lambda one: asked.append(one) is None)
    wanted = order(sailings(toolkit)[0])
    ferry_sandbox.clock.advance(timedelta(minutes=31))
    result_of(toolkit.call("catalogue_vehicle_types"))  # a reply, whose date tells the time
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", wanted), "offer_expired")
    assert "Search again" in refused["next_step"]
    assert asked == []
    result_of(toolkit.call("bookings_create", order(sailings(toolkit)[0])))


def test_a_price_is_refused_at_the_moment_it_expires(toolkit: Any, sending_nothing: Any) -> None:
    sailing = sailings(toolkit)[0]
    expires_at: str = sailing["tariffs"][0]["expiration_date"]
    expiry = datetime.fromisoformat(expires_at.replace("Z", "+00:00"))
    runner_of(toolkit).writes.state.now = expiry.timestamp
    with sending_nothing():
        error(toolkit.call("bookings_create", order(sailing)), "offer_expired")


def test_a_price_that_expires_during_approval_is_refused(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    def slowly(_: ApprovalRequest) -> bool:
        runner = runner_of(toolkit)
        runner.transport.session.skew += 31 * 60  # as another call would hear
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    wanted = order(sailings(toolkit)[0])
    with sending_nothing():
        error(toolkit.call("bookings_create", wanted), "offer_expired")


def test_a_price_that_a_later_search_changed_is_refused(
    toolkit: Any, sending_nothing: Any, ferry_sandbox: Sandbox
) -> None:
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


def test_a_search_for_other_travellers_changes_no_price(toolkit: Any) -> None:
    wanted = order(sailings(toolkit)[0])
    sailings(toolkit, passengers=TRAVELLERS * 2)
    result_of(toolkit.call("bookings_create", wanted))


def test_the_same_write_is_refused_the_second_time(toolkit: Any, sending_nothing: Any) -> None:
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
    toolkit: Any, sending_nothing: Any, ferry_sandbox: Sandbox, anew: bool
) -> None:
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


def test_a_booking_above_the_spend_limit_is_refused(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    asked: list[ApprovalRequest] = []
    toolkit = toolkit_of(
        writes=True, approve=lambda one: asked.append(one) is None, spend_limit={"EUR": "10"}
    )
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(sailings(toolkit)[0])), "spend_limit")
    assert (refused["limit"], refused["spent"], refused["currency"]) == ("10", "0", "EUR")
    assert asked == []


def test_a_currency_without_a_limit_cannot_be_spent(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    toolkit = toolkit_of(writes=True, approve=approve_all, spend_limit={"USD": 10_000})
    with sending_nothing():
        wanted = order(sailings(toolkit)[0])
        refused = error(toolkit.call("bookings_create", wanted), "spend_limit")
    assert refused["limit"] == refused["spent"] == "0"
    assert refused["message"].endswith(" may not be spent: the limit is in USD")


@pytest.mark.parametrize("name", ["tickets_mark_paid", "bookings.create", "mcp_call_tool", "", 7])
def test_an_unknown_tool_is_refused(toolkit: Any, sending_nothing: Any, name: Any) -> None:
    with sending_nothing():
        error(toolkit.call(name, {"ticket_id": "t", "external_payment_ref": "p"}), "unknown_tool")


@pytest.mark.parametrize("settings", [{}, {"writes": True, "client": {"read_only": True}}])
def test_writes_are_refused_in_a_read_only_toolkit(
    toolkit_of: Callable[..., Any], sending_nothing: Any, settings: dict[str, Any]
) -> None:
    toolkit = toolkit_of(approve=approve_all, **settings)
    with sending_nothing():
        error(toolkit.call("bookings_create", order(sailings(toolkit)[0])), "writes_disabled")


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("bookings_cancel", "booking_id"),
        ("bookings_confirm", "booking_id"),
        ("tickets_cancel", "ticket_id"),
    ],
)
def test_a_change_of_a_record_that_was_not_shown_is_refused(
    toolkit: Any, sending_nothing: Any, name: str, argument: str
) -> None:
    with sending_nothing():
        assert error(toolkit.call(name, {argument: "b-4711"}), "unseen_id")["field"] == argument


def test_tariffs_in_two_currencies_are_refused(toolkit: Any, sending_nothing: Any) -> None:
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


def test_a_vehicle_code_of_a_search_is_refused_in_a_booking(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    asked: list[ApprovalRequest] = []
    toolkit = toolkit_of(writes=True, approve=lambda one: asked.append(one) is None)
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


def test_the_answer_of_an_empty_search_suggests_changes(toolkit: Any) -> None:
    refused = toolkit.call("availability_search", query(company="GNV"))
    step = error(refused, "availability_error", status="failed")["next_step"]
    assert "company has to sail this journey" in step


@each(
    ("status", "expected"), [(404, "Try another day"), (422, "company has to sail"), (400, "route")]
)
def test_a_day_without_a_sailing_and_a_company_without_one_differ(
    status: int, expected: str
) -> None:
    reply = httpx.Response(status, json={"code": "AVAILABILITY_ERROR", "message": "no"})
    with httpx.Client(transport=httpx.MockTransport(lambda _: reply)) as http_client:
        ferry = Ferry("t", base_url="https://ferry.example", http_client=http_client)
        asked = {
            "company": "GNV",
            "depart_code": "ITGOA",
            "arrive_code": "ITPMO",
            "out_journey_id": "j1",
            "out_at": "2030-07-14",
            "out_time": "08:30",
            "passengers": TRAVELLERS,
        }
        refused = Toolkit(ferry, tools="all").call("availability_search", asked)
    assert expected in error(refused, "availability_error", status="failed")["next_step"]
