"""Inputs, as models or dicts: validated before sending, and not repeated in errors."""

from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from ferry_sdk import (
    Contact,
    Gender,
    InvalidInputError,
    Passenger,
    PassengerType,
    SearchPassenger,
    Selection,
    Vehicle,
    VehicleQuery,
)
from ferry_sdk._protocols.json_body import encode_json
from ferry_sdk.models.base import Money, path_of
from ferry_sdk.resources.arguments import clock_time, day, drop_none, moment, values_of
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
    """Return the body of a search."""
    given = {**TRIP, "passengers": [ADULT], **more}
    return AvailabilityGroup.search(None, **given).call.body


def booking(**more):
    """Return the body of a booking."""
    given = {"availabilities": [SELECTION], "passengers": [TRAVELLER], **more}
    return BookingsGroup.create(None, **given).call.body


def assert_rejected(make, /, **arguments):
    error = caught(InvalidInputError, make, **arguments)
    assert error.outcome == "not_sent"
    assert CANARY not in str(error)
    assert CANARY not in repr(error)
    assert error.__cause__ is None
    return error.field


class TestModelsOrDicts:
    def test_a_call_is_the_same_from_either(self):
        as_models = search_body(
            passengers=[SearchPassenger(type=PassengerType.ADULT, gender=Gender.FEMALE, age=34)],
            vehicle=VehicleQuery(code="ABARTH__595"),
        )
        assert as_models == search_body(vehicle={"code": "ABARTH__595"})
        vehicle = {"code": "CAR", "identification": "AB-123"}
        contact = {"name": "Ada", "email": "ada@example.org"}
        as_models = booking(
            availabilities=(Selection(**SELECTION),),
            passengers=(Passenger.model_validate(TRAVELLER),),
            vehicle=Vehicle(**vehicle),
            contact=Contact(**contact),
        )
        assert as_models == booking(vehicle=vehicle, contact=contact)

    def test_models_and_dicts_may_stand_in_one_list(self):
        body = booking(passengers=[TRAVELLER, Passenger.model_validate(GROWN_UP)])
        assert [one["order"] for one in body["passengers"]] == [1, 2]

    def test_the_model_of_something_else_is_refused(self):
        assert assert_rejected(booking, passengers=[Selection(**SELECTION)]) == "passengers[0]"

    def test_an_input_cannot_be_changed(self):
        passenger = Passenger.model_validate(TRAVELLER)
        with pytest.raises(ValidationError):
            passenger.first_name = "Eve"

    def test_what_was_handed_in_is_left_as_it_was(self):
        mine = dict(TRAVELLER)
        booking(passengers=[mine])
        assert mine == TRAVELLER


class TestVocabulary:
    @each(
        ("said", "rest", "param", "mcp"),
        [
            *[(word, "Adult", "A", "ADT") for word in ("A", "ADT", "Adult", "adult", "ADULT")],
            *[(word, "Child", "C", "CHD") for word in ("C", "CHD", "Child", "c")],
            *[(word, "Infant", "I", "INF") for word in ("I", "INF", "Infant")],
            (PassengerType.INFANT, "Infant", "I", "INF"),
        ],
    )
    def test_the_type_of_a_traveller_in_any_words(self, said, rest, param, mcp):
        found = search_body(passengers=[{**ADULT, "type": said}])["passengers"][0]
        assert (found["type"], found["param"]) == (rest, param)
        party = [{**TRAVELLER, "type": said}, GROWN_UP]
        assert booking(passengers=party)["passengers"][0]["type"] == rest
        tool = McpGroup.create_booking(None, id="a1", passengers=party).call.params
        assert tool["arguments"]["passengers"][0]["type"] == mcp

    @each(
        ("word", "names"),
        [("Male", ("M", "Male", "male")), ("Female", (Gender.FEMALE, "F", "FEMALE"))],
    )
    def test_the_gender_in_any_words(self, word, names):
        for said in names:
            (found,) = search_body(passengers=[{**ADULT, "gender": said}])["passengers"]
            assert found["gender"] == word
            (booked,) = booking(passengers=[{**TRAVELLER, "gender": said}])["passengers"]
            assert booked["gender"] == word[0]

    @MANY
    @given(st.text(max_size=10))
    def test_other_words_are_refused(self, word):
        types = {"A", "ADT", "ADULT", "C", "CHD", "CHILD", "I", "INF", "INFANT"}
        for name, known in (("type", types), ("gender", {"M", "MALE", "F", "FEMALE"})):
            if word.upper() not in known:
                field = assert_rejected(search_body, passengers=[{**ADULT, name: word}])
                assert field == f"passengers[0].{name}"

    @each(("kind", "param"), [("Adult", "A"), ("CHD", "C"), ("Infant", "I"), ("A", None)])
    @each("as_model", [False, True])
    def test_a_search_passenger_of_the_interfaces_own_table_is_taken(self, kind, param, as_model):
        row = {"order": 1, "type": kind, "param": param, "gender": "Female", "age": 34}
        party = [SearchPassenger.model_validate(row) if as_model else row]
        without = [{name: value for name, value in row.items() if name != "param"}]
        assert search_body(passengers=party) == search_body(passengers=without)
        tool = McpGroup.search_availability(None, **TRIP, passengers=party).call.params
        assert tool["arguments"]["passengers"][0]["param"] == (param or "A")

    @each("param", ["C", "a", "", "Adult", 1, True, ["A"]])
    @each("search", [AvailabilityGroup.search, McpGroup.search_availability])
    def test_a_param_that_contradicts_the_type_is_refused_by_name(self, param, search):
        party = [ADULT, ADULT | {"param": param}]
        assert assert_rejected(search, self=None, **TRIP, passengers=party) == "passengers[1].param"


