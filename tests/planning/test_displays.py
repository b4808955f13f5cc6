"""What notebooks and `print` show of trips, calendars, bookings and what was found."""

import pickle
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferry_sdk import Ferry, Travellers
from ferry_sdk.planning.connections import Itinerary
from ferry_sdk.sandbox import Sandbox
from tests.models.test_cards import parse_html
from tests.planning.strait import ADULT
from tests.support.routes import know_routes
from tests.support.trip import DAY, NOW

ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "F", "age": 34}
TARIFA = {"origin": "Tarifa", "destination": "MATNG", "on": DAY, "passengers": ADULT}


def texts_of(shown):
    """Return the texts of what a notebook shows."""
    return parse_html(shown._repr_html_() or "").texts


@pytest.fixture(scope="module")
def one_way(reader):
    return reader.trips.search(**TARIFA)


@pytest.fixture(scope="module")
def both_ways(reader):
    return reader.trips.search(**TARIFA, back=DAY + timedelta(7))


@pytest.fixture(scope="module")
def itinerary(reader):
    search = {"origin": "Barcelona", "destination": "Tunis", "on": DAY, "passengers": ADULT}
    return reader.trips.connections(**search)[0]


class TestTablesOfTrips:
    def test_one_way_has_five_columns(self, one_way):
        shown = parse_html(one_way._repr_html_())
        assert "Back" not in shown.texts
        assert shown.tags.count("td") == 5 * min(len(one_way), 30)

    def test_both_ways_have_the_day_back(self, both_ways):
        shown = parse_html(both_ways._repr_html_())
        assert shown.texts.count("Back") == 1
        assert shown.tags.count("td") == 6 * min(len(both_ways), 30)

    def test_no_cell_is_empty(self, one_way, both_ways):
        assert "-" not in texts_of(one_way) + texts_of(both_ways)


class TestCardOfATrip:
    def test_one_way_has_one_price(self, one_way):
        trip = one_way[0]
        texts = texts_of(trip)
        assert "one way" in texts
        assert "Back" not in texts
        assert texts.count(f"{trip.price:.2f} EUR") == 1

    def test_both_ways_have_their_sailings(self, both_ways):
        trip = both_ways[0]
        texts = texts_of(trip)
        assert texts[:2] == ["Tarifa → Tangier (city)", "round trip"]
        for way in (trip.outward, trip.back):
            assert way.depart_at.isoformat(" ", "minutes") in texts
            assert f"{way.ship_name}, {way.company.name}" in texts

    def test_fares_have_a_price_for_each_way(self, both_ways):
        texts = {*texts_of(both_ways[0])}
        for fare in both_ways[0].fares:
            parts = [f"{tariff.amount:.2f} {tariff.currency}" for tariff in fare.tariffs]
            assert {*parts, f"{fare.amount:.2f} {fare.currency}"} <= texts

    def test_repr_of_a_single_fare(self, one_way):
        trip = one_way[0]
        assert f"single, {trip.price:.2f} EUR, until " in repr(trip.fares[0])

    def test_repr_of_a_fare_has_its_parts(self, both_ways):
        fare = both_ways[0].fares[0]
        parts = " + ".join(f"{tariff.amount:.2f}" for tariff in fare.tariffs)
        assert f"{fare.kind}, {fare.amount:.2f} EUR ({parts}), until " in repr(fare)


