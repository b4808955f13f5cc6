"""Two places and a date: every company that sails is asked, and none is left out silently."""

import pickle
import re
import time
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from inspect import signature

import pytest

from ferry_sdk import Ferry, Port, Traveller, Travellers, TripSearch, correlation, errors
from ferry_sdk.planning import catalogues
from tests.backend.gathering import UnderWay, eventually
from tests.planning.strait import ADULT, STRAIT, companies, found_without, slow
from tests.planning.strait import DAY as GNV_SAILS
from tests.support.exchanges import caught, client_of, refusing_field
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.support.trip import search_arguments

NONE_SAILS = date(2050, 6, 8)
"""No company sails from Genoa to Tunis; on `GNV_SAILS`, CTN does not."""
BACK = {"on": GNV_SAILS, "back": GNV_SAILS + timedelta(7), "flexible": 3}
PALERMO = {"origin": "Genoa", "destination": "Palermo", **BACK, "passengers": ADULT}
TUNIS = {"origin": "Genoa", "destination": "Tunis", "passengers": ADULT}
TARIFA = {"origin": "Tarifa", "destination": "Tangier (city)", "passengers": ADULT}
LATER = GNV_SAILS
"""There are tickets, presales and options from one of these ends to the other."""
SOON = date(2050, 5, 10)
"""It is too late for presales, which end 14 days before."""
ADA = Traveller(first_name="Ada", last_name="Reyes", gender="Female", birth_date=date(2010, 3, 1))
BIRTHDAY = date(2038, 11, 14)
"""The twelfth birthday is between the two ways of `TestTwoCompanies`."""
TYPES = ("TICKET", "PRESALE", "OPTION")


def fare_types(trips):
    return {fare.reservation_type for trip in trips for fare in trip.fares}


def fare_kinds(trips):
    return {fare.kind for trip in trips for fare in trip.fares}


def days_of(searches):
    return {search.day for search in searches}


def booked(ferry, selections):
    passenger = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}
    return ferry.bookings.create(availabilities=selections, passengers=[passenger])


@pytest.fixture(scope="module")
def strait(reader):
    """The trips of four companies from Algeciras to Tangier Med."""
    return reader.trips.search(**STRAIT)


@pytest.fixture(scope="module")
def tunis(reader):
    """The trips from Genoa to Tunis on a day when GNV sails."""
    return reader.trips.search(**TUNIS, on=GNV_SAILS)


@pytest.fixture(scope="module")
def palermo(reader):
    """The trips to Palermo and back, around a day out and a day back."""
    return reader.trips.search(**PALERMO)


@pytest.fixture(scope="module")
def every_type(reader):
    """Trips with tickets, presales and options."""
    return reader.trips.search(**TARIFA, on=LATER, reservation_type=None)


class TestSearch:
    def test_every_company_is_asked_once(self, reader, strait):
        (route,) = reader.routes.find("Algeciras", "Tangier Med")
        asked = [search.company for search in strait.report.asked]
        assert sorted(asked) == sorted(route.companies)
        assert strait.report.calls == len(route.companies)

    def test_report_is_complete(self, strait):
        assert strait.report.is_complete
        assert strait.report.seconds > 0

    def test_trips_are_sorted_by_price(self, strait):
        assert isinstance(strait, TripSearch)
        assert [*strait] == sorted(strait, key=lambda trip: (trip.price, trip.depart_at))

    def test_company_found_before_is_asked_first(self, ferry):
        ferry.trips.search(**TUNIS, on=date(2050, 6, 2))
        found = ferry.trips.search(**TUNIS, on=GNV_SAILS, max_calls=1)
        assert companies(found.report.asked) == {"CTN"}, "CTN has sailed on the day before"

    def test_60_searches_are_the_default_limit(self):
        search = Ferry("t", base_url="https://service.example").trips.search
        assert signature(search).parameters["max_calls"].default == 60

    def test_port_may_be_an_object_in_another_language(self, reader):
        port = reader.with_options(language="fr").places.get("Gênes")
        assert reader.trips.search(port, "Tunis", on=GNV_SAILS, passengers=ADULT)

    @pytest.mark.parametrize("name", ["GNV", "gnv"])
    def test_company_is_named_by_its_code(self, reader, name):
        report = reader.trips.search(**TUNIS, on=GNV_SAILS, companies=[name]).report
        assert companies(report.asked) == {"GNV"}

    def test_company_is_named_by_its_id(self, reader):
        company_id = reader.mcp.companies()[0].id
        report = reader.trips.search(**TUNIS, on=GNV_SAILS, companies=[company_id or ""]).report
        assert companies(report.asked) == {"GNV"}

    def test_iterators_are_read_once(self, reader):
        iterators = {"passengers": iter(ADULT), "companies": iter(["GNV", "CTN"])}
        found = reader.trips.search("Genoa", "Tunis", on=GNV_SAILS, **iterators)
        assert companies(found.report.asked) == {"GNV", "CTN"}
        assert found

    def test_moment_counts_as_its_day(self, reader):
        moment = datetime(2050, 6, 6, 23, 30)  # noqa: DTZ001 -- what a program may pass
        assert reader.trips.search("Genoa", "Tunis", on=moment, passengers=ADULT)

    def test_vehicle_is_named_or_coded(self, reader, tunis):
        cars = ("Volkswagen Golf", {"code": "VOLKSWAGEN__GOLF"})
        by_name, by_code = (
            reader.trips.search(**TUNIS, on=GNV_SAILS, vehicle=car)[0].price for car in cars
        )
        assert by_name == by_code > tunis[0].price


