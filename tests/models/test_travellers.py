"""Travellers: one list for a search and its booking, and what cannot be true of a party."""

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest

import ferry_sdk as sdk
from ferry_sdk import AgeBands, InvalidInputError, Traveller, TravellerProblem, Travellers
from ferry_sdk.models.travellers import age_on, first_day_possible
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.mcp import McpGroup
from tests.support.exchanges import caught

DAY = date(2027, 6, 30)
BACK = DAY + timedelta(days=7)
ADA = {
    "first_name": "Zoë",
    "last_name": "Ngũgĩ-O'Brien",
    "gender": "Female",
    "birth_date": "1991-04-02",
}
LEO = ADA | {"first_name": "Leo", "gender": "Male", "birth_date": date(2015, 7, 1)}
TWELFTH_BIRTHDAY = date(2027, 7, 1)
"""Of Leo, who is an adult from then on."""
BABY = LEO | {"first_name": "Mía", "birth_date": "2026-02-28"}
TODAY = datetime.now(UTC).date()
ANA = {
    "type": "Adult",
    "first_name": "Ana",
    "last_name": "Šimić",
    "birth_date": TODAY - timedelta(days=40 * 365),
}
AGE_OF_ANA = age_on(ANA["birth_date"], TODAY)


def selection(depart_at):
    return sdk.Selection(availability_id="a", tariff_id="t", place_id="p", depart_at=depart_at)


def at(day, offset=0):
    return datetime.combine(day, time(0, 30), timezone(timedelta(hours=offset)))


def booked(passengers, *days):
    """Return the passengers in the body of a booking with a sailing on each day."""
    operation = BookingsGroup.create(
        None, availabilities=[selection(day) for day in days], passengers=passengers
    )
    return operation.call.body["passengers"]


def searched(passengers, day, group=AvailabilityGroup.search):
    """Return the passengers in the body of a search."""
    trip = {"company": "GNV", "depart_code": "ITGOA", "arrive_code": "TNTUN", "out_journey_id": "j"}
    call = group(None, **trip, out_at=day, out_time="00:00", passengers=passengers).call
    body = call.params["arguments"] if group is not AvailabilityGroup.search else call.body
    return body["passengers"]


def types_of(passengers):
    return [passenger["type"] for passenger in passengers]


@pytest.fixture
def party():
    """A woman of 36, a boy of 11 and a baby of one year."""
    return Travellers([ADA, LEO, BABY])


@pytest.fixture
def couple():
    """A traveller without a type and a passenger of a booking in one list."""
    return Travellers([Traveller.model_validate(ADA), sdk.Passenger(type="Child", **LEO)])


def test_bands_give_the_type():
    party = Travellers([ADA, LEO, BABY], bands=AgeBands(infant=1, child=18))
    assert types_of(searched(party, DAY)) == ["Adult", "Child", "Child"]


def test_a_given_type_is_believed():
    party = Travellers([ADA, LEO | {"type": "Adult"}])
    assert types_of(searched(party, DAY)) == ["Adult", "Adult"]


@pytest.mark.parametrize("limits", [(-1, 12), (12, 2), (True, 12), (2, 2.5)])
def test_bands_are_whole_ages_in_order(limits):
    caught(InvalidInputError, AgeBands, *limits)


@pytest.mark.parametrize(
    ("travellers", "field"),
    [
        ("Ada", "travellers"),
        (ADA, "travellers"),
        (None, "travellers"),
        ([ADA, {"age": "old"}], "travellers[1].age"),
        ([ADA, {"seat": "12"}], "travellers[1].seat"),
    ],
)
def test_an_invalid_traveller_is_named(travellers, field):
    assert caught(InvalidInputError, Travellers, travellers).field == field


@pytest.mark.parametrize("field", ["on", "back"])
def test_problems_on_no_day_are_refused(party, field):
    error = caught(InvalidInputError, party.problems, **{"on": DAY, field: "soon"})
    assert error.field == field


def test_problems_name_what_is_missing():
    party = Travellers([ADA, {"first_name": "Leo"}])
    assert party.problems(on=DAY) == (
        TravellerProblem(1, "last_name", "required for a booking"),
        TravellerProblem(1, "gender", "required for a search"),
        TravellerProblem(1, "birth_date", "required for a search, or an age"),
    )


def test_a_slice_keeps_the_bands(party):
    assert party[1:].bands == party.bands


def unpickle(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, unpickle])
def test_a_copy_is_equal(couple, duplicate):
    made = duplicate(couple)
    assert made == couple
    assert hash(made) == hash(couple)


def test_other_bands_make_another_list(couple):
    assert couple != Travellers(couple, bands=AgeBands(3))


def test_a_repr_names_nobody(couple):
    assert "Ng" not in f"{couple!r} {couple[0]!r}"


