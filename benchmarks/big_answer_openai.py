"""A search with a big answer, beside the typed answers of openai-python."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import open_searches
from ._command import main
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.12)


def measure(effort: Effort) -> list[Line]:
    """Measure the search, each with the HTTP client that it has by default."""
    records = effort.of(1000, 10)
    with (
        Service(records) as service,
        open_searches(("ferry", "openai"), service.base_url) as calls,
    ):
        contenders = {name: timing(call) for name, call in calls.items()}
        figures = measure_in_turn(contenders, rounds=effort.of(7))
    what = f"search of {records:,}, read, freed"
    return [compare(figures, what, unit="ms", bar=BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["big_answer_openai", *sys.argv[1:]]))
