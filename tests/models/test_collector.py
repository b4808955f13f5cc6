"""While a big answer is read, only what is young is collected; then all is as it was found."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import Availability, UnexpectedResponseError
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk._protocols.json_body import decoded
from ferry_sdk.models.bulk import gc_pause as collecting
from ferry_sdk.models.bulk.gc_pause import held_back
from tests.support import samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BIG = json.dumps([samples.AVAILABILITY] * 100).encode()
BROKEN = json.dumps([samples.AVAILABILITY | {"id": ""}] * 100).encode()
THEIRS = (321, 4, 5)
NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def state() -> tuple[object, ...]:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug()


def is_held() -> bool:
    return min(gc.get_threshold()[1:]) > 1_000_000


def read() -> None:
    """Decode a big answer and make all of its records."""
    assert len(BIG) > 64 * 1024
    assert len([*RecordList(Availability).read(decoded(BIG))]) == 100


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector of the other tests, whatever one does to it here."""
    enabled, thresholds = gc.isenabled(), gc.get_threshold()
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


@contextmanager
def older_collections() -> Iterator[list[object]]:
    """Those that begin within the block."""
    seen: list[object] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] > 0:
            seen.append(info)

    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)


def many_objects() -> list[Any]:
    return [[] for _ in range(150_000)]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(
    "thresholds", [(700, 10, 10), (0, 10, 10), (700, 0, 0), (1, 1, 1), (2000, 10, 0)]
)
def test_it_is_left_as_it_was_found(thresholds: tuple[int, int, int], enabled: bool) -> None:
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()
    before = state()
    read()
    assert state() == before


def test_it_is_left_as_it_was_found_by_what_fails() -> None:
    before = state()
    with pytest.raises(ValueError, match="trailing"):
        decoded(BIG + b"x")
    with pytest.raises(UnexpectedResponseError):
        RecordList(Availability).read(decoded(BROKEN))
    for error in (ZeroDivisionError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error):
            held_back(lambda error=error: (_ for _ in ()).throw(error()).__next__())
    assert state() == before


def test_older_collections_wait_until_it_is_done() -> None:
    gc.enable()
    gc.set_threshold(10, 1, 1)
    gc.collect()

    def counted() -> list[Any]:
        with older_collections() as seen:
            made.append(many_objects())
        return [*seen]

    made: list[Any] = []
    assert held_back(counted) == []
    assert counted(), "the same work has them where nobody holds them back"


def test_young_garbage_is_collected_all_the_while() -> None:
    gc.enable()
    before = gc.get_stats()[0]["collections"]
    held_back(many_objects)
    assert gc.get_stats()[0]["collections"] > before


def test_a_big_body_and_the_making_of_its_records_hold_them_back() -> None:
    seen: list[bool] = []

    def note(phase: str, _info: dict[str, int]) -> None:
        seen.append(is_held())

    gc.enable()
    gc.set_threshold(1, 10, 10)
    gc.callbacks.append(note)
    try:
        value = decoded(BIG)
        decoding, seen[:] = [*seen], []
        found = RecordList(Availability).read(value)
        seen.clear()
        assert found[0]
        making = [*seen]
    finally:
        gc.callbacks.remove(note)
    assert any(decoding)
    assert any(making)


def test_many_threads_hold_them_back_together() -> None:
    before = state()
    sys.setswitchinterval(1e-6)
    begun = threading.Barrier(8)
    held: list[bool] = []

    def work(_thread: int) -> None:
        begun.wait()
        held.extend(held_back(is_held) for _ in range(40))
        read()

    with ThreadPoolExecutor(8) as threads:
        [*threads.map(work, range(8))]
    assert len(held) == 320
    assert all(held)
    assert state() == before


def test_who_ends_first_does_not_end_it_for_the_others() -> None:
    before = state()
    seen: list[bool] = []

    def outer() -> None:
        seen.append(held_back(is_held))
        seen.append(is_held())
        with ThreadPoolExecutor(1) as threads:
            threads.submit(held_back, read).result()
        seen.append(is_held())

    held_back(outer)
    assert seen == [True, True, True]
    assert state() == before


def elsewhere(work: Callable[[], object]) -> None:
    """Do it in another thread."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_thresholds_that_others_set_meanwhile_stay() -> None:
    held_back(lambda: elsewhere(lambda: gc.set_threshold(*THEIRS)))
    assert gc.get_threshold() == THEIRS


def test_thresholds_that_others_set_meanwhile_stay_though_more_work_begins() -> None:
    def outer() -> None:
        elsewhere(lambda: gc.set_threshold(*THEIRS))
        held_back(read)
        assert gc.get_threshold() == THEIRS

    held_back(outer)
    assert gc.get_threshold() == THEIRS


@pytest.mark.parametrize("enabled", [True, False])
def test_a_collector_that_others_switch_meanwhile_stays_so(enabled: bool) -> None:
    (gc.disable if enabled else gc.enable)()
    held_back(lambda: elsewhere(gc.enable if enabled else gc.disable))
    assert gc.isenabled() is enabled


def interrupted(at: int) -> bool:
    """Hold back, interrupted where Python looks for signals; false if there are not so many."""
    left = at

    def look(frame: Any, event: str, _arg: object) -> None:
        nonlocal left
        if frame.f_code.co_filename == collecting.__file__ and event in {"call", "c_return"}:
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        held_back(int)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


def test_an_interruption_at_any_place_leaves_it_as_it_was_found() -> None:
    before = state()
    for at in count(1):
        was_interrupted = interrupted(at)
        assert state() == before, f"place {at}"
        if not was_interrupted:
            break
    assert at > 8
    elsewhere(read)
    assert state() == before


def forked_in_the_middle() -> None:
    """A child forked while this thread and another hold back sees the collector as it was."""
    before = state()
    begun, end = threading.Event(), threading.Event()
    other = threading.Thread(target=held_back, args=(lambda: (begun.set(), end.wait()),))
    locker = threading.Thread(target=lambda: locked(begun, end))
    other.start()
    begun.wait()
    begun.clear()
    locker.start()
    begun.wait()
    child = os.fork()
    if not child:
        ours = state() == before
        elsewhere(read)
        os._exit(0 if ours and state() == before and held_back(is_held) else 1)
    held = is_held()
    end.set()
    other.join()
    locker.join()
    assert held
    assert state() == before
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    held_back(lambda: inside(before))
    assert state() == before


def locked(begun: threading.Event, end: threading.Event) -> None:
    with collecting._lock:
        begun.set()
        end.wait()


def inside(before: object) -> None:
    """Fork in the very work; the child goes on with it to its end."""
    child = os.fork()
    if not child:
        try:
            held_back(read)
            is_right = state() == before
        finally:
            os._exit(not is_right)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert is_held()


@NEEDS_FORK
def test_a_child_forked_in_the_middle_begins_anew() -> None:
    script = "from tests.models.test_collector import forked_in_the_middle as run; run()"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.returncode == 0, ran.stderr
