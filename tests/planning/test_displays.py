"""What notebooks and `print` show of trips, calendars, bookings and what was found."""

import pickle
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from ferry_sdk import Travellers
from ferry_sdk.planning.connections import Itinerary
from tests.models.test_cards import parse_html
from tests.planning.strait import ADULT
from tests.support.trip import DAY

ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "F", "age": 34}
TARIFA = {"origin": "Tarifa", "destination": "MATNG", "on": DAY, "passengers": ADULT}
JOINED = {"origin": "Barcelona", "destination": "Tunis", "on": DAY, "passengers": ADULT}


def test_cards_of_trips_tell_fares_apart_and_those_of_itineraries_show_the_wait(reader):
    one_way = reader.trips.search(**TARIFA)
    both_ways = reader.trips.search(**TARIFA, back=DAY + timedelta(7))
    for trips, heads in [(one_way, 0), (both_ways, 1)]:
        shown = parse_html(trips._repr_html_())
        assert shown.texts.count("Back") == heads
        assert shown.tags.count("td") == (5 + heads) * min(len(trips), 30)
        assert shown.texts.count("-") == 0
    trip = one_way[0]
    texts = parse_html(trip._repr_html_()).texts
    assert "one way" in texts
    assert "Back" not in texts
    assert texts.count(f"{trip.price:.2f} EUR") == 1
    assert f"single, {trip.price:.2f} EUR, until " in repr(trip.fares[0])
    trip = both_ways[0]
    texts = parse_html(trip._repr_html_()).texts
    assert texts[:2] == ["Tarifa → Tangier (city)", "round trip"]
    for way in (trip.outward, trip.back):
        assert way.depart_at.isoformat(" ", "minutes") in texts
        assert f"{way.ship_name}, {way.company.name}" in texts
    for fare in trip.fares:
        parts = [f"{one.amount:.2f} {one.currency}" for one in fare.tariffs]
        assert {*parts, f"{fare.amount:.2f} {fare.currency}"} <= {*texts}
    first = trip.fares[0]
    parts = " + ".join(f"{one.amount:.2f}" for one in first.tariffs)
    assert f"{first.kind}, {first.amount:.2f} EUR ({parts}), until " in repr(first)
    found = reader.trips.connections(**JOINED)[0]
    texts = parse_html(found._repr_html_()).texts
    first, second = (leg.outward for leg in found.legs)
    route = f"{first.depart_name} → {found.via.name} → {second.arrive_name}"
    assert texts[:2] == [route, "two bookings"]
    minutes = found.wait // timedelta(minutes=1)
    wait = texts[texts.index(f"Wait in {found.via.name}") + 1]
    assert wait == f"{minutes // 60} h {minutes % 60:02} min"
    for leg in found.legs:
        way = leg.outward
        row = texts[texts.index(f"{way.depart_name} → {way.arrive_name}") :][:6]
        assert row[1:3] == [at.isoformat(" ", "minutes") for at in (way.depart_at, way.arrive_at)]
        assert row[4:] == [f"{way.ship_name}, {way.company.name}", f"{leg.price:.2f} EUR"]
    assert texts[texts.index("Price from") + 1] == f"{found.price:.2f} EUR"
    assert any("no company is bound to wait" in text for text in texts)


def test_prices_have_the_decimals_of_their_currency_and_a_calendar_marks_the_cheapest_day(reader):
    trip = reader.trips.search(**TARIFA)[0]
    via = reader.places.get("Tunis")
    for amount, currency, shown in [
        *(("155.1", "EUR", "155.10"), ("155", "EUR", "155.00"), ("155.125", "EUR", "155.125")),
        *(("155.1", "TND", "155.100"), ("155", "JPY", "155"), ("1E+2", "EUR", "100.00")),
    ]:
        changes = {"amount": Decimal(amount), "currency": currency}
        tariff = trip.fares[0].tariffs[0].model_copy(update=changes)
        again = replace(trip, fares=(replace(trip.fares[0], tariffs=(tariff,)),))
        assert (f"{again.price}", again.price) == (shown, Decimal(amount))
        assert f"{Itinerary((again, again), via).price}" == f"{2 * Decimal(shown)}"
    week = {"start": DAY, "end": DAY + timedelta(6), "passengers": ADULT}
    days = reader.trips.calendar("ITGOA", "Palermo", **week)
    html = days._repr_html_()
    texts = parse_html(html).texts
    assert texts[:2] == ["Genoa → Palermo", "Cheapest fare of every day"]
    assert texts.count("cheapest") == 1
    (row,) = (row for row in html.split("<tr>") if ">cheapest<" in row)
    assert f"{days.cheapest.day:%a %d %b %Y}" in row
    assert f"{days.cheapest.price:.2f} EUR" in row
    assert repr(days).startswith("<PriceCalendar Genoa → Palermo: 7 days, ")


