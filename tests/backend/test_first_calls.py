"""No call loads a module: an interruption in the middle of an import would break what follows."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ferry_sdk
from ferry_sdk import Ferry
from tests.support.operations import OPERATIONS, arguments
from tests.support.tiers import mostly_long
from tests.support.trip import booked, search_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferry_sdk.sandbox import Sandbox

PROGRAM = Path(__file__).with_name("first_calls.py")
KINDS = ("sync", "asyncio", "aiohttp", "trio", "sync httpx", "asyncio httpx")
FAULTS = (
    "server_error",
    "unauthorized",
    "lose_reply",
    "redirect",
    "html_page",
    "not_json",
    "not_utf8",
    "empty_body",
    "truncate",
    "rate_limited",
    "request_timeout_after",
    "refused",
    "wrong_shape",
)
LOST = ("lose_reply", "truncate", "request_timeout_after", "html_page", "not_json", "empty_body")
"""After these, a write is read back until its deadline."""


class Program:
    """A new process with one client, which makes the calls that it is asked for."""

    def __init__(self, kind: str, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self._process = subprocess.Popen(
            [
                sys.executable,
                str(PROGRAM),
                kind,
                sandbox.base_url,
                sandbox.token,
                str(folder / "journal.db"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.errors: set[str | None] = set()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def call(self, name: str, given: dict[str, Any], **options: Any) -> None:
        """Make a call, which loads nothing."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps([name, given, options], default=str) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        assert not answer["loaded"], (name, given, answer)
        self.errors.add(answer["error"])


def calls(ferry: Ferry, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation, each with arguments that make a good call."""
    for name in OPERATIONS:
        given = arguments(name, folder)
        if name.endswith((".search", "search_availability")):
            given = {**search_arguments()}
        elif "booking_id" in given:
            given = {**given, "booking_id": booked(ferry).booking_id}
        if "deadline" in given:
            given = {**given, "deadline": 0.5}
        yield name, given
    yield "trips.search", {
        "origin": "Marseille",
        "destination": "La Goulette",
        "on": "2050-06-02",
        "passengers": [{"type": "Adult", "gender": "Female", "age": 34}],
    }


@pytest.mark.timeout(600)  # hundreds of calls, and many wait for their next attempt
@pytest.mark.parametrize(
    ("kind", "is_full"),
    mostly_long([*((kind, False) for kind in KINDS), *((kind, True) for kind in KINDS)], short=3),
)
def test_no_call_of_a_new_process_loads_a_module(
    kind: str,
    is_full: bool,
    ferry: Ferry,
    ferry_sandbox: Sandbox,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    made = 0
    with Program(kind, ferry_sandbox, tmp_path) as program:
        for index, (name, given) in enumerate(calls(ferry, tmp_path)):
            faults = FAULTS if is_full else (FAULTS[index % len(FAULTS)],)
            for fault in (*faults, None):
                ferry_sandbox.faults.clear()
                if fault is not None:
                    ferry_sandbox.faults.add(fault, times=1)
                deadline = 2 if fault in LOST or index % 2 else None
                program.call(name, given, deadline=deadline, max_retries=1)
                made += 1
    assert program.errors >= {None, "NotFoundError", "OutcomeUnknownError"}
    record_property("calls of a new process", made)
