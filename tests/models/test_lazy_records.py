"""Records are created on first access, once for all threads."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from ferry_sdk import Availability, Port, Records
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.models import bulk
from tests.support import samples
from tests.support.tables import each

PORTS = tuple(Port(code=code, name=code, country="X") for code in "ABC")
SAILINGS = [
    {**samples.AVAILABILITY, "id": f"av-{number}", "never_seen": number, "stops": ["A"] * number}
    for number in range(3)
]


@pytest.fixture
def frequent_thread_switches():
    """Make threads switch as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def search_result(sailings=SAILINGS):
    """Return the result of a search, before first access."""
    return RecordList(Availability).read(decode_json(json.dumps(sailings).encode()))


def ports(made=None):
    """Return three ports, and record each creation."""

    def make():
        if made is not None:
            made.append(threading.get_ident())
        return PORTS

    return Records[Port].from_factory(make, 3)


def fail_if_called():
    raise AssertionError("nobody looked")


def how_many_there_are():
    return sum(type(one) is Availability for one in gc.get_objects())


def test_their_number_is_known_without_making_them():
    assert len(Records[Port].from_factory(fail_if_called, 3)) == 3
    assert Records[Port].from_factory(fail_if_called, 3)
    assert not Records[Port].from_factory(fail_if_called, 0)
    before = how_many_there_are()
    answer = search_result()
    assert len(answer) == 3
    assert answer
    assert answer.unreadable == ()
    assert how_many_there_are() == before
    assert len([*answer]) == 3
    assert how_many_there_are() == before + 3


def test_they_are_made_once_and_stay_the_same():
    made: list[object] = []
    answer = ports(made)
    first = [*answer]
    assert [*map(id, answer)] == [*map(id, first)]
    assert [*map(id, reversed(answer))] == [*map(id, first[::-1])]
    assert answer[-1] is first[2]
    assert answer[1:] == tuple(first[1:])
    assert len(made) == 1


@each(
    ("look", "seen"),
    [
        (lambda answer: [*answer], [*PORTS]),
        (lambda answer: [*reversed(answer)], [*PORTS[::-1]]),
        (lambda answer: answer[0], PORTS[0]),
        (lambda answer: answer[-1], PORTS[2]),
        (lambda answer: answer[::2], PORTS[::2]),
        (lambda answer: answer[:0], ()),
        (lambda answer: answer.index(PORTS[1]), 1),
        (lambda answer: answer.count(PORTS[1]), 1),
        (lambda answer: PORTS[1] in answer, True),
        (lambda answer: "A" in answer, False),
        (lambda answer: answer == Records(PORTS), True),
        (lambda answer: answer == ports(), True),
        (lambda answer: Records(PORTS) == answer, True),
        (lambda answer: answer != Records(PORTS[:2]), True),
        (hash, hash(Records(PORTS))),
        (repr, repr(Records(PORTS))),
        (copy.copy, Records(PORTS)),
        (copy.deepcopy, Records(PORTS)),
        (lambda answer: pickle.loads(pickle.dumps(answer)), Records(PORTS)),
    ],
    ids=map(str, count()),  # a hash is another one in each process
)
def test_however_they_are_first_looked_at_they_are_there(look, seen):
    assert look(ports()) == seen


def test_they_survive_pickle_before_anybody_looked():
    answer = search_result([*SAILINGS, {}])
    twin = pickle.loads(pickle.dumps(answer))
    assert twin == answer == search_result([*SAILINGS, {}])
    assert [one.index for one in twin.unreadable] == [3]
    assert [one.id for one in twin] == ["av-0", "av-1", "av-2"]
    assert [one.model_extra for one in twin] == [{"never_seen": number} for number in range(3)]


@pytest.mark.usefixtures("frequent_thread_switches")
def test_many_threads_that_look_at_once_get_the_same():
    begun = threading.Barrier(8)

    def look(answer):
        begun.wait()
        return [*map(id, answer)]

    with ThreadPoolExecutor(8) as threads:
        for _ in range(40):
            made: list[object] = []
            for answer in (ports(made), search_result()):
                ids = {tuple(seen) for seen in threads.map(look, [answer] * 8)}
                assert ids == {tuple(map(id, answer))}
            assert len(made) == 1


@pytest.mark.usefixtures("frequent_thread_switches")
def test_what_is_made_may_look_at_other_records():
    begun = threading.Barrier(2)
    one, other = ports(), ports()

    def both(first, then):
        begun.wait()
        return [*Records[Port].from_factory(lambda: [*first, *then], 6)]

    with ThreadPoolExecutor(2) as threads:
        for made in threads.map(both, [one, other], [other, one]):
            assert made == [*PORTS, *PORTS]


def test_what_fails_at_first_is_made_at_the_next_look():
    tries = iter([KeyboardInterrupt, MemoryError])

    def make():
        for error in tries:
            raise error
        return PORTS

    answer = Records[Port].from_factory(make, 3)
    with pytest.raises(KeyboardInterrupt):
        list(answer)
    with pytest.raises(MemoryError):
        hash(answer)
    assert [*answer] == [*PORTS]


def interrupt_at(answer, at):
    """Access the records, interrupted at this line; return False if there are fewer lines."""
    left = at

    def trace(frame, event, _arg):
        nonlocal left
        if frame.f_code.co_filename != bulk.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        list(answer)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@each("sailings", [[SAILINGS[0]], SAILINGS], ids=["one", "of several kinds"])
def test_an_interruption_at_any_line_spoils_nothing(sailings):
    usual = [*search_result(sailings)]
    seen = [repr(usual), *(one.model_dump() for one in usual)]
    for at in count(1):
        answer = search_result(sailings)
        was_interrupted = interrupt_at(answer, at)
        looked = [*answer]
        assert [repr(looked), *(one.model_dump() for one in looked)] == seen, f"line {at}"
        assert [*map(id, answer)] == [*map(id, looked)]
        if not was_interrupted:
            break
    assert at > 50


def fork_while_creating():
    """Fork while a thread of the parent creates the records; the child creates its own."""
    begun, end = threading.Event(), threading.Event()
    parent = os.getpid()

    def make():
        if os.getpid() == parent:
            begun.set()
            end.wait()
        return PORTS

    answer, other = Records[Port].from_factory(make, 3), search_result()
    maker = threading.Thread(target=answer.index, args=(PORTS[0],))
    maker.start()
    begun.wait()
    child = os.fork()
    if not child:
        is_right = [*answer] == [*PORTS] and len({one.id for one in other}) == 3
        os._exit(not is_right)
    end.set()
    maker.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [*answer] == [*PORTS]
    assert [one.id for one in other] == ["av-0", "av-1", "av-2"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_in_the_middle_makes_its_own():
    script = "from tests.models.test_lazy_records import fork_while_creating as run; run()"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.returncode == 0, ran.stderr
