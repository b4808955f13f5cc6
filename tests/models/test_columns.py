"""Lists of records are identical to records validated by pydantic, short ones and long ones."""

import copy
import json
import pickle
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from itertools import chain, product
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from ferry_sdk import UnexpectedResponseError, models
from ferry_sdk._engine import parsing
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.models import Availability, Company, Country, Departure, Journey, McpPort, Port, bulk
from ferry_sdk.models.base import path_of
from ferry_sdk.models.bulk import columns_of, validate_columns
from tests.support import samples
from tests.support.exchanges import caught
from tests.support.operations import OPERATIONS, described
from tests.support.tiers import LONG, examples, mostly_long

SAMPLES = {
    Availability: samples.AVAILABILITY,
    Port: samples.PORT,
    Journey: samples.JOURNEY,
    Departure: samples.DEPARTURE,
    models.VehicleBrand: samples.VEHICLE_BRAND,
    models.VehicleType: samples.VEHICLE_TYPE,
    McpPort: {"code": "FRMRS", "name": "Marseille", "latitude": 43.3, "longitude": 5.37},
    Company: {"id": "co-1", "code": "CTN", "name": "CTN", "logo": ""},
    Country: {"code": "FR", "name": "France", "phone_prefix": "+33", "names": {"de": "Frankreich"}},
    models.VehicleModel: {"code": "ABARTH__595", "brand": "Abarth", "length": 3.66, "height": 1.48},
    models.ScheduledDeparture: {
        "journey": "jo-1",
        "company": {"id": "co-1"},
        "ship": "Tanit",
        "depart_at": "2026-07-13T20:20:00+02:00",
        "arrive_at": "2026-07-14 16:20",
    },
    models.McpTool: {"name": "view_ticket", "inputSchema": {"type": "object"}, "annotations": None},
    models.McpResource: {
        "uri": "resource://service/ports",
        "name": "ports",
        "mimeType": "text/plain",
    },
}
EVERY_LIST = pytest.mark.parametrize(
    "model", mostly_long([pytest.param(m, id=m.__name__) for m in SAMPLES])
)
BY_COLUMNS = pytest.mark.parametrize(
    "model", mostly_long([pytest.param(m, id=m.__name__) for m in SAMPLES if columns_of(m)])
)

WAYS = (0, 10**6)
"""The shortest lists that are validated by columns: any list, and none."""

TOO_BIG = "1e400"
TOO_SMALL = f"0.{'0' * 400}1"
"""Stands for that number, which JSON has and Python's floats have not."""

