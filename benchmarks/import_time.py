"""Importing the library, beside importing httpx and pydantic and making a model and a client."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._command import main
from ._interpreters import seconds_of
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn

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
    """Measure it in new interpreters."""
    contenders = {"ferry": seconds_of("import ferry_sdk"), "httpx + pydantic": seconds_of(STACK)}
    figures = measure_in_turn(contenders, rounds=effort.of(15))
    line = compare(
        figures, "import ferry_sdk", unit="ms", bar=BAR, ours="ferry", to="httpx + pydantic"
    )
    return [line]


if __name__ == "__main__":
    sys.exit(main(["import_time", *sys.argv[1:]]))
