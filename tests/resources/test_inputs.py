"""Inputs, as models or dicts: validated before sending, and not repeated in errors."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

import ferry_sdk as sdk
from ferry_sdk import Contact, Gender, InvalidInputError, Passenger, PassengerType, Selection
from ferry_sdk._protocols.json_body import encode_json
from ferry_sdk.models.base import Money, path_of
from ferry_sdk.resources.arguments import drop_none, values_of
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup
from tests.support.exchanges import caught
from tests.support.tiers import examples

MANY = examples(60)
CANARY = "Zq7-canary"
TRIP = {
    "company": "GNV",
    "depart_code": "ITGOA",
    "arrive_code": "ITPMO",
    "out_journey_id": "j1",
    "out_at": "2026-07-14",
    "out_time": "08:30",
}
ADULT = {"type": "Adult", "gender": "Female", "age": 34}
TRAVELLER = {"type": "Adult", "first_name": "Ada", "last_name": "Byron"}
LATE = datetime(2026, 7, 14, 8, 30, 59, tzinfo=timezone(timedelta(hours=9)))
GROWN_UP = {"type": "Adult", "first_name": "Édith", "last_name": "Byron"}
SELECTION = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}


def search_body(**more):
    return AvailabilityGroup.search(None, **{**TRIP, "passengers": [ADULT], **more}).call.body


def booking(**more):
    given = {"availabilities": [SELECTION], "passengers": [TRAVELLER], **more}
    return BookingsGroup.create(None, **given).call.body


def rejected(make, /, **arguments):
    error = caught(InvalidInputError, make, **arguments)
    assert error.outcome == "not_sent"
    assert CANARY not in f"{error} {error!r}"
    assert error.__cause__ is None
    return error.field


VEHICLE = {"code": "CAR", "identification": "AB-123"}
CONTACT = {"name": "Ada", "email": "ada@example.org"}


def searched_passenger(**values):
    """Return the passenger that a search sends."""
    (passenger,) = search_body(passengers=[{**ADULT, **values}])["passengers"]
    return passenger


def booked_passenger(**values):
    """Return the first passenger that a booking of two sends."""
    return booking(passengers=[{**TRAVELLER, **values}, GROWN_UP])["passengers"][0]


def test_a_search_takes_models_or_dicts():
    as_models = search_body(
        passengers=[sdk.SearchPassenger(type=PassengerType.ADULT, gender=Gender.FEMALE, age=34)],
        vehicle=sdk.VehicleQuery(code="ABARTH__595"),
    )
    assert as_models == search_body(vehicle={"code": "ABARTH__595"})


def test_a_booking_takes_models_or_dicts():
    as_models = booking(
        availabilities=(Selection(**SELECTION),),
        passengers=(Passenger.model_validate(TRAVELLER),),
        vehicle=sdk.Vehicle(**VEHICLE),
        contact=Contact(**CONTACT),
    )
    assert as_models == booking(vehicle=VEHICLE, contact=CONTACT)


def test_a_booking_changes_no_dict_of_its_caller():
    passenger = dict(TRAVELLER)
    booking(passengers=[passenger])
    assert passenger == TRAVELLER


def test_passengers_are_numbered():
    body = booking(passengers=[TRAVELLER, Passenger.model_validate(GROWN_UP)])
    assert [passenger["order"] for passenger in body["passengers"]] == [1, 2]


def test_a_given_number_is_kept():
    body = search_body(passengers=[ADULT, {**ADULT, "order": 7}, ADULT])
    assert [passenger["order"] for passenger in body["passengers"]] == [1, 7, 3]


def test_another_model_is_no_passenger():
    assert rejected(booking, passengers=[Selection(**SELECTION)]) == "passengers[0]"


def test_an_input_cannot_be_changed():
    caught(ValidationError, setattr, Passenger.model_validate(TRAVELLER), "first_name", "Eve")


@pytest.mark.parametrize(
    ("word", "name", "param", "tool_code"),
    [
        ("A", "Adult", "A", "ADT"),
        ("ADT", "Adult", "A", "ADT"),
        ("Adult", "Adult", "A", "ADT"),
        ("adult", "Adult", "A", "ADT"),
        ("ADULT", "Adult", "A", "ADT"),
        ("C", "Child", "C", "CHD"),
        ("CHD", "Child", "C", "CHD"),
        ("Child", "Child", "C", "CHD"),
        ("c", "Child", "C", "CHD"),
        ("I", "Infant", "I", "INF"),
        ("INF", "Infant", "I", "INF"),
        ("Infant", "Infant", "I", "INF"),
        (PassengerType.INFANT, "Infant", "I", "INF"),
    ],
)
def test_a_type_is_taken_in_any_word(word, name, param, tool_code):
    searched = searched_passenger(type=word)
    assert (searched["type"], searched["param"]) == (name, param)
    party = [{**TRAVELLER, "type": word}, GROWN_UP]
    assert booking(passengers=party)["passengers"][0]["type"] == name
    tool = McpGroup.create_booking(None, id="a1", passengers=party).call.params
    assert tool["arguments"]["passengers"][0]["type"] == tool_code


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("M", "Male"),
        ("Male", "Male"),
        ("male", "Male"),
        (Gender.FEMALE, "Female"),
        ("F", "Female"),
        ("FEMALE", "Female"),
    ],
)
def test_a_gender_is_taken_in_any_word(word, name):
    assert searched_passenger(gender=word)["gender"] == name
    assert booked_passenger(gender=word)["gender"] == name[0]


SEARCHES = pytest.mark.parametrize(
    "search", [AvailabilityGroup.search, McpGroup.search_availability], ids=["REST", "MCP"]
)


def passengers_of(search, *passengers):
    """Return the passengers in the body of a search."""
    call = search(None, **TRIP, passengers=passengers).call
    body = call.params["arguments"] if search is McpGroup.search_availability else call.body
    return body["passengers"]


@SEARCHES
@pytest.mark.parametrize(
    ("kind", "param"), [("Adult", "A"), ("CHD", "C"), ("Infant", "I"), ("A", None)]
)
def test_a_param_of_the_type_is_taken(search, kind, param):
    values = {"order": 1, "type": kind, "param": param, "gender": "Female", "age": 34}
    without_param = {name: value for name, value in values.items() if name != "param"}

    (from_dict,) = passengers_of(search, values)
    (from_model,) = passengers_of(search, sdk.SearchPassenger.model_validate(values))
    (derived,) = passengers_of(search, without_param)

    assert from_dict == from_model == derived
    assert from_dict["param"] == (param or "A")


@SEARCHES
@pytest.mark.parametrize("param", ["C", "a", "", "Adult", 1, True, ["A"]], ids=repr)
def test_a_param_of_another_type_is_refused(search, param):
    party = [ADULT, ADULT | {"param": param}]
    assert rejected(search, self=None, **TRIP, passengers=party) == "passengers[1].param"


ARABIC_DIGITS = "\u0662\u0660\u0662\u0666-\u0660\u0667-\u0661\u0664"
NO_DATES = (
    "",
    "14/07/2026",
    "2026-7-14",
    "2026-02-30",
    "20260714",
    "2026-07-14T08:30",
    "2026-07-14\n",
    ARABIC_DIGITS,
    time(8, 30),
)
NO_TIMES = ("", "8:30", "08:60", "24:00", "0830", "08:30:00", "08:30\n")


MONEY = TypeAdapter(Money).validate_python


@MANY
@given(st.decimals(-(10**12), 10**12, allow_nan=False))
def test_money_is_exact(amount):
    assert MONEY(amount) == MONEY(str(amount)) == amount
    assert MONEY(int(amount)) == int(amount)


@MANY
@given(st.floats())
def test_a_float_is_no_money(number):
    assert "never a float" in str(caught(ValidationError, MONEY, number))


@pytest.mark.parametrize(
    "value", [True, False, None, "", "ten", "NaN", Decimal("Infinity")], ids=repr
)
def test_another_value_is_no_money(value):
    caught(ValidationError, MONEY, value)


PAIR = {"name": "A", "email": "a@b"}
OF_BOOKINGS = [
    ("passengers[0]", {"passengers": [CANARY]}),
    ("passengers", {"passengers": TRAVELLER}),
    ("passengers", {"passengers": []}),
    ("availabilities", {"availabilities": []}),
    ("availabilities[0].place_id", {"availabilities": [{**SELECTION, "place_id": ""}]}),
    ("availabilities[0].placeid", {"availabilities": [{**SELECTION, "placeid": CANARY}]}),
    ("availabilities[0].tariff_id", {"availabilities": [{**SELECTION, "tariff_id": 5}]}),
    ("vehicle.code", {"vehicle": {"brand": CANARY}}),
    ("vehicle.plate", {"vehicle": {"code": "CAR", "plate": CANARY}}),
    ("vehicle", {"vehicle": CANARY}),
    ("contact.email", {"contact": {"name": CANARY}}),
    ("contact.fax", {"contact": {**PAIR, "fax": CANARY}}),
    ("contact.email", {"contact": {**PAIR, "email": 5}}),
]
OF_SEARCHES = [
    ("company", {"company": ""}),
    ("depart_code", {"depart_code": " "}),
    ("out_journey_id", {"out_journey_id": ".."}),
    ("passengers[0].age", {"passengers": [{**ADULT, "age": CANARY}]}),
    ("passengers[0].age", {"passengers": [{"type": "Adult", "gender": "F"}]}),
    ("passengers[1].name", {"passengers": [ADULT, {**ADULT, "name": CANARY}]}),
    ("passengers", {"passengers": []}),
    ("vehicle.code", {"vehicle": {"code": ""}}),
    ("vehicle.code", {"vehicle": {"kode": CANARY}}),
]


def ids_of(rows):
    return [f"{index} {field}" for index, (field, _) in enumerate(rows)]


@pytest.mark.parametrize(("field", "arguments"), OF_BOOKINGS, ids=ids_of(OF_BOOKINGS))
def test_a_booking_is_refused_by_the_field(field, arguments):
    assert rejected(booking, **arguments) == field


@pytest.mark.parametrize(("field", "arguments"), OF_SEARCHES, ids=ids_of(OF_SEARCHES))
def test_a_search_is_refused_by_the_field(field, arguments):
    assert rejected(search_body, **arguments) == field


@pytest.mark.parametrize("word", ["", " ", "X", "adt.", "males", "\uff2d"], ids=ascii)
def test_another_word_is_no_type(word):
    assert rejected(searched_passenger, type=word) == "passengers[0].type"


@pytest.mark.parametrize("word", ["", " ", "X", "adt.", "males", "\uff2d"], ids=ascii)
def test_another_word_is_no_gender(word):
    assert rejected(searched_passenger, gender=word) == "passengers[0].gender"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("frist_name", CANARY),
        ("birth_date", CANARY),
        ("nationality", CANARY),
        ("doc_expiration", CANARY),
        ("gender", CANARY),
        ("age", CANARY),
        ("age", -1),
        ("age", 131),
        ("age", 7.5),
        ("order", CANARY),
        ("order", 0),
        ("first_name", " "),
        ("first_name", None),
        ("type", None),
        ("type", 1),
        ("type", True),
        ("type", ["Adult"]),
    ],
)
def test_an_invalid_passenger_is_refused_by_the_field(field, value):
    party = [GROWN_UP, {**TRAVELLER, field: value}]
    assert rejected(booking, passengers=party) == f"passengers[1].{field}"


def test_a_refusal_says_what_is_expected():
    with pytest.raises(ValueError, match=r"^out_at: expected a date"):
        search_body(out_at="tomorrow")


def test_none_is_left_out_of_a_booking():
    nothing = dict.fromkeys(("reservation_type", "vehicle", "contact"))
    passenger = TRAVELLER | dict.fromkeys(("age", "doc_type", "birth_date"))
    assert booking(passengers=[passenger], **nothing) == booking()


def test_none_is_left_out_of_a_search():
    optional = ("out_is_open", "ret_journey_id", "ret_at", "ret_time", "ret_is_open", "vehicle")
    assert search_body(**dict.fromkeys(optional)) == search_body()


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        (TicketsGroup.cancel(None, "t1", ticket_number=None), {"ticket_id": "t1"}),
        (BookingsGroup.cancel(None, "b1", booking_reference=None), {"booking_id": "b1"}),
        (
            TicketsGroup.mark_paid(None, "t1", external_payment_ref="p", psp=None, paid_at=None),
            {"external_payment_ref": "p"},
        ),
    ],
    ids=lambda operation: getattr(operation, "name", ""),
)
def test_none_is_left_out_of_a_body(operation, body):
    assert operation.call.body == body


def test_none_is_left_out_of_tool_arguments():
    call = McpGroup.cancel_ticket(None, "t1", ticket_number=None).call
    assert call.params["arguments"] == {"ticket_id": "t1"}


def test_false_is_sent():
    assert search_body(out_is_open=False)["request"]["out_is_open"] is False


def test_an_age_of_zero_is_sent():
    assert booked_passenger(type="Infant", age=0)["age"] == 0
    assert searched_passenger(type="Infant", age=0)["age"] == 0


@pytest.mark.parametrize("value", ["2026-07-14", LATE.date(), LATE.replace(hour=23)], ids=str)
def test_a_date_is_sent_as_a_day(value):
    assert search_body(out_at=value)["request"]["out_at"] == "2026-07-14"


@pytest.mark.parametrize("value", ["08:30", time(8, 30), time(8, 30, 59), LATE], ids=str)
def test_a_time_is_sent_in_minutes(value):
    assert search_body(out_time=value)["request"]["out_time"] == "08:30"


@pytest.mark.parametrize("value", NO_DATES, ids=ascii)
def test_another_value_is_no_date(value):
    assert rejected(search_body, out_at=value) == "out_at"


@pytest.mark.parametrize("value", NO_TIMES, ids=ascii)
def test_another_value_is_no_time(value):
    assert rejected(search_body, out_time=value) == "out_time"


AT = datetime(2026, 7, 14, 8, 30, tzinfo=UTC)


def pay(paid_at):
    """Return the body of a payment."""
    operation = TicketsGroup.mark_paid(None, "t1", external_payment_ref="p", paid_at=paid_at)
    return operation.call.body


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (AT, "2026-07-14T08:30:00+00:00"),
        ("2026-07-14T08:30:00Z", "2026-07-14T08:30:00Z"),
    ],
    ids=["datetime", "text"],
)
def test_a_moment_is_sent_with_its_offset(value, text):
    assert pay(value)["paid_at"] == text


@pytest.mark.parametrize(
    "value", [AT.replace(tzinfo=None), "", 1777636800, date(2026, 7, 14)], ids=str
)
def test_another_value_is_no_moment(value):
    assert rejected(pay, paid_at=value) == "paid_at"


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12).filter(str.strip)
DAYS = st.one_of(
    st.dates(), st.dates().map(str), st.dates().map(lambda each: datetime.combine(each, time()))
)
GENDERS = st.sampled_from(["F", "male", Gender.MALE])
AGES = st.one_of(st.integers(0, 130), st.integers(0, 130).map(str), st.booleans())
KINDS = st.sampled_from([*PassengerType, "A", "chd"])
ORDERS = st.one_of(st.none(), st.integers(min_value=1))


def inputs(model, required, /, **optional):
    return st.tuples(st.just(model), st.fixed_dictionaries(required, optional=optional))


WIRE_INPUTS = st.one_of(
    inputs(
        Passenger,
        {"type": KINDS, "first_name": TEXTS, "last_name": TEXTS},
        gender=GENDERS,
        age=AGES,
        order=ORDERS,
        **dict.fromkeys(("doc_type", "doc_number", "email"), TEXTS),
        **dict.fromkeys(("birth_date", "doc_expiration"), DAYS),
        nationality=st.sampled_from(["es", "FR"]),
    ),
    inputs(
        Selection,
        dict.fromkeys(("availability_id", "tariff_id", "place_id"), TEXTS),
        **dict.fromkeys(("company", "reservation_type"), TEXTS),
        amount=st.decimals(0, 900, places=2),
        currency=st.just("eur"),
        expiration_date=st.datetimes(timezones=st.just(UTC)),
        roundtrip_locked=st.booleans(),
    ),
    inputs(
        sdk.Vehicle,
        {"code": TEXTS},
        **dict.fromkeys(("vehicule_code", "brand", "identification"), TEXTS),
        model=st.none(),
    ),
    inputs(Contact, {"name": TEXTS, "email": TEXTS}, prefix=TEXTS, phone=TEXTS),
    inputs(sdk.VehicleQuery, {"code": TEXTS}),
)
NOT_SENT = dict.fromkeys((Passenger, sdk.Vehicle, Contact, sdk.VehicleQuery), frozenset())
NOT_SENT[Selection] = {*Selection.model_fields} - {*SELECTION}


def sent(model, value):
    values = values_of(model, value, "input")
    return encode_json({name: one for name, one in values.items() if name not in NOT_SENT[model]})


@MANY
@given(WIRE_INPUTS)
def test_an_input_is_sent_as_pydantic_writes_it(case):
    model, fields = case
    made = model.model_validate(fields)
    by_pydantic = made.model_dump(mode="json", exclude_none=True, exclude=NOT_SENT[model])
    assert sent(model, fields) == sent(model, made) == encode_json(by_pydantic)


@MANY
@given(WIRE_INPUTS)
def test_a_dict_has_the_values_of_its_model(case):
    model, fields = case
    made = model.model_validate(fields)
    values = {name: value for name, value in vars(made).items() if name in fields}
    assert values_of(model, fields, "input") == drop_none(values)


@MANY
@given(WIRE_INPUTS, st.data())
def test_a_dict_is_refused_as_its_model_is(case, data):
    model, fields = case
    name = data.draw(st.sampled_from([*model.model_fields, "unknown"]))
    fields[name] = data.draw(st.sampled_from([None, "", "x" * 9, -1, 131, 1.5, [], {}, b"", True]))
    try:
        made = model.model_validate(fields)
    except ValidationError as error:
        refusal = caught(InvalidInputError, values_of, model, fields, "input")
        where, problem = path_of(error)
        assert refusal.field == f"input.{where}"
        assert problem in str(refusal)
    else:
        assert sent(model, fields) == sent(model, made)


@MANY
@given(TEXTS)
def test_a_name_is_sent_without_spaces_around(name):
    assert booked_passenger(last_name=name)["last_name"] == name.strip()


@MANY
@given(st.text(max_size=4))
def test_a_country_has_two_letters(country):
    if len(country) == 2 and country.isascii() and country.isalpha():
        assert booked_passenger(nationality=country)["nationality"] == country.upper()
    else:
        assert rejected(booked_passenger, nationality=country) == "passengers[0].nationality"
