"""Planning: the requests of a trip, and what the planner itself costs beside them."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from datetime import date
from statistics import fmean
from time import perf_counter, process_time
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

from ._by_hand import PASSENGERS
from ._catalogues import ROUTES, START, code_of
from ._command import main
from ._lines import Bar, Line, Unit
from ._measure import measure_in_turn, timing
from ._payload import TOKEN
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import Availability
    from ferry_sdk._engine.settings import Settings
    from ferry_sdk.hooks import RequestEvent

    from ._measure import Effort, Measurement

BAR: Final = Bar(1)
OWN_WORK: Final = 1e-3
"""The most seconds of the planner's own work in a search of trips."""
BUILD_CALLS: Final = 70
BUILD_TIME: Final = 1.0
LOAD_TIME: Final = 20e-3


def measure(effort: Effort) -> list[Line]:
    """Count the requests of trips, and measure the planner's own work and the route graph."""
    lines = _count_searches(effort)
    with Service(FEW) as service:
        return [
            *lines,
            _measure_own_work(service, effort),
            *_measure_graph(service, effort),
        ]


def _count_searches(effort: Effort) -> list[Line]:
    """Count the requests of trips whose routes are known, on the local service."""
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
        # Every route is searched; with little effort, a few, which show that it runs.
        chosen = journeys[: effort.of(len(journeys), 3)]
        counts = [searches(journey.depart.code, journey.arrive.code) for journey in chosen]
        companies = [len(journey.route.companies) for journey in chosen]

        (route,) = ferry.routes.find("Genoa", "Tunis")
        calls = searches("Genoa", "Tunis")
        return [
            _line_of_calls("requests of a trip, Genoa-Tunis", calls, limit=len(route.companies)),
            _line_of_calls(
                f"the same, mean of {len(chosen)} routes", fmean(counts), limit=fmean(companies)
            ),
        ]


def _measure_own_work(service: Service, effort: Effort) -> Line:
    """Measure a search of trips whose searches cost nothing, by CPU time."""
    with Ferry(TOKEN, base_url=service.routes_url) as ferry:
        found = ferry.trips.search(code_of(0), code_of(1), on=START, passengers=PASSENGERS)
        sailings = Records([trip.outward for trip in found[:2]])
        settings = transport_of(ferry).settings
        work = timing(
            lambda: _plan_trips(settings, sailings), effort.of(200, 2), clock=process_time
        )
        figures = measure_in_turn({"ours": work}, rounds=effort.of(15))
    what = "own work of a trip, two companies"
    return _line(what, "µs", ours=figures.median("ours"), limit=OWN_WORK, to="1 ms")


def _plan_trips(settings: Settings, sailings: Records[Availability]) -> TripSearch:
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


def _measure_graph(service: Service, effort: Effort) -> list[Line]:
    """Measure how a route graph is made, and how it is loaded from a folder."""
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
        built = measure_in_turn(
            {"ours": _without_cache(ferry.routes.find, clock=process_time)},
            rounds=rounds,
            warm_ups=0,
        )
        calls = len(sent) // rounds
        loaded = measure_in_turn({"ours": _without_cache(cached.routes.find)}, rounds=rounds)

    what = f"requests of a graph of {ROUTES} routes"
    built_time = built.median("ours")
    loaded_time = loaded.median("ours")
    return [
        _line_of_calls(what, calls, limit=BUILD_CALLS, to="the limit"),
        _line("CPU of making it", "ms", ours=built_time, limit=BUILD_TIME, to="1 s"),
        _line("loading it from a folder", "ms", ours=loaded_time, limit=LOAD_TIME, to="20 ms"),
    ]


def _without_cache(
    work: Callable[[], object], clock: Callable[[], float] = perf_counter
) -> Measurement:
    """Return the measurement of work that finds no catalogue in memory."""
    measurement = timing(work, clock=clock)

    def clear_and_measure() -> float:
        clear_cache()
        return measurement()

    return clear_and_measure


def _line_of_calls(what: str, calls: float, *, limit: float, to: str = "companies") -> Line:
    """Return the line of a number of calls, beside a number that is the floor as well."""
    line = _line(what, "calls", ours=calls, limit=limit, to=to)
    return replace(line, floor={to: limit})


def _line(what: str, unit: Unit, *, ours: float, limit: float, to: str) -> Line:
    return Line(what=what, unit=unit, ours=ours, ratio=ours / limit, to=to, bar=BAR)


if __name__ == "__main__":
    sys.exit(main(["planning", *sys.argv[1:]]))
