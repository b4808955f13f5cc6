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
from ferry_sdk.models import Company, bulk
from tests.backend.gathering import at_once
from tests.support import samples
from tests.support.exchanges import caught
from tests.support.lines import interrupt_at
from tests.support.processes import run
from tests.support.tiers import examples

CANARY = "Zq7-canary"
GOOD = samples.AVAILABILITY
BAD = {**GOOD, "ship_name": CANARY, "tariffs": [{**samples.TARIFF, "amount": CANARY}]}
MADE = tuple(Port(code=code, name=code, country="X") for code in "ABC")
SAILINGS = [{**GOOD, "id": f"av-{n}", "never_seen": n, "stops": ["A"] * n} for n in range(3)]


read_sailings = RecordList(Availability).read
read_ports = RecordList(Port, member="ports").read


@pytest.mark.parametrize("place", range(3))
def test_one_bad_record_is_kept_apart(place, caplog):
    items = [GOOD, GOOD]
    items.insert(place, BAD)
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        records = read_sailings(items)

    assert [record.id for record in records] == ["av-1", "av-1"]
    (lost,) = records.unreadable
    assert (lost.index, lost.field, lost.raw) == (place, "tariffs[0].amount", BAD)
    assert "decimal" in lost.problem

    (entry,) = caplog.records
    assert entry.levelno == logging.WARNING
    assert "tariffs[0].amount" in entry.getMessage()
    assert CANARY not in f"{entry.getMessage()} {lost.problem} {lost!r} {records!r}"


PORT = samples.PORT


@pytest.mark.parametrize(
    "reply",
    [
        [PORT],
        {"ports": [PORT]},
        {"ports": [PORT], "total": 1},
        {"items": [PORT]},
        PORT,
    ],
    ids=["list", "member", "member of two", "only member", "record"],
)
def test_a_list_may_be_a_member(reply):
    assert [*read_ports(reply)] == [Port(**PORT)]


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {"ports": []},
        None,
        {},
        {"ports": None},
        {"ports": {}},
        {"items": None},
    ],
    ids=str,
)
def test_nothing_is_an_empty_list(reply):
    assert read_ports(reply) == Records()


@pytest.mark.parametrize(
    "reply",
    [
        5,
        "x",
        True,
        {"ports": 5},
        {"ports": {"a": 1}},
        {"items": "x"},
        {"code": None},
    ],
    ids=str,
)
def test_another_reply_is_no_list(reply):
    caught(UnexpectedResponseError, read_ports, reply)


@pytest.mark.parametrize("reply", [{"unexpected": True}, {"total": 0, "page": 1}], ids=str)
def test_object_without_any_field_is_no_record(reply):
    caught(UnexpectedResponseError, RecordList(Company).read, reply)


def test_a_record_may_have_one_field():
    assert [*RecordList(Company).read({"name": "Moby"})] == [Company(name="Moby")]


def test_a_list_without_readable_records_is_an_error():
    error = caught(UnexpectedResponseError, read_sailings, [BAD, {}])
    assert error.field == "[0].tariffs[0].amount"
    assert "[0].tariffs[0].amount" in str(error)
    assert error.body == [BAD, {}]
    assert CANARY not in str(error)


def test_an_unreadable_record_is_an_error():
    error = caught(UnexpectedResponseError, Record(Availability).read, BAD)
    assert (error.field, error.outcome) == ("tariffs[0].amount", "unknown")
    assert CANARY not in str(error)


def test_a_negative_price_is_unreadable():
    tariffs = [samples.TARIFF, {**samples.TARIFF, "amount": -5}]
    (lost,) = read_sailings([{**GOOD, "tariffs": tariffs}, GOOD]).unreadable
    assert (lost.index, lost.field) == (0, "tariffs[1].amount")
    assert lost.problem == "expected a number from 0"


