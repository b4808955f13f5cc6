"""The search of trips: which companies to ask on which days, and what their answers make.

`TripPlan` asks the companies in rounds, and its steps give the trips as the companies answer: a
search takes all of them, a stream gives them to its caller one by one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import date
from typing import Any

from ferry_sdk._engine.batch import Batch, BatchAnswer, StopBatch, next_answer, stop_after_error
from ferry_sdk._engine.effects import Flow, Item, Steps, next_item
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import (
    APIError,
    FerryError,
    InvalidInputError,
    NoSailingsError,
    RequestTimeoutError,
)
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.records import Records
from ferry_sdk.planning.catalogues import POINTLESS, deadline_of, place_index, route_graph
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.request import Query, TripRequest
from ferry_sdk.planning.results import AskedSearch, FailedSearch, SearchReport
from ferry_sdk.planning.routes import Route, RouteGraph
from ferry_sdk.planning.trips import Offer, Trip, one_way, round_trip
from ferry_sdk.planning.vehicles import find_vehicle


class TripPlan:
    """A search of trips.

    Args:
        request: What to search.

    Attributes:
        trips: The trips found so far.
    """

    _graph: RouteGraph
    """All routes; set with the two ports, before the first search."""

    def __init__(self, request: TripRequest) -> None:
        self.trips: list[Trip] = []
        self._request = request
        self._rounds = iter(request.rounds)
        self._batch: Batch[Query, Records[Availability]] = Batch(request.concurrency)
        self._ends: tuple[Port, ...] = ()
        self._out: list[tuple[Query, Offer]] = []
        self._back: list[tuple[Query, Offer]] = []
        self._without_out: list[Query] = []
        self._calls = 0
        self._answered: list[AskedSearch] = []
        self._nothing: list[AskedSearch] = []
        self._failed: list[tuple[Query, FerryError]] = []
        self._not_asked: list[AskedSearch] = []
        self._has_route = True
        self._left_out = 0
        self._began = time.monotonic()
        self._seconds: float | None = None

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, as of now."""
        under_way = [call.key.search for call in self._batch.under_way.copy().values()]
        failures = self._failed
        ended = [*self._answered, *self._nothing, *(query.search for query, _ in failures)]
        failed = (FailedSearch(**asdict(query.search), error=error) for query, error in failures)
        return SearchReport(
            (*ended, *under_way),
            tuple(self._answered),
            tuple(self._nothing),
            tuple(failed),
            tuple(self._not_asked),
            time.monotonic() - self._began if self._seconds is None else self._seconds,
            self._has_route,
            self._left_out,
        )

    @property
    def route(self) -> str:
        """The names of the two ports, for people; empty until they are looked up."""
        return " → ".join(port.name for port in self._ends)

    def collect(self, settings: Settings) -> Flow[list[Trip]]:
        """Take every step, and return all trips.

        Raises:
            FerryError: As for `steps`.
        """
        steps = self.steps(settings)
        while (yield from next_item(steps)) is not None:
            pass
        return self.trips

    def steps(self, settings: Settings) -> Steps[Trip]:
        """Yield the effects, and the trips.

        Raises:
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports do.
            FerryError: Every search failed, or no catalogue could be read.
        """
        return stop_after_error(self._batch, self._steps(settings))

    def stop(self, settings: Settings) -> Flow[None]:
        """Stop the searches that are under way."""
        del settings
        self._seconds = self._seconds or time.monotonic() - self._began
        yield from self._stop_batch()

    def _stop_batch(self) -> Flow[None]:
        """Stop the searches that are under way; those that have not begun are not asked."""
        waiting = [call.key for call in self._batch.waiting.copy()]
        yield from StopBatch(self._batch)
        self._batch.waiting.clear()
        begun = [call.key for call in self._batch.under_way.values()]
        self._not_asked += [query.search for query in waiting if query not in begun]

    def _steps(self, settings: Settings) -> Steps[Trip]:
        self._batch.until = deadline_of(settings)
        yield from self._look_up(settings)
        while not self.trips and self._ask_round():
            while self._batch:
                answer = yield from next_answer(self._batch)
                if answer is None:
                    yield from self._end_at_deadline()
                    return
                trips = self._take(answer)
                self.trips += trips
                yield from map(Item, trips)
        self._end()

    def _look_up(self, settings: Settings) -> Flow[None]:
        """Find the two ports and the routes between them."""
        yield from self._find_ends(settings)
        self._set_routes(self._routes())

    def _find_ends(self, settings: Settings) -> Flow[None]:
        """Read the graph, and find the two ports in it, and the vehicle if it has a name."""
        request, until = self._request, self._batch.until
        self._graph = yield from route_graph(settings, until)
        ends: list[Port] = []
        for name, wanted in (("origin", request.origin), ("destination", request.destination)):
            ends.append((yield from port_of(settings, self._graph, wanted, name, until)))
        if ends[0].code == ends[1].code:
            raise InvalidInputError("the same port as the origin", field="destination")
        self._ends = tuple(ends)
        if isinstance(request.vehicle, str):
            vehicle = yield from find_vehicle(settings, request.vehicle, until)
            self._request = replace(request, vehicle=vehicle.query)

    def _set_routes(self, routes: Sequence[Route]) -> None:
        """Record whether there is any route.

        Raises:
            InvalidInputError: Nobody is known to sail.
        """
        self._has_route = bool(routes)
        if self._request.companies is None and routes and not self._sailings(routes):
            raise InvalidInputError(
                "the service does not say which companies sail; pass them", field="companies"
            )

    def _routes(self, *, back: bool = False) -> tuple[Route, ...]:
        depart, arrive = reversed(self._ends) if back else self._ends
        return self._graph.between(depart.code, arrive.code)

    def _ask_round(self) -> bool:
        """Add the searches of the next round to the batch; return whether there was one."""
        queries = self._ways_back()
        if not queries:
            days = next(self._rounds, None)
            if days is None:
                return False
            queries = [query for pair in days for query in self._queries(*pair)]
        for query in queries:
            self._add(query)
        return True

    def _add(self, query: Query) -> None:
        """Add a search to the batch, if one more may be made."""
        if self._calls >= self._request.max_calls:
            self._not_asked.append(query.search)
        else:
            self._calls += 1
            patience = self._request.patience
            limits = {} if patience is None else {"deadline": patience}
            self._batch.add(query, self._request.operation(query), **limits)

    def _ways_back(self) -> list[Query]:
        """Return the searches of ways back that were not found, because nothing sailed out.

        They are asked if another company, or another day, has a way out.
        """
        if not self._out:
            return []
        queries, self._without_out = self._without_out, []
        return [query.way_back for query in queries if query.way_back is not None]

    def _queries(self, out: date, return_day: date | None) -> Iterator[Query]:
        """Yield the searches of a day: each company's way out with its way back, if it has one."""
        returns = [] if return_day is None else self._sailings(self._routes(back=True))
        for route, company in self._sailings(self._routes()):
            way_back = next((sailed for sailed in returns if sailed[1] == company), None)
            query = Query.of(route, company, out)
            if way_back is not None:
                returns.remove(way_back)
                back = way_back[0].journey_id
                query = replace(query, return_journey_id=back, return_day=return_day)
            yield query
        for route, company in returns:  # sailed by companies that have no way out
            assert return_day is not None  # noqa: S101 -- there are ways back
            yield Query.of(route, company, return_day, first_day=out)

    def _sailings(self, routes: Sequence[Route]) -> list[tuple[Route, str]]:
        """Return who sails the routes, of the companies that are asked for."""
        wanted = self._request.companies
        if wanted is None:
            return [(route, name) for route in routes for name in self._graph.sailed_by(route)]
        names = dict.fromkeys(self._name_of(name) for name in wanted)
        # A company that is asked for is asked, even if no catalogue says that it sails.
        return [(route, name) for route in routes for name in names]

    def _name_of(self, company: str) -> str:
        """Return a company as a search takes it, given its code or id in any case."""
        for name, id_ in self._graph.companies.items():
            if fold(company) in {fold(name), fold(id_)}:
                return name
        return company

    def _take(self, answer: BatchAnswer[Query, Records[Availability]]) -> list[Trip]:
        """Record an answer, and return the trips that it makes with those before it."""
        query = answer.key
        if isinstance(answer.error, APIError) and answer.error.field is not None:
            answer.error.field = self._argument_at(answer.error.field, query)
        if isinstance(answer.error, POINTLESS):
            raise answer.error
        if answer.value:
            self._answered.append(query.search)
            return self._join(query, [*map(self._graph.name_stops, answer.value)])
        if answer.error is None or isinstance(answer.error, NoSailingsError):
            self._nothing.append(query.search)
            self._without_out.append(query)
        else:
            self._failed.append((query, answer.error))
        return []

    def _argument_at(self, path: str, query: Query) -> str | None:
        """Return the argument of the caller for an argument of a search; None if it has none."""
        if path.startswith(("passengers", "vehicle")):
            return path
        request = self._request
        companies = [self._name_of(company) for company in request.companies or ()]
        if path == "company" and query.search.company in companies:
            return f"companies[{companies.index(query.search.company)}]"
        return self._place_or_day(path, query)

    def _place_or_day(self, path: str, query: Query) -> str | None:
        request = self._request
        ends = ["origin", "destination"]
        day = request.day_arguments[query.search.day != request.rounds[0][0][0]]
        if query.search.depart_code != self._ends[0].code:  # a search of the way back alone
            ends.reverse()
            day = "back"
        arguments = {"depart_code": ends[0], "arrive_code": ends[1], "out_at": day}
        return {**arguments, "ret_at": "back"}.get(path)

    def _join(self, query: Query, sailings: Sequence[Availability]) -> list[Trip]:
        out: list[tuple[Query, Offer]] = []
        back: list[tuple[Query, Offer]] = []
        for sailing in sailings:
            self._graph.confirm(sailing.journey_id, query.search.company)
            is_out = sailing.depart_code == self._ends[0].code
            (out if is_out else back).append((query, Offer(sailing, query.search.company)))
        kind = self._request.reservation_type
        if self._request.rounds[0][0][1] is None:  # one way
            return self._wanted(one_way(offer, kind) for _, offer in out)
        new = [(way_out, other) for way_out in out for other in (*self._back, *back)]
        new += [(way_out, other) for way_out in self._out for other in back]
        self._out += out
        self._back += back
        return self._wanted(
            round_trip(outward, homeward, kind, are_together=search is other)
            for (search, outward), (other, homeward) in new
        )

    def _wanted(self, trips: Iterable[Trip | None]) -> list[Trip]:
        """Return the trips that have fares of the wanted type, and count those that have none."""
        possible = [trip for trip in trips if trip is not None]
        wanted = [trip for trip in possible if trip.fares]
        self._left_out += len(possible) - len(wanted)
        return wanted

    def _end_at_deadline(self) -> Flow[None]:
        """End the search at its deadline with what has answered by then.

        Raises:
            RequestTimeoutError: Nothing has answered.
        """
        yield from self._stop_batch()
        for call in self._batch.under_way.values():
            error = RequestTimeoutError("the deadline has passed", outcome="unknown")
            self._failed.append((call.key, error))
        self._batch.under_way.clear()
        self._end()

    def _end(self) -> None:
        """End the search.

        Raises:
            FerryError: Every search failed; it is the error of the first.
        """
        self._seconds = time.monotonic() - self._began
        if self._failed and not self._answered and not self._nothing:
            raise self._failed[0][1]


def port_of(
    settings: Settings, graph: RouteGraph, wanted: Port | str, argument: str, until: float | None
) -> Flow[Port]:
    """Return the port that a caller means by a port, a code or a name.

    A code, or a whole name in the client's language, is found in the graph; only for another text
    the names of every language are read.

    Raises:
        UnknownPlaceError: No port has such a name.
        AmbiguousPlaceError: Several ports do.
        InvalidInputError: It is neither a port nor a text.
    """
    checked: Any = wanted.code if isinstance(wanted, Port) else wanted
    if not isinstance(checked, str) or not checked.strip():
        raise InvalidInputError("expected a port, its code or its name", field=argument)
    port = graph.port(checked)
    if port is not None:
        return port
    index = yield from place_index(settings, until)
    return index.get(checked, argument)