class TestDatesAndTimes:
    @each(
        ("name", "expected", "said"),
        [
            *(
                ("out_at", "2026-07-14", said)
                for said in ("2026-07-14", LATE.date(), LATE.replace(hour=23))
            ),
            *(
                ("out_time", "08:30", said)
                for said in ("08:30", time(8, 30), time(8, 30, 59), LATE)
            ),
        ],
    )
    def test_a_date_is_its_day_and_a_time_its_hour_and_minute(self, name, expected, said):
        assert search_body(**{name: said})["request"][name] == expected

    @each(
        "bad",
        [
            *("", "14/07/2026", "2026-7-14", "2026-02-30", "20260714", "2026-07-14T08:30"),
            *("2026-07-14\n", "\u0662\u0660\u0662\u0666-\u0660\u0667-\u0661\u0664", time(8, 30)),
        ],
    )
    def test_what_is_no_date_is_refused(self, bad):
        assert assert_rejected(search_body, out_at=bad) == "out_at"

    @each("bad", ["", "8:30", "08:60", "24:00", "0830", "08:30:00", "08:30\n"])
    def test_what_is_no_time_is_refused(self, bad):
        assert assert_rejected(search_body, out_time=bad) == "out_time"

    def test_the_way_back_is_checked_alike(self):
        for name, value in (("ret_at", "tomorrow"), ("ret_time", "noon"), ("ret_journey_id", "")):
            assert assert_rejected(search_body, **{name: value}) == name

    @MANY
    @given(st.dates(), st.times())
    def test_every_date_and_time_says_itself(self, on, at):
        assert day(on, "x") == day(on.isoformat(), "x") == on.isoformat()
        assert clock_time(at, "x") == f"{at.hour:02}:{at.minute:02}"

    @MANY
    @given(st.text(max_size=16))
    def test_no_text_passes_that_is_not_a_date(self, text):
        with suppress(InvalidInputError):
            assert date.fromisoformat(day(text, "x")).isoformat() == text

    def test_a_payment_is_a_moment_with_a_zone(self):
        at = datetime(2026, 7, 14, 8, 30, tzinfo=timezone.utc)
        assert moment(at, "paid_at") == "2026-07-14T08:30:00+00:00"
        assert moment("2026-07-14T08:30:00Z", "paid_at") == "2026-07-14T08:30:00Z"
        for bad in (at.replace(tzinfo=None), "", 1777636800, date(2026, 7, 14)):
            with pytest.raises(InvalidInputError) as caught:
                TicketsGroup.mark_paid(None, "t1", external_payment_ref="p", paid_at=bad)
            assert caught.value.field == "paid_at"

    def test_dates_of_a_passenger_are_dates_or_their_text(self):
        for said in ("1992-02-29", date(1992, 2, 29)):
            (found,) = booking(passengers=[{**TRAVELLER, "birth_date": said}])["passengers"]
            assert found["birth_date"] == "1992-02-29"