def test_a_negative_balance_is_read():
    tariff = {**samples.TARIFF, "amount": 0, "balance_amount": -5}
    (sailing,) = read_sailings([{**GOOD, "tariffs": [tariff]}])
    assert sailing.tariffs[0].balance_amount == -5


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
def test_every_record_is_read_or_reported(items):
    good = [item for item in items if item == samples.PORT]
    if items and not good:
        caught(UnexpectedResponseError, RecordList(Port).read, items)
        return
    records = RecordList(Port).read(items)
    assert len(records) == len(good)
    assert {lost.index: lost.raw for lost in records.unreadable} == {
        index: item for index, item in enumerate(items) if item != samples.PORT
    }
    assert not any(lost.field for lost in records.unreadable if lost.raw is None)


@pytest.fixture
def records():
    """Three ports, and one that is lost."""
    return Records(MADE, [Unreadable(1, "code", "missing", {"name": CANARY})])


def test_records_are_a_sequence(records):
    assert isinstance(records, Sequence)
    assert records
    assert not Records()
    with pytest.raises(IndexError):
        _ = records[3]


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records.__setitem__(0, MADE[0]),
        lambda records: records.append(MADE[0]),
        lambda records: setattr(records, "other", 1),
        lambda records: setattr(records, "unreadable", ()),
        lambda records: delattr(records, "unreadable"),
        lambda records: setattr(records.unreadable[0], "index", 5),
    ],
    ids=["item", "append", "attribute", "unreadable", "delete", "index of unreadable"],
)
def test_records_cannot_be_changed(records, change):
    with pytest.raises((TypeError, AttributeError)):
        change(records)
    assert [lost.raw for lost in records.unreadable] == [{"name": CANARY}]


def test_equal_records_have_one_hash(records):
    twin = Records([*MADE], [*records.unreadable])
    assert records == twin
    assert hash(records) == hash(twin)


def test_records_differ_by_what_is_lost(records):
    assert records not in (Records(MADE), Records(MADE[:2], records.unreadable))


def test_records_are_no_list():
    assert Records(MADE) not in ([*MADE], MADE)


def test_a_repr_hides_what_is_lost(records):
    assert repr(records).startswith("Records([Port(code='A'")
    assert repr(records).endswith("unreadable=1)")
    assert CANARY not in repr(records)


def test_a_repr_without_records():
    assert repr(Records()) == "Records([])"


def search_result(sailings=SAILINGS):
    return RecordList(Availability).read(decode_json(json.dumps(sailings).encode()))


def ports(made=None):
    def make():
        if made is not None:
            made.append(threading.get_ident())
        return MADE

    return Records[Port].from_factory(make, 3)


def test_the_length_makes_no_records():
    made = []
    assert len(ports(made)) == 3
    assert ports(made)
    assert not Records[Port].from_factory(lambda: made.append(1), 0)
    assert made == []


def count_sailings():
    """Return how many sailings there are in memory."""
    return sum(type(thing) is Availability for thing in gc.get_objects())


@pytest.mark.usefixtures("by_columns")
def test_a_search_makes_its_records_on_access():
    before = count_sailings()
    answer = search_result()
    assert len(answer) == 3
    assert answer
    assert answer.unreadable == ()
    assert count_sailings() == before
    assert len([*answer]) == 3
    assert count_sailings() == before + 3


def identities_of(records):
    return [id(record) for record in records]


def test_records_are_made_once():
    made = []
    answer = ports(made)
    first = [*answer]
    assert identities_of(answer) == identities_of(first)
    assert identities_of(reversed(answer)) == identities_of(first[::-1])
    assert answer[-1] is first[2]
    assert answer[1:] == tuple(first[1:])
    assert len(made) == 1


def test_a_factory_that_fails_runs_again():
    failures = iter([KeyboardInterrupt, MemoryError])

    def make():
        for error in failures:
            raise error
        return MADE

    answer = Records[Port].from_factory(make, 3)
    caught(KeyboardInterrupt, list, answer)
    caught(MemoryError, hash, answer)
    assert [*answer] == [*MADE]


