"""A journal in use when its process forks, and the lock around each use."""

import json
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from ferry_sdk._runtime.fork import ForkLock
from tests.backend.gathering import UnderWay, eventually
from tests.journal.forking import WRITES
from tests.support.processes import run
from tests.support.tiers import mostly_long

ROOT = Path(__file__).parents[2]
EVERYTHING = ["begun"] * WRITES + ["twin"]


def run_program(url, way):
    """What the program saw; it runs by itself, because these tests have threads of their own."""
    done = run([sys.executable, "-m", "tests.journal.forking", url, way], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", mostly_long(["at once", "closing", "leaving it open"]))
def test_children_write_together_with_their_parent(url, way):
    report = run_program(url, way)
    assert report["ours"] == EVERYTHING
    assert (report["theirs"], report["exits"]) == ([[*EVERYTHING, "kept", "own"]] * 2, [0, 0])
    assert len(report["unresolved"]) == 3 * WRITES
    assert report["first"] == "done"
    assert report["same_connection"]


def test_journal_in_memory_stays_with_the_parent():
    report = run_program("sqlite://", "at once")
    assert report["ours"] == EVERYTHING
    assert report["theirs"] == [["ConfigurationError"] * (WRITES + 1) + ["kept"]] * 2
    assert report["first"] == "done"


@pytest.mark.parametrize(
    ("way", "pace", "have"), [("read", "at once", "first"), ("write", "waited", "first second")]
)
def test_fork_waits_for_writes_only(url, way, pace, have):
    assert run_program(url, way) == [pace, have, str(WRITES), have, 0]


def is_waiting(call):
    time.sleep(0.12)
    return not call.is_over


def test_fork_waits_for_uses_that_go_on():
    lock = ForkLock()
    with lock.use(writes=True):
        with lock.use(writes=True):
            fork = UnderWay(lock.acquire)
            assert is_waiting(fork)
        assert is_waiting(fork)
    fork.value()


def test_fork_does_not_wait_for_failed_use(monkeypatch):
    lock = ForkLock()
    with pytest.raises(LookupError) as kept, lock.use(writes=True):  # its traceback keeps the use
        raise LookupError
    monkeypatch.setattr("ferry_sdk._runtime.fork.time.sleep", pytest.fail)
    lock.acquire()
    assert kept.tb


def test_child_forgets_the_uses_of_its_parent(monkeypatch):
    lock = ForkLock()
    uses = []

    def begin():
        uses.append(lock.use(writes=True))
        uses[0].__enter__()

    UnderWay(begin).value()
    lock.reset()
    monkeypatch.setattr("ferry_sdk._runtime.fork.time.sleep", pytest.fail)
    lock.acquire()


def test_child_forgets_that_its_parent_forked():
    lock = ForkLock()
    lock.acquire()
    lock.reset()
    with lock.use(writes=True):
        pass


def test_use_that_is_kept_ends_with_its_block():
    lock = ForkLock()
    use = lock.use(writes=True)
    with use:
        assert list(lock._uses) == [use]
    assert list(lock._uses) == []


def test_use_may_begin_at_any_line_of_a_fork():
    lock, begun = ForkLock(), []

    def begin(*_):
        begun.append(lock.use(writes=True))
        begun[-1].__enter__()
        return begin

    with lock.use(writes=True):  # so that the others, which are within it, do not wait
        before = sys.gettrace()
        sys.settrace(begin)
        try:
            lock.acquire()
        finally:
            sys.settrace(before)
    assert begun


def test_use_waits_for_every_fork():
    def use(leave):
        with lock.use(writes=True):
            assert leave.wait(10)

    lock, leave = ForkLock(), threading.Event()
    lock.acquire()
    lock.acquire()
    using = UnderWay(partial(use, leave))
    lock.release()
    assert is_waiting(using)
    assert not lock._uses
    lock.release()
    eventually(lambda: lock._uses)

    # The next fork waits for the use that has started.
    fork = UnderWay(lock.acquire)
    assert is_waiting(fork)
    leave.set()
    fork.value()
    using.value()
