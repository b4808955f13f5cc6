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

from ferry_sdk import Ferry, Port, TripSearch, correlation, errors
from ferry_sdk.planning import catalogues
from tests.backend.gathering import UnderWay, eventually
from tests.planning.strait import ADULT, STRAIT, companies, found_without, slow
from tests.planning.strait import DAY as GNV_SAILS
from tests.support.exchanges import caught, client_of, refusing_field
from tests.support.hold import Hold
from tests.support.tables import each
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
TYPES = ("TICKET", "PRESALE", "OPTION")


def kinds(trips):
    return {fare.reservation_type for trip in trips for fare in trip.fares}


def booked(ferry, selections):
    passenger = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}
    return ferry.bookings.create(availabilities=selections, passengers=[passenger])


def assert_left_out(found):
    assert found.left_out == found.report.left_out > 0
    assert f", {found.left_out} left out by reservation_type>" in repr(found)
    assert f"left out: {found.left_out}." in found._repr_html_()
    assert "Nothing sails" not in found._repr_html_()


def test_two_names_and_a_date_become_a_booking_and_what_has_been_found_is_asked_first(ferry):
    ferry.trips.search(**TUNIS, on=date(2050, 6, 2))
    found = ferry.trips.search(**TUNIS, on=GNV_SAILS, max_calls=1)
    assert companies(found.report.asked) == {"CTN"}, "CTN has sailed on the day before"
    trips = ferry.with_options(read_only=True).trips.search(**TUNIS, on=GNV_SAILS)
    booking = booked(ferry, trips[0].select())
    assert booking.total_price == trips[0].price
    assert ferry.bookings.confirm(booking.booking_id, expect_total=trips[0].price)
    cabin = next(place for place in trips[0].outward.places if place.type != "Seat")
    dearer = booked(ferry, trips[0].select(places=[cabin]))
    assert dearer.total_price > trips[0].price > Decimal(0), "it is with the cheapest place"
    trips = ferry.trips.search(**TARIFA, on=LATER, reservation_type=None)
    for kind in ("Presale", "Option", "Ticket"):
        fare = next(one for one in trips[0].fares if one.tariffs[0].type == kind)
        booking = booked(ferry, trips[0].select(fare))
        assert booking.total_price == fare.amount, kind
        assert ferry.bookings.confirm(booking.booking_id, expect_total=fare.amount)


def test_trips_are_filtered_by_the_type_of_their_fares(reader):
    def shown(trips):
        return [(one.depart_at, one.price, len(one.fares)) for one in trips]

    trips = reader.trips.search(**TARIFA, on=LATER, reservation_type=None)
    assert (kinds(trips), trips[0].fares[0].reservation_type) == ({*TYPES}, "PRESALE")
    assert trips[0].select()[0].reservation_type == "PRESALE"
    for kind in TYPES:
        some = trips.filter(reservation_type=kind)
        assert kinds(some) == {kind}
        assert [trip.price for trip in some] == sorted(trip.fares[0].amount for trip in some)
        assert {trip.outward.id for trip in some} == {trip.outward.id for trip in trips}
        assert some.report == trips.report
        asked = reader.trips.search(**TARIFA, on=LATER, reservation_type=kind)
        assert (shown(asked), asked.left_out) == (shown(some), 0), kind
    tickets = reader.trips.search(**TARIFA, on=LATER)
    assert kinds(tickets) == {"TICKET"}
    assert tickets[0].price > trips[0].price
    assert tickets[0].select()[0].reservation_type is None, "it is booked as a ticket"
    refused = caught(errors.InvalidInputError, trips.filter, reservation_type="Ticket")
    assert refused.field == "reservation_type"
    assert "TICKET, PRESALE or OPTION" in str(refused)
    one = replace(trips[0], fares=trips[0].fares[:1])
    kept = TripSearch([one, *trips[1:]], trips.report).filter(reservation_type="TICKET")
    assert (len(kept), kept.left_out) == (len(trips) - 1, 1)


