"""The command line, run as a person or a program runs it, against a service of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import Ferry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferry_sdk.sandbox import Sandbox

COMMAND = [sys.executable, "-W", "error", "-m", "ferry_sdk"]
SEARCH = ["Tarifa", "MATNG", "--on", "+30", "--adult", "34F", "--child", "9M"]


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def environment(sandbox: Sandbox | None = None, **more: str) -> dict[str, str]:
    unwanted = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FERRY_") and name not in unwanted
    }
    known = {"FERRY_BASE_URL": sandbox.base_url, "FERRY_TOKEN": sandbox.token} if sandbox else {}
    return {**kept, "PYTHONUTF8": "1", "TERM": "xterm-256color", **known, **more}


@pytest.fixture
def cli(ferry_sandbox: Sandbox, tmp_path: Path) -> Iterator[Callable[..., Ended]]:
    """Runs `ferry` without a terminal; nothing that it prints or is started with is a token."""

    def run(*arguments: str, code: int = 0, given: str = "", **more: str) -> Ended:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment(ferry_sandbox, **more),
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=50,
        )
        ended = Ended(done.returncode, done.stdout, done.stderr)
        assert ended.code == code, ended
        assert ferry_sandbox.token not in ended.out + ended.err
        assert "Traceback" not in ended.err
        return ended

    return run


@pytest.fixture
def ferry(ferry_sandbox: Sandbox) -> Iterator[Ferry]:
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as client:
        yield client


@pytest.fixture
def order(tmp_path: Path) -> Path:
    """An order in a file: a search, and what to choose of it."""
    content = {
        "search": {"depart_code": "ESTRF", "arrive_code": "MATNG", "out_at": "+30"},
        "passengers": [
            {
                "type": "Adult",
                "first_name": "Ada",
                "last_name": "Reyes",
                "gender": "F",
                "age": 34,
            }
        ],
    }
    file = tmp_path / "order.json"
    file.write_text(json.dumps(content), "utf-8")
    return file


@pytest.fixture
def booked(cli: Callable[..., Ended], order: Path) -> str:
    """The id of a booking that is not confirmed."""
    return cli("book", "--from", str(order), "--yes", "--json").document["booking"]["booking_id"]


@pytest.fixture
def ticket(ferry: Ferry, booked: str) -> str:
    """The id of a ticket of a confirmed booking."""
    return ferry.bookings.confirm(booked).ticket_id
