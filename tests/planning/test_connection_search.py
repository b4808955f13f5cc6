"""Two sailings that meet in a port: all that the wait allows are found, and nothing else."""

import pickle
from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import pytest

from ferry_sdk import AvailabilityError, InvalidInputError, ServerError, UnknownPlaceError
from ferry_sdk.planning.connections import ConnectionSearch, Itinerary
from ferry_sdk.planning.results import SearchReport
from tests.planning.strait import ADULT, DAY, found_without, slow
from tests.support.exchanges import caught, client_of, refusing_field
from tests.support.tables import each
from tests.support.tiers import mostly_long

FROM, TO = "Barcelona", "Tunis"
"""No company sails from the one to the other; ships of several companies meet in three ports."""
HOUR = timedelta(hours=1)


def connect(client, **changes):
    return client.trips.connections(FROM, TO, **{"on": DAY, "passengers": ADULT, **changes})


def shown(itineraries):
    return {
        (one.depart_at, one.arrive_at, *(leg.outward.company.id for leg in one.legs), one.price)
        for one in itineraries
    }


def pairs_of_searches(ferry, shortest, longest):
    """Return what one finds with a search for each leg and day, by comparing every two trips."""
    ports = {route.arrive_code for route in ferry.routes.find(FROM)}
    found = set()
    for port in ports & {route.depart_code for route in ferry.routes.find(None, TO)}:
        firsts = ferry.trips.search(FROM, port, on=DAY, passengers=ADULT)
        days = [DAY + timedelta(days) for days in range(6)]
        seconds = [
            trip for day in days for trip in ferry.trips.search(port, TO, on=day, passengers=ADULT)
        ]
        pairs = [Itinerary(both, ferry.places.get(port)) for both in product(firsts, seconds)]
        found |= shown(pair for pair in pairs if shortest <= pair.wait <= longest)
    return found


def test_a_second_leg_that_is_too_slow_leaves_the_others(ferry, ferry_sandbox):
    last = connect(ferry, max_calls=20)[0].legs[1].companies[0]
    slow(ferry_sandbox, company=last)
    found = found_without(last, lambda limit: connect(ferry, max_calls=20, patience=limit))
    assert found.report.answered


@pytest.mark.parametrize(("least", "most"), mostly_long([(2, 24), (4, 4.5), (0, 72)], short=2))
def test_all_that_meet_in_time_are_found(reader, least, most):
    wait = least * HOUR, most * HOUR
    found = connect(reader, wait=wait, max_calls=200)
    assert shown(found) == pairs_of_searches(reader, *wait)
    assert len(found) > 0
    assert found.report.is_complete
    order = [(one.price, one.arrive_at) for one in found]
    assert order == sorted(order)
    for one in found:
        assert wait[0] <= one.wait <= wait[1]
        assert one.travel_time == one.wait + sum((leg.travel_time for leg in one.legs), timedelta())
        assert one.via.code == one.legs[0].outward.arrive_code == one.legs[1].outward.depart_code
    assert pickle.loads(pickle.dumps(found[0])) == found[0]


def test_each_leg_is_a_booking_of_its_own(ferry):
    found = connect(ferry, max_calls=20)[0]
    passengers = [{"type": "Adult", "first_name": "Zoë", "last_name": "Reyes"}]
    totals = [
        ferry.bookings.create(availabilities=selection, passengers=passengers).total_price
        for selection in found.select()
    ]
    assert sum(totals) == found.price == found.prices[str(found.currency)]