class TestBooking:
    def test_trip_is_booked_at_its_price(self, ferry):
        trips = ferry.with_options(read_only=True).trips.search(**TUNIS, on=GNV_SAILS)
        booking = booked(ferry, trips[0].select())
        assert booking.total_price == trips[0].price
        assert ferry.bookings.confirm(booking.booking_id, expect_total=trips[0].price)

    def test_cabin_costs_more_than_the_trip(self, ferry):
        trip = ferry.trips.search(**TUNIS, on=GNV_SAILS)[0]
        cabin = next(place for place in trip.outward.places if place.type != "Seat")
        dearer = booked(ferry, trip.select(places=[cabin]))
        assert dearer.total_price > trip.price > Decimal(0), "it is with the cheapest place"

    @pytest.mark.parametrize("kind", ["Presale", "Option", "Ticket"])
    def test_fare_of_each_type_is_booked(self, ferry, kind):
        trip = ferry.trips.search(**TARIFA, on=LATER, reservation_type=None)[0]
        fare = next(fare for fare in trip.fares if fare.tariffs[0].type == kind)
        booking = booked(ferry, trip.select(fare))
        assert booking.total_price == fare.amount
        assert ferry.bookings.confirm(booking.booking_id, expect_total=fare.amount)


class TestBest:
    def test_cheapest_comes_first(self, strait):
        assert strait.best() is strait[0]

    def test_earliest_arrival(self, strait):
        assert strait.best(by="arrival").arrive_at == min(trip.arrive_at for trip in strait)

    def test_shortest_duration(self, strait):
        fastest = min(trip.travel_time for trip in strait)
        assert strait.best(by="duration").travel_time == fastest

    def test_other_order_is_refused(self, strait):
        assert caught(errors.InvalidInputError, strait.best, by="mood").field == "by"


class TestTables:
    def test_table_shows_the_cheapest_trip(self, tunis):
        html = tunis._repr_html_()
        assert "GNV" in html
        assert str(tunis[0].price) in html

    def test_frame_has_a_row_for_each_trip(self, tunis):
        frame = tunis.to_frame()
        assert frame["price"].tolist() == [trip.price for trip in tunis]
        assert frame["depart_local"][0] == tunis[0].depart_at.replace(tzinfo=None)
        assert frame["back_local"].isna().all()

    def test_empty_frame_has_the_same_columns(self, tunis):
        empty = tunis.filter(reservation_type="OPTION").to_frame()
        assert empty.columns.equals(tunis.to_frame().columns)

    def test_frame_of_tariffs_has_a_row_per_fare(self, tunis):
        fares = [fare for trip in tunis for fare in trip.fares]
        frame = tunis.to_frame(by="tariff")
        assert len(frame) == len(fares) > len(tunis)
        assert frame["tariff_amount"].tolist() == [fare.amount for fare in fares]
        types = [tariff_type.upper() for tariff_type in frame["tariff_type"]]
        assert types == [fare.reservation_type for fare in fares]

    @pytest.mark.parametrize(("by", "column"), [("record", "price"), ("tariff", "tariff_amount")])
    def test_amounts_can_be_floats(self, tunis, by, column):
        assert tunis.to_frame(by=by, money="float")[column].dtype == "float64"


