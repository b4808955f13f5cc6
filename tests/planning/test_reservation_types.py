"""Who looks for a ticket finds tickets only; what is left out is counted."""

from datetime import date

import pytest

from ferry_sdk import Ferry, InvalidInputError

ADULT = [{"type": "Adult", "gender": "Female", "age": 34}]
ENDS = ("Tarifa", "Tangier (city)")
LATER = date(2050, 6, 6)
"""There are tickets, presales and options."""
SOON = date(2050, 5, 10)
"""It is too late for presales, which end 14 days before."""
TYPES = ("TICKET", "PRESALE", "OPTION")


def kinds(trips):
    return {fare.reservation_type for trip in trips for fare in trip.fares}


def shown(trips):
    return [(one.depart_at, one.price, len(one.fares)) for one in trips]


def test_the_cheapest_trip_is_a_ticket_where_a_presale_is_cheaper(reader):
    every = reader.trips.search(*ENDS, on=LATER, passengers=ADULT, reservation_type=None)
    assert kinds(every) == {*TYPES}
    assert every[0].fares[0].reservation_type == "PRESALE"
    found = reader.trips.search(*ENDS, on=LATER, passengers=ADULT)
    assert found[0].price > every[0].price
    assert every[0].select()[0].reservation_type == "PRESALE"
    assert found[0].select()[0].reservation_type is None, "it is booked as a ticket"
    assert found.best() == found[0]
    for kind in TYPES:
        asked = reader.trips.search(*ENDS, on=LATER, passengers=ADULT, reservation_type=kind)
        assert kinds(asked) == {kind}
        assert shown(asked) == shown(every.filter(reservation_type=kind)), kind
        assert asked.left_out == 0


def test_trips_without_such_a_fare_are_left_out_and_counted(reader):
    every = reader.trips.search(*ENDS, on=SOON, passengers=ADULT, reservation_type=None)
    for back, count in ((None, len(every)), (LATER, None)):
        found = reader.trips.search(
            *ENDS, on=SOON, back=back, passengers=ADULT, reservation_type="PRESALE"
        )
        assert not found
        assert found.left_out == found.report.left_out > 0
        assert count in (None, found.left_out)
        assert f", {found.left_out} left out by reservation_type>" in repr(found)
        assert f"left out: {found.left_out}." in found._repr_html_()
        assert "Nothing sails" not in found._repr_html_()
    assert every.left_out == 0
    assert "left out" not in repr(every)
    assert every.filter(reservation_type="PRESALE").left_out == len(every)


def test_a_day_without_such_a_fare_gives_way_to_its_neighbours(reader):
    found = reader.trips.search(
        *ENDS, on="2050-05-16", flexible=2, passengers=ADULT, reservation_type="PRESALE"
    )
    assert {trip.depart_at.date() for trip in found} == {date(2050, 5, 17), date(2050, 5, 18)}
    assert found.left_out > 0


def test_the_prices_of_a_calendar_are_those_of_tickets(reader):
    days = {"start": "2050-05-16", "end": "2050-05-19", "passengers": ADULT}
    tickets = reader.trips.calendar(*ENDS, **days)
    every = reader.trips.calendar(*ENDS, **days, reservation_type=None)
    presales = reader.trips.calendar(*ENDS, **days, reservation_type="PRESALE")
    first, last = date(2050, 5, 16), date(2050, 5, 19)
    assert every[last].price == presales[last].price != tickets[last].price
    assert every[first].price == tickets[first].price
    assert presales[first].price is None
    assert presales.left_out >= tickets[first].sailings > 0
    assert tickets.left_out == 0
    assert f"{presales.left_out} left out" in repr(presales)
    assert f"left out: {presales.left_out}." in presales._repr_html_()


def test_a_connection_consists_of_tickets(reader):
    ends = ("Barcelona", "Tunis")
    for kind in TYPES:
        found = reader.trips.connections(*ends, on=LATER, passengers=ADULT, reservation_type=kind)
        assert [kinds(one.legs) for one in found] == [{kind}] * 3, kind
    default = reader.trips.connections(*ends, on=LATER, passengers=ADULT)
    assert kinds(default[0].legs) == {"TICKET"}
    none = reader.trips.connections(*ends, on=SOON, passengers=ADULT, reservation_type="PRESALE")
    assert not none
    assert none.left_out > 0
    assert f"{none.left_out} left out" in repr(none)
    assert f"left out: {none.left_out}." in none._repr_html_()


def test_a_stream_gives_tickets_and_counts_the_others(sandbox):
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        stream = ferry.trips.stream(*ENDS, on=LATER, passengers=ADULT)
        trips = [*stream]
        assert kinds(trips) == {"TICKET"}
        assert stream.left_out == 0
        presales = ferry.trips.stream(*ENDS, on=SOON, passengers=ADULT, reservation_type="PRESALE")
        assert [*presales] == []
        assert presales.left_out > 0
        assert f"{presales.left_out} left out" in repr(presales)


def test_another_type_is_refused(reader):
    days = {"start": LATER, "end": LATER}
    for wrong in ("Ticket", "", 1, ["TICKET"]):
        arguments = {"passengers": ADULT, "reservation_type": wrong}
        for call, when in (
            (reader.trips.search, {"on": LATER}),
            (reader.trips.stream, {"on": LATER}),
            (reader.trips.connections, {"on": LATER}),
            (reader.trips.calendar, days),
        ):
            with pytest.raises(InvalidInputError) as refused:
                call(*ENDS, **when, **arguments)
            assert refused.value.field == "reservation_type", (call, wrong)
