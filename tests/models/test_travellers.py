"""Travellers: one list for a search and its booking, and what cannot be true of a party."""

import copy
import pickle
from datetime import date, datetime, time, timedelta, timezone

import ferry_sdk as sdk
from ferry_sdk import AgeBands, InvalidInputError, Traveller, TravellerProblem, Travellers
from ferry_sdk.models.travellers import age_on, first_day_possible
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.mcp import McpGroup
from tests.support.exchanges import caught

DAY = date(2027, 6, 30)
ADA = {
    "first_name": "Zoë",
    "last_name": "Ngũgĩ-O'Brien",
    "gender": "Female",
    "birth_date": "1991-04-02",
}
LEO = ADA | {"first_name": "Leo", "gender": "Male", "birth_date": date(2015, 7, 1)}
BABY = LEO | {"first_name": "Mía", "birth_date": "2026-02-28"}


def selection(depart_at):
    return sdk.Selection(availability_id="a", tariff_id="t", place_id="p", depart_at=depart_at)


def at(day, offset=0):
    return datetime.combine(day, time(0, 30), timezone(timedelta(hours=offset)))


def booked(passengers, *days):
    operation = BookingsGroup.create(
        None, availabilities=[selection(one) for one in days], passengers=passengers
    )
    return operation.call.body["passengers"]


def searched(passengers, day, group=AvailabilityGroup.search):
    trip = {"company": "GNV", "depart_code": "ITGOA", "arrive_code": "TNTUN", "out_journey_id": "j"}
    call = group(None, **trip, out_at=day, out_time="00:00", passengers=passengers).call
    body = call.params["arguments"] if group is not AvailabilityGroup.search else call.body
    return body["passengers"]


def test_ages_on_a_day_give_the_types_and_a_list_is_immutable_and_hides_its_travellers():
    rows = [
        ("2016-02-29", date(2027, 2, 28), 10),  # a birthday on 29 February counts from 1 March
        ("2016-02-29", date(2027, 3, 1), 11),
        ("2016-02-29", date(2028, 2, 28), 11),
        ("2016-02-29", date(2028, 2, 29), 12),
        ("2015-07-01", date(2027, 6, 30), 11),
        ("2015-07-01", date(2027, 7, 1), 12),
        ("2027-07-01", date(2027, 6, 30), -1),
        ("2027-07-01", date(2027, 7, 1), 0),
    ]
    for born, day, age in rows:
        assert age_on(date.fromisoformat(born), day) == age, (born, day)
    tomorrow = first_day_possible() + timedelta(days=1)
    unborn = Travellers([ADA, LEO | {"birth_date": tomorrow}], bands=AgeBands(0))
    assert [one["type"] for one in booked(unborn, None)] == ["Adult", "Child"]
    party = Travellers([ADA, LEO, BABY], bands=AgeBands(infant=1, child=18))
    assert [one["type"] for one in searched(party, DAY)] == ["Adult", "Child", "Child"]
    assert party[1:].bands == party.bands
    given = Travellers([ADA, LEO | {"type": "Adult"}])
    assert [one["type"] for one in searched(given, DAY)] == ["Adult", "Adult"]
    for bands in [(-1, 12), (12, 2), (True, 12), (2, 2.5)]:
        caught(InvalidInputError, AgeBands, *bands)
    party = Travellers([Traveller.model_validate(ADA), sdk.Passenger(type="Child", **LEO)])
    for made in (pickle.loads(pickle.dumps(party)), copy.deepcopy(party)):
        assert made == party
        assert hash(made) == hash(party)
    assert party != Travellers(party, bands=AgeBands(3))
    assert "Ng" not in f"{party!r} {party[0]!r}"
    for wrong, field in [
        *(("Ada", "travellers"), (ADA, "travellers"), (None, "travellers")),
        ([ADA, {"age": "old"}], "travellers[1].age"),
        ([ADA, {"seat": "12"}], "travellers[1].seat"),
    ]:
        assert caught(InvalidInputError, Travellers, wrong).field == field
    for field in ("on", "back"):
        error = caught(InvalidInputError, party.problems, **{"on": DAY, field: "soon"})
        assert error.field == field