class TestCardOfAnItinerary:
    def test_title_has_the_port_of_the_change(self, itinerary):
        first, second = (leg.outward for leg in itinerary.legs)
        route = f"{first.depart_name} → {itinerary.via.name} → {second.arrive_name}"
        assert texts_of(itinerary)[:2] == [route, "two bookings"]

    def test_wait_is_in_hours(self, itinerary):
        texts = texts_of(itinerary)
        minutes = itinerary.wait // timedelta(minutes=1)
        wait = texts[texts.index(f"Wait in {itinerary.via.name}") + 1]
        assert wait == f"{minutes // 60} h {minutes % 60:02} min"

    @pytest.mark.parametrize("number", [0, 1], ids=["first leg", "second leg"])
    def test_leg_has_times_ship_price(self, itinerary, number):
        texts = texts_of(itinerary)
        leg = itinerary.legs[number]
        way = leg.outward
        row = texts[texts.index(f"{way.depart_name} → {way.arrive_name}") :][:6]
        assert row[1:3] == [at.isoformat(" ", "minutes") for at in (way.depart_at, way.arrive_at)]
        assert row[4:] == [f"{way.ship_name}, {way.company.name}", f"{leg.price:.2f} EUR"]

    def test_price_is_of_both_legs(self, itinerary):
        texts = texts_of(itinerary)
        assert texts[texts.index("Price from") + 1] == f"{itinerary.price:.2f} EUR"

    def test_note_says_that_nobody_waits(self, itinerary):
        assert any("no company is bound to wait" in text for text in texts_of(itinerary))


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("155.1", "EUR", "155.10"),
        ("155", "EUR", "155.00"),
        ("155.125", "EUR", "155.125"),
        ("155.1", "TND", "155.100"),
        ("155", "JPY", "155"),
        ("1E+2", "EUR", "100.00"),
    ],
)
def test_price_has_the_decimals_of_its_currency(reader, one_way, amount, currency, shown):
    trip = one_way[0]
    changes = {"amount": Decimal(amount), "currency": currency}
    tariff = trip.fares[0].tariffs[0].model_copy(update=changes)
    priced = replace(trip, fares=(replace(trip.fares[0], tariffs=(tariff,)),))
    assert f"{priced.price}" == shown
    assert priced.price == Decimal(amount)
    via = reader.places.get("Tunis")
    assert f"{Itinerary((priced, priced), via).price}" == f"{2 * Decimal(shown)}"


@pytest.fixture(scope="module")
def week(reader):
    """The calendar of a week."""
    days = {"start": DAY, "end": DAY + timedelta(6), "passengers": ADULT}
    return reader.trips.calendar("ITGOA", "Palermo", **days)


class TestCalendars:
    def test_card_has_the_route(self, week):
        assert texts_of(week)[:2] == ["Genoa → Palermo", "Cheapest fare of every day"]

    def test_card_marks_the_cheapest_day(self, week):
        html = week._repr_html_()
        assert parse_html(html).texts.count("cheapest") == 1
        (row,) = (row for row in html.split("<tr>") if ">cheapest<" in row)
        assert f"{week.cheapest.day:%a %d %b %Y}" in row
        assert f"{week.cheapest.price:.2f} EUR" in row

    def test_repr_has_the_route(self, week):
        assert repr(week).startswith("<PriceCalendar Genoa → Palermo: 7 days, ")


@pytest.fixture(params=["places", "vehicles", "routes"])
def matches(request, reader):
    """What was found of each kind."""
    match request.param:
        case "places":
            return reader.places.find("Genua")
        case "vehicles":
            return reader.vehicles.find("golf")
        case _:
            return reader.routes.find("Genoa")


class TestMatches:
    def test_table_has_a_row_for_each(self, matches):
        assert isinstance(matches, tuple)
        shown = parse_html(matches._repr_html_())
        assert shown.tags.count("tr") == 1 + len(matches)

    def test_card_has_what_the_row_has(self, matches):
        row = texts_of(type(matches)(matches[:1]))
        texts = texts_of(matches[0])
        assert texts[0] == type(matches[0]).__name__
        assert {*row} <= {*texts}

    def test_places_have_their_reason(self, reader):
        texts = {*texts_of(reader.places.find("Genua"))}
        assert {"code", "name", "country", "score", "reason", "ITGOA"} <= texts

    def test_vehicles_have_their_code(self, reader):
        assert "VOLKSWAGEN__GOLF" in texts_of(reader.vehicles.find("golf"))

    def test_routes_have_their_companies(self, reader):
        routes = reader.routes.find("Genoa")
        texts = texts_of(routes)
        assert "Genoa" in texts
        assert ", ".join(routes[0].companies) in texts

    def test_nothing_found_is_said(self, reader):
        assert texts_of(reader.vehicles.find("qqqqqqqq")) == ["Nothing found."]

    def test_long_table_counts_the_rest(self, reader):
        routes = reader.routes.find()
        assert f"{len(routes) - 30} more of {len(routes)}." in routes._repr_html_()

    def test_table_of_ports_has_no_empty_column(self, reader):
        texts = texts_of(reader.catalogue.ports())
        assert texts[:3] == ["code", "name", "country"]
        assert "country_code" not in texts


