"""Importing the library and building a client, beside the same of what it stands on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._fresh import seconds_of
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from .import_time import STACK

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.15)
OURS: Final = """
import ferry_sdk
ferry_sdk.Ferry("token", base_url="https://ferry.example")
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in fresh interpreters."""
    contenders = {"ferry": seconds_of(OURS), "httpx + pydantic": seconds_of(STACK)}
    figures = in_turn(contenders, rounds=effort.of(15))
    return [compared(figures, "a Ferry built", "ms", BAR, ours="ferry", to="httpx + pydantic")]


if __name__ == "__main__":
    sys.exit(main(["client_built", *sys.argv[1:]]))