def test_both_protocols_take_travellers_with_the_age_of_the_day_of_the_first_sailing():
    party = Travellers([ADA, LEO, BABY])
    for day, leo, baby in [
        (DAY, ("Child", 11), ("Infant", 1)),
        (DAY + timedelta(days=1), ("Adult", 12), ("Infant", 1)),
        (date(2028, 2, 28), ("Adult", 12), ("Child", 2)),
    ]:
        expected = [("Adult", 36), leo, baby]
        for found in (searched(party, day), booked(party, at(day), at(day + timedelta(days=7)))):
            kinds = [(one["type"], one["age"], one["order"]) for one in found]
            assert kinds == [(*one, order) for order, one in enumerate(expected, 1)], day
    for offset in (-10, 0, 13):  # the day is that of the port and not of UTC
        twelfth_birthday = at(date(2027, 7, 1), offset)
        assert booked([LEO | {"type": "Child"}], twelfth_birthday)
        assert booked(Travellers([ADA, LEO]), twelfth_birthday)[1]["age"] == 12
    traveller = Traveller.model_validate(ADA)
    adult = {"type": "Adult", "gender": "M", "age": 40}
    for group in (AvailabilityGroup.search, McpGroup.search_availability):
        assert [one["age"] for one in searched([traveller, adult], DAY, group)] == [36, 40]
    created = McpGroup.create_booking(None, id="offer", passengers=Travellers([ADA])).call
    assert created.params["arguments"]["passengers"][0]["type"] == "ADT"
    rest = BookingsGroup.create(
        None, availabilities=[selection(None)], passengers=[{"type": "Adult"} | ADA]
    ).call
    for call in (created, rest):
        assert "1991-04-02" in call.secrets()


CONTRADICTIONS = [
    ("born after the day of travel", [ADA, LEO | {"birth_date": "2027-07-01"}], 1, "birth_date"),
    ("another age", [LEO | {"age": 40}, ADA], 0, "age"),
    ("an adult of three", [ADA, LEO | {"birth_date": "2024-01-01", "type": "Adult"}], 1, "type"),
    ("an infant of 30", [ADA, BABY | {"birth_date": "1997-01-01", "type": "Infant"}], 1, "type"),
    ("a child of forty", [ADA | {"birth_date": None, "age": 40, "type": "Child"}], 0, "type"),
    ("an expired document", [ADA | {"doc_expiration": "2027-07-06"}], 0, "doc_expiration"),
    ("one number", [ADA | {"doc_number": "xy 12"}, LEO | {"doc_number": "XY12"}], 1, "doc_number"),
    ("one person twice", [ADA, LEO, ADA | {"first_name": " ZOË "}], 2, "last_name"),
    (
        "a word in the other name",
        [ADA | {"first_name": "Zoë Ng", "last_name": "Li"}, ADA | {"last_name": "Ng Li"}],
        *(1, "last_name"),
    ),
    ("once by age", [ADA, LEO, ADA | {"birth_date": None, "age": 36}], 2, "last_name"),
    ("an infant alone", [BABY], 0, "type"),
    ("an infant with a child", [LEO, BABY], 1, "type"),
]