def test_what_was_found_is_a_table_and_cards_name_ports_and_hide_travellers(reader):
    found = {
        "ITGOA": reader.places.find("Genua"),
        "VOLKSWAGEN__GOLF": reader.vehicles.find("golf"),
        "Genoa": reader.routes.find("Genoa"),
    }
    for text, matches in found.items():
        assert isinstance(matches, tuple)
        shown = parse_html(matches._repr_html_())
        assert text in shown.texts
        assert shown.tags.count("tr") == 1 + len(matches)
    texts = {*parse_html(found["ITGOA"]._repr_html_()).texts}
    assert {"code", "name", "country", "score", "reason"} <= texts
    route = found["Genoa"][0]
    assert ", ".join(route.companies) in parse_html(found["Genoa"]._repr_html_()).texts
    assert parse_html(reader.vehicles.find("qqqqqqqq")._repr_html_()).texts == ["Nothing found."]
    for matches in found.values():
        row = parse_html(type(matches)(matches[:1])._repr_html_()).texts
        texts = parse_html(matches[0]._repr_html_()).texts
        assert texts[0] == type(matches[0]).__name__
        assert {*row} <= {*texts}
    every = reader.routes.find()
    assert f"{len(every) - 30} more of {len(every)}." in every._repr_html_()
    days = {"on": DAY, "flexible": 6, "passengers": ADULT}
    trip = reader.trips.search("ITGOA", "Tangier Med", **days)[0]
    sailing = trip.outward
    assert sailing.stops == ("ESBCN",)
    for shown in (trip, Itinerary((trip, trip), reader.places.get("ESBCN"))):
        texts = parse_html(shown._repr_html_()).texts
        assert "Genoa → Tangier Med calls at Barcelona." in texts
    for known in (sailing, pickle.loads(pickle.dumps(sailing)), deepcopy(sailing)):
        texts = parse_html(known._repr_html_()).texts
        assert texts[texts.index("Calls at") + 1] == "Barcelona"
    again = type(sailing).model_validate_json(sailing.model_dump_json())
    assert (again, hash(again)) == (sailing, hash(sailing))
    texts = parse_html(again._repr_html_()).texts
    assert texts[texts.index("Calls at") + 1] == "ESBCN"
    texts = parse_html(reader.catalogue.ports()._repr_html_() or "").texts
    assert texts[:3] == ["code", "name", "country"]
    assert "country_code" not in texts
    party = Travellers([{**ADA, "type": None, "last_name": "Zq7"}, {**ADA, "type": "Child"}])
    shown = parse_html(party._repr_html_())
    assert shown.texts[0] == "Travellers: 2"
    assert {"by age", "Child"} <= {*shown.texts}
    assert not [text for text in shown.texts if "Zq7" in text or "Ada" in text or "34" in text]


def test_print_shows_a_booking_in_a_few_lines(both):
    # The other company is slow to issue a ticket.
    trip = both.trips.search(**TARIFA, companies=["BALEARIA"])[0]
    created = both.bookings.create(availabilities=trip.select(), passengers=[ADA])
    lines = str(created).splitlines()
    total = f"{created.total_price:.2f} EUR"
    assert lines[0] == f"Booking {created.booking_reference}: payment_due, {total}"
    assert lines[1] == f"  id {created.booking_id}"
    assert lines[2].startswith("  next Pay, mandatory, until ")
    both.bookings.confirm(created.booking_id)
    booking = both.bookings.wait(created.booking_id, until="ticketed", deadline=30)
    text = str(booking)
    assert len(text.splitlines()) <= 8
    assert all(len(line) <= 110 for line in text.splitlines())
    ticket = booking.tickets[0]
    leaves = trip.depart_at.isoformat(" ", "minutes")
    for part in ("ticketed", total, "payment paid", ticket.id, str(ticket.ticket_number)):
        assert part in text
    assert f"Tarifa {leaves} → Tangier (city) " in text
    assert "Reyes" not in text
    assert "total_price=Decimal" in repr(booking)