class TestMoney:
    money = TypeAdapter(Money)

    @MANY
    @given(
        st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12)
    )
    def test_decimals_ints_and_texts_are_exact(self, amount):
        assert self.money.validate_python(amount) == amount
        assert self.money.validate_python(str(amount)) == amount
        assert self.money.validate_python(int(amount)) == int(amount)

    @MANY
    @given(st.floats())
    def test_a_float_is_refused_whatever_it_is(self, amount):
        with pytest.raises(ValidationError, match="never a float"):
            self.money.validate_python(amount)

    @each("bad", [True, False, None, "", "ten", "NaN", Decimal("Infinity")])
    def test_what_is_no_money_is_refused(self, bad):
        caught(ValidationError, self.money.validate_python, bad)


class TestRefusals:
    @each(
        ("field", "value"),
        [
            ("frist_name", CANARY),
            ("birth_date", CANARY),
            ("nationality", CANARY),
            *(("age", value) for value in (CANARY, -1, 131, 7.5)),
            ("order", 0),
            ("first_name", " "),
            ("first_name", None),
            *(("type", value) for value in (None, 1, True, ["Adult"])),
        ],
    )
    def test_a_booking_names_the_field_of_a_passenger_and_not_its_value(self, field, value):
        party = [GROWN_UP, {**TRAVELLER, field: value}]
        assert assert_rejected(booking, passengers=party) == f"passengers[1].{field}"

    @each(
        ("field", "arguments"),
        [
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
            ("contact.fax", {"contact": {"name": "A", "email": "a@b", "fax": CANARY}}),
            ("contact.email", {"contact": {"name": "A", "email": 5}}),
        ],
    )
    def test_a_booking_says_where_it_is_wrong_and_not_with_what(self, field, arguments):
        assert assert_rejected(booking, **arguments) == field

    @each(
        ("field", "arguments"),
        [
            ("company", {"company": ""}),
            ("depart_code", {"depart_code": " "}),
            ("out_journey_id", {"out_journey_id": ".."}),
            ("passengers[0].age", {"passengers": [{**ADULT, "age": CANARY}]}),
            ("passengers[0].age", {"passengers": [{"type": "Adult", "gender": "F"}]}),
            ("passengers[1].name", {"passengers": [ADULT, {**ADULT, "name": CANARY}]}),
            ("passengers", {"passengers": []}),
            ("vehicle.code", {"vehicle": {"code": ""}}),
            ("vehicle.code", {"vehicle": {"kode": CANARY}}),
        ],
    )
    def test_a_search_says_where_it_is_wrong_and_not_with_what(self, field, arguments):
        assert assert_rejected(search_body, **arguments) == field

    def test_an_error_is_a_value_error_that_names_the_field_first(self):
        with pytest.raises(ValueError, match=r"^out_at: expected a date"):
            search_body(out_at="tomorrow")

    @MANY
    @given(st.text(min_size=4, max_size=30).filter(lambda text: text.strip()))
    def test_no_value_shows_in_an_error(self, value):
        secret = f"{CANARY}{value}"
        for name in ("birth_date", "doc_expiration", "nationality", "age", "gender", "order"):
            assert assert_rejected(booking, passengers=[{**TRAVELLER, name: secret}]) == (
                f"passengers[0].{name}"
            )


class TestLeftOut:
    def test_none_is_left_out_everywhere(self):
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
        paid = TicketsGroup.mark_paid(
            None, "t1", external_payment_ref="p", psp=None, paid_at=None
        ).call
        assert paid.path == "ticket/t1/mark-paid"
        assert paid.body == {"external_payment_ref": "p"}

    def test_false_is_a_value(self):
        assert search_body(out_is_open=False)["request"]["out_is_open"] is False

    def test_an_infant_of_no_years_keeps_its_age(self):
        infant = {**TRAVELLER, "type": "Infant", "age": 0}
        assert booking(passengers=[infant, GROWN_UP])["passengers"][0]["age"] == 0
        found = search_body(passengers=[{**ADULT, "type": "Infant", "age": 0}])
        assert found["passengers"][0]["age"] == 0

    def test_the_order_is_the_place_in_the_list(self):
        party = [ADULT, {**ADULT, "order": 7}, ADULT]
        assert [one["order"] for one in search_body(passengers=party)["passengers"]] == [1, 7, 3]


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12).filter(str.strip)
DAYS = st.one_of(
    st.dates(), st.dates().map(str), st.dates().map(lambda each: datetime.combine(each, time()))
)
GENDERS = st.sampled_from(["F", "male", Gender.MALE])
AGES = st.one_of(st.integers(0, 130), st.integers(0, 130).map(str), st.booleans())
KINDS = st.sampled_from([*PassengerType, "A", "chd"])
ORDERS = st.one_of(st.none(), st.integers(min_value=1))