def test_contradictions_are_refused_before_anything_is_sent_and_what_may_be_true_is_not():
    back = DAY + timedelta(days=7)
    for name, members, traveller, field in CONTRADICTIONS:
        party = Travellers(members)
        found = party.problems(on=DAY, back=str(back))
        assert [(one.traveller, one.field) for one in found] == [(traveller, field)], name
        types = {"Mía": "Infant", "Leo": "Child"}
        kinds = [types.get(one["first_name"], "Adult") for one in members]
        dicts = [{"type": kind} | one for kind, one in zip(kinds, members, strict=True)]
        for passengers in (party, dicts):
            error = caught(InvalidInputError, booked, passengers, at(DAY), at(back))
            assert error.field == f"passengers[{traveller}].{field}", name
            assert "Ng" not in str(error), name
    twin = LEO | {"first_name": "Téo"}
    french, italian = ({"doc_number": "1", "nationality": one} for one in ("FR", "IT"))
    for name, members in [
        ("twins", [ADA, LEO, twin]),
        ("one word and two", [ADA | {"first_name": "Jo Anne"}, ADA | {"first_name": "Joanne"}]),
        ("father and son of one name", [ADA, ADA | {"birth_date": "1960-01-01"}]),
        ("one number in two countries", [ADA | french, LEO | italian]),
        ("an adult of eleven", [LEO | {"type": "Adult"}]),
        ("a child of seventeen", [LEO | {"birth_date": "2010-01-01", "type": "Child"}]),
        ("an infant of three", [ADA, BABY | {"birth_date": "2024-01-01", "type": "Infant"}]),
        ("a document until the last day", [ADA | {"doc_expiration": DAY}]),
        ("two infants with an adult", [ADA, BABY, BABY | {"first_name": "Ian"}]),
    ]:
        party = Travellers(members)
        assert party.problems(on=DAY) == (), name
        assert len(booked(party, at(DAY))) == len(members), name


def test_what_is_missing_is_refused_where_it_is_needed_and_without_a_day_today_is_taken():
    party = Travellers([ADA, {"first_name": "Leo"}])
    assert party.problems(on=DAY) == (
        TravellerProblem(1, "last_name", "required for a booking"),
        TravellerProblem(1, "gender", "required for a search"),
        TravellerProblem(1, "birth_date", "required for a search, or an age"),
    )
    rows = [
        (searched, {"birth_date": "2015-07-01"}, "gender"),
        (searched, {"gender": "F"}, "birth_date"),
        (searched, {"gender": "F", "birth_date": "2027-07-01"}, "birth_date"),
        (booked, {"birth_date": "2015-07-01", "first_name": "Leo"}, "last_name"),
        (booked, {"first_name": "Leo", "last_name": "Roy"}, "type"),
    ]
    for call, members, field in rows:
        day = DAY if call is searched else at(DAY)
        error = caught(InvalidInputError, call, Travellers([ADA, members]), day)
        assert error.field == f"passengers[1].{field}", members
    today = datetime.now(timezone.utc).date()
    born = today - timedelta(days=40 * 365)
    age = age_on(born, today)
    adult = {"type": "Adult", "first_name": "Ana", "last_name": "Šimić", "birth_date": born}
    for given in (age, age + 1):
        assert booked([adult | {"age": given}], None)[0]["age"] == given
    past, future = today - timedelta(days=2), today + timedelta(days=3)
    for name, value in (("age", age + 3), ("doc_expiration", past), ("birth_date", future)):
        error = caught(InvalidInputError, booked, [adult | {name: value}], None)
        assert error.field == f"passengers[0].{name}"
    (sent,) = booked(Travellers([ADA]), None)
    assert "age" not in sent  # the age on the day of travel is not known


def test_one_list_is_searched_and_booked(ferry):
    day = date(2050, 6, 6)
    baby = BABY | {"birth_date": "2049-06-07"}
    party = Travellers([ADA, LEO | {"birth_date": "2038-06-06"}, baby])
    trips = ferry.trips.search("Algeciras", "Ceuta", on=day, passengers=party)
    booking = ferry.bookings.create(availabilities=trips[0].select(), passengers=party)
    assert booking.total_price == trips[0].price
    calendar = ferry.trips.calendar("Algeciras", "Ceuta", start=day, end=day, passengers=party)
    assert calendar.cheapest is not None
    order = {"availabilities": trips[0].select(), "passengers": Travellers([*party, ADA])}
    assert caught(InvalidInputError, ferry.bookings.create, **order).outcome == "not_sent"
