"""Inputs, as models or dicts: validated before sending, and not repeated in errors."""

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from itertools import product

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
from tests.support.tables import each
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


def test_a_call_is_the_same_from_models_or_dicts_and_for_a_traveller_in_any_words():
    as_models = search_body(
        passengers=[sdk.SearchPassenger(type=PassengerType.ADULT, gender=Gender.FEMALE, age=34)],
        vehicle=sdk.VehicleQuery(code="ABARTH__595"),
    )
    assert as_models == search_body(vehicle={"code": "ABARTH__595"})
    vehicle = {"code": "CAR", "identification": "AB-123"}
    contact = {"name": "Ada", "email": "ada@example.org"}
    passenger, mine = Passenger.model_validate(TRAVELLER), dict(TRAVELLER)
    as_models = booking(
        availabilities=(Selection(**SELECTION),),
        passengers=(passenger,),
        vehicle=sdk.Vehicle(**vehicle),
        contact=Contact(**contact),
    )
    assert as_models == booking(passengers=[mine], vehicle=vehicle, contact=contact)
    assert mine == TRAVELLER
    body = booking(passengers=[TRAVELLER, Passenger.model_validate(GROWN_UP)])
    assert [one["order"] for one in body["passengers"]] == [1, 2]
    assert rejected(booking, passengers=[Selection(**SELECTION)]) == "passengers[0]"
    caught(ValidationError, setattr, passenger, "first_name", "Eve")
    for rest, param, mcp, words in (
        ("Adult", "A", "ADT", ("A", "ADT", "Adult", "adult", "ADULT")),
        ("Child", "C", "CHD", ("C", "CHD", "Child", "c")),
        ("Infant", "I", "INF", ("I", "INF", "Infant", PassengerType.INFANT)),
    ):
        for said in words:
            found = search_body(passengers=[{**ADULT, "type": said}])["passengers"][0]
            assert (found["type"], found["param"]) == (rest, param), said
            party = [{**TRAVELLER, "type": said}, GROWN_UP]
            assert booking(passengers=party)["passengers"][0]["type"] == rest
            tool = McpGroup.create_booking(None, id="a1", passengers=party).call.params
            assert tool["arguments"]["passengers"][0]["type"] == mcp
    for word, names in (
        ("Male", ("M", "Male", "male")),
        ("Female", (Gender.FEMALE, "F", "FEMALE")),
    ):
        for said in names:
            (found,) = search_body(passengers=[{**ADULT, "gender": said}])["passengers"]
            assert found["gender"] == word
            (booked,) = booking(passengers=[{**TRAVELLER, "gender": said}])["passengers"]
            assert booked["gender"] == word[0]


@each("search", [AvailabilityGroup.search, McpGroup.search_availability])
def test_the_param_of_a_search_passenger_is_taken_unless_it_contradicts_the_type(search):
    for kind, param in (("Adult", "A"), ("CHD", "C"), ("Infant", "I"), ("A", None)):
        row = {"order": 1, "type": kind, "param": param, "gender": "Female", "age": 34}
        without = {name: value for name, value in row.items() if name != "param"}
        calls = [
            search(None, **TRIP, passengers=[one]).call
            for one in (row, sdk.SearchPassenger.model_validate(row), without)
        ]
        bodies = [getattr(one, "params", None) or one.body for one in calls]
        assert bodies[0] == bodies[1] == bodies[2]
        (sent,) = bodies[0].get("arguments", bodies[0])["passengers"]
        assert sent["param"] == (param or "A")
    for param in ("C", "a", "", "Adult", 1, True, ["A"]):
        party = [ADULT, ADULT | {"param": param}]
        assert rejected(search, self=None, **TRIP, passengers=party) == "passengers[1].param", param


ARABIC_DIGITS = "\u0662\u0660\u0662\u0666-\u0660\u0667-\u0661\u0664"
NO_DATES = (
    *("", "14/07/2026", "2026-7-14", "2026-02-30", "20260714", "2026-07-14T08:30", "2026-07-14\n"),
    *(ARABIC_DIGITS, time(8, 30)),
)
NO_TIMES = ("", "8:30", "08:60", "24:00", "0830", "08:30:00", "08:30\n")


MONEY = TypeAdapter(Money).validate_python


@MANY
@given(st.decimals(-(10**12), 10**12, allow_nan=False), st.floats())
def test_decimals_ints_and_texts_are_exact_and_floats_are_refused(amount, number):
    assert MONEY(amount) == MONEY(str(amount)) == amount
    assert MONEY(int(amount)) == int(amount)
    assert "never a float" in str(caught(ValidationError, MONEY, number))


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
    *(
        (f"passengers[0].{name}", {"passengers": [{**ADULT, name: word}]})
        for name, word in product(("type", "gender"), ("", " ", "X", "adt.", "males", "\uff2d"))
    ),
    ("passengers", {"passengers": []}),
    ("vehicle.code", {"vehicle": {"code": ""}}),
    ("vehicle.code", {"vehicle": {"kode": CANARY}}),
]


