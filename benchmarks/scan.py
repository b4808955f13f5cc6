"""A scan beside the same searches by `gather`, and its memory from beginning to end."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import AsyncFerry, Route

from . import _peak_memory
from ._by_hand import PASSENGERS, arguments_of_searches, lowest_price
from ._catalogues import START, code_of
from ._command import main
from ._interpreters import last_number_printed
from ._lines import Bar, Line, compare
from ._measure import calls_a_second, measure_in_turn
from ._payload import TOKEN
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferry_sdk import Availability

    from ._measure import Effort

BAR: Final = Bar(0.9, is_least=True)
MEMORY_BAR: Final = Bar(1.05)
IN_FLIGHT: Final = 16
SEARCHES: Final = 1000
SCANNED: Final = 4000
"""The searches of the scan whose memory is measured."""
COMPANIES: Final = 10
ROUTE: Final = Route(
    journey_id="journey",
    depart_code=code_of(0),
    arrive_code=code_of(1),
    depart_name="A",
    arrive_name="B",
    companies=tuple(f"C{number}" for number in range(COMPANIES)),
    duration=timedelta(hours=1),
)


def measure(effort: Effort) -> list[Line]:
    """Measure the searches in a second, and the memory in a process of its own."""
    with Service(FEW) as service:
        lines = [_measure_rate(service.few_url, effort.of(SEARCHES, 2 * COMPANIES), effort)]
        if _peak_memory.can_tell_resident():
            lines.append(_measure_memory(service.few_url, effort.of(SCANNED, 200)))
    return lines


def _measure_rate(base_url: str, searches: int, effort: Effort) -> Line:
    from ferry_sdk.scan import FareScan, Party  # noqa: PLC0415 -- an extra's

    loop = asyncio.new_event_loop()
    ferry = AsyncFerry(TOKEN, base_url=base_url)
    days = [START + timedelta(days) for days in range(searches // COMPANIES)]
    searches_by_hand = arguments_of_searches(ROUTE, days)

    async def by_hand() -> list[object]:
        limit = asyncio.Semaphore(IN_FLIGHT)

        async def search(arguments: dict[str, Any]) -> Iterable[Availability]:
            async with limit:
                return await ferry.availability.search(**arguments)

        answers = await asyncio.gather(*(search(arguments) for arguments in searches_by_hand))
        return [lowest_price(sailings) for sailings in answers]

    def scan() -> None:
        with tempfile.TemporaryDirectory() as folder:
            FareScan(
                folder,
                routes=[ROUTE],
                dates=(days[0], days[-1]),
                parties=[Party("one", PASSENGERS)],
            ).run(ferry, concurrency=IN_FLIGHT)

    try:
        contenders = {
            "scan": calls_a_second(scan, searches),
            "by hand": calls_a_second(lambda: loop.run_until_complete(by_hand()), searches),
        }
        figures = measure_in_turn(contenders, rounds=effort.of(7))
        loop.run_until_complete(ferry.aclose())
    finally:
        loop.close()

    what = f"scan of {searches:,} searches, {IN_FLIGHT} in flight"
    return compare(
        figures, what, unit="calls/s", bar=BAR, ours="scan", to="by hand", floor="by hand"
    )


def _measure_memory(base_url: str, searches: int) -> Line:
    ratio = last_number_printed("-m", "benchmarks._scan_memory", base_url, str(searches))()
    return Line(
        what=f"resident memory at the end of {searches:,} searches",
        unit="times",
        ours=ratio,
        ratio=ratio,
        to="that after a tenth",
        bar=MEMORY_BAR,
    )


if __name__ == "__main__":
    sys.exit(main(["scan", *sys.argv[1:]]))