def test_every_company_is_asked_once_and_trips_are_sorted_and_have_a_table_and_a_frame(reader):
    trips = reader.trips.search(**STRAIT)
    report = trips.report
    (route,) = reader.routes.find("Algeciras", "Tangier Med")
    assert sorted(one.company for one in report.asked) == sorted(route.companies)
    assert report.calls == len(route.companies)
    assert report.is_complete
    assert report.seconds > 0
    assert isinstance(trips, TripSearch)
    assert [*trips] == sorted(trips, key=lambda trip: (trip.price, trip.depart_at))
    assert trips.best() is trips[0]
    assert trips.best(by="arrival").arrive_at == min(trip.arrive_at for trip in trips)
    assert trips.best(by="duration").travel_time == min(trip.travel_time for trip in trips)
    assert caught(errors.InvalidInputError, trips.best, by="mood").field == "by"
    trips = reader.trips.search(**TUNIS, on=GNV_SAILS)
    html = trips._repr_html_()
    assert "GNV" in html
    assert str(trips[0].price) in html
    frame = trips.to_frame()
    assert frame["price"].tolist() == [trip.price for trip in trips]
    assert frame["depart_local"][0] == trips[0].depart_at.replace(tzinfo=None)
    assert frame["back_local"].isna().all()
    assert trips.filter(reservation_type="OPTION").to_frame().columns.equals(frame.columns)
    assert trips.to_frame(money="float")["price"].dtype == "float64"
    fares = [fare for trip in trips for fare in trip.fares]
    by_tariff = trips.to_frame(by="tariff")
    assert len(by_tariff) == len(fares) > len(trips)
    assert by_tariff["tariff_amount"].tolist() == [fare.amount for fare in fares]
    types = [kind.upper() for kind in by_tariff["tariff_type"]]
    assert types == [fare.reservation_type for fare in fares]
    assert trips.to_frame(by="tariff", money="float")["tariff_amount"].dtype == "float64"


def test_a_return_trip_has_fares_for_one_booking_and_is_found_where_the_ways_are_named(reader):
    trips = reader.trips.search(**PALERMO)
    assert {fare.kind for trip in trips for fare in trip.fares} == {"round_trip", "two_singles"}
    for trip in trips:
        assert trip.back.depart_at > trip.arrive_at
        if any(fare.kind == "round_trip" for fare in trip.fares):
            assert trip.outward.company.id == trip.back.company.id
    trip = trips[0]
    places = [trip.outward.places[-1], trip.back.places[-1].id]
    chosen = trip.select(trip.fares[-1], places)
    assert [one.tariff_id for one in chosen] == [one.id for one in trip.fares[-1].tariffs]
    assert [one.place_id for one in chosen] == [trip.outward.places[-1].id, places[1]]
    assert caught(errors.InvalidInputError, trip.select, places=["one"]).field == "places"
    other = reader.trips.search(**TUNIS, on=GNV_SAILS)[0]
    assert caught(errors.InvalidInputError, trip.select, other.fares[0]).field == "fare"
    for name in ("GNV", "gnv", reader.mcp.companies()[0].id or ""):
        report = reader.trips.search(**TUNIS, on=GNV_SAILS, companies=[name]).report
        assert companies(report.asked) == {"GNV"}
    iterators = {"passengers": iter(ADULT), "companies": iter(["GNV", "CTN"])}
    moment = datetime(2050, 6, 6, 23, 30)  # noqa: DTZ001 -- what a program may pass
    found = reader.trips.search("Genoa", "Tunis", on=moment, **iterators)
    assert companies(found.report.asked) == {"GNV", "CTN"}
    assert found
    unknown = Port(code="XXXXX", name="Genoa", country="Italy")  # the service does not have it
    for error, field, *ends in (
        (errors.AmbiguousPlaceError, "destination", "Algeciras", "Tanger"),
        (errors.UnknownPlaceError, "origin", "Genxa", "Tunis"),
        (errors.UnknownPlaceError, "destination", "Genoa", unknown),
    ):
        refused = caught(error, reader.trips.search, *ends, on=GNV_SAILS, passengers=ADULT)
        assert refused.field == field, ends
    cars = ("Volkswagen Golf", {"code": "VOLKSWAGEN__GOLF"})
    prices = [reader.trips.search(**TUNIS, on=GNV_SAILS, vehicle=car)[0].price for car in cars]
    assert prices[0] == prices[1] > other.price
    port = reader.with_options(language="fr").places.get("Gênes")
    assert reader.trips.search(port, "Tunis", on=GNV_SAILS, passengers=ADULT)


