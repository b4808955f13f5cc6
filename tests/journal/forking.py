"""A process that forks with a journal in use, and prints what parent and children saw."""

import gc
import json
import os
import sys
import threading
import weakref

from sqlalchemy import event

from ferry_sdk import FerryError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from tests.journal.intents import confirmation, engine_for

WRITES = 3


def main(url, way):
    """Begin, fork, write on both sides at once, and end in the parent."""
    journal = Journal(url)
    first = journal.begin(confirmation("first"))
    before = connections_of(journal) if url != "sqlite://" else set()
    parents = weakref.ref(journal._engine.pool)
    stop = threading.Event()

    def read_until_the_end():
        while not stop.wait(0.001):  # others get a turn with the one connection, too
            journal.unresolved()

    # A thread of the parent's holds a connection at the moment of the fork.
    busy = threading.Thread(target=read_until_the_end)
    busy.start()

    def child(name):
        outcomes = begin_writes(journal, name)
        gc.collect()
        # To free the parent's connections would be to close them.
        outcomes.append("kept" if parents() else "freed")
        if before:
            outcomes.append("shared" if before & connections_of(journal) else "own")
        return outcomes

    children = [fork(lambda name=name: child(name), journal, way) for name in ("one", "two")]
    ours = begin_writes(journal, "parent")
    told = [ended(*child) for child in children]
    stop.set()
    busy.join()
    journal.end(first, "done")
    return {
        "ours": ours,
        "theirs": [said for said, _ in told],
        "exits": [status for _, status in told],
        "unresolved": [entry.subject["booking_id"] for entry in journal.unresolved()],
        "first": journal.entry(first).state,
        "same_connection": before <= connections_of(journal),
    }


def fork_during(url, call):
    engine = engine_for(url)
    journal = Journal(engine)
    journal.begin(confirmation("first"))
    reached, go_on = threading.Event(), threading.Event()
    use = {"read": journal.unresolved, "write": lambda: journal.begin(confirmation("second"))}[call]
    thread = threading.Thread(target=use)

    def pause(*_):
        if threading.current_thread() is thread:
            reached.set()
            go_on.wait()

    def child():
        pace = "waited" if go_on.is_set() else "at once"
        return [pace, bookings_of(journal), str(begin_writes(journal, "child").count("begun"))]

    event.listen(engine, "before_cursor_execute", pause)
    thread.start()
    reached.wait()
    later = threading.Timer(10 if call == "read" else 0.3, go_on.set)
    later.start()
    forked = fork(child, journal, "at once")
    go_on.set()
    later.cancel()
    thread.join()
    said, status = ended(*forked)
    return [*said, bookings_of(journal), status]


def bookings_of(journal):
    found = (entry.subject["booking_id"] for entry in journal.unresolved())
    return " ".join(sorted(one for one in found if not one.startswith("child")))


def fork(work, journal, way):
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    os.close(reader)
    with os.fdopen(writer, "w") as report:
        json.dump(work(), report)
    if way == "at once":
        os._exit(0)
    if way == "closing":
        journal.close()
    sys.exit(0)


def ended(child, reader):
    with os.fdopen(reader) as heard:
        said = json.load(heard)
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def begin_writes(journal, name):
    outcomes = []
    for booking in [f"{name}-{number}" for number in range(WRITES)] + ["first"]:
        try:
            journal.begin(confirmation(booking))
        except UnresolvedWriteError:
            outcomes.append("twin")
        except FerryError as error:
            outcomes.append(type(error).__name__)
        else:
            outcomes.append("begun")
    return outcomes


def connections_of(journal):
    """What tells the connections in the pool from others."""
    held = [journal._engine.connect() for _ in range(journal._engine.pool.checkedin())]
    try:
        if journal._engine.dialect.name == "postgresql":
            return {one.exec_driver_sql("SELECT pg_backend_pid()").scalar() for one in held}
        return {id(one.connection.dbapi_connection) for one in held}
    finally:
        for one in held:
            one.close()


if __name__ == "__main__":
    url, way = sys.argv[1:]
    seen = fork_during(url, way) if way in {"read", "write"} else main(url, way)
    print(json.dumps(seen))  # noqa: T201 -- the test reads it
