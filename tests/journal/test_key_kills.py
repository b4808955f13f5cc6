"""Real processes that use an idempotency key, and are killed in the middle of it."""

import multiprocessing.connection as connections

import pytest

from ferry_sdk import Ferry, UnresolvedWriteError
from ferry_sdk.journal import Journal
from tests.backend.gathering import eventually
from tests.journal import children
from tests.journal.test_journal_kills import wait_for_step
from tests.support.exchanges import caught
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS, selected

pytestmark = [LONG, pytest.mark.timeout(300)]

KEY = "order-4711"
PROCESSES = 3
TRIPS = 9


@pytest.fixture
def client(ferry_sandbox):
    """The settings of every client."""
    return {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}


@pytest.fixture
def shop(client, url):
    """A client with the journal that all processes share."""
    with Journal(url) as journal, Ferry(**client, journal=journal) as ferry:
        yield ferry


@pytest.fixture
def start(nursery):
    """Starts a function in a process of its own, and returns the process and its pipe."""
    processes = []

    def start(function, *arguments):
        here, there = nursery.Pipe(duplex=False)
        process = nursery.Process(target=function, args=(*arguments, there))
        process.start()
        there.close()
        processes.append(process)
        return process, here

    yield start
    for process in processes:
        process.kill()
        process.join()


def made(sandbox):
    return [effect.subject for effect in sandbox.counters.effects_of("bookings.create")]


@pytest.mark.parametrize("halt", ["before_begin", "begun", "before_end", "ended"])
@pytest.mark.parametrize("create", ["bookings.create", "mcp.create_booking"])
def test_killed_create_keeps_its_key(ferry_sandbox, shop, client, url, start, create, halt):
    family = {"availabilities": [selected(shop)], "passengers": PASSENGERS}
    keyed = family | {"idempotency_key": KEY}
    order = children.Order(url, create, keyed, client, is_async=False, halt=halt)
    process, told = start(children.write, order)
    wait_for_step(told, halt)
    process.kill()
    process.join()

    with Journal(url) as journal:
        if halt in {"begun", "before_end"}:
            error = caught(UnresolvedWriteError, shop.bookings.create, **keyed)
            bookings = made(ferry_sandbox)
            booking_id = bookings[0] if bookings else None
            journal.settle(error.entry, happened=bool(bookings), booking_id=booking_id)
    booking_id = shop.bookings.create(**keyed).booking_id
    assert made(ferry_sandbox) == [booking_id]
    assert shop.mcp.create_booking(**keyed).booking_id == booking_id


@pytest.mark.parametrize("victim_tells", range(4))
def test_key_has_one_booking_whoever_dies(
    ferry_sandbox, shop, client, url, start, victim_tells, record_property
):
    trips = {
        f"order-{number}": {
            "availabilities": [selected(shop)],
            "passengers": [PASSENGERS[0] | {"age": 30 + number}, PASSENGERS[1]],
        }
        for number in range(TRIPS)
    }
    started = [start(children.book, url, client, trips) for _ in range(PROCESSES)]
    victim, victims_pipe = started[0]
    bookings = {key: set() for key in trips}

    pipes = [pipe for _, pipe in started]
    while pipes:
        for pipe in connections.wait(pipes, 60):
            try:
                key, booking_id = pipe.recv()
            except EOFError:
                pipes.remove(pipe)
                continue
            bookings[key].add(booking_id)
            if pipe is victims_pipe and list(trips).index(key) == victim_tells:
                victim.kill()
    eventually(lambda: not any(process.is_alive() for process, _ in started))

    for key, trip in trips.items():
        try:
            bookings[key].add(shop.bookings.create(**trip, idempotency_key=key).booking_id)
        except UnresolvedWriteError:
            bookings[key].add(None)
    record_property("processes killed while they used a key", 1)
    known = [ids - {None} for ids in bookings.values()]
    assert max(len(ids) for ids in known) == 1
    assert {*made(ferry_sandbox)} >= set().union(*known)
    assert len(made(ferry_sandbox)) <= TRIPS
