"""A field that nobody books with never takes its record with it."""

import copy
import json
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pydantic import BaseModel, ValidationError

from ferry_sdk import Availability, Booking, Ticket, models
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk.models.base import LARGEST_COUNT
from tests.models.test_columns import SAMPLES
from tests.models.test_models import DECIDING
from tests.models.test_models import RECORDS as SAMPLES_BY_NAME
from tests.support import samples
from tests.support.tiers import mostly_long

RECORDS = {
    Ticket: samples.TICKET,  # the one of the quick tests: an availability has many times its paths
    Availability: samples.AVAILABILITY,
    Booking: samples.BOOKING,
    **{getattr(models, name): sample for name, sample in SAMPLES_BY_NAME.items()},
    **SAMPLES,
}
STRICT_LISTS = {"tariffs", "places", "tickets", "departure_times"}
STRICT = STRICT_LISTS.union({"before", "after"}, *DECIDING.values())
"""The names of the fields that decide, in any record."""
STRICT_OF_SERVERS = {models.McpTool: {"name"}, models.McpResource: {"uri"}}
MONEY = {"pricing", "received", "kept", "lines", "reverse", "balance"}
"""The fields whose records have amounts."""

HUGE = 10**19
ABSENT = object()
ODD = (
    None,
    ABSENT,
    [],
    {},
    "",
    " ",
    "x",
    0,
    -1,
    10.0,
    10.5,
    HUGE,
    -HUGE,
    10**400,
    float("inf"),
    True,
    False,
    [[]],
    [None],
    [{}],
    [1, "a"],
    {"a": 1},
    {"a": {"b": []}},
    "2026-07-13T20:20:00",
    "21:30",
    "2026-07-13T20:20:00 +01",
    "0001-01-01T00:00:00+02:00",
    "9999-12-31T23:59:59-02:00",
    "NaN",
    "1e999",
    "\ud800",
    ["\ud800"],
    "9" * 5000,
    253402300800,
    1777636800123,
    -62135596801,
)
"""Values that stand, one at a time, at every path of a record."""
DUMPS = (
    {},
    {"exclude_none": True},
    {"by_alias": True},
    {"mode": "json"},
    {"mode": "json", "by_alias": True, "exclude_none": True},
)
TRAVELLER = models.TicketPassenger(**samples.TICKET_PASSENGER)
PROPERTIES = ("travel_time", "duration", "is_free", "refund_shortfall", "ticket_id")


def paths(value):
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield (key,)
        if isinstance(value[key], dict | list):
            for path in paths(value[key]):
                yield (key, *path)


def changed(sample, path, value):
    """A copy of the sample with another value at the path."""
    record = copy.deepcopy(sample)
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    if value is ABSENT:
        del inner[path[-1]]
    else:
        inner[path[-1]] = copy.deepcopy(value)
    return record


def decides(model, path, value):
    """Whether a field at the path decides, or the odd value is a record without its amounts."""
    names = [name for name in path if isinstance(name, str)]
    is_strict = names[-1] in STRICT | STRICT_OF_SERVERS.get(model, set())
    is_record = isinstance(value, dict) or value == [{}]
    return is_strict or (is_record and names[-1] in MONEY)


def records_in(value):
    if isinstance(value, BaseModel):
        yield value
        yield from records_in(vars(value))
    elif isinstance(value, dict):
        yield from records_in(tuple(value.values()))
    elif isinstance(value, tuple):
        for inner in value:
            yield from records_in(inner)


def use(whole):
    """Use all that a program may use of a record and of the records inside it."""
    for record in records_in(whole):
        _ = repr(record), str(record), hash(record), record._repr_html_()
        _ = [getattr(record, name, None) for name in PROPERTIES]
        if isinstance(record, Booking | models.BookingCreated):
            record.next_actions()


MODELS = pytest.mark.parametrize(
    "model", mostly_long([pytest.param(model, id=model.__name__) for model in RECORDS])
)


@MODELS
def test_an_odd_value_takes_no_record_with_it(model):
    for path in paths(RECORDS[model]):
        for value in ODD:
            record = None
            with suppress(ValidationError):
                record = model.model_validate(changed(RECORDS[model], path, value))
            if record is None:
                assert decides(model, path, value), (path, value)
                continue
            use(record)
            for options in DUMPS:
                again = model.model_validate(record.model_dump(**options))
                assert again == record, (path, value, options)


@pytest.mark.slow
@MODELS
def test_a_list_reads_odd_values_like_its_records(model):
    sample = RECORDS[model]
    for path in paths(sample):
        items = [changed(sample, path, value) for value in ODD]
        records = RecordList(model).read([*items, copy.deepcopy(sample)])
        unreadable = {record.index for record in records.unreadable}
        readable = [value for index, value in enumerate(ODD) if index not in unreadable]
        expected = [model.model_validate(changed(sample, path, value)) for value in readable]
        assert [*records][:-1] == expected, path


