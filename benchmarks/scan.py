"""A scan beside the same searches by `gather`, and its memory from beginning to end."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import AsyncFerry, Route

from . import _held
from ._catalogues import START, code_of
from ._fresh import fresh
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._payload import TOKEN
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ferry_sdk import Availability, SearchPassengerDict

    from ._measure import Effort, Measurement

BAR: Final = Bar(0.9, is_least=True)
MEMORY_BAR: Final = Bar(1.05)
IN_FLIGHT: Final = 16
SEARCHES: Final = 1000
SCANNED: Final = 4000
"""Searches of the scan whose memory is measured; the beginning of it is a tenth."""
COMPANIES: Final = 10
PASSENGERS: Final[list[SearchPassengerDict]] = [{"type": "Adult", "gender": "Female", "age": 34}]
ROUTE: Final = Route(
    "journey",
    code_of(0),
    code_of(1),
    "A",
    "B",
    tuple(f"C{number}" for number in range(COMPANIES)),
    timedelta(hours=1),
)


def measure(effort: Effort) -> list[Line]:
    """Measure how many searches a second come through, and the memory in a process of its own."""
    with Service(FEW) as service:
        lines = [_rate(service.few_url, effort.of(SEARCHES, 2 * COMPANIES), effort)]
        if _held.can_tell_resident():
            lines.append(_memory(service.few_url, effort.of(SCANNED, 200)))
    return lines


def _rate(base_url: str, searches: int, effort: Effort) -> Line:
    from ferry_sdk.scan import FareScan, Party  # noqa: PLC0415 -- an extra's

    loop = asyncio.new_event_loop()
    ferry = AsyncFerry(TOKEN, base_url=base_url)
    days = [START + timedelta(days) for days in range(searches // COMPANIES)]

    async def by_hand() -> list[object]:
        limit = asyncio.Semaphore(IN_FLIGHT)

        async def search(arguments: dict[str, Any]) -> Iterable[Availability]:
            async with limit:
                return await ferry.availability.search(**arguments)

        answers = await asyncio.gather(*(search(one) for one in _searches(days)))
        return [min(tariff.amount for one in found for tariff in one.tariffs) for found in answers]

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
            "scan": _each(scan, searches),
            "by hand": _each(lambda: loop.run_until_complete(by_hand()), searches),
        }
        figures = in_turn(contenders, rounds=effort.of(7))
        loop.run_until_complete(ferry.aclose())
    finally:
        loop.close()
    what = f"scan of {searches:,} searches, {IN_FLIGHT} in flight"
    return compared(figures, what, "calls/s", BAR, ours="scan", to="by hand", floor="by hand")


def _memory(base_url: str, searches: int) -> Line:
    ratio = fresh("-m", "benchmarks._scanned", base_url, str(searches))()
    return Line(
        what=f"resident memory at the end of {searches:,} searches",
        unit="times",
        ours=ratio,
        ratio=ratio,
        to="that after a tenth",
        bar=MEMORY_BAR,
    )


def _each(work: Callable[[], object], calls: int) -> Measurement:
    seconds = timed(work)
    return lambda: calls / seconds()


def _searches(days: Iterable[object]) -> list[dict[str, Any]]:
    """Return the arguments of the same searches."""
    return [
        {
            "company": company,
            "depart_code": ROUTE.depart_code,
            "arrive_code": ROUTE.arrive_code,
            "out_journey_id": ROUTE.journey_id,
            "out_at": day,
            "out_time": "00:00",
            "passengers": PASSENGERS,
        }
        for day in days
        for company in ROUTE.companies
    ]


if __name__ == "__main__":
    sys.exit(main(["scan", *sys.argv[1:]]))