class TestFareTypes:
    def test_search_without_a_type_has_all(self, every_type):
        assert fare_types(every_type) == {*TYPES}
        assert every_type[0].fares[0].reservation_type == "PRESALE"
        assert every_type[0].select()[0].reservation_type == "PRESALE"

    def test_search_has_tickets_by_default(self, reader, every_type):
        tickets = reader.trips.search(**TARIFA, on=LATER)
        assert fare_types(tickets) == {"TICKET"}
        assert tickets[0].price > every_type[0].price
        assert tickets[0].select()[0].reservation_type is None, "it is booked as a ticket"

    @pytest.mark.parametrize("kind", TYPES)
    def test_filter_keeps_one_type(self, every_type, kind):
        filtered = every_type.filter(reservation_type=kind)
        assert fare_types(filtered) == {kind}
        prices = [trip.price for trip in filtered]
        assert prices == sorted(trip.fares[0].amount for trip in filtered)
        sailings = {trip.outward.id for trip in filtered}
        assert sailings == {trip.outward.id for trip in every_type}
        assert filtered.report == every_type.report

    @pytest.mark.parametrize("kind", TYPES)
    def test_search_of_a_type_equals_the_filter(self, reader, every_type, kind):
        def shown(trips):
            return [(trip.depart_at, trip.price, len(trip.fares)) for trip in trips]

        searched = reader.trips.search(**TARIFA, on=LATER, reservation_type=kind)
        assert shown(searched) == shown(every_type.filter(reservation_type=kind))
        assert searched.left_out == 0

    def test_filter_counts_what_it_drops(self, every_type):
        without_ticket = replace(every_type[0], fares=every_type[0].fares[:1])
        trips = TripSearch([without_ticket, *every_type[1:]], every_type.report)
        filtered = trips.filter(reservation_type="TICKET")
        assert (len(filtered), filtered.left_out) == (len(trips) - 1, 1)

    def test_filter_refuses_another_type(self, every_type):
        error = caught(errors.InvalidInputError, every_type.filter, reservation_type="Ticket")
        assert error.field == "reservation_type"
        assert "TICKET, PRESALE or OPTION" in str(error)


def assert_left_out(found):
    assert found.left_out == found.report.left_out > 0
    assert f", {found.left_out} left out by reservation_type>" in repr(found)
    assert f"left out: {found.left_out}." in found._repr_html_()
    assert "Nothing sails" not in found._repr_html_()