@pytest.mark.parametrize(
    ("model", "field", "value", "expected"),
    [
        (Availability, "stops", None, ()),
        (Availability, "stops", {}, ()),
        (Availability, "stops", "x", ()),
        (Availability, "stops", ["FRMRS", 5, None], ("FRMRS",)),
        (Availability, "tariffs", None, ()),
        (Availability, "tariffs", {}, ()),
        (Availability, "duration", 10.0, 10),
        (Availability, "duration", 10.5, None),
        (Availability, "duration", HUGE, None),
        (Availability, "company", [], models.SailingCompany()),
        (Availability, "ship_name", 5, ""),
        (models.Place, "in_board", [], models.InBoard()),
        (models.Place, "type", None, ""),
        (models.Tariff, "roundtrip_locked", None, False),
        (models.Tariff, "date", "soon", "soon"),
        (models.Tariff, "expiration_date", None, None),
        (Booking, "pricing", [], None),
        (Booking, "pricing", "x", None),
        (Booking, "possible_actions", [], {}),
        (Booking, "possible_actions", {"Pay": []}, {"Pay": models.PossibleAction()}),
        (Booking, "possible_actions", {"Pay": 5}, {"Pay": models.PossibleAction()}),
        (Booking, "expire_at", "in an hour", "in an hour"),
        (Booking, "expire_at", HUGE, str(HUGE)),
        (Booking, "expire_at", True, None),
        (Booking, "status", None, ""),
        (models.Kept, "lines", None, ()),
        (models.Kept, "lines", {}, ()),
        (models.Balance, "before", None, None),
        (models.BookingCancellation, "refund_amount", None, None),
        (models.PossibleAction, "requestedItems", [], {}),
        (Ticket, "vehicle", [], None),
        (Ticket, "passengers", [None, samples.TICKET_PASSENGER], (TRAVELLER,)),
        (Ticket, "boarding_time", "21:30", "21:30"),
        (Ticket, "availability", [], models.TicketJourneys()),
        (models.Voucher, "url", 5, None),
        (models.Journey, "duration_minutes", LARGEST_COUNT, LARGEST_COUNT),
        (models.Journey, "duration_minutes", LARGEST_COUNT + 1, None),
        (models.Journey, "duration_minutes", -LARGEST_COUNT, -LARGEST_COUNT),
        (models.Journey, "duration_minutes", -LARGEST_COUNT - 1, None),
        (models.VehicleType, "max_length", "long", None),
        (models.McpPort, "latitude", 91, None),
        (models.McpTool, "inputSchema", [], {}),
    ],
)
def test_what_cannot_be_read_is_left_out(model, field, value, expected):
    record = model.model_validate({**RECORDS[model], field: value})
    name = {"requestedItems": "requested_items", "inputSchema": "input_schema"}.get(field, field)
    assert getattr(record, name) == expected


@pytest.mark.parametrize(
    ("model", "change", "field"),
    [
        (Availability, {"tariffs": [samples.TARIFF, {**samples.TARIFF, "id": None}]}, "tariffs"),
        (Availability, {"places": [{**samples.PLACE, "id": ""}]}, "places"),
        (Booking, {"tickets": [{**samples.TICKET, "status": None}]}, "tickets"),
        (Booking, {"pricing": {**samples.PRICING, "kept": {"total": "x"}}}, "pricing"),
        (Booking, {"pricing": {**samples.PRICING, "currency": "€"}}, "pricing"),
        (models.Kept, {"lines": [{"key": "a", "label": "b", "amount": "x"}]}, "lines"),
        (models.Balance, {"before": "x"}, "before"),
    ],
)
def test_what_decides_is_strict_wherever_it_stands(model, change, field):
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**RECORDS[model], **change})
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-07-13T20:20:00+01", 1),
        ("2026-07-13T20:20:00 +01:00", 1),
        ("2026-07-13 20:20 -0930", -9.5),
        ("2026-07-13T20:20:00.250 +01", 1),
        ("2026-07-13T20:20:00 UTC", 0),
        ("2026-07-13T20:20:00GMT", 0),
    ],
)
@pytest.mark.parametrize(("model", "field"), [(Availability, "depart_at"), (Booking, "expire_at")])
def test_a_clear_offset_is_read(model, field, text, hours):
    record = model.model_validate({**RECORDS[model], field: text})
    assert getattr(record, field).utcoffset() == timedelta(hours=hours)
    assert getattr(record, field).hour == 20


@pytest.mark.parametrize("value", [1777636800123, "1777636800123", 1777636800.123])
def test_milliseconds_are_a_moment(value):
    record = Booking.model_validate({**samples.BOOKING, "expire_at": value})
    assert record.expire_at == datetime(2026, 5, 1, 12, 0, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-07-13T20:20:00+1", "2026-07-13T20:20:00  +01", "+01" * 30])
def test_an_unclear_offset_stays_a_text(text):
    assert Booking.model_validate({**samples.BOOKING, "expire_at": text}).expire_at == text


def test_the_log_names_the_field_only(caplog):
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    Ticket.model_validate({**samples.TICKET, "boarding_time": ["Zq7-canary"], "vehicle": None})
    assert [record.getMessage() for record in caplog.records] == [
        "Ticket: boarding_time cannot be read"
    ]
    assert caplog.records[0].levelno == logging.DEBUG


def test_an_odd_field_has_no_other_spelling():
    port = models.McpPort.model_validate({"latitude": "north", "lat": "south", "code": "A"})
    assert (port.latitude, port.code, port.model_extra) == (None, "A", {})


def test_an_odd_value_changes_no_neighbour():
    body = json.dumps([samples.AVAILABILITY] * 300)
    plain = [*RecordList(Availability).read(json.loads(body))]
    items = json.loads(body)
    items[7]["stops"] = None

    records = RecordList(Availability).read(items)

    assert records.unreadable == ()
    assert records[7].stops == ()
    assert [*records[:7], *records[8:]] == [*plain[:7], *plain[8:]]


def test_minus_zero_is_no_credit():
    free = Booking.model_validate({**samples.BOOKING, "total_price": -0.0})
    assert free.total_price == Decimal(0)