def test_ports_and_companies_can_be_named_and_what_has_no_route_or_price_is_told(reader):
    found = connect(reader, via=["Gênes"])
    assert {one.via.code for one in found} == {"ITGOA"}
    asked = {code for one in found.report.asked for code in (one.depart_code, one.arrive_code)}
    assert asked == {"ESBCN", "ITGOA", "TNLGN"}
    assert caught(UnknownPlaceError, connect, reader, via=["Genoa", "Atlantis"]).field == "via[1]"
    found = connect(reader, companies=["grimaldi"], wait=(2 * HOUR, 48 * HOUR))
    assert {one.company for one in found.report.asked} == {"GRIMALDI"}
    assert {one.companies for one in found} == {("GRIMALDI",)}
    whole = connect(reader, max_calls=200)
    for most in (1, 3, whole.report.calls - 1):
        part = connect(reader, max_calls=most, concurrency=1)
        assert part.report.calls == most
        assert part.report.not_asked
        assert not part.report.is_complete
        assert shown(part) <= shown(whole)
        if most == 3:  # the nearest port is searched to its end first
            assert len(part) == 1
            assert {one.arrive_code for one in part.report.answered} == {"ITGOA", "TNLGN"}
    first = connect(reader, max_calls=1, concurrency=1).report.asked[0]
    durations = {
        route.arrive_code: route.duration + min(on.duration for on in onward)
        for route in reader.routes.find(FROM)
        if (onward := reader.routes.find(route.arrive_code, TO))
    }
    assert first.arrive_code == min(durations, key=lambda code: durations[code])
    found = reader.trips.connections("Heraklion", "Cairnryan", on=DAY, passengers=ADULT)
    assert (len(found), found.report.calls, found.report.has_route) == (0, 0, False)
    direct = reader.trips.connections("Tarifa", "MATNG", on=DAY, passengers=ADULT)
    assert not direct.report.has_route
    for one in (found, direct):
        assert "no company sails with one change from" in repr(one)
        assert "No company sails with one change from" in one._repr_html_()
        assert repr(one.report) == "<SearchReport: no company sails such a route>"
    for wrong, field in (
        ({"on": date(2020, 1, 1)}, "on"),
        ({"vehicle": {"code": "NO__SUCH"}}, "vehicle.code"),
        ({"companies": ["NOBODY"]}, "companies[0]"),
    ):
        assert caught(AvailabilityError, connect, reader, **wrong).field == field
    found = connect(reader)
    first, second = found[0].legs
    tariff = first.fares[0].tariffs[0].model_copy(update={"currency": "TND"})
    foreign = replace(first, fares=(replace(first.fares[0], tariffs=(tariff,)),))
    mixed = Itinerary((foreign, second), found[0].via)
    assert (mixed.price, mixed.currency) == (None, None)
    assert mixed.prices == {"TND": first.price, "EUR": second.price}
    again = ConnectionSearch([mixed, *found], SearchReport())
    assert again[-1] is mixed
    assert f"{first.price:.3f} TND and {second.price:.2f} EUR" in repr(mixed)
    assert "bound to wait" in again._repr_html_()
    for day in ("9999-12-31", "9999-12-30"):
        assert connect(reader, on=day).report.calls > 0


def test_a_company_that_fails_takes_no_other_with_it(ferry, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "availability.search", times=1)
    found = connect(ferry, concurrency=1)
    assert len(found.report.failed) == 1
    assert len(found) > 0
    ferry_sandbox.faults.add("server_error", "availability.search", times=None)
    caught(ServerError, connect, ferry)


@each(
    ("field", "values"),
    [
        ("wait", [2 * HOUR, (2 * HOUR,), (2 * HOUR, HOUR), (-HOUR, HOUR), (2, 24)]),
        ("via", ["Genoa", [], 7]),
        ("via[0]", [[""]]),
        ("via[1]", [["Genoa", 7]]),
        ("max_calls", [0]),
        ("on", ["tomorrow"]),
        ("passengers", [[]]),
    ],
)
def test_an_invalid_argument_is_named(reader, field, values):
    for value in values:
        wrong = {field.partition("[")[0]: value}
        assert caught(InvalidInputError, connect, reader, **wrong).field == field, value


def test_a_refused_port_of_the_second_leg_is_the_destination(clients, ferry_sandbox, with_routes):
    service = refusing_field("arrive_code", unless=b"ESBCN")
    ferry = client_of(clients, service, ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    assert {one.error.field for one in connect(ferry).report.failed} == {"destination"}


def test_a_company_that_a_search_finds_is_known_to_sail(new_ferry, ferry_sandbox):
    """The departures of no company can be read, so every company is asked."""
    ferry_sandbox.faults.add("server_error", "catalogue.departures", times=None)
    ferry_sandbox.faults.add("server_error", "mcp.departures", times=None)
    first = connect(new_ferry, companies=["GRIMALDI"], wait=(2 * HOUR, 48 * HOUR))[0].legs[0]
    (route,) = [
        route
        for route in new_ferry.routes.find(FROM, first.outward.arrive_code)
        if route.journey_id == first.outward.journey_id
    ]
    assert "GRIMALDI" in route.companies