@pytest.mark.parametrize(
    ("look", "seen"),
    [
        pytest.param(lambda answer: [*answer], [*MADE], id="iterate"),
        pytest.param(lambda answer: [*reversed(answer)], [*MADE[::-1]], id="reversed"),
        pytest.param(lambda answer: answer[0], MADE[0], id="first"),
        pytest.param(lambda answer: answer[-1], MADE[2], id="last"),
        pytest.param(lambda answer: answer[::2], MADE[::2], id="slice"),
        pytest.param(lambda answer: answer[:0], (), id="empty slice"),
        pytest.param(lambda answer: answer.index(MADE[1]), 1, id="index"),
        pytest.param(lambda answer: answer.count(MADE[1]), 1, id="count"),
        pytest.param(lambda answer: MADE[1] in answer, True, id="in"),
        pytest.param(lambda answer: "A" in answer, False, id="not in"),
        pytest.param(lambda answer: answer == Records(MADE), True, id="equal"),
        pytest.param(lambda answer: answer == ports(), True, id="equal to another"),
        pytest.param(lambda answer: Records(MADE) == answer, True, id="another is equal"),
        pytest.param(lambda answer: answer != Records(MADE[:2]), True, id="not equal"),
        pytest.param(hash, hash(Records(MADE)), id="hash"),
        pytest.param(repr, repr(Records(MADE)), id="repr"),
        pytest.param(copy.copy, Records(MADE), id="copy"),
        pytest.param(copy.deepcopy, Records(MADE), id="deepcopy"),
        pytest.param(lambda answer: pickle.loads(pickle.dumps(answer)), Records(MADE), id="pickle"),
    ],
)
def test_any_first_access_makes_the_records(look, seen):
    assert look(ports()) == seen


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_records_are_pickled_before_access(protocol):
    answer = search_result([*SAILINGS, {}])
    twin = pickle.loads(pickle.dumps(answer, protocol))
    assert twin == answer == search_result([*SAILINGS, {}])
    assert [lost.index for lost in twin.unreadable] == [3]
    assert [sailing.id for sailing in twin] == ["av-0", "av-1", "av-2"]
    assert [sailing.model_extra["never_seen"] for sailing in twin] == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.usefixtures("by_columns", "quick_switches")
def test_many_threads_get_the_same_records():
    for _ in range(40):
        made = []
        for answer in (ports(made), search_result()):
            looks = at_once(*[partial(identities_of, answer)] * 8)
            assert {tuple(look.value()) for look in looks} == {tuple(identities_of(answer))}
        assert len(made) == 1


@pytest.mark.usefixtures("by_columns", "quick_switches")
def test_a_factory_may_use_other_records():
    one, other = ports(), ports()

    def make_of_both(first, then):
        return [*Records[Port].from_factory(lambda: [*first, *then], 6)]

    for both in at_once(partial(make_of_both, one, other), partial(make_of_both, other, one)):
        assert both.value() == [*MADE, *MADE]


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("sailings", [SAILINGS[:1], SAILINGS], ids=["one", "three"])
def test_an_interruption_at_any_line_spoils_nothing(sailings):
    usual = [*search_result(sailings)]
    expected = [repr(usual), *(sailing.model_dump() for sailing in usual)]
    for at in count(1):
        answer = search_result(sailings)
        was_interrupted = interrupt_at(KeyboardInterrupt, at, partial(list, answer), bulk.__file__)
        records = [*answer]
        seen = [repr(records), *(sailing.model_dump() for sailing in records)]
        assert seen == expected, f"line {at}"
        assert identities_of(answer) == identities_of(records)
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
        has_own = [*answer] == [*MADE] and len({sailing.id for sailing in other}) == 3
        os._exit(not has_own)
    end.set()
    maker.join()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [*answer] == [*MADE]
    assert [sailing.id for sailing in other] == ["av-0", "av-1", "av-2"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_makes_its_own_records():
    script = "from tests.models.test_records import fork_while_creating as run; run()"
    ran = run([sys.executable, "-c", script])
    assert ran.returncode == 0, ran.stderr
