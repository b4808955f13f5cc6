"""Planning: how many calls a trip costs, and what the planner itself costs beside them."""

from __future__ import annotations

import sys
import tempfile
from datetime import date
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import Ferry
from ferry_sdk._engine.batch import NextAnswer
from ferry_sdk.client import transport_of
from ferry_sdk.models.records import Records
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.planning.request import DayRequest
from ferry_sdk.planning.search import TripPlan
from ferry_sdk.planning.trips import TripSearch
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.network.network import Network

from ._catalogues import ROUTES, START, code_of
from ._lines import Bar, Line, Unit
from ._measure import Figures, in_turn, timed
from ._payload import TOKEN
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferry_sdk import Availability, SearchPassengerDict
    from ferry_sdk._engine.settings import Settings
    from ferry_sdk.hooks import RequestEvent

    from ._measure import Effort, Measurement

BAR: Final = Bar(1)
OWN_WORK: Final = 1e-3
"""Seconds of the planner's own work in a search of trips."""
BUILD_CALLS: Final = 70
BUILD_TIME: Final = 1.0
LOAD_TIME: Final = 20e-3
PASSENGERS: Final[list[SearchPassengerDict]] = [{"type": "Adult", "gender": "Female", "age": 34}]


def measure(effort: Effort) -> list[Line]:
    """Count the searches of trips, and measure the planner's own work and the route graph."""
    lines = _count_searches(effort)
    with Service(FEW) as service:
        return [*lines, _own_work(service, effort), *_graph(service, effort)]


def _count_searches(effort: Effort) -> list[Line]:
    """Count the searches of trips that know the routes, on the local service."""
    sent: list[str] = []

    def count(event: RequestEvent) -> None:
        sent.append(event.operation)

    with (
        Sandbox() as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url, event_hooks={"request": [count]}) as ferry,
    ):
        ferry.routes.find("Genoa", "Tunis")

        def searches(origin: str, destination: str) -> int:
            sent.clear()
            ferry.trips.search(origin, destination, on=date(2050, 7, 1), passengers=PASSENGERS)
            return len(sent)

        journeys = [*Network.load().journeys.values()]
        # Every route is searched, in reading order; the first few show that it runs.
        chosen = journeys[: effort.of(len(journeys), 3)]
        counts = [searches(one.depart.code, one.arrive.code) for one in chosen]
        companies = [len(one.route.companies) for one in chosen]
        (sailing,) = (one.companies for one in ferry.routes.find("Genoa", "Tunis"))
        return [
            _counted("requests of a trip, Genoa-Tunis", searches("Genoa", "Tunis"), len(sailing)),
            _counted(f"the same, mean of {len(chosen)} routes", fmean(counts), fmean(companies)),
        ]


def _own_work(service: Service, effort: Effort) -> Line:
    """Measure a search of trips whose searches cost nothing, by CPU time."""
    with Ferry(TOKEN, base_url=service.routes_url) as ferry:
        found = ferry.trips.search(code_of(0), code_of(1), on=START, passengers=PASSENGERS)
        sailings = Records([trip.outward for trip in found[:2]])
        settings = transport_of(ferry).settings
        work = timed(lambda: _planned(settings, sailings), effort.of(200, 2), clock=process_time)
        figures = in_turn({"ours": work}, rounds=effort.of(15))
    return _bounded("own work of a trip, two companies", "µs", figures, OWN_WORK, "1 ms")


def _planned(settings: Settings, sailings: Records[Availability]) -> TripSearch:
    """Run a search of trips, and answer each of its searches at once."""
    request = DayRequest(
        code_of(0), code_of(1), on=START, passengers=PASSENGERS, reservation_type=None
    )
    plan = TripPlan(request)
    steps = plan.collect(lambda: TripSearch(plan.trips, plan.report)).steps(settings)
    answer: Any = None
    try:
        while True:
            effect = steps.send(answer)
            assert isinstance(effect, NextAnswer)  # noqa: S101 -- the routes are known
            begun = effect.batch.start_next(0)
            assert begun is not None  # noqa: S101 -- there is no deadline
            answer = effect.batch.answer(begun[0], sailings, None)
    except StopIteration as end:
        found: TripSearch = end.value
        return found


def _graph(service: Service, effort: Effort) -> list[Line]:
    """Measure the making of a route graph, and its loading from a folder."""
    sent: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Ferry(
            TOKEN,
            base_url=service.routes_url,
            event_hooks={"request": [lambda event: sent.append(event.operation)]},
        ) as ferry,
        Ferry(TOKEN, base_url=service.routes_url, route_cache=folder) as cached,
    ):
        assert len(ferry.routes.find()) == len(cached.routes.find()) == ROUTES  # noqa: S101 -- all
        rounds = effort.of(9)
        sent.clear()
        built = in_turn({"ours": _anew(ferry.routes.find, process_time)}, rounds=rounds, warm_ups=0)
        calls = len(sent) // rounds
        loaded = in_turn({"ours": _anew(cached.routes.find)}, rounds=rounds)
    return [
        _counted(f"requests of a graph of {ROUTES} routes", calls, BUILD_CALLS, "the limit"),
        _bounded("CPU of making it", "ms", built, BUILD_TIME, "1 s"),
        _bounded("loading it from a folder", "ms", loaded, LOAD_TIME, "20 ms"),
    ]


def _anew(work: Callable[[], object], *clock: Callable[[], float]) -> Measurement:
    """Measure work that finds no catalogue in memory."""
    measurement = timed(work, 1, *clock)

    def without_cache() -> float:
        clear_cache()
        return measurement()

    return without_cache


def _counted(what: str, ours: float, limit: float, to: str = "companies") -> Line:
    return _line(what, "calls", ours, limit, to, {to: limit})


def _bounded(what: str, unit: Unit, figures: Figures, limit: float, to: str) -> Line:
    return _line(what, unit, figures.median("ours"), limit, to, {})


def _line(
    what: str, unit: Unit, ours: float, limit: float, to: str, floor: Mapping[str, float]
) -> Line:
    return Line(what=what, unit=unit, ours=ours, ratio=ours / limit, to=to, bar=BAR, floor=floor)


if __name__ == "__main__":
    sys.exit(main(["planning", *sys.argv[1:]]))