def inputs(model, required, /, **optional):
    """Return a strategy for a model with dicts of its shape."""
    return st.tuples(st.just(model), st.fixed_dictionaries(required, optional=optional))


WIRE_INPUTS = st.one_of(
    inputs(
        Passenger,
        {"type": KINDS, "first_name": TEXTS, "last_name": TEXTS},
        gender=GENDERS,
        age=AGES,
        birth_date=DAYS,
        nationality=st.sampled_from(["es", "FR"]),
        doc_type=TEXTS,
        doc_number=TEXTS,
        doc_expiration=DAYS,
        email=TEXTS,
        order=ORDERS,
    ),
    inputs(
        Selection,
        {"availability_id": TEXTS, "tariff_id": TEXTS, "place_id": TEXTS},
        amount=st.decimals(0, 900, places=2),
        currency=st.just("eur"),
        expiration_date=st.datetimes(timezones=st.just(timezone.utc)),
        company=TEXTS,
        roundtrip_locked=st.booleans(),
        reservation_type=TEXTS,
    ),
    inputs(
        Vehicle,
        {"code": TEXTS},
        vehicule_code=TEXTS,
        brand=TEXTS,
        model=st.none(),
        identification=TEXTS,
    ),
    inputs(Contact, {"name": TEXTS, "email": TEXTS}, prefix=TEXTS, phone=TEXTS),
    inputs(VehicleQuery, {"code": TEXTS}),
)


NOT_SENT = dict.fromkeys((Passenger, Vehicle, Contact, VehicleQuery), frozenset())
NOT_SENT[Selection] = {*Selection.model_fields} - {*SELECTION}


def sent(model, value):
    values = values_of(model, value, "input")
    return encode_json({name: one for name, one in values.items() if name not in NOT_SENT[model]})


@MANY
@given(WIRE_INPUTS)
def test_a_dict_and_its_model_are_the_same_on_the_wire_as_pydantic_writes_it(case):
    model, fields = case
    made = model.model_validate(fields)
    by_pydantic = made.model_dump(mode="json", exclude_none=True, exclude=NOT_SENT[model])
    for value in (fields, made):
        assert sent(model, value) == encode_json(by_pydantic)


@MANY
@given(WIRE_INPUTS)
def test_a_dict_has_the_values_of_its_model(case):
    model, fields = case
    made = model.model_validate(fields)
    values = {name: value for name, value in vars(made).items() if name in fields}
    assert values_of(model, fields, "input") == drop_none(**values)


@MANY
@given(WIRE_INPUTS, st.data())
def test_a_dict_is_refused_as_its_model_is(case, data):
    model, fields = case
    name = data.draw(st.sampled_from([*model.model_fields, "unknown"]))
    fields[name] = data.draw(st.sampled_from([None, "", "x" * 9, -1, 131, 1.5, [], {}, b"", True]))
    try:
        made = model.model_validate(fields)
    except ValidationError as error:
        with pytest.raises(InvalidInputError) as refusal:
            values_of(model, fields, "input")
        where, problem = path_of(error)
        assert refusal.value.field == f"input.{where}"
        assert problem in str(refusal.value)
    else:
        assert sent(model, fields) == sent(model, made)


class TestTexts:
    @MANY
    @given(TEXTS)
    def test_a_name_goes_as_it_stands_on_the_passport(self, name):
        body = booking(passengers=[{**TRAVELLER, "last_name": name}])
        assert body["passengers"][0]["last_name"] == name.strip()

    @MANY
    @given(st.text(max_size=4))
    def test_a_country_has_two_letters(self, said):
        if len(said) == 2 and said.isascii() and said.isalpha():
            body = booking(passengers=[{**TRAVELLER, "nationality": said}])
            assert body["passengers"][0]["nationality"] == said.upper()
        else:
            field = assert_rejected(booking, passengers=[{**TRAVELLER, "nationality": said}])
            assert field == "passengers[0].nationality"
