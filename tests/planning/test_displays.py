"""What notebooks and `print` show of trips, calendars, bookings and what was found."""

from datetime import timedelta

from tests.models.test_cards import parse_html
from tests.support.trip import DAY

SEARCHED = [{"type": "Adult", "gender": "Female", "age": 34}]
ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "F", "age": 34}


def test_a_card_of_a_trip_shows_its_ways_and_tells_its_fares_apart(reader):
    trip = reader.trips.search(
        "Tarifa", "MATNG", on=DAY, back=DAY + timedelta(7), passengers=SEARCHED
    )[0]
    texts = parse_html(trip._repr_html_()).texts
    assert trip.back is not None
    assert texts[:2] == ["Tarifa → Tangier (city)", "round trip"]
    for way in (trip.outward, trip.back):
        assert way.depart_at.isoformat(" ", "minutes") in texts
        assert f"{way.ship_name}, {way.company.name}" in texts
    for fare in trip.fares:
        parts = [f"{one.amount:.2f} {one.currency}" for one in fare.tariffs]
        assert {*parts, f"{fare.amount:.2f} {fare.currency}"} <= {*texts}
    rows = [repr(fare) for fare in trip.fares]
    assert len({*rows}) == len(rows)
    first = trip.fares[0]
    parts = " + ".join(f"{one.amount:.2f}" for one in first.tariffs)
    assert f"{first.kind}, {first.amount:.2f} EUR ({parts}), until " in rows[0]


def test_a_card_of_a_trip_one_way_has_one_price_for_each_fare(reader):
    trip = reader.trips.search("Tarifa", "MATNG", on=DAY, passengers=SEARCHED)[0]
    texts = parse_html(trip._repr_html_()).texts
    assert "one way" in texts
    assert "Back" not in texts
    assert texts.count(f"{trip.price:.2f} EUR") == 1
    assert f"single, {trip.price:.2f} EUR, until " in repr(trip.fares[0])


def test_a_card_of_a_calendar_names_its_route_and_marks_the_cheapest_day(reader):
    days = reader.trips.calendar(
        "ITGOA", "Palermo", start=DAY, end=DAY + timedelta(6), passengers=SEARCHED
    )
    html = days._repr_html_()
    texts = parse_html(html).texts
    assert texts[:2] == ["Genoa → Palermo", "Cheapest fare of every day"]
    assert days.cheapest is not None
    assert texts.count("cheapest") == 1
    (row,) = (row for row in html.split("<tr>") if ">cheapest<" in row)
    assert f"{days.cheapest.day:%a %d %b %Y}" in row
    assert f"{days.cheapest.price:.2f} EUR" in row
    assert repr(days).startswith("<PriceCalendar Genoa → Palermo: 7 days, ")


def test_what_was_found_is_a_tuple_that_shows_as_a_table(reader):
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
    assert {"code", "name", "country", "score", "reason"} <= {
        *parse_html(found["ITGOA"]._repr_html_()).texts
    }
    route = found["Genoa"][0]
    assert ", ".join(route.companies) in parse_html(found["Genoa"]._repr_html_()).texts
    nothing = reader.vehicles.find("qqqqqqqq")
    assert parse_html(nothing._repr_html_()).texts == ["Nothing found."]
    every = reader.routes.find()
    assert f"{len(every) - 30} more of {len(every)}." in every._repr_html_()


def test_a_port_has_one_spelling(reader):
    names = {one.code: one.name for one in reader.catalogue.ports()}
    assert {one.code: one.name for one in reader.mcp.ports() if one.code in names} == names
    for route in reader.routes.find("ITGOA"):
        assert (route.depart_name, route.arrive_name) == ("Genoa", names[route.arrive_code])


def test_a_column_without_any_value_is_left_out(reader):
    texts = parse_html(reader.catalogue.ports()._repr_html_() or "").texts
    assert texts[:3] == ["code", "name", "country"]
    assert "country_code" not in texts


def test_print_shows_a_booking_in_a_few_lines(both):
    trip = both.trips.search(
        "Tarifa",
        "MATNG",
        on=DAY,
        passengers=SEARCHED,
        companies=["BALEARIA"],  # the other one takes seconds to issue a ticket
    )[0]
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
