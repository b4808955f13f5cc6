"""A search with a big answer by MCP, whose answer is JSON within JSON, beside the same by REST."""

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

BAR: Final = Bar(1.5)
OURS: Final = "ferry_over_mcp"


def measure(effort: Effort) -> list[Line]:
    """Measure both over clients of the library's own."""
    records = effort.of(1000, 10)
    with (
        Service(records) as service,
        open_searches((OURS, "ferry"), service.base_url) as calls,
    ):
        contenders = {name: timing(call) for name, call in calls.items()}
        figures = measure_in_turn(contenders, rounds=effort.of(15))
    what = f"MCP search of {records:,}, read, freed"
    return [compare(figures, what, unit="ms", bar=BAR, ours=OURS, to="ferry")]


if __name__ == "__main__":
    sys.exit(main(["mcp_big_answer", *sys.argv[1:]]))