TEXTS = st.one_of(
    st.sampled_from(["", " ", "x", "Ω≈ç√", "\U0001d4b3\u200d", "25", "true", "\0", "Seat"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
INTS = st.sampled_from([0, 1, -1, 25, 2**31, 2**63, -(2**64), 10**400]) | st.integers()
COUNTS = st.sampled_from([0, 1, -1, 25, 2**31, 10**12, -(10**12)]) | st.integers(-9, 10**9)
FLOATS = st.sampled_from([0.0, -0.0, 25.0, 1e16, 1e22, 5e-324, 1.7e308, 0.1 + 0.2]) | st.floats(
    allow_nan=False, allow_infinity=False
)
JSON = st.recursive(
    st.none() | st.booleans() | INTS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
GOOD_MOMENTS = st.sampled_from(
    [
        "2026-07-13T20:20:00+02:00",
        "2026-07-13T20:20:00Z",
        "2026-07-13 20:20:00.123456-09:30",
        "1777636800",
        1777636800,
        1777636800.0,
        1777636800.25,
        1777636800123,
        0,
        -0.0,
        -1,
    ]
)
ODD_MOMENTS = st.sampled_from(
    [
        "2026-07-13T20:20:00",
        "2026-07-13",
        "2026-07-13T20:20:00+25:00",
        "tomorrow",
        "",
        "2026-02-29T00:00Z",
        "24:00",
        TOO_BIG,
        10**30,
        True,
        1e300,
    ]
)
ENUMS = st.sampled_from(["Ticket", "Cabin", "Any", "Outward", "Sideways", "ticket", ""]) | TEXTS
GOOD = {
    **dict.fromkeys(("date", "expiration_date", "depart_at", "arrive_at"), GOOD_MOMENTS),
    **dict.fromkeys(("type", "gender", "use", "direction"), ENUMS),
    "amount": (INTS | FLOATS).map(abs),
    "balance_amount": INTS | FLOATS,
    **dict.fromkeys(("id", "code", "journey_id", "sailing_id"), TEXTS.filter(bool)),
    "currency": st.sampled_from(["EUR", "eur", "Eur", "XXX"]),
    "animals": JSON,
}
ODD = st.one_of(
    JSON,
    ODD_MOMENTS,
    st.sampled_from(["EURO", "€€€", "EUR\n", TOO_BIG, f"-{TOO_BIG}", "12.5", [[]], [None], {}]),
)
SAME_KIND = {str: TEXTS, int: COUNTS, float: FLOATS, bool: st.booleans(), type(None): st.none()}


def spots(value):
    """Yield every list and dict inside a value with each of its keys."""
    keys = [*value] if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from spots(value[key])


def vary_value(draw, holder, key):
    strategy = GOOD.get(key, SAME_KIND.get(type(holder[key])))
    if strategy is not None:
        holder[key] = draw(strategy)


def replace_value(draw, holder, key):
    holder[key] = copy.deepcopy(draw(ODD))


def drop_member(_, holder, key):
    del holder[key]


def add_member(draw, holder, key):
    if isinstance(holder, dict):
        holder[draw(TEXTS | st.sampled_from(["model_extra", "__dict__", "id"]))] = draw(JSON)
    else:
        holder.append(copy.deepcopy(holder[key]))


def reverse_order(_, holder, _key):
    if isinstance(holder, dict):
        members = [*holder.items()]
        holder.clear()
        holder.update(reversed(members))
    else:
        holder.reverse()


@st.composite
def records(draw, model, acts):
    record = copy.deepcopy(SAMPLES[model])
    for act in draw(st.lists(st.sampled_from(acts), max_size=5)):
        if found := [*spots(record)]:
            act(draw, *draw(st.sampled_from(found)))
    return record


PLAIN = (vary_value, vary_value, reverse_order)
ANY = (vary_value, vary_value, vary_value, reverse_order, add_member, replace_value, drop_member)


def text_of(items):
    text = json.dumps(items, ensure_ascii=False)
    for number in (TOO_BIG, TOO_SMALL):
        text = text.replace(f'"{number}"', number).replace(f'"-{number}"', f"-{number}")
    return text.encode()


def validate_with_pydantic(model, text):
    read = []
    lost = []
    for index, item in enumerate(decode_json(text)):
        try:
            read.append(model.model_validate(item))
        except ValidationError as error:
            lost.append((index, *path_of(error), exact(item)))
    return read, lost


def exact(value):  # noqa: PLR0911 -- each kind is told in its own way
    if isinstance(value, BaseModel):
        inside = exact(vars(value)), exact(value.model_extra), value.model_fields_set
        return type(value), inside, value.__pydantic_private__
    if isinstance(value, dict):
        return dict, [(name, exact(item)) for name, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [*map(exact, value)]
    if isinstance(value, Decimal):
        return type(value), value.as_tuple()
    if isinstance(value, datetime):
        return type(value), repr(value), value.utcoffset(), value.fold
    if isinstance(value, models.OpenEnum):
        return type(value), value.value, value.name, value.is_known
    if isinstance(value, float):  # a number of many digits is a float that remembers them all
        return float, repr(value)
    return type(value), repr(value)


SIGHTS = (
    lambda record: exact(record.model_dump()),
    lambda record: record.model_dump_json(),
    lambda record: exact(record.model_dump(exclude_unset=True)),
    lambda record: exact(record.model_dump(exclude_defaults=True)),
    lambda record: exact(record.model_dump(mode="json", by_alias=True)),
    repr,
    str,
)
COPIES = (
    copy.copy,
    copy.deepcopy,
    lambda record: record.model_copy(),
    lambda record: record.model_copy(deep=True),
    lambda record: record.model_copy(update={"never_seen": [1]}),
    lambda record: pickle.loads(pickle.dumps(record, 2)),
    lambda record: pickle.loads(pickle.dumps(record, pickle.HIGHEST_PROTOCOL)),
)


def hash_of(record):
    try:
        return hash(record)
    except TypeError:  # it has a list somewhere
        return None


def assert_alike(ours, theirs):
    assert [*map(exact, ours)] == [*map(exact, theirs)]
    assert [*map(hash_of, ours)] == [*map(hash_of, theirs)]
    for mine, their in zip(ours, theirs, strict=True):
        assert (mine, their) == (their, mine)
        for number, sight in enumerate(SIGHTS):
            assert sight(mine) == sight(their), number
        for number, twin in enumerate(COPIES):
            assert exact(twin(mine)) == exact(twin(their)), number
    for (mine, their), (my_other, their_other) in product(zip(ours, theirs, strict=True), repeat=2):
        assert (mine == my_other) is (their == their_other)
    assert [*map(exact, pickle.loads(pickle.dumps([*ours])))] == [*map(exact, theirs)]
    assert [*map(exact, ours)] == [*map(exact, theirs)], "a copy changed what it was made of"


def assert_same_result(model, text, compare):
    for shortest in WAYS:
        with patch.object(parsing, "SHORTEST_BY_COLUMNS", shortest):
            assert_read_as_by_pydantic(model, text, compare)


def assert_read_as_by_pydantic(model, text, compare):
    read, lost = validate_with_pydantic(model, text)
    if lost and not read:
        error = caught(UnexpectedResponseError, RecordList(model).read, decode_json(text))
        assert exact(error.body) == exact(decode_json(text))
        assert error.field == f"[0].{lost[0][1]}".rstrip(".")
        return
    found = RecordList(model).read(decode_json(text))
    assert len(found) == len(read)
    compare(found, read)
    seen = [(one.index, one.field, one.problem, exact(one.raw)) for one in found.unreadable]
    assert seen == lost


@pytest.mark.slow
@EVERY_LIST
@examples(80)
@given(st.data())
def test_a_list_reads_as_pydantic_reads_its_records(model, data):
    items = data.draw(st.lists(records(model, ANY), max_size=4))
    again = data.draw(st.integers(0, 2))
    assert_same_result(model, text_of(items + items[:again]), assert_alike)


@LONG
@BY_COLUMNS
@settings(max_examples=8)
@given(st.data())
def test_odd_records_of_a_long_list_are_named(model, data):
    good = data.draw(st.lists(records(model, PLAIN), min_size=1, max_size=3))
    size = data.draw(st.sampled_from([119, 120, 121, 401, 999, 1001]))
    items = [good[place % len(good)] for place in range(size)]
    odd = st.tuples(st.integers(0, size - 1), records(model, ANY) | JSON)
    for place, record in data.draw(st.lists(odd, max_size=4)):
        items[place] = record

    def compare(ours, theirs):
        assert [*map(exact, ours)] == [*map(exact, theirs)]

    assert_same_result(model, text_of(items), compare)


@pytest.mark.slow
@BY_COLUMNS
@examples(60)
@given(st.data())
def test_what_the_interface_shows_is_read_by_columns(model, data):
    """Without this, the other tests would pass and nothing would be fast."""
    text = text_of(data.draw(st.lists(records(model, PLAIN), min_size=1, max_size=4)))
    items = decode_json(text)
    assert_alike(validate_columns(model, items)(), validate_with_pydantic(model, text)[0])


def availability(**changes):
    return {**samples.AVAILABILITY, **changes}


def tariff(**changes):
    return availability(tariffs=[{**samples.TARIFF, **changes}])


@settings(max_examples=1)
@given(st.just([]))
@example([tariff(amount=TOO_BIG), tariff()])
@example([tariff(amount=f"-{TOO_BIG}"), tariff()])
@example([tariff(amount=10**4299), tariff(amount=25), tariff(amount=25.0), tariff(amount=-0.0)])
@example([tariff(amount=-5), tariff(), tariff(balance_amount=-5)])
@example([tariff(amount=-0.01), tariff(amount=f"-{TOO_SMALL}"), tariff(amount=TOO_SMALL)])
@example([tariff(amount=0), tariff(amount=-0.0), tariff(amount=0.0)])
@example([tariff(amount=[25]), tariff(date=[0]), tariff(currency=["EUR"]), tariff(type={})])
@example([tariff(amount=1), tariff(amount=1.0, balance_amount=True)])
@example([tariff(amount=0.0, balance_amount=-0.0), tariff(amount=25, balance_amount=25.0)])
@example([tariff(date=0), tariff(date=-0.0), tariff(date=0.0)])
@example([tariff(amount=True), tariff(date=True), availability(is_open=1)])
@example([availability(animals=[TOO_BIG]), availability(vehicle=[TOO_BIG])])
@example([availability(animals=TOO_BIG, never_seen=TOO_BIG)])
@example([availability(id=""), availability()])
@example([tariff(id=""), availability()])
@example([availability(tariffs=[]), availability(places=[]), availability(stops=[])])
@example([availability(tariffs=[samples.TARIFF] * 3), availability(tariffs=[])])
@example([availability(company={"id": "1", "name": "x"}), availability()])
@example([availability(company=5), availability(company=[])])
@example([availability(company=[*samples.AVAILABILITY["company"]]), availability(places=["x"])])
@example([availability(tariffs=[{}, []]), availability(tariffs=[samples.TARIFF, 1])])
@example([availability(direction="Sideways"), tariff(type="", currency="eUr")])
def test_known_pitfalls(items):
    assert_same_result(Availability, text_of(items), assert_alike)


@pytest.mark.parametrize(
    "text",
    [
        '[{"code": 1, "name": "x", "code": "B", "country": "Y"}]',
        '[{"code": "A", "name": "x", "country": "Y", "\\u0063ode": "C"}]',
        '[{"code": "\\ud83d\\ude00", "name": "\\u0000", "country": ""}]',
        '[{"code": "A", "name": "x", "country": "Y", "deep": ' + "[" * 150 + "]" * 150 + "}]",
    ],
    ids=["a name twice", "a name twice, escaped", "escaped characters", "deep lists"],
)
def test_what_only_the_text_of_json_has(text):
    assert_same_result(Port, text.encode(), assert_alike)


def test_every_list_of_the_interface_has_a_sample():
    answers = [described(name).answer for name in OPERATIONS]
    assert {*SAMPLES} == {answer.model for answer in answers if isinstance(answer, RecordList)}


def test_a_search_is_read_by_columns():
    assert columns_of(Availability)
    assert bulk.IS_SUPPORTED, "by the version of pydantic that is installed"


@pytest.fixture
def siblings(by_columns):
    """Three sailings, read by columns, of which two have the same members."""
    items = [availability(), availability(never_seen=[1]), availability(never_seen=[1])]
    return [*RecordList(Availability).read(decode_json(text_of(items)))]


def test_a_record_refuses_a_change(siblings):
    for record in siblings:
        for change in (
            partial(setattr, record, "duration", 1),
            partial(setattr, record, "never_seen", 1),
            partial(delattr, record, "duration"),
            partial(setattr, record.tariffs[0], "amount", Decimal(0)),
            partial(setattr, record.places[0].in_board, "adults", 9),
        ):
            with pytest.raises(ValidationError, match="frozen"):
                change()


def test_a_change_of_a_copy_changes_no_record(siblings):
    before = [*map(exact, siblings)]
    for record in siblings:
        for part in (record, record.company, record.tariffs[0], record.places[0].in_board):
            part.model_extra["slipped"] = "in"
            part.model_fields_set.add("slipped in")
            part.model_copy(update={"slipped": "in"})
            part.model_copy().model_extra.clear()
    assert [*map(exact, siblings)] == before


@pytest.mark.usefixtures("by_columns")
def test_another_pydantic_reads_the_same_without_columns(monkeypatch):
    body = [samples.AVAILABILITY, samples.AVAILABILITY]
    expected = [*RecordList(Availability).read(copy.deepcopy(body))]
    monkeypatch.setattr(bulk, "IS_SUPPORTED", False)
    assert [*RecordList(Availability).read(copy.deepcopy(body))] == expected


@cache
def shared_defaults():
    """The records that stand for absent ones: pydantic gives one to all that have none."""
    fields = [*models.Availability.model_fields.values(), *models.Place.model_fields.values()]
    return [field.default for field in fields if isinstance(field.default, BaseModel)]


def changeable(value):
    if any(value is default for default in shared_defaults()):
        return
    if isinstance(value, BaseModel):
        yield id(vars(value))
        yield from changeable((*vars(value).values(), *value.model_extra.values()))
    elif isinstance(value, list | dict):
        yield id(value)
        inner_values = value.values() if isinstance(value, dict) else value
        yield from changeable(tuple(inner_values))
    elif isinstance(value, tuple):
        for inner in value:
            yield from changeable(inner)


@examples(60)
@given(records(Availability, ANY))
def test_two_records_share_nothing_that_can_be_changed(record):
    first = [availability(places=[{**samples.PLACE}]), availability()]
    text = text_of([record, record, *first])
    for shortest in WAYS:
        with (
            patch.object(parsing, "SHORTEST_BY_COLUMNS", shortest),
            suppress(UnexpectedResponseError),
        ):
            records = RecordList(Availability).read(decode_json(text))
            parts = [{*changeable(record)} for record in records]
            assert len({*chain.from_iterable(parts)}) == sum(map(len, parts))