class TestLeftOut:
    """Trips without a fare of the wanted type are left out, and counted."""

    def test_search_counts_trips_without_the_type(self, reader):
        every = reader.trips.search(**TARIFA, on=SOON, reservation_type=None)
        presales = reader.trips.search(**TARIFA, on=SOON, reservation_type="PRESALE")
        assert not presales
        assert presales.left_out == len(every)
        assert_left_out(presales)

    def test_search_of_both_ways_counts_pairs(self, reader):
        search = {**TARIFA, "on": SOON, "back": LATER, "reservation_type": "PRESALE"}
        presales = reader.trips.search(**search)
        assert not presales
        assert_left_out(presales)

    def test_search_of_all_types_leaves_none_out(self, reader):
        every = reader.trips.search(**TARIFA, on=SOON, reservation_type=None)
        assert every.left_out == 0
        assert "left out" not in repr(every)
        assert every.filter(reservation_type="PRESALE").left_out == len(every)

    def test_flexible_search_finds_the_type_later(self, reader):
        search = {**TARIFA, "on": "2050-05-16", "flexible": 2, "reservation_type": "PRESALE"}
        found = reader.trips.search(**search)
        assert {trip.depart_at.date() for trip in found} == {date(2050, 5, 17), date(2050, 5, 18)}
        assert found.left_out > 0

    def test_calendar_has_prices_of_the_type(self, reader):
        first, last = date(2050, 5, 16), date(2050, 5, 19)
        calendar = partial(reader.trips.calendar, **TARIFA, start=f"{first}", end=f"{last}")
        tickets, every = calendar(), calendar(reservation_type=None)
        presales = calendar(reservation_type="PRESALE")
        assert every[last].price == presales[last].price != tickets[last].price
        assert every[first].price == tickets[first].price
        assert presales[first].price is None
        assert presales.left_out >= tickets[first].sailings > tickets.left_out == 0
        assert_left_out(presales)

    @pytest.mark.parametrize("kind", TYPES)
    def test_connections_have_legs_of_the_type(self, reader, kind):
        search = partial(reader.trips.connections, "Barcelona", "Tunis", passengers=ADULT)
        found = search(on=LATER, reservation_type=kind)
        assert [fare_types(itinerary.legs) for itinerary in found] == [{kind}] * 3

    def test_connections_have_tickets_by_default(self, reader):
        search = partial(reader.trips.connections, "Barcelona", "Tunis", passengers=ADULT)
        assert fare_types(search(on=LATER)[0].legs) == {"TICKET"}

    def test_connections_count_legs_without_the_type(self, reader):
        search = partial(reader.trips.connections, "Barcelona", "Tunis", passengers=ADULT)
        presales = search(on=SOON, reservation_type="PRESALE")
        assert not presales
        assert_left_out(presales)

    @pytest.mark.slow
    def test_stream_gives_tickets_by_default(self, sandbox):
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            stream = ferry.trips.stream(**TARIFA, on=LATER)
            assert fare_types([*stream]) == {"TICKET"}
            assert stream.left_out == 0

    def test_stream_counts_trips_without_the_type(self, sandbox):
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            presales = ferry.trips.stream(**TARIFA, on=SOON, reservation_type="PRESALE")
            assert [*presales] == []
            assert presales.left_out > 0
            assert f"{presales.left_out} left out" in repr(presales)


class TestReturnTrips:
    def test_fares_are_of_both_kinds(self, palermo):
        assert fare_kinds(palermo) == {"round_trip", "two_singles"}

    def test_way_back_leaves_after_the_arrival(self, palermo):
        assert all(trip.back.depart_at > trip.arrive_at for trip in palermo)

    def test_round_trips_are_of_one_company(self, palermo):
        for trip in palermo:
            if "round_trip" in fare_kinds([trip]):
                assert trip.outward.company.id == trip.back.company.id

    def test_fare_is_selected_with_places(self, palermo):
        trip = palermo[0]
        out, back = trip.outward.places[-1], trip.back.places[-1]
        selections = trip.select(trip.fares[-1], [out, back.id])
        tariffs = [tariff.id for tariff in trip.fares[-1].tariffs]
        assert [selection.tariff_id for selection in selections] == tariffs
        assert [selection.place_id for selection in selections] == [out.id, back.id]

    def test_each_way_needs_a_place(self, palermo):
        assert caught(errors.InvalidInputError, palermo[0].select, places=["one"]).field == "places"

    def test_fare_of_another_trip_is_refused(self, palermo, tunis):
        other = tunis[0].fares[0]
        assert caught(errors.InvalidInputError, palermo[0].select, other).field == "fare"

    @pytest.mark.parametrize("days", mostly_long(range(7), short=2))
    def test_ways_sail_on_other_weekdays(self, reader, days):
        out, back = date(2050, 11, 7) + timedelta(days), date(2050, 11, 21) + timedelta(days)
        trips = reader.trips.search(**PALERMO | {"on": out, "back": back})
        assert trips
        for trip in trips:
            assert abs(trip.depart_at.date() - out) <= timedelta(3)
            assert abs(trip.back.depart_at.date() - back) <= timedelta(3)


