"""The vehicle, the price and the limit of a booking, from its search to its cancellation."""

from datetime import timedelta
from decimal import Decimal

import pytest

from ferry_sdk.agents.policy.creation import _searched_vehicle
from ferry_sdk.models.catalogue import VehicleModel
from ferry_sdk.models.inputs import Vehicle
from ferry_sdk.planning.vehicles import VehicleMatch
from tests.agents.agent import PASSENGERS, TRAVELLERS, approve_all, error, order, result_of

pytestmark = pytest.mark.usefixtures("known_routes")
TRIP = {"origin": "Genoa", "destination": "Tunis", "on": "2050-06-06", "passengers": TRAVELLERS}


@pytest.fixture
def toolkit(toolkit_of, agree):
    return toolkit_of({"deadline": 30}, writes=True, approve=agree)


def offer_of(toolkit, **changes):
    found = toolkit.do("trips_find", **TRIP, **changes)
    return found, {"offer": found["offers"][0]["offer"], "passengers": PASSENGERS}


def test_the_searched_vehicle_is_booked(toolkit):
    found, wanted = offer_of(toolkit, vehicle="Fiat 500X")
    assert found["vehicle"] == {"code": "SUV"}
    vehicle = {"code": "SUV", "identification": "GE 123 AB"}
    booking = toolkit.do("bookings_create", **wanted, vehicle=vehicle)
    named = {"booking_id": booking["booking_id"], "detail": "full"}
    (ticket,) = toolkit.do("bookings_get", **named)["tickets"]
    names = ("code", "vehicule_code", "brand_name", "model")
    booked = [ticket["vehicle"][name] for name in names]
    assert booked == ["SUV", "FIAT__500X", "Fiat", "500X"]


@pytest.mark.parametrize("code", ["CAR", "FIAT__500X"])
def test_another_vehicle_is_refused(toolkit, asked, sending_nothing, code):
    _, wanted = offer_of(toolkit, vehicle="Fiat 500X")
    with sending_nothing():
        answer = toolkit.call("bookings_create", {**wanted, "vehicle": {"code": code}})
    refused = error(answer, "party_changed")
    assert refused["field"] == "vehicle.code"
    assert '"SUV"' in refused["message"]
    assert asked == []


def test_searches_with_different_vehicles_make_no_booking(toolkit, sending_nothing):
    first = toolkit.sailings(vehicle={"code": "FIAT__500"})[0]
    second = toolkit.sailings(vehicle={"code": "FIAT__PANDA"})[1]
    with sending_nothing():
        wanted = order(first, second, vehicle={"code": "CAR"})
        assert toolkit.fail("bookings_create", "party_changed", **wanted)["field"] == "vehicle"


@pytest.fixture
def wanted_without_catalogue(only_known_routes, toolkit, ferry_sandbox):
    """A booking with a vehicle, whose catalogue cannot be read."""
    ferry_sandbox.mcp.set(is_absent=True)
    _, wanted = offer_of(toolkit, vehicle="FIAT__500X")
    return wanted


def test_without_a_catalogue_a_type_is_booked(toolkit, wanted_without_catalogue):
    toolkit.do("bookings_create", **wanted_without_catalogue, vehicle={"code": "SUV"})


def test_without_a_catalogue_a_model_is_refused(toolkit, wanted_without_catalogue, sending_nothing):
    wanted = {**wanted_without_catalogue, "vehicle": {"code": "FIAT__500X"}}
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "invalid_arguments", **wanted)
    assert "trips_find" in refused["message"]


@pytest.mark.parametrize("code", ["FIAT__500X", "FIAT__500"])
def test_a_vehicle_without_a_type_stays_as_given(code):
    model = VehicleModel.model_validate(
        {"code": code, "brand": "Fiat", "model": "500X", "type": None, "length": 4, "height": 2}
    )
    steps = _searched_vehicle(Vehicle(code="SUV"), {"FIAT__500X"})
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send((VehicleMatch(model, 1.0),))
    assert end.value.value == Vehicle(code="SUV")


def cabin_of(found):
    """Return the key of a cabin, with which a booking costs more than its offer."""
    return next(key for key, name in found["places"].items() if "Inside cabin" in name)


def test_a_summary_says_a_place_may_cost_more(toolkit):
    _, wanted = offer_of(toolkit)
    assert "may cost more than that" in toolkit.preview("bookings_create", wanted).summary


def test_two_places_are_a_choice(toolkit):
    sailing = next(sailing for sailing in toolkit.sailings() if len(sailing["places"]) == 2)
    summary = toolkit.preview("bookings_create", order(sailing)).summary
    assert "may cost more than that" in summary


def test_the_approved_price_is_paid_without_another_word(toolkit, asked):
    _, wanted = offer_of(toolkit)
    request = toolkit.preview("bookings_create", wanted)
    booking = toolkit.do("bookings_create", **wanted)
    assert [question.summary for question in asked] == [request.summary]
    assert Decimal(booking["total_price"]) == asked[0].amount
    toolkit.do("bookings_confirm", booking_id=booking["booking_id"])
    assert "was approved" not in asked[-1].summary


