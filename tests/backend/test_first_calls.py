"""No call loads a module: an interruption in the middle of an import would break what follows."""

import ast
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import ferry_sdk
from tests.support.operations import OPERATIONS, arguments
from tests.support.tiers import mostly_long
from tests.support.trip import DAY, TRAVELLERS, booked, search_arguments
from tests.transport.scripted import Service, serve

PROGRAM = Path(__file__).with_name("first_calls.py")
INTERRUPTED = Path(__file__).with_name("interrupted_first_call.py")
FORKED = Path(__file__).with_name("forked_first_call.py")
LAYERS = ("client", "resources", "_protocols", "_transport", "_engine", "hooks")
"""Where the code of a call is; a `Rate` loads what it needs when it is made."""
KINDS = ("sync", "asyncio", "trio", "sync httpx", "asyncio httpx")
LOST = ("lose_reply", "truncate", "request_timeout_after", "html_page", "not_json", "empty_body")
"""After these, a write is read back until its deadline."""
FAULTS = (
    *("server_error", "unauthorized", "redirect", "not_utf8", "rate_limited", "refused"),
    *("wrong_shape", *LOST),
)


@contextmanager
def program(kind, sandbox, folder):
    """A new process with one client; makes calls, which load nothing, and gives their errors."""
    command = [kind, sandbox.base_url, sandbox.token, str(folder / "journal.db")]
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def call(name, given, **options):
            process.stdin.write(json.dumps([name, given, options], default=str) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert not answer["loaded"], (name, given, answer)
            return answer["error"]

        yield call
        process.communicate()


def calls(ferry, folder):
    for name in OPERATIONS:
        given = arguments(name, folder)
        if name.endswith((".search", "search_availability")):
            given = search_arguments()
        elif "booking_id" in given:
            given["booking_id"] = booked(ferry).booking_id
        if "deadline" in given:
            given["deadline"] = 0.1
        yield name, given
    trip = {"origin": "Marseille", "destination": "La Goulette", "passengers": TRAVELLERS[:1]}
    yield "trips.search", {**trip, "on": DAY}


@pytest.mark.timeout(600)  # hundreds of calls, and many wait for their next attempt
@pytest.mark.parametrize(
    ("kind", "half"),
    mostly_long([*((kind, None) for kind in KINDS), ("sync", 0), ("asyncio", 1)]),
)
def test_no_call_of_a_new_process_loads_a_module(
    kind, half, ferry, ferry_sandbox, tmp_path, record_property
):
    """Each call meets one fault in each kind of client, and half of all faults in two kinds."""
    errors = []
    with program(kind, ferry_sandbox, tmp_path) as call:
        for index, (name, given) in enumerate(calls(ferry, tmp_path)):
            one = (FAULTS[index % len(FAULTS)],)
            for fault in (*(one if half is None else FAULTS[(index + half) % 4 :: 4]), None):
                ferry_sandbox.faults.clear()
                if fault is not None:
                    ferry_sandbox.faults.add(fault, times=1)
                deadline = 0.1 if fault in LOST else 20 if index % 2 else None
                errors.append(call(name, given, deadline=deadline, max_retries=1))
    assert {*errors} >= {None, "NotFoundError", "OutcomeUnknownError"}
    record_property("calls of a new process", len(errors))


def interrupted_first_calls(kind, *values):
    """Return how many were interrupted; all could be made again."""
    with Service(serve) as service:
        ended = subprocess.run(
            [sys.executable, str(INTERRUPTED), service.url, kind, *map(str, values)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    for result in results:
        assert result["first"] in {"done", "interrupted", "KeyboardInterrupt()"}, result
        assert result["later"] == ["done", "done"], result
        assert not result["threads"], result
    return sum(result["first"] != "done" for result in results)


@pytest.mark.timeout(600)  # a process for each line
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
@pytest.mark.parametrize("step", mostly_long([97, 1], ids=str))
def test_a_first_call_that_is_interrupted_at_any_line_can_be_made_again(step, record_property):
    lines = interrupted_first_calls("lines", step)
    assert lines > 150 / step
    record_property("lines at which a first call was interrupted", lines)


@pytest.mark.long
@pytest.mark.timeout(1800)  # a new process for each signal
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
def test_a_first_call_that_a_signal_interrupts_can_be_made_again(record_property):
    signals = 0
    for begin in range(0, 2000, 160):
        seconds = [milliseconds / 1000 + 1e-4 for milliseconds in range(begin, begin + 160, 20)]
        count = interrupted_first_calls("signals", *seconds)
        signals += count
        if not count:
            break
    assert signals
    record_property("signals in a first call", signals)


@pytest.mark.timeout(1800)  # two processes for each module
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
@pytest.mark.parametrize(
    ("kind", "step"), mostly_long([("sync", 60), ("asyncio", 60), ("sync", 3), ("asyncio", 3)])
)
def test_a_fork_during_a_first_call_leaves_no_lock(kind, step, record_property):
    with Service(serve, backlog=64) as service:
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", str(FORKED), service.url, kind, str(step)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    hanging = [one for one in results if one["records"] is None or one["parent_hangs"]]
    assert results
    assert not hanging
    record_property("forks during a first call", len(results))


AWKWARD = """
import asyncio, sys, threading
from ferry_sdk import AsyncFerry


class LoopsOfTheMainThread(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        assert threading.current_thread() is threading.main_thread()
        return super().new_event_loop()


async def main():
    async with AsyncFerry("token", base_url=sys.argv[1]) as ferry:
        if sys.argv[2] == "no threads":
            threading.stack_size(1 << 46)  # no thread has so much memory
        return await ferry.catalogue.ports()


if sys.argv[2] == "policy":
    asyncio.set_event_loop_policy(LoopsOfTheMainThread())
asyncio.run(main())
"""
"""A program whose event loops or whose threads are not as usual."""


@pytest.mark.parametrize("kind", mostly_long(["no threads", "policy"]))
def test_a_first_call_needs_no_other_event_loop_of_the_program_and_no_thread(kind):
    with Service(serve) as service:
        ended = subprocess.run(
            [sys.executable, "-c", AWKWARD, service.url, kind],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert service.asked == ["GET /api/port"]


def test_what_a_call_imports_late_no_signal_interrupts():
    package = Path(ferry_sdk.__file__).parent
    late = {
        f"{path.relative_to(package)}:{node.lineno}"
        for layer in LAYERS
        for path in [*package.glob(f"{layer}.py"), *package.glob(f"{layer}/**/*.py")]
        if path.parent.name != "rate"
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and "uninterrupted" not in map(ast.unparse, function.decorator_list)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert not late