class TestTwoCompanies:
    """On `OUT` only GNV sails from Genoa to Tunis, and on `HOME` only CTN sails back."""

    OUT = date(2050, 11, 7)
    HOME = date(2050, 11, 21)

    def test_trip_of_two_companies_is_booked(self, ferry):
        trips = ferry.trips.search(
            **TUNIS, on=NONE_SAILS, back=NONE_SAILS + timedelta(4), flexible=2
        )
        assert {("GNV", "CTN"), ("CTN", "GNV")} < {trip.companies for trip in trips}
        mixed = next(trip for trip in trips if len(trip.companies) > 1)
        assert fare_kinds([mixed]) == {"two_singles"}
        assert booked(ferry, mixed.select()).total_price == mixed.price

    def test_way_back_is_asked_alone(self, ferry):
        trips = ferry.trips.search(**TUNIS, on=self.OUT, back=self.HOME)
        assert {trip.companies for trip in trips} == {("GNV", "CTN")}
        answered = [(one.company, one.depart_code, one.day) for one in trips.report.answered]
        assert answered == [("GNV", "ITGOA", self.OUT), ("CTN", "TNLGN", self.HOME)]
        assert trips.report.calls == 3

    def test_booking_has_a_ticket_of_each(self, ferry):
        trip = ferry.trips.search(**TUNIS, on=self.OUT, back=self.HOME)[0]
        booking = ferry.bookings.get(booked(ferry, trip.select()).booking_id)
        assert [ticket.direction for ticket in booking.tickets] == ["OUTWARD", "RETURN"]

    def test_birthday_between_both_ways_changes_no_price(self, ferry):
        child = Traveller(first_name="Léo", last_name="Reyes", gender="Male", birth_date=BIRTHDAY)
        party = Travellers([ADA, child])
        ways = {"origin": "Genoa", "destination": "Tunis", "on": self.OUT, "back": self.HOME}
        trip = ferry.trips.search(**ways, passengers=party)[0]
        booking = ferry.bookings.create(availabilities=trip.select(), passengers=party)
        assert booking.total_price == trip.price

    @pytest.mark.slow
    def test_no_way_out_asks_no_way_back(self, ferry):
        report = ferry.trips.search(**TUNIS, on=date(2050, 11, 8), back=date(2050, 11, 22)).report
        assert len(report.nothing) == report.calls == 2

    def test_company_that_sails_only_back_is_asked(self, ferry):
        ferry.routes.find()
        (graph,) = catalogues._graphs.values()
        ways = [replace(route, companies=("GNV",)) for route in graph.between("ITGOA", "TNLGN")]
        graph.routes = (*ways, *graph.between("TNLGN", "ITGOA"))
        graph._index_routes()
        trips = ferry.trips.search(**TUNIS, on=self.OUT, back=self.HOME)
        assert {trip.companies for trip in trips} == {("GNV", "CTN")}


class TestNeighbouringDays:
    def test_day_with_trips_asks_no_other(self, reader):
        found = reader.trips.search(**TUNIS, on=GNV_SAILS, flexible=2)
        assert days_of(found.report.asked) == {GNV_SAILS}

    def test_day_without_trips_asks_its_neighbours(self, reader):
        found = reader.trips.search(**TUNIS, on=NONE_SAILS, flexible=1)
        before, after = NONE_SAILS - timedelta(1), NONE_SAILS + timedelta(1)
        assert days_of(found.report.asked) == {before, NONE_SAILS, after}
        assert {trip.depart_at.date() for trip in found} == {before, after}

    def test_last_day_has_one_neighbour(self, reader):
        found = reader.trips.search(**TUNIS, on=date.max, flexible=1)
        assert days_of(found.report.asked) == {date.max, date.max - timedelta(1)}

    def test_nearest_days_are_asked_first(self, reader):
        report = reader.trips.search(**TUNIS, on=NONE_SAILS, flexible=3, max_calls=5).report
        assert (report.calls, len(report.not_asked), report.is_complete) == (5, 9, False)
        assert max(abs((day - NONE_SAILS).days) for day in days_of(report.asked)) == 1


@pytest.mark.parametrize(
    ("destination", "has_route"),
    [
        pytest.param("Tunis", True, id="nothing sails that day"),
        pytest.param("Stockholm", False, id="no company sails there"),
    ],
)
class TestNothing:
    DAY = date(2051, 1, 10)

    def check_texts(self, empty, has_route):
        assert empty.report.has_route == has_route
        for text in (repr(empty), empty._repr_html_()):
            assert ("no company sails" not in text.lower()) == has_route

    def test_search_is_empty(self, reader, destination, has_route):
        trips = reader.trips.search("Genoa", destination, on=self.DAY, passengers=ADULT)
        assert [*trips] == []
        assert trips.best() is None
        assert companies(trips.report.nothing) == ({"GNV", "CTN"} if has_route else set())
        assert trips.report.calls == (2 if has_route else 0)
        self.check_texts(trips, has_route)

    def test_calendar_says_whether_there_is_a_route(self, reader, destination, has_route):
        days = {"start": self.DAY, "end": self.DAY}
        calendar = reader.trips.calendar("Genoa", destination, **days, passengers=ADULT)
        self.check_texts(calendar, has_route)


