"""Importing the library, beside importing what it stands on and making a model and a client."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._fresh import seconds_of
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.35)
STACK: Final = """
import httpx
from pydantic import BaseModel
class Port(BaseModel):
    code: str
    name: str
httpx.Client()
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in fresh interpreters."""
    contenders = {"ferry": seconds_of("import ferry_sdk"), "httpx + pydantic": seconds_of(STACK)}
    figures = in_turn(contenders, rounds=effort.of(15))
    line = compared(figures, "import ferry_sdk", "ms", BAR, ours="ferry", to="httpx + pydantic")
    return [line]


if __name__ == "__main__":
    sys.exit(main(["import_time", *sys.argv[1:]]))