def test_a_return_trip_may_be_of_two_companies(ferry):
    trips = ferry.trips.search(**TUNIS, on=NONE_SAILS, back=NONE_SAILS + timedelta(4), flexible=2)
    assert {("GNV", "CTN"), ("CTN", "GNV")} < {trip.companies for trip in trips}
    mixed = next(trip for trip in trips if len(trip.companies) > 1)
    assert {fare.kind for fare in mixed.fares} == {"two_singles"}
    assert booked(ferry, mixed.select()).total_price == mixed.price
    # One company sails out on its day, the other one back on its day.
    out, back = date(2050, 11, 7), date(2050, 11, 21)
    trips = ferry.trips.search(**TUNIS, on=out, back=back)
    assert {trip.companies for trip in trips} == {("GNV", "CTN")}
    asked = [(one.company, one.depart_code, one.day) for one in trips.report.answered]
    assert (asked, trips.report.calls) == ([("GNV", "ITGOA", out), ("CTN", "TNLGN", back)], 3)
    booking = booked(ferry, trips[0].select())
    directions = [ticket.direction for ticket in ferry.bookings.get(booking.booking_id).tickets]
    assert directions == ["OUTWARD", "RETURN"]
    # No way back is asked alone where nothing sails out.
    nothing = ferry.trips.search(**TUNIS, on=date(2050, 11, 8), back=date(2050, 11, 22)).report
    assert len(nothing.nothing) == nothing.calls == 2
    (graph,) = catalogues._graphs.values()
    ways = [replace(one, companies=("GNV",)) for one in graph.between("ITGOA", "TNLGN")]
    graph.routes = (*ways, *graph.between("TNLGN", "ITGOA"))
    graph._index_routes()
    trips = ferry.trips.search(**TUNIS, on=out, back=back)
    assert {trip.companies for trip in trips} == {("GNV", "CTN")}, "CTN sails only back"


@pytest.mark.parametrize("days", mostly_long(range(7), short=2))
def test_a_flexible_return_trip_is_found_where_the_ways_sail_on_other_weekdays(reader, days):
    out, back = date(2050, 11, 7) + timedelta(days), date(2050, 11, 21) + timedelta(days)
    trips = reader.trips.search(**PALERMO | {"on": out, "back": back})
    assert trips
    for trip in trips:
        assert abs(trip.depart_at.date() - out) <= timedelta(3)
        assert abs(trip.back.depart_at.date() - back) <= timedelta(3)


def test_neighbouring_days_are_asked_where_a_day_has_nothing_and_refusals_name_the_argument(reader):
    found = reader.trips.search(**TUNIS, on=GNV_SAILS, flexible=2)
    assert {one.day for one in found.report.asked} == {GNV_SAILS}
    found = reader.trips.search(**TUNIS, on=NONE_SAILS, flexible=1)
    days = {one.day for one in found.report.asked}
    assert days == {NONE_SAILS, NONE_SAILS + timedelta(1), NONE_SAILS - timedelta(1)}
    assert {trip.depart_at.date() for trip in found} == days - {NONE_SAILS}
    found = reader.trips.search(**TUNIS, on=date.max, flexible=1)
    assert {one.day for one in found.report.asked} == {date.max, date.max - timedelta(1)}
    parameters = signature(Ferry("t", base_url="https://service.example").trips.search).parameters
    assert parameters["max_calls"].default == 60
    report = reader.trips.search(**TUNIS, on=NONE_SAILS, flexible=3, max_calls=5).report
    assert (report.calls, len(report.not_asked), report.is_complete) == (5, 9, False)
    assert max(abs((one.day - NONE_SAILS).days) for one in report.asked) == 1, "the nearest first"
    for destination, has_route in (("Tunis", True), ("Stockholm", False)):
        ends, day = ("Genoa", destination), date(2051, 1, 10)
        trips = reader.trips.search(*ends, on=day, passengers=ADULT)
        assert ([*trips], trips.best()) == ([], None)
        assert companies(trips.report.nothing) == ({"GNV", "CTN"} if has_route else set())
        assert trips.report.calls == 2 * has_route
        calendar = reader.trips.calendar(*ends, start=day, end=day, passengers=ADULT)
        for empty in (trips, calendar):
            assert empty.report.has_route == has_route
            for text in (repr(empty), empty._repr_html_()):
                assert ("no company sails" not in text.lower()) == has_route, text
    arguments = search_arguments(company="GNV", depart="ITGOA", arrive="TNLGN")
    arguments["out_at"] = NONE_SAILS
    caught(errors.NoSailingsError, reader.availability.search, **arguments)
    past, vehicle = date(2020, 1, 1), {"code": "NO__SUCH"}
    for search in (reader.availability.search, reader.mcp.search_availability):
        for wrong, field in (
            ({"company": "NOBODY"}, "company"),
            ({"out_at": past}, "out_at"),
            ({"vehicle": vehicle}, "vehicle.code"),
        ):
            refused = caught(errors.AvailabilityError, search, **(search_arguments() | wrong))
            assert refused.field == pickle.loads(pickle.dumps(refused)).field == field
    kind, call = errors.UnprocessableEntityError, reader.catalogue.departures
    unknown = caught(kind, call, "GNV", journey_ids=["no-journey"])
    assert unknown.field in {"provider_id", "journey_ids[0]"}
    search, calendar = reader.trips.search, reader.trips.calendar
    report = search(**TUNIS, on=GNV_SAILS, companies=["gnv", "NOBODY"]).report
    assert [one.error.field for one in report.failed] == ["companies[1]"]
    past = date(2040, 5, 6)  # for the service
    for call, wrong, field in (
        (search, {"on": GNV_SAILS, "vehicle": {"code": "A__B"}}, "vehicle.code"),
        (search, {"on": past}, "on"),
        (search, {"on": past, "back": GNV_SAILS}, "on"),
        (calendar, {"start": past, "end": past}, "start"),
    ):
        refused = caught(errors.AvailabilityError, call, **TUNIS, companies=["GNV"], **wrong)
        assert refused.field == field, wrong