UNKNOWN_PORT = Port(code="XXXXX", name="Genoa", country="Italy")
"""The service does not have it."""
PAST = date(2040, 5, 6)
"""It is past for the service."""


class TestRefusals:
    """An error names the argument of the caller."""

    @pytest.mark.parametrize(
        ("origin", "destination", "error", "field"),
        [
            pytest.param(
                "Algeciras", "Tanger", errors.AmbiguousPlaceError, "destination", id="two ports"
            ),
            pytest.param("Genxa", "Tunis", errors.UnknownPlaceError, "origin", id="no port"),
            pytest.param(
                "Genoa", UNKNOWN_PORT, errors.UnknownPlaceError, "destination", id="an unknown port"
            ),
        ],
    )
    def test_unclear_place_is_named(self, reader, origin, destination, error, field):
        ends = (origin, destination)
        refused = caught(error, reader.trips.search, *ends, on=GNV_SAILS, passengers=ADULT)
        assert refused.field == field

    def test_service_says_that_nothing_sails(self, reader):
        arguments = search_arguments(company="GNV", depart="ITGOA", arrive="TNLGN")
        arguments["out_at"] = NONE_SAILS
        caught(errors.NoSailingsError, reader.availability.search, **arguments)

    @pytest.mark.parametrize("protocol", ["REST", "MCP"])
    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            pytest.param({"company": "NOBODY"}, "company", id="company"),
            pytest.param({"out_at": date(2020, 1, 1)}, "out_at", id="day"),
            pytest.param({"vehicle": {"code": "NO__SUCH"}}, "vehicle.code", id="vehicle"),
        ],
    )
    def test_both_protocols_name_the_argument(self, reader, protocol, wrong, field):
        search = reader.availability.search
        if protocol == "MCP":
            search = reader.mcp.search_availability
        refused = caught(errors.AvailabilityError, search, **(search_arguments() | wrong))
        assert refused.field == pickle.loads(pickle.dumps(refused)).field == field

    def test_unknown_journey_is_named(self, reader):
        departures = reader.catalogue.departures
        kind = errors.UnprocessableEntityError
        refused = caught(kind, departures, "GNV", journey_ids=["no-journey"])
        assert refused.field in {"provider_id", "journey_ids[0]"}

    def test_unknown_company_fails_alone(self, reader):
        report = reader.trips.search(**TUNIS, on=GNV_SAILS, companies=["gnv", "NOBODY"]).report
        assert [search.error.field for search in report.failed] == ["companies[1]"]

    @pytest.mark.parametrize(
        ("name", "wrong", "field"),
        [
            pytest.param(
                "search",
                {"on": GNV_SAILS, "vehicle": {"code": "A__B"}},
                "vehicle.code",
                id="vehicle",
            ),
            pytest.param("search", {"on": PAST}, "on", id="day"),
            pytest.param("search", {"on": PAST, "back": GNV_SAILS}, "on", id="day out"),
            pytest.param("calendar", {"start": PAST, "end": PAST}, "start", id="calendar"),
        ],
    )
    def test_plan_names_its_own_argument(self, reader, name, wrong, field):
        call = getattr(reader.trips, name)
        refused = caught(errors.AvailabilityError, call, **TUNIS, companies=["GNV"], **wrong)
        assert refused.field == field

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("refused_field", "argument"),
        [("depart_code", "origin"), ("arrive_code", "destination")],
    )
    def test_refused_place_is_named(self, clients, ferry_sandbox, refused_field, argument):
        service = refusing_field(refused_field, unless=b"nothing")
        ferry = client_of(clients, service, ferry_sandbox.token, base_url=ferry_sandbox.base_url)
        search = partial(ferry.trips.search, **TUNIS, on=GNV_SAILS, companies=["GNV"])
        assert caught(errors.AvailabilityError, search).field == argument


