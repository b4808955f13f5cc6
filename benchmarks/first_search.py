"""The import, a client and a first search whose answer is read: how long a short process waits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import work_of
from ._command import main
from ._interpreters import seconds_of
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.4)
SEARCH: Final = """
from benchmarks._readers import read_objects
from benchmarks._clients.{client} import search
with search({url!r}) as call:
    read_objects(call())
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in new interpreters."""
    work_of("openai", "search")
    with Service(FEW) as service:
        contenders = {
            client: seconds_of(SEARCH.format(client=client, url=service.few_url))
            for client in ("ferry", "openai")
        }
        figures = measure_in_turn(contenders, rounds=effort.of(9))
    what = f"import, client, first search of {FEW} read"
    return [compare(figures, what, unit="ms", bar=BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["first_search", *sys.argv[1:]]))
