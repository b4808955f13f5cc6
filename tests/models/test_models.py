"""Every field of every record is parsed to its type."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import operator
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

import ferry_sdk
from ferry_sdk import InvalidInputError, Selection, SelectionDict, models
from ferry_sdk.models import Availability, Booking, Country, McpPort, PossibleAction, Tariff, Ticket
from ferry_sdk.models.docstrings import field_descriptions
from tests.support import samples
from tests.support.cases import case
from tests.support.exchanges import caught
from tests.support.tiers import examples

MANY = examples(60)

RECORDS = {
    "Availability": samples.AVAILABILITY,
    "Tariff": samples.TARIFF,
    "Place": samples.PLACE,
    "InBoard": samples.IN_BOARD,
    "Booking": samples.BOOKING,
    "BookingCreated": samples.BOOKING_CREATED,
    "PossibleAction": samples.POSSIBLE_ACTION,
    "Pricing": samples.PRICING,
    "BookingConfirmation": samples.BOOKING_CONFIRMATION,
    "BookingCancellation": samples.BOOKING_CANCELLATION,
    "CancellationFee": samples.CANCELLATION_FEE,
    "Ticket": samples.TICKET,
    "TicketVehicle": samples.TICKET_VEHICLE,
    "TicketPassenger": samples.TICKET_PASSENGER,
    "TicketCancellation": samples.TICKET_CANCELLATION,
    "Voucher": samples.VOUCHER,
    "PaymentRecorded": samples.PAYMENT_RECORDED,
    "Journey": samples.JOURNEY,
    "Departure": samples.DEPARTURE,
    "Port": samples.PORT,
    "VehicleBrand": samples.VEHICLE_BRAND,
    "VehicleType": samples.VEHICLE_TYPE,
    "SailingCompany": samples.AVAILABILITY["company"],
    "Provider": samples.AVAILABILITY["provider"],
    "Gateway": samples.AVAILABILITY["gateway"],
    "Received": samples.PRICING["received"],
    "Kept": samples.PRICING["kept"],
    "Reverse": samples.PRICING["reverse"],
    "Balance": samples.PRICING["balance"],
    "KeptLine": samples.PRICING["kept"]["lines"][0],
    "TicketJourney": samples.JOURNEY_ON_TICKET,
}
"""Each record as the service sends it."""

DECIDING = {
    "Availability": {"id", "journey_id", "depart_at", "arrive_at"},
    "Tariff": {"id", "amount", "balance_amount", "currency"},
    "Place": {"id"},
    "Booking": {"booking_id", "stage", "payment_status", "total_price", "currency"},
    "BookingCreated": {"booking_id", "stage", "total_price", "currency"},
    "BookingConfirmation": {"booking_id", "status", "ticket_id"},
    "BookingCancellation": {"booking_id", "status"},
    "CancellationFee": {"penalty_amount", "refund_amount", "currency", "ticket_status"},
    "Pricing": {"currency"},
    "Received": {"amount", "currency"},
    "Reverse": {"amount", "currency"},
    "Kept": {"total"},
    "KeptLine": {"amount"},
    "Ticket": {"id", "status"},
    "TicketCancellation": {"ticket_id", "status"},
    "PaymentRecorded": {"ticket_id", "payment_status"},
    "Journey": {"journey_id"},
    "Departure": {"journey_id"},
    "Port": {"code"},
    "VehicleBrand": {"id"},
    "VehicleType": {"code"},
}
"""The fields without which a record is unreadable; every other may be null or absent."""
OUR_OWN = {"country_code", "previewed", "read_back"}

every_record = pytest.mark.parametrize(
    ("model", "sample"), [(getattr(models, name), RECORDS[name]) for name in RECORDS], ids=RECORDS
)
VALUES = {
    "ActionType": ("mandatory", "optional"),
    "Direction": ("Outward", "Return"),
    "Gender": ("Male", "Female"),
    "PassengerType": ("Adult", "Child", "Infant"),
    "PaymentStatus": ("paid", "partially_paid", "unpaid"),
    "PlaceGender": ("Any", "Male", "Female"),
    "PlaceType": ("Seat", "Cabin", "Suite"),
    "PlaceUse": ("Exclusive", "Shared"),
    "ReservationType": ("TICKET", "PRESALE", "OPTION"),
    "Stage": (
        "payment_due",
        "issuance_due",
        "in_progress",
        "ticketed",
        "voided",
        "lapsed",
        "rejected",
        "partially_ticketed",
        "partially_voided",
    ),
    "TariffType": ("Ticket", "Presale", "Option"),
    "TicketDirection": ("OUTWARD", "RETURN", "OUTWARD+RETURN"),
    "TicketStatus": ("Init", "Blocked", "Pending", "Issued", "Canceled", "Failed", "Expired"),
}
"""The values of each enumeration, in their order."""
ENUMS = [getattr(models, name) for name in VALUES]
NO_AMOUNTS = (True, False, None, "x", "", "NaN", "Infinity", float("nan"), float("inf"), [])
NO_IDS = ("", 5, None, True, 1.5, [])
NO_LISTS = (5, "x", [5], [None], {"a": 1})
NEWS = {"deck_nine": {"of": ["Zanzibar", 1]}}
"""A member that no model has."""


@every_record
def test_a_record_is_read_whole(model, sample):
    record = model.model_validate(sample)
    assert record.model_extra == {}
    assert record.model_fields_set == set(model.model_fields) - OUR_OWN


@every_record
def test_an_array_is_a_tuple(model, sample):
    record = model.model_validate(sample)
    for name, field in model.model_fields.items():
        if isinstance(sample.get(field.alias or name), list):
            assert type(getattr(record, name)) is tuple, name


@every_record
def test_a_record_cannot_be_changed(model, sample):
    record = model.model_validate(sample)
    for name in model.model_fields:
        caught(ValidationError, setattr, record, name, None)
        caught(ValidationError, delattr, record, name)


@every_record
def test_equal_records_have_one_hash(model, sample):
    record, twin = model.model_validate(sample), model.model_validate(sample)
    assert record == twin
    assert hash(record) == hash(twin)


@pytest.mark.parametrize(
    "value_of",
    [
        pytest.param(lambda sample: [sample], id="list"),
        pytest.param(json.dumps, id="text"),
        pytest.param(lambda _: None, id="None"),
        pytest.param(lambda _: 5, id="number"),
    ],
)
@every_record
def test_another_value_is_no_record(model, sample, value_of):
    caught(ValidationError, model.model_validate, value_of(sample))


@every_record
def test_a_record_has_a_schema(model, sample):
    assert model.model_json_schema()["type"] == "object"


@every_record
def test_an_unknown_field_is_kept(model, sample):
    record = model.model_validate({**sample, **NEWS})
    assert (record.model_extra, record.model_dump()["deck_nine"]) == (NEWS, NEWS["deck_nine"])
    assert record != model.model_validate(sample)


@every_record
def test_an_unknown_field_is_not_shown(model, sample):
    assert "Zanzibar" not in repr(model.model_validate({**sample, **NEWS}))


@every_record
def test_a_dump_reads_as_the_record(model, sample):
    record = model.model_validate({**sample, **NEWS})
    assert model.model_validate(record.model_dump()) == record
    for by_alias in (True, False):
        text = record.model_dump_json(by_alias=by_alias)
        assert model.model_validate_json(text) == record
        assert model.model_validate(json.loads(text)) == record


def unpickle(value):
    return pickle.loads(pickle.dumps(value))


def copy_model(record):
    return record.model_copy()


@pytest.mark.parametrize("duplicate", [unpickle, copy.copy, copy.deepcopy, copy_model])
@every_record
def test_a_copy_is_equal(model, sample, duplicate):
    record = model.model_validate({**sample, **NEWS})
    twin = duplicate(record)
    assert twin == record
    assert type(twin) is model
    assert twin.model_extra == NEWS


@every_record
def test_only_a_field_that_decides_is_required(model, sample):
    for field in sample:
        absent = {name: value for name, value in sample.items() if name != field}
        for value in ({**sample, field: None}, absent):
            with case(field):
                if field not in DECIDING.get(model.__name__, ()):
                    model.model_validate(value)
                    continue
                error = caught(ValidationError, model.model_validate, value)
                assert error.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("Availability", "depart_at", ["2026-07-13T20:20:00", "20:20", "", True, "2026-07-13"]),
        ("Tariff", "amount", NO_AMOUNTS),
        ("Tariff", "currency", ["", "EU", "EURO", "€", "EU1", " EUR", "EUR\n", None, 978]),
        ("CancellationFee", "penalty_amount", [-0.01]),
        ("Booking", "total_price", [-0.01, None, "x"]),
        ("BookingCreated", "total_price", [-0.01, None, "x"]),
        ("Availability", "tariffs", NO_LISTS),
        ("Availability", "places", NO_LISTS),
        ("Booking", "tickets", NO_LISTS),
        ("Departure", "departure_times", NO_LISTS),
        ("Booking", "stage", [None, 5, True, [], {}]),
        ("Availability", "id", NO_IDS),
        ("Tariff", "id", NO_IDS),
        ("Place", "id", NO_IDS),
        ("Ticket", "id", NO_IDS),
        ("Booking", "booking_id", NO_IDS),
        ("BookingCreated", "booking_id", NO_IDS),
        ("BookingConfirmation", "ticket_id", NO_IDS),
        ("PaymentRecorded", "ticket_id", NO_IDS),
        ("Port", "code", NO_IDS),
        ("Journey", "journey_id", NO_IDS),
    ],
)
def test_a_field_refuses_another_value(name, field, values):
    for value in values:
        with case(value):
            record = {**RECORDS[name], field: value}
            error = caught(ValidationError, getattr(models, name).model_validate, record)
            assert error.errors()[0]["loc"][0] == field


SAILING = Availability.model_validate(samples.AVAILABILITY)


IN_MARSEILLE = timezone(timedelta(hours=2))
IN_TUNIS = timezone(timedelta(hours=1))


def test_the_fields_of_a_sailing():
    assert (SAILING.id, SAILING.group_id) == ("av-1", 1)
    assert SAILING.direction is models.Direction.OUTWARD
    assert SAILING.depart_at == datetime(2026, 7, 13, 20, 20, tzinfo=IN_MARSEILLE)
    assert SAILING.arrive_at == datetime(2026, 7, 14, 16, 20, tzinfo=IN_TUNIS)
    assert (SAILING.gateway.code, SAILING.vehicle) == ("CTN", ({"code": "ABARTH__595"},))
    assert (SAILING.animals, SAILING.stops, SAILING.is_open) == (None, ("ESPMI",), False)


def test_the_fields_of_a_tariff():
    (tariff, *_) = SAILING.tariffs
    assert tariff.type is models.TariffType.TICKET
    assert (tariff.amount, tariff.balance_amount) == (Decimal("148.18"), Decimal("48.1"))
    assert tariff.date == datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert tariff.expiration_date - tariff.date == timedelta(minutes=30)
    assert tariff.roundtrip_locked is True


def test_the_fields_of_a_place():
    (place, *_) = SAILING.places
    assert place.type is models.PlaceType.CABIN
    assert place.in_board.passengers == ({"order": 1},)


@pytest.mark.parametrize(
    ("depart_at", "arrive_at", "hours"),
    [
        ("2026-07-13T20:20:00+02:00", "2026-07-14T16:20:00+01:00", 21),
        ("2026-03-28T22:00:00+01:00", "2026-03-29T08:00:00+02:00", 9),
        ("2026-10-24T22:00:00+02:00", "2026-10-25T08:00:00+01:00", 11),
        ("2026-07-13T20:20:00Z", "2026-07-13T20:20:00+00:00", 0),
    ],
)
def test_the_travel_time_is_exact_across_zones(depart_at, arrive_at, hours):
    changes = {"depart_at": depart_at, "arrive_at": arrive_at, "duration": 99}
    sailing = Availability.model_validate(samples.AVAILABILITY | changes)
    assert sailing.travel_time == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("argument", "choice"),
    [
        ("tariff", SAILING.tariffs[0].model_copy(update={"id": "other"})),
        ("tariff", "other"),
        ("tariff", ""),
        ("place", SAILING.places[0].model_copy(update={"id": "other"})),
        ("place", "other"),
        ("place", ""),
    ],
)
def test_a_part_of_another_sailing_is_not_selected(argument, choice):
    choices = {"tariff": "tar-1", "place": "pl-1", argument: choice}
    error = caught(InvalidInputError, SAILING.select, **choices)
    assert (error.field, error.outcome) == (argument, "not_sent")
    assert isinstance(error, ValueError)


@pytest.fixture(params=["Ticket", "Presale"])
def sailing(request):
    """A sailing with one tariff, of each kind in turn."""
    tariffs = [{**samples.TARIFF, "type": request.param}]
    return Availability.model_validate({**samples.AVAILABILITY, "tariffs": tariffs})


@pytest.fixture
def selected(sailing):
    """The selection of the first tariff and the first place."""
    return sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])


def test_a_selection_has_what_a_booking_needs(sailing, selected):
    tariff = sailing.tariffs[0]
    assert selected == Selection(
        availability_id="av-1",
        tariff_id="tar-1",
        place_id="pl-1",
        amount=tariff.amount,
        currency=tariff.currency,
        expiration_date=tariff.expiration_date,
        roundtrip_locked=tariff.roundtrip_locked,
        company=sailing.company.id,
        reservation_type=None if tariff.type == "Ticket" else "PRESALE",
        depart_at=sailing.depart_at,
        depart_code=sailing.depart_code,
        arrive_code=sailing.arrive_code,
    )


def test_a_part_is_selected_by_its_id(sailing, selected):
    tariff, place = sailing.tariffs[0], sailing.places[0]
    assert sailing.select(tariff=tariff.id, place=place.id) == selected


def test_a_stored_selection_is_the_same(selected):
    stored = selected.model_dump(mode="json")
    for dump in (stored, selected.model_dump(), json.loads(selected.model_dump_json())):
        assert Selection.model_validate(dump) == selected


def test_a_selection_has_the_shape_of_its_dict(selected):
    stored = selected.model_dump(mode="json")
    assert set(stored) == set(Selection.model_fields) == set(get_type_hints(SelectionDict))


@MANY
@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_money_is_exact_to_the_cent(amount):
    body = json.dumps({**samples.TARIFF, "amount": float(amount)})
    assert Tariff.model_validate_json(body).amount == amount
    assert Tariff.model_validate(json.loads(body)).amount == amount


@MANY
@given(st.integers(0, 4_000_000_000))
def test_epoch_seconds_are_a_moment_in_utc(seconds):
    body = json.dumps({**samples.TARIFF, "date": seconds})
    tariff = Tariff.model_validate_json(body)
    assert tariff == Tariff.model_validate(json.loads(body))
    assert tariff.date.timestamp() == seconds
    assert tariff.date.utcoffset() == timedelta(0)


@MANY
@given(st.text(max_size=40))
def test_any_text_is_read_in_a_loose_field(text):
    ticket = Ticket.model_validate({**samples.TICKET, "boarding_time": text})
    assert ticket.boarding_time == text or isinstance(ticket.boarding_time, datetime)
    action = PossibleAction.model_validate({**samples.POSSIBLE_ACTION, "timeLimit": text})
    assert action.time_limit == text or isinstance(action.time_limit, datetime)


@pytest.fixture(scope="module")
def ticket():
    """The sample of a ticket, as a record."""
    return Ticket.model_validate(samples.TICKET)


@pytest.fixture(scope="module")
def booking():
    """The sample of a booking, as a record."""
    return Booking.model_validate(samples.BOOKING)


def test_the_fields_of_a_ticket(ticket):
    assert ticket.direction is models.TicketDirection.ROUND_TRIP
    assert ticket.vehicle == models.TicketVehicle(**samples.TICKET_VEHICLE)
    assert ticket.passengers[0].doc_expiration == date(2031, 12, 31)
    assert ticket.boarding_time == datetime(2026, 7, 13, 18, 50, tzinfo=IN_MARSEILLE)


def test_a_ticket_has_the_duration_of_its_journey(ticket):
    journey = ticket.availability.outward.journey
    assert journey.duration == timedelta(hours=21) == journey.arrive_at - journey.depart_at


def test_the_way_back_is_return_on_the_wire(ticket):
    assert ticket.availability.return_ == ticket.availability.outward
    assert "return" in ticket.model_dump(by_alias=True)["availability"]
    assert "return_" in ticket.model_dump()["availability"]


def test_null_is_an_empty_text():
    ticket = Ticket.model_validate({**samples.TICKET, "qr_code": None, "boarding_time": None})
    assert (ticket.qr_code, ticket.boarding_time) == ("", "")


def test_the_fields_of_a_booking(booking):
    assert booking.stage is models.Stage.PAYMENT_DUE
    assert booking.payment_status is models.PaymentStatus.PARTIALLY_PAID
    assert (booking.total_price, booking.currency) == (Decimal("148.18"), "EUR")
    assert booking.expire_at == datetime(2026, 5, 1, 13, tzinfo=UTC)
    assert booking.journey_details == {"outward": {"ticket_id": "t-1"}}
    assert booking.pricing.kept.lines[0].amount == Decimal("7.41")


def test_the_fields_of_an_action(booking):
    action = booking.possible_actions["Pay"]
    assert action.type is models.ActionType.MANDATORY
    assert (action.time_limit, action.requested_items) == (booking.expire_at, {"payment": True})


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [
        (1777636800, datetime(2026, 5, 1, 12, tzinfo=UTC)),
        (253402300799, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_deadline_in_epoch_seconds_is_read(seconds, moment):
    booking = Booking.model_validate(samples.BOOKING | {"expire_at": seconds})
    assert booking.expire_at == moment


def test_an_unknown_stage_is_kept():
    booking = Booking.model_validate(samples.BOOKING | {"stage": "moored"})
    assert json.loads(booking.model_dump_json())["stage"] == booking.stage == "moored"


def created_with(actions):
    return models.BookingCreated.model_validate(
        {**samples.BOOKING_CREATED, "possible_actions": actions}
    )


ZONES = [UTC, timezone(timedelta(hours=2)), timezone(-timedelta(hours=9))]
LIMITS = st.one_of(
    st.none(),
    st.sampled_from(["soon", "21:30", "2026-05-01"]),
    st.datetimes(
        min_value=datetime(2000, 1, 1),  # noqa: DTZ001 -- the strategy adds the zone
        max_value=datetime(2100, 1, 1),  # noqa: DTZ001 -- the same
        timezones=st.sampled_from(ZONES),
    ).map(datetime.isoformat),
)
KINDS = st.sampled_from(["mandatory", "optional", "new"])
ACTION = {"type": KINDS, "timeLimit": LIMITS, "requestedItems": st.just({})}
ACTIONS = st.dictionaries(
    st.text(min_size=1, max_size=8), st.fixed_dictionaries(ACTION), max_size=6
)


@MANY
@given(actions=ACTIONS, data=st.data())
def test_next_actions_are_in_order(actions, data):
    """Mandatory ones are first, then those with an earlier deadline, then by name."""
    booking = created_with(actions)
    ordered = booking.next_actions()
    assert {one.name: one.action for one in ordered} == dict(booking.possible_actions)
    assert len(ordered) == len(actions)
    for one, other in pairwise(ordered):
        assert one.is_mandatory >= other.is_mandatory
        if one.is_mandatory is not other.is_mandatory:
            continue
        first, second = one.time_limit, other.time_limit
        if isinstance(first, datetime) and isinstance(second, datetime):
            assert first <= second
        else:
            assert not isinstance(second, datetime)
        if first == second or not (isinstance(first, datetime) or isinstance(second, datetime)):
            assert one.name < other.name
    shuffled = dict(data.draw(st.permutations(list(actions.items()))))
    assert created_with(shuffled).next_actions() == ordered


EVERY_ENUM = pytest.mark.parametrize("kind", ENUMS)


@pytest.mark.parametrize(
    ("kind", "values"), [(getattr(models, name), VALUES[name]) for name in VALUES], ids=VALUES
)
def test_the_values_of_an_enumeration(kind, values):
    assert tuple(member.value for member in kind) == values


@EVERY_ENUM
def test_a_known_value_is_its_member(kind):
    for member in kind:
        assert kind(member.value) is member
        assert member.is_known
        assert pickle.loads(pickle.dumps(member)) is member
        assert copy.deepcopy(member) is member


@EVERY_ENUM
def test_a_member_is_its_string(kind):
    for member in kind:
        assert member == member.value
        assert str(member) == f"{member}" == member.value


@EVERY_ENUM
def test_the_name_of_a_member_is_no_value(kind):
    values = {member.value for member in kind}
    for name in {member.name for member in kind} - values:
        assert not kind(name).is_known
        assert kind(name) != kind[name]


@EVERY_ENUM
@pytest.mark.parametrize("value", [None, 5, True, [], {}], ids=repr)
def test_only_a_text_is_a_value(kind, value):
    with pytest.raises(ValueError, match=kind.__name__):
        kind(value)


@MANY
@given(kind=st.sampled_from(ENUMS), text=st.text(max_size=12))
def test_any_other_text_is_kept(kind, text):
    value = kind(text)
    assert value == text
    assert value == kind(text)
    assert hash(value) == hash(text)
    assert {value: 1}[text] == 1
    assert type(value) is kind
    assert str(value) == f"{value}" == value.value == text
    assert value.is_known is (text in {member.value for member in kind})
    assert json.loads(json.dumps({"v": value})) == {"v": text}
    for twin in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert twin == value
        assert type(twin) is kind


ITEMS = {"amount": {"min": 1}, "ways": ["card"]}
BOOKING = Booking.model_validate(
    samples.BOOKING
    | {
        "possible_actions": {"Pay": {"type": "mandatory", "requestedItems": ITEMS}},
        "journey_details": {"out": {"ship": "Ada"}},
    }
)


MAPPINGS = {
    "possible_actions": BOOKING.possible_actions,
    "requested_items": BOOKING.possible_actions["Pay"].requested_items,
    "no requested_items": PossibleAction.model_validate({"type": "optional"}).requested_items,
    "journey_details": BOOKING.journey_details,
    "names": Country().names,
    "input_schema": models.McpTool(name="tool").input_schema,
}
CHANGES = {
    "set": lambda mapping: operator.setitem(mapping, "x", 1),
    "delete": lambda mapping: operator.delitem(mapping, "Pay"),
    "or": lambda mapping: operator.ior(mapping, {"x": 1}),
    "update": operator.methodcaller("update", x=1),
    "setdefault": operator.methodcaller("setdefault", "x", 1),
    "pop": operator.methodcaller("pop", "Pay", None),
    "popitem": operator.methodcaller("popitem"),
    "clear": operator.methodcaller("clear"),
}


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_mapping_of_a_record_cannot_be_changed(mapping, change):
    before = dict(mapping)
    with pytest.raises(TypeError, match="is immutable"):
        change(mapping)
    assert mapping == before


def test_a_mapping_of_a_record_is_a_dict():
    plain, mapping = {"out": {"ship": "Ada"}}, BOOKING.journey_details
    assert mapping == plain
    assert repr(mapping) == repr(plain)
    assert json.loads(json.dumps(mapping)) == plain
    assert mapping | {"x": 1} == {**plain, "x": 1}


def test_a_mapping_is_dumped_as_a_plain_dict():
    assert type(BOOKING.model_dump()["possible_actions"]) is dict


def test_a_mapping_is_an_object_in_the_schema():
    assert Booking.model_json_schema()["properties"]["journey_details"]["type"] == "object"


@pytest.mark.parametrize(
    "twin",
    [
        pickle.loads(pickle.dumps(BOOKING, 2)),
        pickle.loads(pickle.dumps(BOOKING, 3)),
        pickle.loads(pickle.dumps(BOOKING, 4)),
        pickle.loads(pickle.dumps(BOOKING, 5)),
        copy.copy(BOOKING),
        copy.deepcopy(BOOKING),
        BOOKING.model_copy(deep=True),
    ],
    ids=["pickle 2", "pickle 3", "pickle 4", "pickle 5", "copy", "deepcopy", "model_copy"],
)
def test_a_copy_has_mappings_that_cannot_be_changed(twin):
    assert twin == BOOKING
    assert hash(twin) == hash(BOOKING)
    with pytest.raises(TypeError, match="is immutable"):
        twin.possible_actions["x"] = None


@pytest.mark.parametrize("currency", ["Eur", "EUR", "eUr"])
def test_a_currency_is_in_upper_case(currency):
    assert Tariff.model_validate({**samples.TARIFF, "currency": currency}).currency == "EUR"


@pytest.mark.parametrize(
    "text", ["21:30", "", "2026-07-13", "2026-07-13T21:30:00", "boarding at 9", "1234"]
)
def test_a_text_without_an_offset_is_kept(text):
    ticket = Ticket.model_validate({**samples.TICKET, "boarding_time": text})
    assert type(ticket.boarding_time) is str
    assert ticket.boarding_time == text
    assert Ticket.model_validate_json(ticket.model_dump_json()) == ticket


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1992-02-29", date(1992, 2, 29)),
        ("1993-02-29", "1993-02-29"),
        ("29/02/1992", "29/02/1992"),
        ("19920229", "19920229"),
        (None, None),
    ],
)
def test_a_birth_date_may_be_a_text(value, expected):
    passenger = models.TicketPassenger.model_validate(
        {**samples.TICKET_PASSENGER, "birth_date": value}
    )
    assert passenger.birth_date == expected
    assert type(passenger.birth_date) is type(expected)


@pytest.mark.parametrize(
    ("penalty", "is_free"), [(samples.CANCELLATION_FEE["penalty_amount"], False), (0.0, True)]
)
def test_a_fee_without_a_penalty_is_free(penalty, is_free):
    wire = {**samples.CANCELLATION_FEE, "penalty_amount": penalty}
    assert models.CancellationFee.model_validate(wire).is_free is is_free


@pytest.mark.parametrize(
    "wire",
    [
        {"latitude": 43.3, "longitude": 5.4},
        {"lat": 43.3, "lng": 5.4},
        {"lat": "43.3", "lon": "5.4"},
    ],
)
def test_a_position_has_several_spellings(wire):
    port = McpPort.model_validate(wire)
    assert (port.latitude, port.longitude) == (43.3, 5.4)


def test_a_port_may_have_no_position():
    assert (McpPort().latitude, McpPort().longitude) == (None, None)


def field_names(thing):
    if issubclass(thing, BaseModel):
        return [*thing.model_fields]
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing) if field.name[0] != "_"]
    return [*getattr(thing, "_fields", ())]


def all_public():
    """Return every public class by its name."""
    public = {}
    for module in (models, ferry_sdk):
        for name in module.__all__:
            if inspect.isclass(getattr(module, name)):
                public[name] = getattr(module, name)
    return public


def properties_in(schema):
    """Return all properties that a schema describes, by the path of each."""
    for name, part in {"": schema, **schema.get("$defs", {})}.items():
        for field, description in part.get("properties", {}).items():
            yield f"{name}.{field}", description


def test_the_docstring_describes_every_field():
    count = 0
    for name, thing in all_public().items():
        assert {*field_names(thing)} <= {*field_descriptions(thing)}, name
        count += len(field_names(thing))
    assert count > 300


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_the_schema_describes_every_field(mode):
    public = all_public()
    records = {name: thing for name, thing in public.items() if issubclass(thing, BaseModel)}
    for name, model in records.items():
        for field, part in properties_in(TypeAdapter(model).json_schema(mode=mode)):
            assert part.get("description"), f"{name}: {field}"


def test_the_schema_has_the_words_of_the_docstring():
    described = Booking.model_json_schema()["properties"]["possible_actions"]["description"]
    assert described == field_descriptions(Booking)["possible_actions"]


def test_the_schema_describes_a_field_by_its_alias():
    assert McpPort.model_json_schema()["properties"]["latitude"]["description"] == "Degrees north."