@pytest.fixture(scope="module")
def with_stop(reader):
    """A trip from Genoa to Tangier Med that calls at Barcelona."""
    days = {"on": DAY, "flexible": 6, "passengers": ADULT}
    return reader.trips.search("ITGOA", "Tangier Med", **days)[0]


def pickled(value):
    return pickle.loads(pickle.dumps(value))


class TestStops:
    NOTE = "Genoa → Tangier Med calls at Barcelona."

    def test_sailing_has_the_code(self, with_stop):
        assert with_stop.outward.stops == ("ESBCN",)

    def test_card_of_a_trip_names_the_port(self, with_stop):
        assert self.NOTE in texts_of(with_stop)

    def test_card_of_an_itinerary_names_the_port(self, reader, with_stop):
        itinerary = Itinerary((with_stop, with_stop), reader.places.get("ESBCN"))
        assert self.NOTE in texts_of(itinerary)

    @pytest.mark.parametrize("copy", [None, pickled, deepcopy], ids=["itself", "pickle", "copy"])
    def test_card_of_a_sailing_names_the_port(self, with_stop, copy):
        sailing = with_stop.outward if copy is None else copy(with_stop.outward)
        texts = texts_of(sailing)
        assert texts[texts.index("Calls at") + 1] == "Barcelona"

    def test_sailing_from_json_has_the_code(self, with_stop):
        sailing = with_stop.outward
        again = type(sailing).model_validate_json(sailing.model_dump_json())
        assert (again, hash(again)) == (sailing, hash(sailing))
        texts = texts_of(again)
        assert texts[texts.index("Calls at") + 1] == "ESBCN"


class TestTravellers:
    PARTY = Travellers([{**ADA, "type": None, "last_name": "Zq7"}, {**ADA, "type": "Child"}])

    def test_card_has_types(self):
        texts = texts_of(self.PARTY)
        assert texts[0] == "Travellers: 2"
        assert {"by age", "Child"} <= {*texts}

    @pytest.mark.parametrize("secret", ["Zq7", "Ada", "34"])
    def test_card_hides_names(self, secret):
        assert not [text for text in texts_of(self.PARTY) if secret in text]


@pytest.fixture(scope="module")
def ferry():
    """A client of a service that makes bookings for this module alone."""
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        know_routes(sandbox)
        yield ferry


@pytest.fixture(scope="module")
def trip(ferry):
    # The other company is slow to issue a ticket.
    return ferry.trips.search(**TARIFA, companies=["BALEARIA"])[0]


@pytest.fixture(scope="module")
def created(ferry, trip):
    return ferry.bookings.create(availabilities=trip.select(), passengers=[ADA])


@pytest.fixture(scope="module")
def ticketed(ferry, created):
    ferry.bookings.confirm(created.booking_id)
    return ferry.bookings.wait(created.booking_id, until="ticketed", deadline=30)


class TestPrintedBookings:
    def test_new_booking_says_what_to_do(self, created):
        lines = str(created).splitlines()
        total = f"{created.total_price:.2f} EUR"
        assert lines[0] == f"Booking {created.booking_reference}: payment_due, {total}"
        assert lines[1] == f"  id {created.booking_id}"
        assert lines[2].startswith("  next Pay, mandatory, until ")

    def test_ticketed_booking_has_its_ticket(self, ticketed, trip):
        text = str(ticketed)
        ticket = ticketed.tickets[0]
        assert "ticketed" in text
        assert f"{ticketed.total_price:.2f} EUR" in text
        assert "payment paid" in text
        assert ticket.id in text
        assert str(ticket.ticket_number) in text
        leaves = trip.depart_at.isoformat(" ", "minutes")
        assert f"Tarifa {leaves} → Tangier (city) " in text

    def test_text_is_short(self, ticketed):
        lines = str(ticketed).splitlines()
        assert len(lines) <= 8
        assert all(len(line) <= 110 for line in lines)

    def test_text_names_no_traveller(self, ticketed):
        assert "Reyes" not in str(ticketed)

    def test_repr_has_all_fields(self, ticketed):
        assert "total_price=Decimal" in repr(ticketed)