def test_a_refusal_names_the_field_and_not_its_value():
    for call, rows in ((booking, OF_BOOKINGS), (search_body, OF_SEARCHES)):
        for field, arguments in rows:
            assert rejected(call, **arguments) == field
    for field, values in (
        *((name, (CANARY,)) for name in ("frist_name", "birth_date", "nationality")),
        *((name, (CANARY,)) for name in ("doc_expiration", "gender")),
        *(("age", (CANARY, -1, 131, 7.5)), ("order", (CANARY, 0)), ("first_name", (" ", None))),
        ("type", (None, 1, True, ["Adult"])),
    ):
        for value in values:
            party = [GROWN_UP, {**TRAVELLER, field: value}]
            assert rejected(booking, passengers=party) == f"passengers[1].{field}", value
    with pytest.raises(ValueError, match=r"^out_at: expected a date"):
        search_body(out_at="tomorrow")


def test_none_is_left_out_false_is_a_value_and_dates_times_and_money_are_what_they_say():
    nothing = dict.fromkeys(("reservation_type", "vehicle", "contact"))
    passenger = TRAVELLER | dict.fromkeys(("age", "doc_type", "birth_date"))
    assert booking(passengers=[passenger], **nothing) == booking()
    names = "out_is_open ret_journey_id ret_at ret_time ret_is_open vehicle"
    assert search_body(**dict.fromkeys(names.split())) == search_body()
    body = TicketsGroup.cancel(None, "t1", ticket_number=None).call.body
    assert body == {"ticket_id": "t1"}
    call = McpGroup.cancel_ticket(None, "t1", ticket_number=None).call
    assert call.params["arguments"] == {"ticket_id": "t1"}
    body = BookingsGroup.cancel(None, "b1", booking_reference=None).call.body
    assert body == {"booking_id": "b1"}
    given = {"external_payment_ref": "p", "psp": None, "paid_at": None}
    paid = TicketsGroup.mark_paid(None, "t1", **given).call
    assert (paid.path, paid.body) == ("ticket/t1/mark-paid", {"external_payment_ref": "p"})
    assert search_body(out_is_open=False)["request"]["out_is_open"] is False
    infant = {**TRAVELLER, "type": "Infant", "age": 0}
    assert booking(passengers=[infant, GROWN_UP])["passengers"][0]["age"] == 0
    found = search_body(passengers=[{**ADULT, "type": "Infant", "age": 0}])
    assert found["passengers"][0]["age"] == 0
    party = [ADULT, {**ADULT, "order": 7}, ADULT]
    assert [one["order"] for one in search_body(passengers=party)["passengers"]] == [1, 7, 3]
    for said in ("2026-07-14", LATE.date(), LATE.replace(hour=23)):
        assert search_body(out_at=said)["request"]["out_at"] == "2026-07-14", said
    for said in ("08:30", time(8, 30), time(8, 30, 59), LATE):
        assert search_body(out_time=said)["request"]["out_time"] == "08:30", said
    for name, values in (("out_at", NO_DATES), ("out_time", NO_TIMES)):
        for said in values:
            assert rejected(search_body, **{name: said}) == name, said
    at = datetime(2026, 7, 14, 8, 30, tzinfo=timezone.utc)
    pay = partial(TicketsGroup.mark_paid, None, "t1", external_payment_ref="p")
    assert pay(paid_at=at).call.body["paid_at"] == "2026-07-14T08:30:00+00:00"
    assert pay(paid_at="2026-07-14T08:30:00Z").call.body["paid_at"] == "2026-07-14T08:30:00Z"
    for bad in (at.replace(tzinfo=None), "", 1777636800, date(2026, 7, 14)):
        assert rejected(pay, paid_at=bad) == "paid_at"
    for bad in (True, False, None, "", "ten", "NaN", Decimal("Infinity")):
        caught(ValidationError, MONEY, bad)


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
        expiration_date=st.datetimes(timezones=st.just(timezone.utc)),
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
def test_a_dict_has_the_values_of_its_model_and_is_the_same_on_the_wire_as_pydantic_writes_it(case):
    model, fields = case
    made = model.model_validate(fields)
    by_pydantic = made.model_dump(mode="json", exclude_none=True, exclude=NOT_SENT[model])
    for value in (fields, made):
        assert sent(model, value) == encode_json(by_pydantic)
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
@given(TEXTS, st.text(max_size=4))
def test_a_name_goes_as_on_the_passport_and_a_country_has_two_letters(name, country):
    body = booking(passengers=[{**TRAVELLER, "last_name": name}])
    assert body["passengers"][0]["last_name"] == name.strip()
    party = [{**TRAVELLER, "nationality": country}]
    if len(country) == 2 and country.isascii() and country.isalpha():
        assert booking(passengers=party)["passengers"][0]["nationality"] == country.upper()
    else:
        assert rejected(booking, passengers=party) == "passengers[0].nationality"
