"""Lists with unreadable records: none is lost, and the others are still parsed."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import Availability, Port, Records, UnexpectedResponseError, Unreadable
from ferry_sdk._engine.parsing import Record, RecordList
from tests.support import samples
from tests.support.summer import search, stopped
from tests.support.tiers import examples

CANARY = "Zq7-canary"
GOOD = samples.AVAILABILITY
BAD = {**GOOD, "ship_name": CANARY, "tariffs": [{**samples.TARIFF, "amount": CANARY}]}
PORTS = [Port(code=code, name=code, country="X") for code in ("A", "B", "C")]


class TestReading:
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_one_bad_record_is_kept_apart(self, place, caplog):
        items = [GOOD, GOOD]
        items.insert(place, BAD)
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            found = RecordList(Availability).read(items)
        assert [one.id for one in found] == ["av-1", "av-1"]
        (lost,) = found.unreadable
        assert (lost.index, lost.field) == (place, "tariffs[0].amount")
        assert "decimal" in lost.problem
        assert lost.raw == BAD
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert "tariffs[0].amount" in record.getMessage()
        assert CANARY not in record.getMessage()
        assert CANARY not in lost.problem
        assert CANARY not in repr(lost)
        assert CANARY not in repr(found)

    def test_an_offer_below_zero_is_no_offer(self):
        tariffs = [{**samples.TARIFF, **change} for change in ({}, {"amount": -5})]
        credit = {**GOOD, "tariffs": [{**samples.TARIFF, "amount": 0, "balance_amount": -5}]}
        found = RecordList(Availability).read([{**GOOD, "tariffs": tariffs}, credit])
        (lost,) = found.unreadable
        assert (lost.index, lost.field) == (0, "tariffs[1].amount")
        assert lost.problem == "expected a number from 0"
        assert [one.tariffs[0].balance_amount for one in found] == [-5]

    def test_what_is_all_good_warns_of_nothing(self, caplog):
        assert RecordList(Availability).read([GOOD]).unreadable == ()
        assert caplog.records == []

    def test_where_none_can_be_read_it_is_an_error(self):
        with pytest.raises(UnexpectedResponseError) as caught:
            RecordList(Availability).read([BAD, {}])
        assert caught.value.field == "[0].tariffs[0].amount"
        assert "[0].tariffs[0].amount" in str(caught.value)
        assert CANARY not in str(caught.value)
        assert caught.value.body == [BAD, {}]

    def test_records_that_are_no_objects_are_bad_ones(self):
        found = RecordList(Port).read([samples.PORT, None, 5, "x", [samples.PORT]])
        assert [one.index for one in found.unreadable] == [1, 2, 3, 4]
        assert [one.field for one in found.unreadable] == [""] * 4

    def test_an_empty_list_is_an_answer(self):
        for value in ([], {"ports": []}):
            assert RecordList(Port, member="ports").read(value) == Records()

    @pytest.mark.parametrize(
        "value",
        [
            [samples.PORT],
            {"ports": [samples.PORT]},
            {"ports": [samples.PORT], "total": 1},
            {"items": [samples.PORT]},
            samples.PORT,
        ],
    )
    def test_a_list_is_found_where_it_is(self, value):
        assert list(RecordList(Port, member="ports").read(value)) == [Port(**samples.PORT)]

    @pytest.mark.parametrize("value", [None, 5, "x", True, {"ports": None}, {}])
    def test_what_is_no_list_is_an_error(self, value):
        with pytest.raises(UnexpectedResponseError):
            RecordList(Port, member="ports").read(value)

    def test_a_single_record_names_its_field(self):
        with pytest.raises(UnexpectedResponseError) as caught:
            Record(Availability).read(BAD)
        assert caught.value.field == "tariffs[0].amount"
        assert caught.value.outcome == "unknown"
        assert CANARY not in str(caught.value)

    @examples(50)
    @given(
        st.lists(
            st.one_of(
                st.just(samples.PORT),
                st.none(),
                st.dictionaries(st.sampled_from(["code", "name"]), st.text(max_size=3)),
            ),
            max_size=8,
        )
    )
    def test_every_record_is_in_one_place_or_the_other(self, items):
        good = [item for item in items if item == samples.PORT]
        if items and not good:
            with pytest.raises(UnexpectedResponseError):
                RecordList(Port).read(items)
            return
        found = RecordList(Port).read(items)
        lost = {one.index: one.raw for one in found.unreadable}
        assert len(found) == len(good)
        assert lost == {i: one for i, one in enumerate(items) if one != samples.PORT}


class TestSequence:
    records = Records(PORTS, [Unreadable(1, "code", "missing", {"name": CANARY})])

    def test_it_is_a_sequence(self):
        assert isinstance(self.records, Sequence)
        assert len(self.records) == 3
        assert self.records[0] is PORTS[0]
        assert self.records[-1] is PORTS[2]
        assert self.records[1:] == tuple(PORTS[1:])
        assert list(self.records) == PORTS
        assert list(reversed(self.records)) == PORTS[::-1]
        assert PORTS[1] in self.records
        assert self.records.index(PORTS[1]) == 1
        assert self.records.count(PORTS[1]) == 1
        with pytest.raises(IndexError):
            _ = self.records[3]

    def test_none_at_all_is_false(self):
        assert not Records()
        assert self.records

    def test_it_cannot_be_changed(self):
        for act in (
            lambda: self.records.__setitem__(0, PORTS[0]),
            lambda: self.records.append(PORTS[0]),
            lambda: setattr(self.records, "other", 1),
            lambda: setattr(self.records, "unreadable", ()),
            lambda: delattr(self.records, "unreadable"),
        ):
            with pytest.raises((TypeError, AttributeError)):
                act()
        assert [lost.raw for lost in self.records.unreadable] == [{"name": CANARY}]

    def test_it_equals_what_holds_the_same(self):
        twin = Records(list(PORTS), list(self.records.unreadable))
        assert self.records == twin
        assert hash(self.records) == hash(twin)
        assert self.records != Records(PORTS)
        assert self.records != Records(PORTS[:2], self.records.unreadable)
        assert Records(PORTS) != PORTS
        assert Records(PORTS) != tuple(PORTS)

    def test_its_repr_tells_how_many_are_lost_and_shows_none(self):
        shown = repr(self.records)
        assert shown.startswith("Records([Port(code='A'")
        assert shown.endswith("unreadable=1)")
        assert CANARY not in shown
        assert repr(Records()) == "Records([])"

    def test_it_survives_pickle_and_copies(self):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            twin = pickle.loads(pickle.dumps(self.records, protocol))
            assert twin == self.records
            assert twin.unreadable[0].raw == {"name": CANARY}
        assert copy.deepcopy(self.records) == copy.copy(self.records) == self.records

    def test_an_unreadable_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            self.records.unreadable[0].index = 5


class TestOverTheWire:
    @pytest.fixture(autouse=True)
    def summer(self, ferry_sandbox):
        return stopped(ferry_sandbox)

    @pytest.mark.parametrize(
        ("operation", "ask"),
        [
            ("catalogue.ports", lambda ferry: ferry.catalogue.ports()),
            ("mcp.vehicle_brands", lambda ferry: ferry.mcp.vehicle_brands()),
            (
                "mcp.search_availability",
                lambda ferry: ferry.mcp.search_availability(**search(back=True)),
            ),
            (
                "availability.search",
                lambda ferry: ferry.availability.search(**search(back=True)),
            ),
        ],
    )
    @pytest.mark.parametrize("kind", ["missing_field", "null_field"])
    def test_a_field_that_is_gone_loses_one_record(
        self, both, ferry_sandbox, operation, ask, kind, caplog
    ):
        everything = ask(both)
        ferry_sandbox.faults.add(kind, operation, index=1)
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            found = ask(both)
        (lost,) = found.unreadable
        assert lost.index == 1
        assert lost.raw.get(lost.field) is None
        assert (lost.field in lost.raw) is (kind == "null_field")
        assert len(found) == len(everything) - 1
        assert [one.getMessage() for one in caplog.records if "left out" in one.getMessage()]

    def test_a_field_deep_inside_is_named_by_its_path(self, both, ferry_sandbox):
        ferry_sandbox.faults.add(
            "null_field", "availability.search", field="tariffs.1.amount", index=0
        )
        found = both.availability.search(**search(back=True))
        (lost,) = found.unreadable
        assert (lost.index, lost.field) == (0, "tariffs[1].amount")
        assert [one.direction for one in found] == ["Return"]

    def test_the_only_record_that_cannot_be_read_is_an_error(self, both, ferry_sandbox):
        ferry_sandbox.faults.add("missing_field", "availability.search", field="id", times=None)
        with pytest.raises(UnexpectedResponseError) as caught:
            both.with_options(max_retries=0).availability.search(**search())
        assert caught.value.field == "[0].id"
        assert caught.value.status_code == 200
        assert caught.value.request_id

    def test_a_value_nobody_knows_loses_nothing(self, both, ferry_sandbox):
        ferry_sandbox.faults.add("unknown_enum", "availability.search", value="Sideways")
        found = both.availability.search(**search())
        assert found.unreadable == ()
        assert found[0].direction == "Sideways"
        assert not found[0].direction.is_known

    @pytest.mark.parametrize("kind", ["missing_field", "null_field"])
    def test_a_single_record_without_its_stage_is_an_error(self, both, ferry_sandbox, kind):
        found = both.availability.search(**search())[0]
        selection = found.select(tariff=found.tariffs[0], place=found.places[0])
        made = both.bookings.create(
            availabilities=[selection],
            passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Byron"}],
        )
        ferry_sandbox.faults.add(kind, "bookings.get", field="stage")
        with pytest.raises(UnexpectedResponseError) as caught:
            both.with_options(max_retries=0).bookings.get(made.booking_id)
        assert caught.value.field == "stage"
        assert both.bookings.get(made.booking_id).stage == made.stage