WRONG = [
    pytest.param("destination", "ITGOA", id="the origin"),
    pytest.param("origin", "", id="no place"),
    pytest.param("origin", 7, id="a number as a place"),
    pytest.param("on", "12 July", id="no date"),
    pytest.param("back", "2050-06-01", id="back before the way out"),
    pytest.param("flexible", -1, id="days below zero"),
    pytest.param("flexible", True, id="a flag as days"),
    pytest.param("flexible", 10**9, id="more days than are sold"),
    pytest.param("max_calls", 0, id="no calls"),
    pytest.param("concurrency", 0, id="no calls at a time"),
    pytest.param("companies", [], id="no companies"),
    pytest.param("companies", "GNV", id="a company as a text"),
    pytest.param("companies", 7, id="a number as companies"),
    pytest.param("companies", {"GNV": 1}, id="a dict of companies"),
    pytest.param("companies", iter(()), id="an empty iterator"),
    pytest.param("companies[0]", [""], id="an empty company"),
    pytest.param("passengers", [], id="no passengers"),
    pytest.param(
        "passengers[0].age", [{"type": "Adult", "gender": "Male", "age": "x"}], id="no age"
    ),
    pytest.param("vehicle.code", {"code": 7}, id="a number as a code"),
]
WRONG_ANYWHERE = [
    pytest.param("reservation_type", "Ticket", id="a type in small letters"),
    pytest.param("reservation_type", "", id="an empty type"),
    pytest.param("reservation_type", 1, id="a number as a type"),
    pytest.param("reservation_type", ["TICKET"], id="a list of types"),
    pytest.param("patience", 0, id="no seconds"),
    pytest.param("patience", -1, id="seconds below zero"),
    pytest.param("patience", float("nan"), id="NaN seconds"),
    pytest.param("patience", "2", id="seconds as a text"),
    pytest.param("patience", True, id="a flag as seconds"),
]


class TestWrongArguments:
    """Wrong arguments are refused before anything is sent."""

    @staticmethod
    def argument_of(field):
        return re.split(r"[.\[]", field)[0]

    @pytest.mark.parametrize(("field", "value"), WRONG)
    def test_search_names_the_argument(self, reader, field, value):
        wrong = {**TUNIS, "on": LATER, self.argument_of(field): value}
        assert caught(errors.InvalidInputError, reader.trips.search, **wrong).field == field

    @pytest.mark.parametrize("name", ["search", "stream", "connections", "calendar"])
    @pytest.mark.parametrize(("field", "value"), WRONG_ANYWHERE)
    def test_every_plan_names_the_argument(self, reader, name, field, value):
        days = {"start": LATER, "end": LATER} if name == "calendar" else {"on": LATER}
        wrong = {**TUNIS, **days, field: value}
        call = getattr(reader.trips, name)
        assert caught(errors.InvalidInputError, call, **wrong).field == field


def assert_late(ferry, **search):
    """Assert that a search raises at its deadline; a busy machine may have asked nobody by then."""
    for deadline in (0.1, 0.5, 2.5, 12.5):
        try:
            found = ferry.with_options(deadline=deadline).trips.search(**search)
        except errors.RequestTimeoutError:
            return
        assert found.report.not_asked
        assert not found
    pytest.fail("it has asked nobody")


@pytest.fixture
def slow_balearia(ferry_sandbox):
    """Baleària takes a minute to answer."""
    slow(ferry_sandbox, company="BALEARIA")


@pytest.mark.usefixtures("slow_balearia")
class TestPatience:
    def test_slow_company_fails_alone_in_a_search(self, ferry):
        began = time.monotonic()
        waiting = ferry.with_options(timeout=120)  # it would wait for the answer without patience
        found = found_without(
            "BALEARIA", lambda seconds: waiting.trips.search(**STRAIT, patience=seconds)
        )
        assert len(found.report.answered) == 3
        assert time.monotonic() - began < 60, "the deadline of the client is longer"

    def test_slow_company_fails_alone_in_a_calendar(self, ferry):
        days = {name: value for name, value in STRAIT.items() if name != "on"}
        days |= {"start": GNV_SAILS, "end": GNV_SAILS}
        found = found_without(
            "BALEARIA", lambda seconds: ferry.trips.calendar(**days, patience=seconds)
        )
        assert len(found.report.answered) == 3

    def test_patience_does_not_extend_the_deadline(self, ferry):
        assert_late(ferry, **STRAIT, companies=["BALEARIA"], patience=60)


