"""The searches of a price calendar, eight in flight, beside the same searches by hand."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import AsyncFerry, Ferry

from ._by_hand import PASSENGERS, arguments_of_searches, lowest_price
from ._catalogues import DAYS, SAILED_BY, START, code_of
from ._command import main
from ._lines import Bar, Line, compare
from ._measure import calls_a_second, measure_in_turn
from ._payload import TOKEN
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferry_sdk import Availability

    from ._measure import Effort

BAR: Final = Bar(0.9, is_least=True)
IN_FLIGHT: Final = 8


def measure(effort: Effort) -> list[Line]:
    """Measure the searches in a second, in tasks and in threads."""
    days = [START + timedelta(days) for days in range(effort.of(DAYS, 2))]
    with Service(FEW) as service:
        return [
            _measure_tasks(service.routes_url, days, effort),
            _measure_threads(service.routes_url, days, effort),
        ]


def _measure_tasks(base_url: str, days: list[date], effort: Effort) -> Line:
    loop = asyncio.new_event_loop()
    try:
        ferry = AsyncFerry(TOKEN, base_url=base_url)
        (route,) = loop.run_until_complete(ferry.routes.find(code_of(0), code_of(1)))

        async def by_hand() -> list[object]:
            limit = asyncio.Semaphore(IN_FLIGHT)

            async def search(arguments: dict[str, Any]) -> Sequence[Availability]:
                async with limit:
                    return await ferry.availability.search(**arguments)

            searches = arguments_of_searches(route, days)
            answers = await asyncio.gather(*(search(arguments) for arguments in searches))
            return [lowest_price(sailings) for sailings in answers]  # as a calendar does

        line = _line(
            "tasks",
            calendar=lambda: loop.run_until_complete(ferry.trips.calendar(**_month(days))),
            by_hand=lambda: loop.run_until_complete(by_hand()),
            days=len(days),
            effort=effort,
        )
        loop.run_until_complete(ferry.aclose())
        return line
    finally:
        loop.close()


def _measure_threads(base_url: str, days: list[date], effort: Effort) -> Line:
    with Ferry(TOKEN, base_url=base_url) as ferry:
        (route,) = ferry.routes.find(code_of(0), code_of(1))

        def search(arguments: dict[str, Any]) -> Sequence[Availability]:
            return ferry.availability.search(**arguments)

        def by_hand() -> list[object]:
            with ThreadPoolExecutor(IN_FLIGHT) as pool:
                answers = [*pool.map(search, arguments_of_searches(route, days))]
            return [lowest_price(sailings) for sailings in answers]

        return _line(
            "threads",
            calendar=lambda: ferry.trips.calendar(**_month(days)),
            by_hand=by_hand,
            days=len(days),
            effort=effort,
        )


def _line(
    kind: str,
    *,
    calendar: Callable[[], object],
    by_hand: Callable[[], object],
    days: int,
    effort: Effort,
) -> Line:
    calls = days * SAILED_BY
    contenders = {
        "calendar": calls_a_second(calendar, calls),
        "by hand": calls_a_second(by_hand, calls),
    }
    figures = measure_in_turn(contenders, rounds=effort.of(61))
    what = f"calendar of {calls} searches, {IN_FLIGHT} in flight, {kind}"
    return compare(
        figures, what, unit="calls/s", bar=BAR, ours="calendar", to="by hand", floor="by hand"
    )


def _month(days: list[date]) -> dict[str, Any]:
    """Return the arguments of a calendar."""
    return {
        "origin": code_of(0),
        "destination": code_of(1),
        "start": days[0],
        "end": days[-1],
        "passengers": PASSENGERS,
        "concurrency": IN_FLIGHT,
    }


if __name__ == "__main__":
    sys.exit(main(["calendar_in_flight", *sys.argv[1:]]))