@pytest.mark.parametrize(
    ("born", "day", "age"),
    [
        ("2016-02-29", "2027-02-28", 10),  # a birthday on 29 February counts from 1 March
        ("2016-02-29", "2027-03-01", 11),
        ("2016-02-29", "2028-02-28", 11),
        ("2016-02-29", "2028-02-29", 12),
        ("2015-07-01", "2027-06-30", 11),
        ("2015-07-01", "2027-07-01", 12),
        ("2027-07-01", "2027-06-30", -1),
        ("2027-07-01", "2027-07-01", 0),
    ],
)
def test_an_age_is_in_whole_years(born, day, age):
    assert age_on(date.fromisoformat(born), date.fromisoformat(day)) == age


@pytest.mark.parametrize(
    ("day", "leo", "baby"),
    [
        (DAY, ("Child", 11), ("Infant", 1)),
        (TWELFTH_BIRTHDAY, ("Adult", 12), ("Infant", 1)),
        (date(2028, 2, 28), ("Adult", 12), ("Child", 2)),
    ],
    ids=str,
)
def test_ages_are_those_of_the_first_sailing(party, day, leo, baby):
    expected = [("Adult", 36, 1), (*leo, 2), (*baby, 3)]
    for sent in (searched(party, day), booked(party, at(day), at(day + timedelta(days=7)))):
        assert [(one["type"], one["age"], one["order"]) for one in sent] == expected


@pytest.mark.parametrize("offset", [-10, 0, 13])
def test_the_day_is_that_of_the_port(offset):
    twelfth_birthday = at(TWELFTH_BIRTHDAY, offset)
    assert booked(Travellers([ADA, LEO]), twelfth_birthday)[1]["age"] == 12
    assert booked([LEO | {"type": "Child"}], twelfth_birthday)


@pytest.mark.parametrize("search", [AvailabilityGroup.search, McpGroup.search_availability])
def test_a_search_takes_travellers_among_dicts(search):
    adult = {"type": "Adult", "gender": "M", "age": 40}
    sent = searched([Traveller.model_validate(ADA), adult], DAY, search)
    assert [passenger["age"] for passenger in sent] == [36, 40]


def test_a_tool_gets_the_type_in_its_words():
    call = McpGroup.create_booking(None, id="offer", passengers=Travellers([ADA])).call
    assert types_of(call.params["arguments"]["passengers"]) == ["ADT"]


@pytest.mark.parametrize(
    "operation",
    [
        McpGroup.create_booking(None, id="offer", passengers=Travellers([ADA])),
        BookingsGroup.create(
            None, availabilities=[selection(None)], passengers=[{"type": "Adult"} | ADA]
        ),
    ],
    ids=["MCP", "REST"],
)
def test_a_birth_date_is_a_secret(operation):
    assert "1991-04-02" in operation.call.secrets()


@pytest.mark.parametrize(
    ("call", "values", "field"),
    [
        (searched, {"birth_date": "2015-07-01"}, "gender"),
        (searched, {"gender": "F"}, "birth_date"),
        (searched, {"gender": "F", "birth_date": "2027-07-01"}, "birth_date"),
        (booked, {"birth_date": "2015-07-01", "first_name": "Leo"}, "last_name"),
        (booked, {"first_name": "Leo", "last_name": "Roy"}, "type"),
    ],
)
def test_what_a_call_lacks_is_named(call, values, field):
    day = DAY if call is searched else at(DAY)
    error = caught(InvalidInputError, call, Travellers([ADA, values]), day)
    assert error.field == f"passengers[1].{field}"


CONTRADICTIONS = {
    "born after the day of travel": ([ADA, LEO | {"birth_date": "2027-07-01"}], 1, "birth_date"),
    "another age": ([LEO | {"age": 40}, ADA], 0, "age"),
    "an adult of three": ([ADA, LEO | {"birth_date": "2024-01-01", "type": "Adult"}], 1, "type"),
    "an infant of 30": ([ADA, BABY | {"birth_date": "1997-01-01", "type": "Infant"}], 1, "type"),
    "a child of forty": ([ADA | {"birth_date": None, "age": 40, "type": "Child"}], 0, "type"),
    "an expired document": ([ADA | {"doc_expiration": "2027-07-06"}], 0, "doc_expiration"),
    "one number": ([ADA | {"doc_number": "xy 12"}, LEO | {"doc_number": "XY12"}], 1, "doc_number"),
    "one person twice": ([ADA, LEO, ADA | {"first_name": " ZOË "}], 2, "last_name"),
    "a word in the other name": (
        [ADA | {"first_name": "Zoë Ng", "last_name": "Li"}, ADA | {"last_name": "Ng Li"}],
        1,
        "last_name",
    ),
    "once by age": ([ADA, LEO, ADA | {"birth_date": None, "age": 36}], 2, "last_name"),
    "an infant alone": ([BABY], 0, "type"),
    "an infant with a child": ([LEO, BABY], 1, "type"),
}
"""Parties of which something cannot be true, the traveller that is named, and the field."""
CONTRADICTORY = pytest.mark.parametrize(
    ("members", "traveller", "field"), CONTRADICTIONS.values(), ids=CONTRADICTIONS
)
TYPES = {"Mía": "Infant", "Leo": "Child"}


