"""The command `ferry`, its environment and its result."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.trip import DAY

if TYPE_CHECKING:
    from ferry_sdk.sandbox import Sandbox

COMMAND = [sys.executable, "-W", "error", "-m", "ferry_sdk"]
SEARCH = ["Tarifa", "MATNG", "--on", str(DAY), "--adult", "34F", "--child", "9M"]


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
