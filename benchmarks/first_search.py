"""From nothing to the first search's answer read: what a short-lived process waits for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import work_of
from ._fresh import seconds_of
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.4)
SEARCH: Final = """
from benchmarks._reading import read_objects
from benchmarks._clients.{client} import search
with search({url!r}) as call:
    read_objects(call())
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in fresh interpreters."""
    work_of("openai", "search")
    with Service(FEW) as service:
        contenders = {
            client: seconds_of(SEARCH.format(client=client, url=service.few_url))
            for client in ("ferry", "openai")
        }
        figures = in_turn(contenders, rounds=effort.of(9))
    what = f"import, client, first search of {FEW} read"
    return [compared(figures, what, "ms", BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["first_search", *sys.argv[1:]]))
