"""A client that is interrupted at any line still makes as many calls at a time as before."""

import asyncio
import gc
import linecache
import sys
import types
from contextlib import contextmanager, suppress
from functools import cache
from itertools import product
from pathlib import Path

import h11
import httpcore
import pytest

import ferry_sdk
from ferry_sdk import AsyncFerry, Ferry
from tests.support.mcp_samples import PASSENGERS, SELECTION
from tests.support.tiers import mostly_long
from tests.system.hostile.kinds import Stroke
from tests.system.hostile.server import HostileServer

pytestmark = [
    pytest.mark.own_http_client("each has one place"),
    # What is raised where nobody can catch it, in `__del__`, is only shown.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_WELL = {"deadline": 3.0, "timeout": 3.0, "max_retries": 2}
_STEP_OF_SAMPLE = 13
OURS = (str(Path(ferry_sdk.__file__).parent),)
ALL = (*OURS, *(str(Path(module.__file__ or "").parent) for module in (httpcore, h11)))
CALLS = {
    "read": lambda ferry: ferry.catalogue.ports(),
    "session": lambda ferry: ferry.mcp.list_tools(),
    "write": lambda ferry: ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS),
}
STROKES = (
    "right",
    "reset after the request",
    "stuck inside the body",
    "another reply soon behind it",
)


@pytest.fixture
def server(monkeypatch):
    """A hostile server; each own HTTP client of the library has one connection at most."""
    monkeypatch.setattr("ferry_sdk._transport.http11.client.MOST_CONNECTIONS", 1)
    with HostileServer() as server:
        yield server


@cache
def is_with(file, line):
    return linecache.getline(file, line).lstrip().startswith(("with ", "async with "))


def leaves_a_block(frame, entered):
    """Whether a frame is at a `with` that it has entered: no signal comes before it is left."""
    if not is_with(frame.f_code.co_filename, frame.f_lineno):
        return False
    is_entered = (frame, frame.f_lineno) in entered
    entered.add((frame, frame.f_lineno))
    return is_entered


@contextmanager
def interrupt_at(line, folders):
    """Raise KeyboardInterrupt at this line of the libraries in the folders; gives where it was."""
    where = []
    entered = set()
    left = line

    def of_line(frame, event, _):
        nonlocal left
        if event == "line" and not where and not leaves_a_block(frame, entered):
            if left == 0:
                where.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
                raise KeyboardInterrupt
            left -= 1
        return of_line

    def of_call(frame, *_):
        is_theirs = frame.f_code.co_filename.startswith(folders)
        return of_line if is_theirs and frame.f_code.co_name != "__del__" else None

    sys.settrace(of_call)
    try:
        yield where
    finally:
        sys.settrace(None)
        entered.clear()


@pytest.mark.parametrize(
    ("folders", "deadline", "name", "call", "step"),
    mostly_long(
        [
            *product((OURS, ALL), (None, 0.2), STROKES, CALLS, [_STEP_OF_SAMPLE]),
            *((OURS, deadline, "right", "read", 1) for deadline in (None, 0.2)),
        ],
        ids=lambda walk: "-".join(map(str, ("ours" if walk[0] is OURS else "all", *walk[1:]))),
    ),
)
def test_thread_interrupted_anywhere_keeps_no_place(
    server, record_property, call, name, deadline, folders, step
):
    with Ferry("tkn", base_url=server.base_url) as ferry:
        view = ferry.with_options(deadline=deadline, timeout=0.05, max_retries=0)
        well = ferry.with_options(**_WELL)
        lines = 0
        while True:
            server.begin("call-1", [Stroke(name)])
            if lines % 2:
                server.hang_up()  # every other time a connection has to be made
            # An interrupt, or what the stroke leads to.
            with suppress(BaseException), interrupt_at(lines, folders) as where:
                CALLS[call](view)
            gc.collect(0)
            server.begin("call-2")
            if not where:
                break
            assert len(well.catalogue.ports()) == 1, where
            if call == "session":
                well.mcp.list_tools()
            lines += step
    record_property("lines interrupted", lines // step)


@types.coroutine
def cancel_at(step, call):
    """Await a call and cancel its task where it waits for this time; whether it came to that."""
    waits, error = 0, None
    while True:
        try:
            waits_for = call.send(None) if error is None else call.throw(error)
        except BaseException:  # noqa: BLE001 -- its result, the cancellation, what the stroke led to
            return waits > step
        if waits == step:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        waits, error = waits + 1, None
        try:
            yield waits_for
        except BaseException as thrown:  # noqa: BLE001 -- it is the call's
            error = thrown


@pytest.mark.parametrize("call", mostly_long(CALLS))
@pytest.mark.parametrize("name", mostly_long(STROKES))
@pytest.mark.parametrize("deadline", mostly_long([None, 0.2], ids=str))
def test_task_cancelled_anywhere_keeps_no_place(server, record_property, call, name, deadline):
    async def cancelled(step, call):  # Python 3.12 makes no task of a generator
        return await cancel_at(step, call)

    async def steps():
        async with AsyncFerry("tkn", base_url=server.base_url) as ferry:
            view = ferry.with_options(deadline=deadline, timeout=0.05, max_retries=0)
            well = ferry.with_options(**_WELL)
            for step in range(1000):
                server.begin("call-1", [Stroke(name)])
                if step % 2:
                    server.hang_up()
                # A task of its own, which is the one that is cancelled.
                if not await asyncio.create_task(cancelled(step, CALLS[call](view))):
                    return step
                gc.collect(0)
                server.begin("call-2")
                assert len(await well.catalogue.ports()) == 1, step
        raise AssertionError("it never ended")

    record_property("cancellations", asyncio.run(steps()))