WRONG = {
    "destination": ["ITGOA"],
    "origin": ["", 7],
    "on": ["12 July"],
    "back": ["2050-06-01"],
    "flexible": [-1, True],
    "max_calls": [0],
    "concurrency": [0],
    "companies": [[], "GNV", 7, {"GNV": 1}, iter(())],
    "companies[0]": [[""]],
    "passengers": [[]],
    "passengers[0].age": [[{"type": "Adult", "gender": "Male", "age": "x"}]],
    "vehicle.code": [{"code": 7}],
}
WRONG_ANYWHERE = {
    "reservation_type": ["Ticket", "", 1, ["TICKET"]],
    "patience": [0, -1, float("nan"), "2", True],
}


@each(("field", "values"), [*WRONG.items(), *WRONG_ANYWHERE.items()])
def test_a_wrong_argument_is_refused_by_its_name(reader, field, values):
    others = ("stream", "connections", "calendar") if field in WRONG_ANYWHERE else ()
    for name in ("search", *others):
        days = {"start": LATER, "end": LATER} if name == "calendar" else {"on": LATER}
        for value in values:
            wrong = {**TUNIS, **days, re.split(r"[.\[]", field)[0]: value}
            refused = caught(errors.InvalidInputError, getattr(reader.trips, name), **wrong)
            assert refused.field == field, (name, value)


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


def test_a_company_that_is_slower_than_the_patience_fails_alone(ferry, ferry_sandbox):
    slow(ferry_sandbox, company="BALEARIA")
    days = {name: value for name, value in STRAIT.items() if name != "on"}
    days |= {"start": GNV_SAILS, "end": GNV_SAILS}
    began = time.monotonic()
    for call in (partial(ferry.trips.search, **STRAIT), partial(ferry.trips.calendar, **days)):
        found = found_without("BALEARIA", lambda seconds, call=call: call(patience=seconds))
        assert len(found.report.answered) == 3, call
    assert time.monotonic() - began < 60, "the deadline of the client is longer"
    # patience does not extend the deadline
    assert_late(ferry, **STRAIT, companies=["BALEARIA"], patience=60)


def test_a_deadline_gives_what_has_answered_by_then_and_names_the_others(ferry, ferry_sandbox):
    slow(ferry_sandbox, company="AML")
    options = {"companies": ["FRSIBERIA", "AML", "BALEARIA"], "concurrency": 1}

    def search(seconds):
        return ferry.with_options(deadline=seconds).trips.search(**STRAIT, **options)

    found = found_without("AML", search)
    assert found
    assert companies(found.report.answered) == {"FRSIBERIA"}
    assert companies(found.report.not_asked) == {"BALEARIA"}
    assert {one.error.outcome for one in found.report.failed} == {"unknown"}
    slow(ferry_sandbox)
    assert_late(ferry, **STRAIT)  # nothing has answered


def test_no_more_searches_than_allowed_go_on_and_failures_are_named(ferry, ferry_sandbox):
    hold = Hold(ferry_sandbox, "availability.search", times=4)
    search = UnderWay(partial(ferry.trips.search, **STRAIT, concurrency=2))
    eventually(lambda: hold.held >= 2)
    assert hold.held == 2
    hold.release()
    assert search.value().report.calls == 4
    search = partial(ferry.trips.search, **TUNIS, on=GNV_SAILS, flexible=1)
    kinds = {"server_error": errors.ServerError, "not_json": errors.UnexpectedResponseError}
    for fault, error in kinds.items():
        ferry_sandbox.faults.clear()
        ferry_sandbox.faults.add(fault, "availability.search", times=None, company="GNV")
        found = search()
        assert companies(found.report.failed) == {"GNV"}
        first = found.report.failed[0]
        assert (first.day, type(first.error)) == (GNV_SAILS, error)
        assert {trip.companies for trip in found} == {("CTN",)}
        assert not found.report.is_complete
    kinds = {"server_error": errors.ServerError, "unauthorized": errors.AuthenticationError}
    for fault, error in kinds.items():
        ferry_sandbox.faults.clear()
        ferry_sandbox.faults.add(fault, "availability.search", times=None)
        caught(error, search)  # every company fails, or would fail
    ferry_sandbox.faults.clear()
    ferry_sandbox.faults.add("unauthorized", "availability.search", times=None, company="GNV")
    caught(errors.AuthenticationError, search)  # whatever the others answer


