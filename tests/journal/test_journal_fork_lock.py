"""The lock that lets no fork happen during a use of the database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from ferry_sdk.journal.fork import ForkLock

MOMENT = 0.2


def test_any_number_of_uses_run_at_once():
    lock = ForkLock()
    met = threading.Barrier(2)

    def using():
        with lock.use(writes=True):
            met.wait(10)

    with ThreadPoolExecutor(2) as threads:
        for meeting in [threads.submit(using) for _ in range(2)]:
            meeting.result()


def test_a_fork_waits_for_the_uses_to_end():
    lock, acquired = ForkLock(), threading.Event()

    def acquiring():
        lock.acquire()
        acquired.set()

    with ThreadPoolExecutor(1) as threads:
        with lock.use(writes=True):
            threads.submit(acquiring)
            assert not acquired.wait(MOMENT)
        assert acquired.wait(10)


def test_a_fork_does_not_wait_for_a_use_that_failed(monkeypatch):
    lock = ForkLock()
    with pytest.raises(LookupError) as kept, lock.use(writes=True):  # its traceback keeps the use
        raise LookupError
    monkeypatch.setattr("ferry_sdk.journal.fork.time.sleep", pytest.fail)
    lock.acquire()
    assert kept.tb


def test_no_use_starts_before_every_fork_has_released_the_lock():
    lock, inside = ForkLock(), threading.Event()

    def using():
        with lock.use(writes=True):
            inside.set()

    lock.acquire()
    lock.acquire()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(using)
        lock.release()
        assert not inside.wait(MOMENT)
        lock.release()
        assert inside.wait(10)


def test_a_use_that_waited_for_a_fork_is_waited_for_by_the_next():
    lock, inside, leave, acquired = (
        ForkLock(),
        threading.Event(),
        threading.Event(),
        threading.Event(),
    )

    def using():
        with lock.use(writes=True):
            inside.set()
            leave.wait(10)

    def acquiring():
        lock.acquire()
        acquired.set()

    lock.acquire()
    with ThreadPoolExecutor(2) as threads:
        threads.submit(using)
        assert not inside.wait(MOMENT)
        lock.release()
        assert inside.wait(10)
        threads.submit(acquiring)
        assert not acquired.wait(MOMENT)
        leave.set()
        assert acquired.wait(10)


def test_a_use_that_fails_has_ended():
    lock, nothing = ForkLock(), {}
    with suppress(LookupError), lock.use(writes=True):
        nothing["there"]
    lock.acquire()


def test_a_child_forgets_the_uses_of_its_parent():
    lock = ForkLock()
    lost = lock.use(writes=True)
    lost.__enter__()
    lock.reset()
    lock.acquire()
    lock.release()
    with lock.use(writes=True):
        pass
