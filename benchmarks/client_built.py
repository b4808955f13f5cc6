"""Importing the library and making a client, beside the same with httpx and pydantic."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._command import main
from ._interpreters import seconds_of
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from .import_time import STACK

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.15)
OURS: Final = """
import ferry_sdk
ferry_sdk.Ferry("token", base_url="https://ferry.example")
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in new interpreters."""
    contenders = {"ferry": seconds_of(OURS), "httpx + pydantic": seconds_of(STACK)}
    figures = measure_in_turn(contenders, rounds=effort.of(15))
    return [
        compare(figures, "a Ferry built", unit="ms", bar=BAR, ours="ferry", to="httpx + pydantic")
    ]


if __name__ == "__main__":
    sys.exit(main(["client_built", *sys.argv[1:]]))
