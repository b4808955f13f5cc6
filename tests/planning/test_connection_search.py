"""Two sailings that meet in a port: all that the wait allows are found, and nothing else."""

import json
import pickle
from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import pytest

from ferry_sdk import AvailabilityError, InvalidInputError, ServerError, UnknownPlaceError
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.planning.connections import ConnectionSearch, Itinerary
from ferry_sdk.planning.results import SearchReport
from tests.planning.strait import ADULT, DAY, companies, found_without, slow
from tests.support.exchanges import caught, client_of, refusing_field
from tests.support.tiers import mostly_long

FROM, TO = "Barcelona", "Tunis"
"""No company sails from the one to the other; ships of several companies meet in three ports."""
HOUR = timedelta(hours=1)
TWO_DAYS = (2 * HOUR, 48 * HOUR)


def connect(client, **changes):
    return client.trips.connections(FROM, TO, **{"on": DAY, "passengers": ADULT, **changes})


def shown(itineraries):
    return {
        (
            itinerary.depart_at,
            itinerary.arrive_at,
            *(leg.outward.company.id for leg in itinerary.legs),
            itinerary.price,
        )
        for itinerary in itineraries
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


@pytest.fixture(scope="module")
def connections(reader):
    """All connections of the day."""
    return connect(reader, max_calls=200)


class TestItinerary:
    def test_legs_meet_in_a_port(self, connections):
        for itinerary in connections:
            first, second = itinerary.legs
            code = itinerary.via.code
            assert code == first.outward.arrive_code == second.outward.depart_code

    def test_travel_time_includes_the_wait(self, connections):
        for itinerary in connections:
            sailing = sum((leg.travel_time for leg in itinerary.legs), timedelta())
            assert itinerary.travel_time == sailing + itinerary.wait

    def test_itinerary_can_be_pickled(self, connections):
        assert pickle.loads(pickle.dumps(connections[0])) == connections[0]

    @pytest.mark.slow
    def test_each_leg_is_a_booking(self, ferry):
        itinerary = connect(ferry, max_calls=20)[0]
        passengers = [{"type": "Adult", "first_name": "Zoë", "last_name": "Reyes"}]
        totals = [
            ferry.bookings.create(availabilities=selection, passengers=passengers).total_price
            for selection in itinerary.select()
        ]
        assert sum(totals) == itinerary.price == itinerary.prices[str(itinerary.currency)]


@pytest.fixture(scope="module")
def mixed(connections):
    """An itinerary whose first leg costs dinars, and the second one euros."""
    first, second = connections[0].legs
    tariff = first.fares[0].tariffs[0].model_copy(update={"currency": "TND"})
    in_dinars = replace(first, fares=(replace(first.fares[0], tariffs=(tariff,)),))
    return Itinerary((in_dinars, second), connections[0].via)


class TestTwoCurrencies:
    def test_no_single_price_is_given(self, mixed):
        assert (mixed.price, mixed.currency) == (None, None)

    def test_prices_are_by_currency(self, mixed, connections):
        first, second = connections[0].legs
        assert mixed.prices == {"TND": first.price, "EUR": second.price}

    def test_both_prices_are_shown(self, mixed, connections):
        first, second = connections[0].legs
        assert f"{first.price:.3f} TND and {second.price:.2f} EUR" in repr(mixed)

    def test_itinerary_comes_last(self, mixed, connections):
        search = ConnectionSearch([mixed, *connections], SearchReport())
        assert search[-1] is mixed
        assert "bound to wait" in search._repr_html_()


class TestSearch:
    @pytest.mark.parametrize(
        ("shortest", "longest"), mostly_long([(2, 24), (4, 4.5), (0, 72)], short=2)
    )
    def test_all_that_meet_in_time_are_found(self, reader, shortest, longest):
        wait = shortest * HOUR, longest * HOUR
        found = connect(reader, wait=wait, max_calls=200)
        assert len(found) > 0
        assert shown(found) == pairs_of_searches(reader, *wait)
        assert found.report.is_complete
        assert all(wait[0] <= itinerary.wait <= wait[1] for itinerary in found)

    def test_connections_are_sorted_by_price(self, connections):
        order = [(itinerary.price, itinerary.arrive_at) for itinerary in connections]
        assert order == sorted(order)

    def test_ports_to_change_in_are_named(self, reader):
        found = connect(reader, via=["Gênes"])
        assert {itinerary.via.code for itinerary in found} == {"ITGOA"}
        departures = {search.depart_code for search in found.report.asked}
        arrivals = {search.arrive_code for search in found.report.asked}
        assert departures | arrivals == {"ESBCN", "ITGOA", "TNLGN"}

    def test_companies_are_named(self, reader):
        found = connect(reader, companies=["grimaldi"], wait=TWO_DAYS)
        assert companies(found.report.asked) == {"GRIMALDI"}
        assert {itinerary.companies for itinerary in found} == {("GRIMALDI",)}

    @pytest.mark.parametrize("day", ["9999-12-31", "9999-12-30"])
    def test_calendar_ends_during_the_wait(self, reader, day):
        assert connect(reader, on=day).report.calls > 0

    def test_company_found_by_a_search_is_known(self, new_ferry, ferry_sandbox):
        """The departures of no company can be read, so every company is asked."""
        ferry_sandbox.faults.add("server_error", "catalogue.departures", times=None)
        ferry_sandbox.faults.add("server_error", "mcp.departures", times=None)
        first, _ = connect(new_ferry, companies=["GRIMALDI"], wait=TWO_DAYS)[0].legs
        (route,) = [
            route
            for route in new_ferry.routes.find(FROM, first.outward.arrive_code)
            if route.journey_id == first.outward.journey_id
        ]
        assert "GRIMALDI" in route.companies


class TestMaxCalls:
    @pytest.mark.parametrize("most", [1, 3, -1], ids=["one", "three", "all but one"])
    def test_searches_beyond_it_are_not_asked(self, reader, connections, most):
        if most < 0:
            most += connections.report.calls
        part = connect(reader, max_calls=most, concurrency=1)
        assert part.report.calls == most
        assert part.report.not_asked
        assert not part.report.is_complete
        assert shown(part) <= shown(connections)

    def test_nearest_port_is_searched_to_its_end(self, reader):
        part = connect(reader, max_calls=3, concurrency=1)
        assert len(part) == 1
        assert {search.arrive_code for search in part.report.answered} == {"ITGOA", "TNLGN"}

    def test_fastest_port_is_asked_first(self, reader):
        durations = {}
        for route in reader.routes.find(FROM):
            onward = reader.routes.find(route.arrive_code, TO)
            if onward:
                fastest = min(second.duration for second in onward)
                durations[route.arrive_code] = route.duration + fastest
        first = connect(reader, max_calls=1, concurrency=1).report.asked[0]
        assert first.arrive_code == min(durations, key=durations.get)


class TestNoRoute:
    @pytest.fixture(
        params=[
            pytest.param(("Heraklion", "Cairnryan"), id="no port is shared"),
            pytest.param(("Tarifa", "MATNG"), id="one company sails all the way"),
        ]
    )
    def found(self, request, reader):
        return reader.trips.connections(*request.param, on=DAY, passengers=ADULT)

    def test_nothing_is_asked(self, found):
        assert len(found) == 0
        assert found.report.calls == 0
        assert found.report.has_route is False

    def test_texts_say_that_no_routes_meet(self, found):
        assert "no company sails with one change from" in repr(found)
        assert "No company sails with one change from" in found._repr_html_()
        assert repr(found.report) == "<SearchReport: no company sails such a route>"


@pytest.mark.slow
def test_connections_use_ports_without_a_ship_back(ferry, ferry_sandbox):
    journeys = json.loads(ferry.with_raw_response.catalogue.journeys().content)["journeys"]
    one_way = [journey for journey in journeys if not journey["route"].startswith(TO)]
    value = {"journeys": one_way}
    ferry_sandbox.faults.add("wrong_shape", "catalogue.journeys", times=None, value=value)
    clear_cache()
    assert not ferry.routes.find(TO)
    assert connect(ferry)


class TestFailures:
    def test_failing_search_leaves_the_others(self, ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "availability.search", times=1)
        found = connect(ferry, concurrency=1)
        assert len(found.report.failed) == 1
        assert len(found) > 0

    def test_failure_of_every_search_is_raised(self, ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "availability.search", times=None)
        caught(ServerError, connect, ferry)

    def test_slow_second_leg_leaves_the_others(self, ferry, ferry_sandbox):
        last = connect(ferry, max_calls=20)[0].legs[1].companies[0]
        slow(ferry_sandbox, company=last)
        found = found_without(last, lambda limit: connect(ferry, max_calls=20, patience=limit))
        assert found.report.answered


class TestRefusals:
    """An error names the argument of the caller."""

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            pytest.param("wait", 2 * HOUR, id="one duration"),
            pytest.param("wait", (2 * HOUR,), id="a tuple of one"),
            pytest.param("wait", (2 * HOUR, HOUR), id="the longer first"),
            pytest.param("wait", (-HOUR, HOUR), id="below zero"),
            pytest.param("wait", (2, 24), id="numbers"),
            pytest.param("wait", (HOUR, timedelta.max), id="more days than are sold"),
            pytest.param("via", "Genoa", id="a port as a text"),
            pytest.param("via", [], id="no ports"),
            pytest.param("via", 7, id="a number as ports"),
            pytest.param("via[0]", [""], id="an empty port"),
            pytest.param("via[1]", ["Genoa", 7], id="a number as a port"),
            pytest.param("max_calls", 0, id="no calls"),
            pytest.param("on", "tomorrow", id="no date"),
            pytest.param("passengers", [], id="no passengers"),
        ],
    )
    def test_wrong_argument_is_named(self, reader, field, value):
        wrong = {field.partition("[")[0]: value}
        assert caught(InvalidInputError, connect, reader, **wrong).field == field

    def test_unknown_port_is_named(self, reader):
        error = caught(UnknownPlaceError, connect, reader, via=["Genoa", "Atlantis"])
        assert error.field == "via[1]"

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            pytest.param({"on": date(2020, 1, 1)}, "on", id="a past day"),
            pytest.param({"vehicle": {"code": "NO__SUCH"}}, "vehicle.code", id="vehicle"),
            pytest.param({"companies": ["NOBODY"]}, "companies[0]", id="company"),
        ],
    )
    def test_refused_argument_is_named(self, reader, wrong, field):
        assert caught(AvailabilityError, connect, reader, **wrong).field == field

    def test_refused_second_leg_names_the_destination(self, clients, ferry_sandbox, with_routes):
        service = refusing_field("arrive_code", unless=b"ESBCN")
        ferry = client_of(clients, service, ferry_sandbox.token, base_url=ferry_sandbox.base_url)
        failed = connect(ferry).report.failed
        assert {search.error.field for search in failed} == {"destination"}
