"""A search with a big answer, beside the typed answers of openai-python."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import searches
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._running import main
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.12)


def measure(effort: Effort) -> list[Line]:
    """Measure it, each with its own HTTP client as it comes."""
    records = effort.of(1000, 10)
    with (
        Service(records) as service,
        searches(("ferry", "openai"), service.base_url) as calls,
    ):
        contenders = {name: timed(call) for name, call in calls.items()}
        figures = in_turn(contenders, rounds=effort.of(7))
    what = f"search of {records:,}, read, freed"
    return [compared(figures, what, "ms", BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["big_answer_openai", *sys.argv[1:]]))
