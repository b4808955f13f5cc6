"""The searches of a price calendar, eight in flight, beside the same calls made by hand."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import AsyncFerry, Ferry

from ._catalogues import DAYS, SAILED_BY, START, code_of
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._payload import TOKEN
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferry_sdk import Availability, Route, SearchPassengerDict

    from ._measure import Effort, Measurement

BAR: Final = Bar(0.9, is_least=True)
IN_FLIGHT: Final = 8
PASSENGERS: Final[list[SearchPassengerDict]] = [{"type": "Adult", "gender": "Female", "age": 34}]


def measure(effort: Effort) -> list[Line]:
    """Measure how many searches a second come through, in tasks and in threads."""
    days = [START + timedelta(days) for days in range(effort.of(DAYS, 2))]
    with Service(FEW) as service:
        return [
            _in_tasks(service.routes_url, days, effort),
            _in_threads(service.routes_url, days, effort),
        ]


def _in_tasks(base_url: str, days: list[date], effort: Effort) -> Line:
    loop = asyncio.new_event_loop()
    try:
        ferry = AsyncFerry(TOKEN, base_url=base_url)
        (route,) = loop.run_until_complete(ferry.routes.find(code_of(0), code_of(1)))

        async def by_hand() -> list[object]:
            limit = asyncio.Semaphore(IN_FLIGHT)

            async def search(arguments: dict[str, Any]) -> Sequence[Availability]:
                async with limit:
                    return await ferry.availability.search(**arguments)

            return _cheapest(await asyncio.gather(*map(search, _searches(route, days))))

        line = _line(
            "tasks",
            lambda: loop.run_until_complete(ferry.trips.calendar(**_month(days))),
            lambda: loop.run_until_complete(by_hand()),
            len(days),
            effort,
        )
        loop.run_until_complete(ferry.aclose())
        return line
    finally:
        loop.close()


def _in_threads(base_url: str, days: list[date], effort: Effort) -> Line:
    with Ferry(TOKEN, base_url=base_url) as ferry:
        (route,) = ferry.routes.find(code_of(0), code_of(1))

        def search(arguments: dict[str, Any]) -> Sequence[Availability]:
            return ferry.availability.search(**arguments)

        def by_hand() -> list[object]:
            with ThreadPoolExecutor(IN_FLIGHT) as pool:
                return _cheapest([*pool.map(search, _searches(route, days))])

        return _line(
            "threads",
            lambda: ferry.trips.calendar(**_month(days)),
            by_hand,
            len(days),
            effort,
        )


def _line(
    kind: str,
    calendar: Callable[[], object],
    by_hand: Callable[[], object],
    days: int,
    effort: Effort,
) -> Line:
    calls = days * SAILED_BY
    contenders = {"calendar": _rate(calendar, calls), "by hand": _rate(by_hand, calls)}
    figures = in_turn(contenders, rounds=effort.of(61))
    what = f"calendar of {calls} searches, {IN_FLIGHT} in flight, {kind}"
    return compared(figures, what, "calls/s", BAR, ours="calendar", to="by hand", floor="by hand")


def _rate(work: Callable[[], object], calls: int) -> Measurement:
    seconds = timed(work)
    return lambda: calls / seconds()


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


def _cheapest(answers: Iterable[Iterable[Availability]]) -> list[object]:
    """Return the lowest price of each answer, as a calendar does."""
    return [min(tariff.amount for one in found for tariff in one.tariffs) for found in answers]


def _searches(route: Route, days: list[date]) -> list[dict[str, Any]]:
    """Return the arguments of the same searches."""
    return [
        {
            "company": company,
            "depart_code": route.depart_code,
            "arrive_code": route.arrive_code,
            "out_journey_id": route.journey_id,
            "out_at": day,
            "out_time": "00:00",
            "passengers": PASSENGERS,
        }
        for day in days
        for company in route.companies
    ]


if __name__ == "__main__":
    sys.exit(main(["calendar_in_flight", *sys.argv[1:]]))
