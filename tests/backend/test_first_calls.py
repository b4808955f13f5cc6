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
LOST = ("lose_reply", "truncate", "request_timeout_after", "html_page", "not_json", "empty_body")
"""After these, a write is read back until its deadline."""
FAULTS = (
    "server_error",
    "unauthorized",
    "redirect",
    "not_utf8",
    "rate_limited",
    "refused",
    "wrong_shape",
    *LOST,
)


@contextmanager
def program(kind, sandbox, folder):
    """Start a process with one client; give a function that makes a call in it.

    The function checks that the call loads no module, and returns the error of the call.
    """
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


@pytest.mark.slow
@pytest.mark.timeout(600)  # hundreds of calls, and many wait for their next attempt
@pytest.mark.parametrize(
    ("kind", "first"),
    mostly_long(
        [
            pytest.param("sync", None, id="sync"),
            pytest.param("asyncio", None, id="asyncio"),
            pytest.param("trio", None, id="trio"),
            pytest.param("sync httpx", None, id="sync httpx"),
            pytest.param("asyncio httpx", None, id="asyncio httpx"),
            pytest.param("sync", 0, id="sync, every fourth fault"),
            pytest.param("asyncio", 1, id="asyncio, every fourth fault"),
        ]
    ),
)
def test_calls_of_a_new_process_load_nothing(
    kind, first, ferry, ferry_sandbox, tmp_path, record_property
):
    """Each call meets one fault in each kind of client, and every fourth fault in two kinds.

    `first` is where the fourths begin, from one operation to the next.
    """
    errors = []
    with program(kind, ferry_sandbox, tmp_path) as call:
        for index, (name, given) in enumerate(calls(ferry, tmp_path)):
            if first is None:
                faults = [FAULTS[index % len(FAULTS)]]
            else:
                faults = FAULTS[(index + first) % 4 :: 4]
            for fault in (*faults, None):
                ferry_sandbox.faults.clear()
                if fault is not None:
                    ferry_sandbox.faults.add(fault, times=1)

                deadline = 20 if index % 2 else None
                if fault in LOST:
                    deadline = 0.1
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


@pytest.mark.slow
@pytest.mark.timeout(600)  # a process for each line
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
@pytest.mark.parametrize(
    ("first_line", "step"),
    mostly_long(
        [
            pytest.param(0, 211, id="every 211th line"),
            # Together they are every line; each is a row, so that they run at the same time.
            pytest.param(0, 4, id="every fourth line"),
            pytest.param(1, 4, id="every fourth line from the second"),
            pytest.param(2, 4, id="every fourth line from the third"),
            pytest.param(3, 4, id="every fourth line from the fourth"),
        ]
    ),
)
def test_an_interrupted_first_call_can_be_repeated(first_line, step, record_property):
    lines = interrupted_first_calls("lines", first_line, step)
    assert lines > 150 / step
    record_property("lines at which a first call was interrupted", lines)


@pytest.mark.long
@pytest.mark.timeout(1800)  # a new process for each signal
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
def test_a_signalled_first_call_can_be_repeated(record_property):
    signals = 0
    for begin in range(0, 2000, 160):
        seconds = [milliseconds / 1000 + 1e-4 for milliseconds in range(begin, begin + 160, 20)]
        count = interrupted_first_calls("signals", *seconds)
        signals += count
        if not count:
            break
    assert signals
    record_property("signals in a first call", signals)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # two processes for each module
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks new processes")
@pytest.mark.parametrize(
    ("kind", "step"),
    mostly_long(
        [
            pytest.param("sync", 400, id="sync, few modules"),
            pytest.param("asyncio", 60, id="asyncio, few modules"),
            pytest.param("sync", 9, id="sync, many modules"),
            pytest.param("asyncio", 9, id="asyncio, many modules"),
        ]
    ),
)
def test_forks_during_first_calls_leave_no_lock(kind, step, record_property):
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_long(["no threads", "policy"]))
def test_a_first_call_in_an_awkward_program(kind):
    with Service(serve) as service:
        ended = subprocess.run(
            [sys.executable, "-c", AWKWARD, service.url, kind],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert service.asked == ["GET /api/port"]


def late_imports(path):
    """Give each line that imports in a function, unless the function is uninterrupted."""
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if "uninterrupted" in [ast.unparse(decorator) for decorator in function.decorator_list]:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node.lineno


@pytest.mark.slow
def test_no_signal_interrupts_a_late_import():
    package = Path(ferry_sdk.__file__).parent
    late = []
    for layer in LAYERS:
        for path in (*package.glob(f"{layer}.py"), *package.glob(f"{layer}/**/*.py")):
            if path.parent.name != "rate":
                late += [f"{path.relative_to(package)}:{line}" for line in late_imports(path)]
    assert not late