class TestDeadline:
    def test_answers_until_the_deadline_are_given(self, ferry, ferry_sandbox):
        slow(ferry_sandbox, company="AML")
        options = {"companies": ["FRSIBERIA", "AML", "BALEARIA"], "concurrency": 1}

        def search(seconds):
            return ferry.with_options(deadline=seconds).trips.search(**STRAIT, **options)

        found = found_without("AML", search)
        assert found
        assert companies(found.report.answered) == {"FRSIBERIA"}
        assert companies(found.report.not_asked) == {"BALEARIA"}
        assert {search.error.outcome for search in found.report.failed} == {"unknown"}

    def test_no_answer_is_an_error(self, ferry, ferry_sandbox):
        slow(ferry_sandbox)
        assert_late(ferry, **STRAIT)


def test_no_more_searches_run_than_allowed(ferry, ferry_sandbox):
    hold = Hold(ferry_sandbox, "availability.search", times=4)
    search = UnderWay(partial(ferry.trips.search, **STRAIT, concurrency=2))
    eventually(lambda: hold.held >= 2)
    assert hold.held == 2
    hold.release()
    assert search.value().report.calls == 4


FLEXIBLE = {**TUNIS, "on": GNV_SAILS, "flexible": 1}


class TestFailures:
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            ("server_error", errors.ServerError),
            ("not_json", errors.UnexpectedResponseError),
        ],
    )
    def test_failing_company_leaves_the_others(self, ferry, ferry_sandbox, fault, error):
        ferry_sandbox.faults.add(fault, "availability.search", times=None, company="GNV")
        found = ferry.trips.search(**FLEXIBLE)
        assert companies(found.report.failed) == {"GNV"}
        first = found.report.failed[0]
        assert (first.day, type(first.error)) == (GNV_SAILS, error)
        assert {trip.companies for trip in found} == {("CTN",)}
        assert not found.report.is_complete

    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            ("server_error", errors.ServerError),
            ("unauthorized", errors.AuthenticationError),
        ],
    )
    def test_failure_of_every_company_is_raised(self, ferry, ferry_sandbox, fault, error):
        ferry_sandbox.faults.add(fault, "availability.search", times=None)
        caught(error, ferry.trips.search, **FLEXIBLE)

    def test_rejected_token_is_raised_at_once(self, ferry, ferry_sandbox):
        ferry_sandbox.faults.add("unauthorized", "availability.search", times=None, company="GNV")
        caught(errors.AuthenticationError, ferry.trips.search, **FLEXIBLE)


class TestWithoutMcp:
    @pytest.fixture(autouse=True)
    def _without_mcp(self, ferry_sandbox):
        """The service has no MCP."""
        ferry_sandbox.mcp.set(is_absent=True)

    def test_companies_have_to_be_named(self, new_ferry):
        search = partial(new_ferry.trips.search, **TUNIS, on=GNV_SAILS)
        assert caught(errors.InvalidInputError, search).field == "companies"

    def test_named_company_is_found(self, new_ferry):
        trip = new_ferry.trips.search(**TUNIS, on=GNV_SAILS, companies=["GNV"])[0]
        assert (trip.companies, trip.outward_company, trip.back_company) == (("GNV",), "GNV", None)


@pytest.mark.usefixtures("with_routes")
class TestHooks:
    @pytest.fixture
    def seen(self):
        """The operation and the correlation id of each request."""
        return []

    @pytest.fixture
    def hooked(self, clients, ferry_sandbox, seen):
        """A client whose requests are noted in `seen`."""

        def note(event):
            seen.append((event.operation, event.call.correlation_id))

        settings = {"base_url": ferry_sandbox.base_url, "event_hooks": {"request": [note]}}
        return clients(ferry_sandbox.token, **settings)

    def test_searches_have_the_id_of_the_view(self, hooked, seen):
        hooked.with_options(correlation_id="of-the-view").trips.search(**STRAIT)
        assert seen == [("availability.search", "of-the-view")] * 4

    def test_searches_have_the_id_of_the_block(self, clients, hooked, seen):
        if clients.is_async:
            return  # the context is one of the portal's thread
        with correlation("of-the-block"):
            hooked.trips.search(**STRAIT, concurrency=1)
            [*hooked.trips.stream(**STRAIT)]
        assert seen == [("availability.search", "of-the-block")] * 8
