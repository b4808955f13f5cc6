"""Every field of every record is parsed to its type."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import operator
import pickle
import re
from datetime import date, datetime, timedelta, timezone
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
from tests.support.tables import each
from tests.support.tiers import examples

MANY = examples(60)

NAMES = (
    "Availability Tariff Place InBoard Booking BookingCreated PossibleAction Pricing"
    " BookingConfirmation BookingCancellation CancellationFee Ticket TicketVehicle TicketPassenger"
    " TicketCancellation Voucher PaymentRecorded Journey Departure Port VehicleBrand VehicleType"
)
RECORDS = {
    **{
        name: getattr(samples, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper())
        for name in NAMES.split()
    },
    "SailingCompany": samples.AVAILABILITY["company"],
    "Provider": samples.AVAILABILITY["provider"],
    "Gateway": samples.AVAILABILITY["gateway"],
    **{name: samples.PRICING[name.lower()] for name in ("Received", "Kept", "Reverse", "Balance")},
    "KeptLine": samples.PRICING["kept"]["lines"][0],
    "TicketJourney": samples.JOURNEY_ON_TICKET,
}

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

every_record = each(
    ("model", "sample"), [(getattr(models, name), one) for name, one in RECORDS.items()]
)
VALUES = {
    "ActionType": "mandatory optional",
    "Direction": "Outward Return",
    "Gender": "Male Female",
    "PassengerType": "Adult Child Infant",
    "PaymentStatus": "paid partially_paid unpaid",
    "PlaceGender": "Any Male Female",
    "PlaceType": "Seat Cabin Suite",
    "PlaceUse": "Exclusive Shared",
    "ReservationType": "TICKET PRESALE OPTION",
    "Stage": "payment_due issuance_due in_progress ticketed voided lapsed rejected"
    " partially_ticketed partially_voided",
    "TariffType": "Ticket Presale Option",
    "TicketDirection": "OUTWARD RETURN OUTWARD+RETURN",
    "TicketStatus": "Init Blocked Pending Issued Canceled Failed Expired",
}
ENUMS = [getattr(models, name) for name in VALUES]
NO_NUMBERS = (float("nan"), float("inf"))
NO_IDS = ("", 5, None, True, 1.5, [])


@every_record
def test_a_record_is_read_whole_and_cannot_be_changed(model, sample):
    record = model.model_validate(sample)
    assert record.model_extra == {}
    assert record.model_fields_set == set(model.model_fields) - OUR_OWN
    for name, field in model.model_fields.items():
        if isinstance(sample.get(field.alias or name), list):
            assert type(getattr(record, name)) is tuple
        caught(ValidationError, setattr, record, name, None)
        caught(ValidationError, delattr, record, name)
    twin = model.model_validate(sample)
    assert record == twin
    assert hash(record) == hash(twin)
    for other in ([sample], json.dumps(sample), None, 5):
        caught(ValidationError, model.model_validate, other)
    assert model.model_json_schema()["type"] == "object"


@every_record
def test_a_field_never_seen_is_kept_by_json_pickle_and_copies_and_does_not_show(model, sample):
    news = {"deck_nine": {"of": ["Zanzibar", 1]}}
    record = model.model_validate({**sample, **news})
    assert (record.model_extra, record.model_dump()["deck_nine"]) == (news, news["deck_nine"])
    assert "Zanzibar" not in repr(record)
    assert record != model.model_validate(sample)
    for by_alias in (True, False):
        text = record.model_dump_json(by_alias=by_alias)
        assert model.model_validate_json(text) == record
        assert model.model_validate(json.loads(text)) == record
    assert model.model_validate(record.model_dump()) == record
    for twin in (
        pickle.loads(pickle.dumps(record)),
        copy.copy(record),
        copy.deepcopy(record),
        record.model_copy(),
    ):
        assert twin == record
        assert type(twin) is model
        assert twin.model_extra == news


@every_record
def test_only_a_field_that_decides_may_not_be_null_or_absent(model, sample):
    for field in sample:
        absent = {key: one for key, one in sample.items() if key != field}
        for value in ({**sample, field: None}, absent):
            with case(field):
                if field not in DECIDING.get(model.__name__, ()):
                    model.model_validate(value)
                    continue
                error = caught(ValidationError, model.model_validate, value)
                assert error.errors()[0]["loc"][0] == field


@each(
    ("name", "field", "values"),
    [
        ("Availability", "depart_at", ["2026-07-13T20:20:00", "20:20", "", True, "2026-07-13"]),
        ("Tariff", "amount", [True, False, None, "x", "", "NaN", "Infinity", *NO_NUMBERS, []]),
        ("Tariff", "currency", ["", "EU", "EURO", "€", "EU1", " EUR", "EUR\n", None, 978]),
        ("CancellationFee", "penalty_amount", [-0.01]),
        *((name, "total_price", [-0.01, None, "x"]) for name in ("Booking", "BookingCreated")),
        ("Availability", "tariffs", [5, "x", [5], [None], {"a": 1}]),
        ("Availability", "places", [5, "x", [5], [None], {"a": 1}]),
        ("Booking", "tickets", [5, "x", [5], [None], {"a": 1}]),
        ("Departure", "departure_times", [5, "x", [5], [None], {"a": 1}]),
        ("Booking", "stage", [None, 5, True, [], {}]),
        *((name, "id", NO_IDS) for name in ("Availability", "Tariff", "Place", "Ticket")),
        *((name, "booking_id", NO_IDS) for name in ("Booking", "BookingCreated")),
        *((name, "ticket_id", NO_IDS) for name in ("BookingConfirmation", "PaymentRecorded")),
        ("Port", "code", NO_IDS),
        ("Journey", "journey_id", NO_IDS),
    ],
)
def test_what_is_no_value_of_its_field_is_refused(name, field, values):
    for value in values:
        with case(value):
            record = {**RECORDS[name], field: value}
            error = caught(ValidationError, getattr(models, name).model_validate, record)
            assert error.errors()[0]["loc"][0] == field


SAILING = Availability.model_validate(samples.AVAILABILITY)


def test_every_field_of_a_sailing_has_its_value_and_its_travel_time_is_right_across_zones():
    one = SAILING
    plus_two, plus_one = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
    assert (one.id, one.group_id) == ("av-1", 1)
    assert one.direction is models.Direction.OUTWARD
    assert one.depart_at == datetime(2026, 7, 13, 20, 20, tzinfo=plus_two)
    assert one.arrive_at == datetime(2026, 7, 14, 16, 20, tzinfo=plus_one)
    assert (one.gateway.code, one.vehicle) == ("CTN", ({"code": "ABARTH__595"},))
    assert (one.animals, one.stops, one.is_open) == (None, ("ESPMI",), False)
    tariff = one.tariffs[0]
    assert tariff.type is models.TariffType.TICKET
    assert (tariff.amount, tariff.balance_amount) == (Decimal("148.18"), Decimal("48.1"))
    assert tariff.date == datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
    assert tariff.expiration_date - tariff.date == timedelta(minutes=30)
    assert tariff.roundtrip_locked is True
    assert one.places[0].type is models.PlaceType.CABIN
    assert one.places[0].in_board.passengers == ({"order": 1},)
    for depart, arrive, hours in (
        ("2026-07-13T20:20:00+02:00", "2026-07-14T16:20:00+01:00", 21),
        ("2026-03-28T22:00:00+01:00", "2026-03-29T08:00:00+02:00", 9),
        ("2026-10-24T22:00:00+02:00", "2026-10-25T08:00:00+01:00", 11),
        ("2026-07-13T20:20:00Z", "2026-07-13T20:20:00+00:00", 0),
    ):
        changes = {"depart_at": depart, "arrive_at": arrive, "duration": 99}
        one = Availability.model_validate(samples.AVAILABILITY | changes)
        assert one.travel_time == timedelta(hours=hours), depart
    for which, records in (("tariff", SAILING.tariffs), ("place", SAILING.places)):
        for bad in (records[0].model_copy(update={"id": "other"}), "other", ""):
            choice = {"tariff": "tar-1", "place": "pl-1", which: bad}
            error = caught(InvalidInputError, SAILING.select, **choice)
            assert (error.field, error.outcome) == (which, "not_sent")
            assert isinstance(error, ValueError)


@each("kind", ["Ticket", "Presale"])
def test_a_selection_is_made_of_ids_or_records_and_the_same_after_it_was_stored(kind):
    wire = {**samples.AVAILABILITY, "tariffs": [{**samples.TARIFF, "type": kind}]}
    sailing = Availability.model_validate(wire)
    tariff, place = sailing.tariffs[0], sailing.places[0]
    made = sailing.select(tariff=tariff, place=place)
    assert made == sailing.select(tariff=tariff.id, place=place.id)
    names = ("amount", "currency", "expiration_date", "roundtrip_locked")
    assert made == Selection(
        availability_id="av-1",
        tariff_id="tar-1",
        place_id="pl-1",
        **{name: getattr(tariff, name) for name in names},
        company=sailing.company.id,
        reservation_type=None if kind == "Ticket" else "PRESALE",
        depart_at=sailing.depart_at,
    )
    stored = made.model_dump(mode="json")
    assert set(stored) == set(Selection.model_fields) == set(get_type_hints(SelectionDict))
    for same in (stored, made.model_dump(), json.loads(made.model_dump_json())):
        assert Selection.model_validate(same) == made


@MANY
@given(st.decimals(min_value=0, max_value=10**9, places=2), st.integers(0, 4_000_000_000))
def test_money_is_exact_to_the_cent_and_epoch_seconds_are_moments_in_utc(amount, seconds):
    body = json.dumps({**samples.TARIFF, "amount": float(amount), "date": seconds})
    tariff = Tariff.model_validate_json(body)
    assert tariff.amount == amount
    assert tariff == Tariff.model_validate(json.loads(body))
    assert tariff.date.timestamp() == seconds
    assert tariff.date.utcoffset() == timedelta(0)


@MANY
@given(st.text(max_size=40))
def test_no_text_in_a_loose_field_takes_the_record_with_it(text):
    ticket = Ticket.model_validate({**samples.TICKET, "boarding_time": text})
    assert ticket.boarding_time == text or isinstance(ticket.boarding_time, datetime)
    action = PossibleAction.model_validate({**samples.POSSIBLE_ACTION, "timeLimit": text})
    assert action.time_limit == text or isinstance(action.time_limit, datetime)


def test_every_field_of_a_ticket_and_a_booking_has_its_value():
    ticket = Ticket.model_validate(samples.TICKET)
    assert ticket.direction is models.TicketDirection.ROUND_TRIP
    assert ticket.vehicle == models.TicketVehicle(**samples.TICKET_VEHICLE)
    assert ticket.passengers[0].doc_expiration == date(2031, 12, 31)
    plus_two = timezone(timedelta(hours=2))
    assert ticket.boarding_time == datetime(2026, 7, 13, 18, 50, tzinfo=plus_two)
    journey = ticket.availability.outward.journey
    assert journey.duration == timedelta(hours=21) == journey.arrive_at - journey.depart_at
    assert ticket.availability.return_ == ticket.availability.outward
    assert "return" in ticket.model_dump(by_alias=True)["availability"]
    assert "return_" in ticket.model_dump()["availability"]
    ticket = Ticket.model_validate({**samples.TICKET, "qr_code": None, "boarding_time": None})
    assert (ticket.qr_code, ticket.boarding_time) == ("", "")
    booking = Booking.model_validate(samples.BOOKING)
    assert booking.stage is models.Stage.PAYMENT_DUE
    assert booking.payment_status is models.PaymentStatus.PARTIALLY_PAID
    assert (booking.total_price, booking.currency) == (Decimal("148.18"), "EUR")
    assert booking.expire_at == datetime(2026, 5, 1, 13, tzinfo=timezone.utc)
    assert booking.journey_details == {"outward": {"ticket_id": "t-1"}}
    assert booking.pricing.kept.lines[0].amount == Decimal("7.41")
    action = booking.possible_actions["Pay"]
    assert action.type is models.ActionType.MANDATORY
    assert (action.time_limit, action.requested_items) == (booking.expire_at, {"payment": True})
    news = {"expire_at": 1777636800, "stage": "moored"}
    booking = Booking.model_validate(samples.BOOKING | news)
    assert booking.expire_at == datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
    never = Booking.model_validate(samples.BOOKING | {"expire_at": 253402300799})
    assert never.expire_at == datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    assert json.loads(booking.model_dump_json())["stage"] == booking.stage == "moored"


def created_with(actions):
    return models.BookingCreated.model_validate(
        {**samples.BOOKING_CREATED, "possible_actions": actions}
    )


ZONES = [timezone.utc, timezone(timedelta(hours=2)), timezone(-timedelta(hours=9))]
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
def test_next_actions_are_mandatory_first_then_by_deadline_then_by_name(actions, data):
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


@each(("kind", "values"), zip(ENUMS, VALUES.values(), strict=True))
def test_a_known_value_is_its_member_and_its_string(kind, values):
    assert [member.value for member in kind] == values.split()
    for member in kind:
        assert kind(member.value) is member
        assert member == member.value
        assert member.is_known
        assert str(member) == f"{member}" == member.value
        assert pickle.loads(pickle.dumps(member)) is member
        assert copy.deepcopy(member) is member
        if member.name not in values.split():
            assert not kind(member.name).is_known
            assert kind(member.name) != member
    for bad in (None, 5, True, [], {}):
        with pytest.raises(ValueError, match=kind.__name__):
            kind(bad)


@MANY
@given(kind=st.sampled_from(ENUMS), text=st.text(max_size=12))
def test_any_other_value_is_kept_as_it_is(kind, text):
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


@each(
    "mapping",
    [
        *(BOOKING.possible_actions, BOOKING.possible_actions["Pay"].requested_items),
        *(BOOKING.journey_details, Country().names, models.McpTool(name="tool").input_schema),
        PossibleAction.model_validate({"type": "optional"}).requested_items,
    ],
)
def test_a_mapping_of_a_record_cannot_be_changed(mapping):
    before = dict(mapping)
    for act in (
        lambda: operator.setitem(mapping, "x", 1),
        lambda: operator.delitem(mapping, "Pay"),
        lambda: operator.ior(mapping, {"x": 1}),
        lambda: mapping.update(x=1),
        lambda: mapping.setdefault("x", 1),
        lambda: mapping.pop("Pay", None),
        mapping.popitem,
        mapping.clear,
    ):
        with pytest.raises(TypeError, match="is immutable"):
            act()
    assert mapping == before


def test_a_mapping_is_otherwise_a_dict_and_loose_values_are_read_as_far_as_they_can_be():
    plain, mapping = {"out": {"ship": "Ada"}}, BOOKING.journey_details
    assert mapping == plain
    assert repr(mapping) == repr(plain)
    assert (json.loads(json.dumps(mapping)), mapping | {"x": 1}) == (plain, {**plain, "x": 1})
    assert type(BOOKING.model_dump()["possible_actions"]) is dict
    assert Booking.model_json_schema()["properties"]["journey_details"]["type"] == "object"
    for twin in (
        *(pickle.loads(pickle.dumps(BOOKING, number)) for number in range(2, 6)),
        *(copy.copy(BOOKING), copy.deepcopy(BOOKING), BOOKING.model_copy(deep=True)),
    ):
        assert twin == BOOKING
        assert hash(twin) == hash(BOOKING)
        with pytest.raises(TypeError, match="is immutable"):
            twin.possible_actions["x"] = None
    for said in ("Eur", "EUR", "eUr"):
        assert Tariff.model_validate({**samples.TARIFF, "currency": said}).currency == "EUR"
    for text in ("21:30", "", "2026-07-13", "2026-07-13T21:30:00", "boarding at 9", "1234"):
        ticket = Ticket.model_validate({**samples.TICKET, "boarding_time": text})
        assert type(ticket.boarding_time) is str
        assert ticket.boarding_time == text
        assert Ticket.model_validate_json(ticket.model_dump_json()) == ticket
    for said in ("1992-02-29", "1993-02-29", "29/02/1992", "19920229", None):
        read = date(1992, 2, 29) if said == "1992-02-29" else said
        passenger = models.TicketPassenger.model_validate(
            {**samples.TICKET_PASSENGER, "birth_date": said}
        )
        assert passenger.birth_date == read
        assert type(passenger.birth_date) is type(read)
    for penalty, is_free in ((samples.CANCELLATION_FEE["penalty_amount"], False), (0.0, True)):
        wire = {**samples.CANCELLATION_FEE, "penalty_amount": penalty}
        assert models.CancellationFee.model_validate(wire).is_free is is_free
    for wire in ({"latitude": 43.3, "longitude": 5.4}, {"lat": 43.3, "lng": 5.4}):
        port = McpPort.model_validate(wire)
        assert (port.latitude, port.longitude) == (43.3, 5.4), wire
    port = McpPort.model_validate({"lat": "43.3", "lon": "5.4"})
    assert (port.latitude, port.longitude) == (43.3, 5.4)
    assert (McpPort().latitude, McpPort().longitude) == (None, None)


def field_names(thing):
    if issubclass(thing, BaseModel):
        return [*thing.model_fields]
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing) if field.name[0] != "_"]
    return [*getattr(thing, "_fields", ())]


def test_every_field_has_a_description_wherever_a_user_looks_for_it():
    public = {name: getattr(one, name) for one in (models, ferry_sdk) for name in one.__all__}
    count = 0
    for name, thing in public.items():
        if not inspect.isclass(thing):
            continue
        assert {*field_names(thing)} <= {*field_descriptions(thing)}, name
        count += len(field_names(thing))
        for mode in ("validation", "serialization") if issubclass(thing, BaseModel) else ():
            schema = TypeAdapter(thing).json_schema(mode=mode)
            for schema_of in (schema, *schema.get("$defs", {}).values()):
                for field, part in schema_of.get("properties", {}).items():
                    assert part.get("description"), f"{name}: {field}"
    assert count > 300
    described = Booking.model_json_schema()["properties"]["possible_actions"]["description"]
    assert described == field_descriptions(Booking)["possible_actions"]
    assert McpPort.model_json_schema()["properties"]["latitude"]["description"] == "Degrees north."
