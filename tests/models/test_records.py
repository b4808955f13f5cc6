"""Lists with unreadable records: none is lost, and the others are still parsed."""

import copy
import gc
import json
import logging
import os
import pickle
import sys
import threading
from collections.abc import Sequence
from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import (
    Availability,
    BookingConfirmation,
    Port,
    Records,
    UnexpectedResponseError,
    Unreadable,
)
from ferry_sdk._engine.parsing import Record, RecordList
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.models import bulk
from tests.backend.gathering import at_once
from tests.support import samples
from tests.support.exchanges import caught
from tests.support.lines import interrupt_at
from tests.support.processes import run
from tests.support.tables import each
from tests.support.tiers import examples

CANARY = "Zq7-canary"
GOOD = samples.AVAILABILITY
BAD = {**GOOD, "ship_name": CANARY, "tariffs": [{**samples.TARIFF, "amount": CANARY}]}
MADE = tuple(Port(code=code, name=code, country="X") for code in "ABC")
SAILINGS = [{**GOOD, "id": f"av-{n}", "never_seen": n, "stops": ["A"] * n} for n in range(3)]


def test_one_bad_record_is_kept_apart_and_where_none_can_be_read_it_is_an_error(caplog):
    for place in range(3):
        caplog.clear()
        items = [GOOD, GOOD]
        items.insert(place, BAD)
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            found = RecordList(Availability).read(items)
        assert [one.id for one in found] == ["av-1", "av-1"]
        (lost,) = found.unreadable
        assert (lost.index, lost.field, lost.raw) == (place, "tariffs[0].amount", BAD)
        assert "decimal" in lost.problem
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert "tariffs[0].amount" in record.getMessage()
        assert CANARY not in f"{record.getMessage()} {lost.problem} {lost!r} {found!r}"
    read, port = RecordList(Port, member="ports").read, samples.PORT
    for value in (
        [port],
        {"ports": [port]},
        {"ports": [port], "total": 1},
        {"items": [port]},
        port,
    ):
        assert [*read(value)] == [Port(**port)], value
    for value in ([], {"ports": []}, None, {}, {"ports": None}, {"ports": {}}, {"items": None}):
        assert read(value) == Records()
    for value in (5, "x", True, {"ports": 5}, {"ports": {"a": 1}}, {"items": "x"}, {"code": None}):
        caught(UnexpectedResponseError, read, value)
    error = caught(UnexpectedResponseError, RecordList(Availability).read, [BAD, {}])
    assert error.field == "[0].tariffs[0].amount"
    assert "[0].tariffs[0].amount" in str(error)
    assert error.body == [BAD, {}]
    single = caught(UnexpectedResponseError, Record(Availability).read, BAD)
    assert (single.field, single.outcome) == ("tariffs[0].amount", "unknown")
    assert CANARY not in f"{error} {single}"
    tariffs = [{**samples.TARIFF, **change} for change in ({}, {"amount": -5})]
    credit = {**GOOD, "tariffs": [{**samples.TARIFF, "amount": 0, "balance_amount": -5}]}
    found = RecordList(Availability).read([{**GOOD, "tariffs": tariffs}, credit])
    (lost,) = found.unreadable
    assert (lost.index, lost.field) == (0, "tariffs[1].amount")
    assert lost.problem == "expected a number from 0"
    assert [one.tariffs[0].balance_amount for one in found] == [-5]


def test_reply_about_another_booking_is_refused():
    answer = Record(BookingConfirmation, booking_id="b-1")
    reply = samples.BOOKING_CONFIRMATION | {"booking_id": "b-2"}
    error = caught(UnexpectedResponseError, answer.read, reply)
    assert error.field == "booking_id"


ITEMS = st.one_of(
    st.just(samples.PORT),
    st.none(),
    st.dictionaries(st.just("name"), st.text(max_size=3)),
)


@examples(50)
@given(st.lists(ITEMS, max_size=8))
def test_every_record_is_in_one_place_or_the_other(items):
    good = [item for item in items if item == samples.PORT]
    if items and not good:
        caught(UnexpectedResponseError, RecordList(Port).read, items)
        return
    found = RecordList(Port).read(items)
    lost = {one.index: one.raw for one in found.unreadable}
    assert not any(one.field for one in found.unreadable if one.raw is None)
    assert len(found) == len(good)
    assert lost == {i: one for i, one in enumerate(items) if one != samples.PORT}


def test_records_are_an_immutable_sequence_that_hides_what_is_lost():
    records = Records(MADE, [Unreadable(1, "code", "missing", {"name": CANARY})])
    assert isinstance(records, Sequence)
    assert records
    assert not Records()
    with pytest.raises(IndexError):
        _ = records[3]
    for act in (
        lambda: records.__setitem__(0, MADE[0]),
        lambda: records.append(MADE[0]),
        lambda: setattr(records, "other", 1),
        lambda: setattr(records, "unreadable", ()),
        lambda: delattr(records, "unreadable"),
        lambda: setattr(records.unreadable[0], "index", 5),
    ):
        with pytest.raises((TypeError, AttributeError)):
            act()
    assert [lost.raw for lost in records.unreadable] == [{"name": CANARY}]
    twin = Records([*MADE], [*records.unreadable])
    assert records == twin
    assert hash(records) == hash(twin)
    assert records not in (Records(MADE), Records(MADE[:2], twin.unreadable))
    assert Records(MADE) not in ([*MADE], MADE)
    assert repr(records).startswith("Records([Port(code='A'")
    assert repr(records).endswith("unreadable=1)")
    assert CANARY not in repr(records)
    assert repr(Records()) == "Records([])"