@CONTRADICTORY
def test_a_contradiction_is_a_problem(members, traveller, field):
    problems = Travellers(members).problems(on=DAY, back=str(BACK))
    assert [(problem.traveller, problem.field) for problem in problems] == [(traveller, field)]


def test_a_problem_counts_travellers_from_0():
    (problem,) = Travellers([LEO, ADA, ADA]).problems(on=DAY)
    assert (problem.traveller, problem.problem) == (2, "the same as of traveller 1")


def check_refusal(passengers, traveller, field):
    """Check that a booking is refused by this field, without a name in the message."""
    error = caught(InvalidInputError, booked, passengers, at(DAY), at(BACK))
    assert error.field == f"passengers[{traveller}].{field}"
    assert "Ng" not in str(error)


@CONTRADICTORY
def test_a_contradiction_is_not_booked(members, traveller, field):
    check_refusal(Travellers(members), traveller, field)


@CONTRADICTORY
def test_a_contradiction_of_dicts_is_not_booked(members, traveller, field):
    dicts = [{"type": TYPES.get(values["first_name"], "Adult")} | values for values in members]
    check_refusal(dicts, traveller, field)


IN_FRANCE = {"doc_number": "1", "nationality": "FR"}
IN_ITALY = {"doc_number": "1", "nationality": "IT"}
POSSIBLE = {
    "twins": [ADA, LEO, LEO | {"first_name": "Téo"}],
    "one word and two": [ADA | {"first_name": "Jo Anne"}, ADA | {"first_name": "Joanne"}],
    "father and son of one name": [ADA, ADA | {"birth_date": "1960-01-01"}],
    "one number in two countries": [ADA | IN_FRANCE, LEO | IN_ITALY],
    "an adult of eleven": [LEO | {"type": "Adult"}],
    "a child of seventeen": [LEO | {"birth_date": "2010-01-01", "type": "Child"}],
    "an infant of three": [ADA, BABY | {"birth_date": "2024-01-01", "type": "Infant"}],
    "a document until the last day": [ADA | {"doc_expiration": DAY}],
    "two infants with an adult": [ADA, BABY, BABY | {"first_name": "Ian"}],
}


@pytest.mark.parametrize("members", POSSIBLE.values(), ids=POSSIBLE)
def test_what_may_be_true_is_booked(members):
    party = Travellers(members)
    assert party.problems(on=DAY) == ()
    assert len(booked(party, at(DAY))) == len(members)


def test_a_birth_tomorrow_may_precede_an_unknown_day():
    tomorrow = first_day_possible() + timedelta(days=1)
    party = Travellers([ADA, LEO | {"birth_date": tomorrow}], bands=AgeBands(0))
    assert types_of(booked(party, None)) == ["Adult", "Child"]


@pytest.mark.parametrize("age", [AGE_OF_ANA, AGE_OF_ANA + 1])
def test_a_birthday_may_precede_an_unknown_day(age):
    assert booked([ANA | {"age": age}], None)[0]["age"] == age


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("age", AGE_OF_ANA + 3),
        ("doc_expiration", TODAY - timedelta(days=2)),
        ("birth_date", TODAY + timedelta(days=3)),
    ],
)
def test_without_a_day_today_is_taken(field, value):
    error = caught(InvalidInputError, booked, [ANA | {field: value}], None)
    assert error.field == f"passengers[0].{field}"


def test_no_age_of_an_unknown_day_is_sent():
    (passenger,) = booked(Travellers([ADA]), None)
    assert "age" not in passenger


@pytest.fixture
def day():
    return date(2050, 6, 6)


@pytest.fixture
def family():
    """A woman, a boy on his twelfth birthday and a baby on the last day of its first year."""
    return Travellers(
        [ADA, LEO | {"birth_date": "2038-06-06"}, BABY | {"birth_date": "2049-06-07"}]
    )


@pytest.fixture
def trip(ferry, day, family):
    """The first trip that a search for the family finds."""
    return ferry.trips.search("Algeciras", "Ceuta", on=day, passengers=family)[0]


def test_a_searched_list_is_booked(ferry, trip, family):
    booking = ferry.bookings.create(availabilities=trip.select(), passengers=family)
    assert booking.total_price == trip.price


@pytest.mark.slow
def test_one_list_makes_a_calendar(ferry, day, family):
    calendar = ferry.trips.calendar("Algeciras", "Ceuta", start=day, end=day, passengers=family)
    assert calendar.cheapest is not None


def test_a_contradiction_is_not_sent(ferry, family):
    order = {"availabilities": [selection(None)], "passengers": Travellers([*family, ADA])}
    assert caught(InvalidInputError, ferry.bookings.create, **order).outcome == "not_sent"
