"""The command `ferry`, its environment and its result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support import processes
from tests.support.trip import DAY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferry_sdk.models import PassengerDict
    from ferry_sdk.sandbox import Sandbox

COMMAND = [sys.executable, "-W", "error", "-m", "ferry_sdk"]
SEARCH = ["Tarifa", "MATNG", "--on", str(DAY), "--adult", "34F", "--child", "9M"]

ADA: PassengerDict = {
    "type": "Adult",
    "first_name": "Ada",
    "last_name": "Reyes",
    "gender": "Female",
    "age": 34,
}


@dataclass
class Ended:
    """The result of a command."""

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


def interrupt(
    sandbox: Sandbox,
    folder: Path,
    *words: str,
    when: Callable[[], object],
    number: int = signal.SIGTERM,
) -> str:
    """Run `ferry` in a folder until something is true, send it a signal, and return its errors."""
    with processes.start(
        [*COMMAND, *words],
        cwd=folder,
        env=environment(sandbox),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not when():
            assert process.poll() is None
        process.send_signal(number)
        _, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    return output