def test_without_mcp_the_companies_have_to_be_named(new_ferry, ferry_sandbox):
    ferry_sandbox.mcp.set(is_absent=True)
    search = partial(new_ferry.trips.search, **TUNIS, on=GNV_SAILS)
    assert caught(errors.InvalidInputError, search).field == "companies"
    trip = search(companies=["GNV"])[0]
    assert (trip.companies, trip.outward_company, trip.back_company) == (("GNV",), "GNV", None)


def test_a_refused_place_is_named_as_the_caller_wrote_it(clients, ferry_sandbox):
    for field, argument in (("depart_code", "origin"), ("arrive_code", "destination")):
        service = refusing_field(field, unless=b"nothing")
        ferry = client_of(clients, service, ferry_sandbox.token, base_url=ferry_sandbox.base_url)
        refused = partial(ferry.trips.search, **TUNIS, on=GNV_SAILS, companies=["GNV"])
        assert caught(errors.AvailabilityError, refused).field == argument


@pytest.mark.usefixtures("with_routes")
def test_hooks_see_every_search_with_the_correlation_id_of_the_caller(clients, ferry_sandbox):
    seen = []
    note = lambda event: seen.append((event.operation, event.call.correlation_id))  # noqa: E731
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": {"request": [note]}}
    ferry = clients(ferry_sandbox.token, **settings)
    ferry.with_options(correlation_id="of-the-view").trips.search(**STRAIT)
    assert seen == [("availability.search", "of-the-view")] * 4
    seen.clear()
    if clients.is_async:
        return  # the context is one of the portal's thread
    with correlation("of-the-block"):
        ferry.trips.search(**STRAIT, concurrency=1)
        [*ferry.trips.stream(**STRAIT)]
    assert seen == [("availability.search", "of-the-block")] * 8


def test_trips_without_such_a_fare_are_left_out_and_counted(reader):
    every = reader.trips.search(**TARIFA, on=SOON, reservation_type=None)
    for back, count in ((None, len(every)), (LATER, None)):
        found = reader.trips.search(**TARIFA, on=SOON, back=back, reservation_type="PRESALE")
        assert not found
        assert_left_out(found)
        assert count in (None, found.left_out)
    assert every.left_out == 0
    assert "left out" not in repr(every)
    assert every.filter(reservation_type="PRESALE").left_out == len(every)

    found = reader.trips.search(**TARIFA, on="2050-05-16", flexible=2, reservation_type="PRESALE")
    assert {trip.depart_at.date() for trip in found} == {date(2050, 5, 17), date(2050, 5, 18)}
    assert found.left_out > 0
    first, last = date(2050, 5, 16), date(2050, 5, 19)
    calendar = partial(reader.trips.calendar, **TARIFA, start=f"{first}", end=f"{last}")
    tickets, every = calendar(), calendar(reservation_type=None)
    presales = calendar(reservation_type="PRESALE")
    assert every[last].price == presales[last].price != tickets[last].price
    assert every[first].price == tickets[first].price
    assert presales[first].price is None
    assert presales.left_out >= tickets[first].sailings > tickets.left_out == 0
    assert_left_out(presales)
    search = partial(reader.trips.connections, "Barcelona", "Tunis", passengers=ADULT)
    for kind in TYPES:
        found = search(on=LATER, reservation_type=kind)
        assert [kinds(one.legs) for one in found] == [{kind}] * 3, kind
    assert kinds(search(on=LATER)[0].legs) == {"TICKET"}
    none = search(on=SOON, reservation_type="PRESALE")
    assert not none
    assert_left_out(none)


def test_a_stream_gives_tickets_and_counts_the_others(sandbox):
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        stream = ferry.trips.stream(**TARIFA, on=LATER)
        assert (kinds([*stream]), stream.left_out) == ({"TICKET"}, 0)
        presales = ferry.trips.stream(**TARIFA, on=SOON, reservation_type="PRESALE")
        assert [*presales] == []
        assert presales.left_out > 0
        assert f"{presales.left_out} left out" in repr(presales)