def test_another_choice_is_not_called_done(toolkit, sending_nothing):
    found, wanted = offer_of(toolkit)
    seat = next(key for key, name in found["places"].items() if name == "Seat")
    cabin = cabin_of(found)
    made = toolkit.do("bookings_create", **wanted, places=[seat])
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "booked_otherwise", **wanted, places=[cabin])
        assert refused["result"]["booking_id"] == made["booking_id"]
        assert '"Seat"' in refused["message"]
        assert found["places"][cabin] in refused["message"]
        toolkit.fail("bookings_create", "already_done", **wanted, places=[seat])
    toolkit.do("bookings_cancel", booking_id=made["booking_id"])
    toolkit.do("bookings_create", **wanted, places=[cabin])


def test_a_confirmation_above_the_approved_price_is_refused(toolkit, asked, sending_nothing):
    found, wanted = offer_of(toolkit)
    answer = toolkit.call("bookings_create", {**wanted, "places": [cabin_of(found)]})
    booking = result_of(answer)
    (request,) = asked
    total = booking["total_price"]
    assert Decimal(total) > request.amount
    assert f"expect_total {total}" in answer["notes"][0]
    named = {"booking_id": booking["booking_id"]}
    with sending_nothing():
        refused = toolkit.fail("bookings_confirm", "price_changed", **named)
        assert error(toolkit.preview("bookings_confirm", named), "price_changed") == refused
    assert (refused["field"], refused["found"]) == ("expect_total", total)
    assert str(request.amount) in refused["message"]
    assert "expect_total" in refused["next_step"]
    assert asked == [request]
    toolkit.do("bookings_confirm", **named, expect_total=total)
    assert asked[-1].amount == Decimal(total)
    assert f"{request.amount} EUR was approved" in asked[-1].summary


def limited(toolkit_of):
    """Return a toolkit that may spend the price of one booking, not of two, and that booking."""
    price = Decimal(toolkit_of().sailings()[0]["tariffs"][0]["amount"]) * 3 / 2
    toolkit = toolkit_of(writes=True, approve=approve_all, spend_limit={"EUR": price})
    return toolkit, order(toolkit.sailings()[0])


@pytest.fixture
def round_trip(toolkit_of):
    """A toolkit that may spend the price of one round trip, and that trip."""
    price = sum(Decimal(way["tariffs"][0]["amount"]) for way in toolkit_of().round_trip())
    toolkit = toolkit_of(writes=True, approve=approve_all, spend_limit={"EUR": price})
    return toolkit, order(*toolkit.round_trip())


def cancel_tickets(toolkit, wanted, booking_id):
    """Cancel one ticket after the other; the booking is done until the last one."""
    first, last = toolkit.do("bookings_get", booking_id=booking_id)["tickets"]
    toolkit.do("tickets_cancel", ticket_id=first["id"])
    toolkit.fail("bookings_create", "already_done", **wanted)
    toolkit.do("tickets_cancel", ticket_id=last["id"])


def test_cancelled_unpaid_tickets_do_not_count(round_trip):
    toolkit, wanted = round_trip
    cancel_tickets(toolkit, wanted, toolkit.do("bookings_create", **wanted)["booking_id"])
    toolkit.do("bookings_create", **wanted)


def test_cancelled_paid_tickets_count(round_trip):
    toolkit, wanted = round_trip
    booking_id = toolkit.do("bookings_create", **wanted)["booking_id"]
    toolkit.do("bookings_confirm", booking_id=booking_id)
    cancel_tickets(toolkit, wanted, booking_id)
    toolkit.do("bookings_get", booking_id=booking_id)
    toolkit.fail("bookings_create", "spend_limit", **wanted)


def test_a_cancelled_unpaid_booking_does_not_count(toolkit_of):
    toolkit, wanted = limited(toolkit_of)
    for _ in range(3):
        booking_id = toolkit.do("bookings_create", **wanted)["booking_id"]
        toolkit.do("bookings_cancel", booking_id=booking_id)


def test_a_cancelled_paid_booking_counts(toolkit_of):
    toolkit, wanted = limited(toolkit_of)
    named = {"booking_id": toolkit.do("bookings_create", **wanted)["booking_id"]}
    toolkit.do("bookings_confirm", **named)
    toolkit.do("bookings_cancel", **named)
    toolkit.fail("bookings_create", "spend_limit", **wanted)


def test_a_lapsed_booking_does_not_count(toolkit_of, ferry_sandbox):
    toolkit, wanted = limited(toolkit_of)
    named = {"booking_id": toolkit.do("bookings_create", **wanted)["booking_id"]}
    ferry_sandbox.clock.advance(timedelta(hours=3))
    assert toolkit.do("bookings_get", **named)["stage"] == "lapsed"
    toolkit.do("bookings_create", **order(toolkit.sailings()[0]))


@pytest.mark.usefixtures("read_back_once")
def test_a_confirmation_settled_after_cancelling_counts_nothing(toolkit_of, ferry_sandbox):
    price = toolkit_of().sailings()[0]["tariffs"][0]["amount"]
    toolkit = toolkit_of(
        {"deadline": None}, writes=True, approve=approve_all, spend_limit={"EUR": price}
    )
    wanted = order(toolkit.sailings()[0])
    named = {"booking_id": toolkit.do("bookings_create", **wanted)["booking_id"]}
    ferry_sandbox.faults.add("cut_before", "bookings.confirm")
    lost = toolkit.fail("bookings_confirm", "outcome_unknown", "unknown", **named)
    toolkit.do("bookings_cancel", **named)
    toolkit.settle(lost["correlation_id"], happened=False)
    toolkit.do("bookings_create", **wanted)