def search_result(sailings=SAILINGS):
    return RecordList(Availability).read(decode_json(json.dumps(sailings).encode()))


def ports(made=None):
    def make():
        if made is not None:
            made.append(threading.get_ident())
        return MADE

    return Records[Port].from_factory(make, 3)


@pytest.mark.usefixtures("by_columns")
def test_their_number_is_known_without_making_them():
    def how_many_there_are():
        return sum(type(one) is Availability for one in gc.get_objects())

    made = []
    assert len(ports(made)) == 3
    assert ports(made)
    assert not Records[Port].from_factory(lambda: made.append(1), 0)
    assert made == []
    before = how_many_there_are()
    answer = search_result()
    assert len(answer) == 3
    assert answer
    assert answer.unreadable == ()
    assert how_many_there_are() == before
    assert len([*answer]) == 3
    assert how_many_there_are() == before + 3


def test_they_are_made_once_and_what_fails_at_first_at_the_next_look():
    made = []
    answer = ports(made)
    first = [*answer]
    assert [*map(id, answer)] == [*map(id, first)]
    assert [*map(id, reversed(answer))] == [*map(id, first[::-1])]
    assert answer[-1] is first[2]
    assert answer[1:] == tuple(first[1:])
    assert len(made) == 1
    tries = iter([KeyboardInterrupt, MemoryError])

    def make():
        for error in tries:
            raise error
        return MADE

    answer = Records[Port].from_factory(make, 3)
    caught(KeyboardInterrupt, list, answer)
    caught(MemoryError, hash, answer)
    assert [*answer] == [*MADE]


@each(
    ("look", "seen"),
    [
        (lambda answer: [*answer], [*MADE]),
        (lambda answer: [*reversed(answer)], [*MADE[::-1]]),
        (lambda answer: answer[0], MADE[0]),
        (lambda answer: answer[-1], MADE[2]),
        (lambda answer: answer[::2], MADE[::2]),
        (lambda answer: answer[:0], ()),
        (lambda answer: answer.index(MADE[1]), 1),
        (lambda answer: answer.count(MADE[1]), 1),
        (lambda answer: MADE[1] in answer, True),
        (lambda answer: "A" in answer, False),
        (lambda answer: answer == Records(MADE), True),
        (lambda answer: answer == ports(), True),
        (lambda answer: Records(MADE) == answer, True),
        (lambda answer: answer != Records(MADE[:2]), True),
        (hash, hash(Records(MADE))),
        (repr, repr(Records(MADE))),
        (copy.copy, Records(MADE)),
        (copy.deepcopy, Records(MADE)),
        (lambda answer: pickle.loads(pickle.dumps(answer)), Records(MADE)),
    ],
)
def test_however_they_are_first_looked_at_they_are_there(look, seen):
    assert look(ports()) == seen


@each("number", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_they_survive_pickle_before_anybody_looked(number):
    answer = search_result([*SAILINGS, {}])
    twin = pickle.loads(pickle.dumps(answer, number))
    assert twin == answer == search_result([*SAILINGS, {}])
    assert [one.index for one in twin.unreadable] == [3]
    assert [one.id for one in twin] == ["av-0", "av-1", "av-2"]
    assert [one.model_extra for one in twin] == [{"never_seen": number} for number in range(3)]


@pytest.mark.usefixtures("by_columns", "quick_switches")
def test_many_threads_get_the_same_and_what_is_made_may_look_at_other_records():
    for _ in range(40):
        made = []
        for answer in (ports(made), search_result()):
            looks = at_once(*[lambda answer=answer: [*map(id, answer)]] * 8)
            assert {tuple(look.value()) for look in looks} == {tuple(map(id, answer))}
        assert len(made) == 1
    one, other = ports(), ports()

    def made_of_both(first, then):
        return [*Records[Port].from_factory(lambda: [*first, *then], 6)]

    for made in at_once(partial(made_of_both, one, other), partial(made_of_both, other, one)):
        assert made.value() == [*MADE, *MADE]


@pytest.mark.usefixtures("by_columns")
@each("sailings", [[SAILINGS[0]], SAILINGS])
def test_an_interruption_at_any_line_spoils_nothing(sailings):
    usual = [*search_result(sailings)]
    seen = [repr(usual), *(one.model_dump() for one in usual)]
    for at in count(1):
        answer = search_result(sailings)
        was_interrupted = interrupt_at(KeyboardInterrupt, at, partial(list, answer), bulk.__file__)
        looked = [*answer]
        assert [repr(looked), *(one.model_dump() for one in looked)] == seen, f"line {at}"
        assert [*map(id, answer)] == [*map(id, looked)]
        if not was_interrupted:
            break
    assert at > 50


def fork_while_creating():
    begun, end = threading.Event(), threading.Event()
    parent = os.getpid()

    def make():
        if os.getpid() == parent:
            begun.set()
            end.wait()
        return MADE

    answer, other = Records[Port].from_factory(make, 3), search_result(SAILINGS * 3)
    maker = threading.Thread(target=answer.index, args=(MADE[0],))
    maker.start()
    begun.wait()
    child = os.fork()
    if not child:
        os._exit(not ([*answer] == [*MADE] and len({one.id for one in other}) == 3))
    end.set()
    maker.join()
    assert (os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), [*answer]) == (0, [*MADE])
    assert [one.id for one in other] == ["av-0", "av-1", "av-2"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_in_the_middle_makes_its_own():
    script = "from tests.models.test_records import fork_while_creating as run; run()"
    ran = run([sys.executable, "-c", script])
    assert ran.returncode == 0, ran.stderr
