"""Short lists go to pydantic, because columns cost more than their records are worth."""

import copy
import sys
from unittest.mock import patch

import pytest
from pydantic import TypeAdapter

from ferry_sdk import Availability, models
from ferry_sdk._engine import parsing
from ferry_sdk._engine.parsing import SHORTEST_BY_COLUMNS, RecordList
from ferry_sdk.models.base import strict_parser
from tests.models.test_columns import SAMPLES
from tests.support import samples
from tests.support.costs import Costs, counting

OF_A_LIST = 150
"""Bytecodes of a list, however many records it has."""
RECORDS = {**SAMPLES, models.Booking: samples.BOOKING, models.Ticket: samples.TICKET}
ODD = {**samples.AVAILABILITY, "stops": "x", "company": [], "tariffs": [{}]}
TOLERATED = {**samples.AVAILABILITY, "stops": ["FRMRS", 5], "duration": "long", "places": None}


def sailings(number):
    return [copy.deepcopy(samples.AVAILABILITY) for _ in range(number)]


def costs_of(read, number):
    read(sailings(number))  # the first time, validators are built
    records = sailings(number)
    with counting(Costs()) as costs:
        read(records)
    return costs.bytecodes


@pytest.mark.parametrize("number", [1, 4, SHORTEST_BY_COLUMNS - 1])
def test_a_short_list_costs_what_pydantic_costs(number):
    answer = RecordList(Availability)

    def read(records):
        return [*answer.read(records)]

    with_pydantic = TypeAdapter(list[Availability]).validate_python
    assert costs_of(read, number) <= costs_of(with_pydantic, number) + OF_A_LIST


def test_only_long_lists_are_validated_by_columns():
    with patch.object(parsing, "validate_columns", wraps=parsing.validate_columns) as by_columns:
        RecordList(Availability).read(sailings(SHORTEST_BY_COLUMNS - 1))
        assert not by_columns.called
        RecordList(Availability).read(sailings(SHORTEST_BY_COLUMNS))
        assert by_columns.called


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("odd", [ODD, None, 5, {}], ids=["no tariff", "null", "number", "empty"])
def test_both_ways_report_the_same_unreadable_record(place, odd):
    items = sailings(3)
    items.insert(place, odd)
    short = RecordList(Availability).read(copy.deepcopy(items))
    with patch.object(parsing, "SHORTEST_BY_COLUMNS", 0):
        long = RecordList(Availability).read(copy.deepcopy(items))
    assert [lost.index for lost in short.unreadable] == [place]
    assert short.unreadable == long.unreadable
    assert short == long


def test_both_ways_read_odd_values_tolerantly():
    items = [samples.AVAILABILITY, TOLERATED]
    short = RecordList(Availability).read(copy.deepcopy(items))
    with patch.object(parsing, "SHORTEST_BY_COLUMNS", 0):
        long = RecordList(Availability).read(copy.deepcopy(items))
    assert short == long
    assert (short[1].stops, short[1].duration, short[1].places) == (("FRMRS",), None, ())


@pytest.mark.parametrize("model", RECORDS, ids=[model.__name__ for model in RECORDS])
def test_a_strict_parser_reads_nothing_tolerantly(model):
    parse = strict_parser(model)
    entered = []

    def note(frame, event, _argument):
        if event == "call":
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        record = parse(RECORDS[model])
    finally:
        sys.setprofile(None)
    assert record == model.model_validate(RECORDS[model])
    assert "_read_tolerantly" not in entered
