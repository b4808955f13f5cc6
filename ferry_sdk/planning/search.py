"""The search of trips: which companies to ask on which days, and what their answers make.

`TripPlan` takes these steps, for `trips.search`, `trips.stream` and `trips.calendar`:

1. `_look_up` finds the two ports, the routes between them and the vehicle.
2. `_ask_round` adds the searches of a round of days to a batch, one for each route, company and
   day.
3. `_take` records an answer for the report. `_join` makes trips of its sailings, alone or together
   with those of earlier answers.
4. The next round begins if all answers so far made no trip.

A search with a way back asks a company for both ways at once. For example, company A sails both
ways, B only out and C only back: the searches are A out and back, B out, and C back. The trips are
all pairs of a sailing out with A or B and a sailing back with A or C.

`trips.search` and `trips.calendar` collect the trips. `trips.stream` gives each to its caller as
soon as it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, Final, TypeVar

from ferry_sdk._engine.batch import (
    Batch,
    BatchAnswer,
    Plan,
    StopBatch,
    next_answer,
    stop_after_error,
)
from ferry_sdk._engine.effects import Flow, Item, Steps, next_item
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import (
    APIError,
    InvalidInputError,
    NoSailingsError,
    RequestTimeoutError,
)
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.records import Records
from ferry_sdk.planning.catalogues import POINTLESS, deadline_of, place_index, route_graph
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.request import Query, TripDays, TripRequest
from ferry_sdk.planning.results import (
    AskedSearch,
    FailedSearch,
    SearchProgress,
    SearchReport,
    UnreadableAnswer,
    describe_unreadable,
    numbered,
    unreadable_answers,
    unusable,
)
from ferry_sdk.planning.routes import Route, RouteGraph
from ferry_sdk.planning.trips import FoundSailing, Trip, one_way, round_trip
from ferry_sdk.planning.vehicles import find_vehicle

T = TypeVar("T")

_OPERATION: Final = "availability.search"


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
        self._calls = 0
        self._progress = SearchProgress()

        self._ends: Sequence[Port] = ()
        self._out: list[FoundSailing] = []
        self._back: list[FoundSailing] = []
        self._ways_back_not_asked: list[Query] = []

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, as of now."""
        under_way = [call.key.search for call in self._batch.under_way.copy().values()]
        return self._progress.report(under_way)

    @property
    def route(self) -> str:
        """The names of the two ports, for people; empty until they are looked up."""
        return " → ".join(port.name for port in self._ends)

    def collect(self, make: Callable[[], T]) -> Plan[T]:
        """Return the call that takes every step, and then makes its result.

        Raises:
            FerryError: As for `steps`.
        """

        def take_all(settings: Settings) -> Flow[T]:
            steps = self.steps(settings)
            while (yield from next_item(steps)) is not None:
                pass  # the plan keeps the trips itself
            return make()

        return Plan(take_all)

    def steps(self, settings: Settings) -> Steps[Trip]:
        """Yield the effects, and the trips.

        Raises:
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports do.
            FerryError: Every search failed, or no catalogue could be read.
        """
        yield from stop_after_error(self._batch, self._steps(settings))
        progress = self._progress
        if progress.failed and not progress.answered and not progress.nothing:
            raise progress.failed[0].error

    def queries(self, settings: Settings) -> Flow[list[Query]]:
        """Return the searches of all rounds, and make none.

        Raises:
            FerryError: As for `steps`, except that no search fails.
        """
        self._batch.until = deadline_of(settings)
        routes = yield from self._look_up(settings)
        self._check_companies(routes)

        queries: list[Query] = []
        for days in chain.from_iterable(self._rounds):
            queries += self._queries(days)
        return queries

    def stop(self, settings: Settings) -> Flow[None]:
        """Stop the searches that are under way; those that have not begun are not asked."""
        del settings
        self._progress.stop_clock()
        waiting = self._batch.waiting.copy()
        yield from StopBatch(self._batch)
        # The batch may have begun some of them before it stopped.
        begun = [call.key for call in self._batch.under_way.values()]
        self._progress.not_asked += [call.key.search for call in waiting if call.key not in begun]

    def _steps(self, settings: Settings) -> Steps[Trip]:
        self._batch.until = deadline_of(settings)
        routes = yield from self._look_up(settings)
        self._progress.has_route = self._graph.has_any(routes)
        self._check_companies(routes)

        while not self.trips and self._ask_round():
            while self._batch:
                answer = yield from next_answer(self._batch)
                if answer is None:
                    yield from self._end_at_deadline(settings)
                    return
                trips = self._take(answer)
                self.trips += trips
                for trip in trips:
                    yield Item(trip)

    def _look_up(self, settings: Settings) -> Flow[Sequence[Route]]:
        """Find the two ports, and the vehicle if it has a name; return the routes to ask for."""
        request = self._request
        until = self._batch.until
        self._graph = yield from route_graph(settings, until)
        self._progress.unreadable += self._graph.unreadable

        places = {"origin": request.origin, "destination": request.destination}
        ports = yield from ports_of(settings, self._graph, places, until=until)
        if ports["origin"].code == ports["destination"].code:
            raise InvalidInputError("the same port as the origin", field="destination")
        self._ends = tuple(ports.values())

        if isinstance(request.vehicle, str):
            vehicle = yield from find_vehicle(settings, request.vehicle, until)
            request.vehicle = vehicle.query
        return self._routes()

    def _check_companies(self, routes: Sequence[Route]) -> None:
        """Raise an error if there are routes, but no company to ask for them."""
        if self._request.companies is not None or not routes or self._route_companies(routes):
            return
        problem = "the service does not say which companies sail"
        if self._graph.unreadable:
            problem = f"no company is known; {describe_unreadable(self._graph.unreadable)}"
        raise InvalidInputError(f"{problem}; pass them", field="companies")

    def _routes(self, *, back: bool = False) -> Sequence[Route]:
        """Return the routes between the two ports, out or back."""
        origin, destination = self._ends
        if back:
            return self._graph.between(destination.code, origin.code)
        return self._graph.between(origin.code, destination.code)

    def _ask_round(self) -> bool:
        """Add the searches of the next round to the batch; return whether there is any.

        If a company has no sailing out, its search does not show its sailings back either. They are
        asked alone, before the next round of days, if another search has found a way out.
        """
        queries: list[Query] = []
        if self._out and self._ways_back_not_asked:
            queries = self._ways_back_not_asked
            self._ways_back_not_asked = []
        else:
            for days in next(self._rounds, ()):
                queries += self._queries(days)

        for query in queries:
            self._add(query)
        return bool(queries)

    def _add(self, query: Query) -> None:
        """Add a search to the batch, if one more may be made."""
        if self._calls >= self._request.max_calls:
            self._progress.not_asked.append(query.search)
            return
        self._calls += 1
        patience = self._request.patience
        limits = {} if patience is None else {"deadline": patience}
        self._batch.add(query, self._request.operation(query), **limits)

    def _queries(self, days: TripDays) -> Iterator[Query]:
        """Yield the searches of a day: each company's way out with its way back, if it has one."""
        ways_back: list[Query] = []
        if days.back is not None:
            for route, company in self._route_companies(self._routes(back=True)):
                ways_back.append(Query(route, company, days.back, first_day=days.out))

        for route, company in self._route_companies(self._routes()):
            way_back = next((query for query in ways_back if query.company == company), None)
            if way_back is not None:
                ways_back.remove(way_back)
            yield Query(route, company, days.out, way_back=way_back)
        yield from ways_back  # of companies that have no way out

    def _route_companies(self, routes: Sequence[Route]) -> list[tuple[Route, str]]:
        """Return each route with each company to ask for it."""
        if self._request.companies is None:
            pairs: list[tuple[Route, str]] = []
            for route in routes:
                pairs += [(route, company) for company in self._in_order_of_asking(route)]
            return pairs
        # A company that the caller names is asked, even if no catalogue says that it sails.
        companies = dict.fromkeys(self._name_of(company) for company in self._request.companies)
        return [*product(routes, companies)]

    def _in_order_of_asking(self, route: Route) -> list[str]:
        """Return the companies to ask for a route: first those that a search has found there."""
        confirmed = self._graph.confirmed
        companies = self._graph.companies_on(route)
        return sorted(companies, key=lambda company: (route.journey_id, company) not in confirmed)

    def _name_of(self, company: str) -> str:
        """Return a company as a search takes it, given its code or id in any case."""
        for name, company_id in self._graph.companies.items():
            if fold(company) in {fold(name), fold(company_id)}:
                return name
        return company

    def _take(self, answer: BatchAnswer[Query, Records[Availability]]) -> list[Trip]:
        """Record an answer, and return the trips that it makes with those before it."""
        query = answer.key
        error = answer.error
        progress = self._progress
        progress.ended.append(query.search)

        if isinstance(error, APIError) and error.field is not None:
            error.field = self._argument_at(error.field, query)
        if isinstance(error, POINTLESS):
            raise error
        if error is not None and not isinstance(error, NoSailingsError):
            progress.failed.append(
                FailedSearch(
                    company=query.search.company,
                    depart_code=query.search.depart_code,
                    arrive_code=query.search.arrive_code,
                    day=query.search.day,
                    error=error,
                )
            )
            return []

        sailings = Records[Availability]() if answer.value is None else answer.value
        progress.unreadable += unreadable_answers(_OPERATION, sailings, query.search)
        progress.unreadable += other_sailings(query.search, sailings)
        if not sailings:
            progress.nothing.append(query.search)
            if query.way_back is not None:
                self._ways_back_not_asked.append(query.way_back)
            return []

        progress.answered.append(query.search)
        for sailing in sailings:
            self._graph.confirm(sailing.journey_id, query.company)
        with_ports = [query.with_ports(sailing) for sailing in sailings]
        return self._join(query, [self._graph.name_stops(sailing) for sailing in with_ports])

    def _argument_at(self, path: str, query: Query) -> str | None:
        """Return the argument of the caller for an argument of a search; None if it has none."""
        if path.startswith(("passengers", "vehicle")):
            return path
        companies = [self._name_of(company) for company in self._request.companies or ()]
        if path == "company" and query.company in companies:
            return f"companies[{companies.index(query.company)}]"
        return self._place_or_day_at(path, query)

    def _place_or_day_at(self, path: str, query: Query) -> str | None:
        """Return the argument of the caller for a port or a day of a search."""
        is_way_back_alone = query.route.depart_code != self._ends[0].code
        if is_way_back_alone:
            names = {"depart_code": "destination", "arrive_code": "origin", "out_at": "back"}
            return names.get(path)

        first_day, other_days = self._request.day_arguments
        day_out = first_day if query.day == self._request.first_day else other_days
        names = {
            "depart_code": "origin",
            "arrive_code": "destination",
            "out_at": day_out,
            "ret_at": "back",
        }
        return names.get(path)

    def _join(self, query: Query, sailings: Sequence[Availability]) -> list[Trip]:
        """Return the trips that the sailings of a search make, with those before them."""
        kind = self._request.reservation_type
        search = query.search  # one object, by which `round_trip` knows what was found together
        out: list[FoundSailing] = []
        back: list[FoundSailing] = []
        for sailing in sailings:
            way = out if sailing.depart_code == self._ends[0].code else back
            way.append(FoundSailing(sailing, search))

        if self._request.is_one_way:
            return self._drop_unwanted(one_way(sailing, kind) for sailing in out)

        # Every pair once: the new ways out with all ways back, the earlier ones with the new.
        pairs = [*product(out, [*self._back, *back]), *product(self._out, back)]
        self._out += out
        self._back += back
        return self._drop_unwanted(
            round_trip(way_out, way_back, kind) for way_out, way_back in pairs
        )

    def _drop_unwanted(self, trips: Iterable[Trip | None]) -> list[Trip]:
        """Return the trips that have fares of the wanted type, and count those that have none."""
        possible = [trip for trip in trips if trip is not None]
        wanted = [trip for trip in possible if trip.fares]
        self._progress.left_out += len(possible) - len(wanted)
        return wanted

    def _end_at_deadline(self, settings: Settings) -> Flow[None]:
        """End the search at its deadline with what has answered by then."""
        yield from self.stop(settings)
        for number in [*self._batch.under_way]:
            error = RequestTimeoutError("the deadline has passed", outcome="unknown")
            self._take(self._batch.answer(number, None, error))


def other_sailings(
    search: AskedSearch, sailings: Records[Availability]
) -> tuple[UnreadableAnswer, ...]:
    """Return the sailings that leave from neither port of a search: no trip can be made of them."""
    ports = search.depart_code, search.arrive_code
    lost = tuple(
        unusable(index, "depart_code", "none of the ports of the search", record=sailing)
        for index, sailing in numbered(sailings)
        if sailing.depart_code not in ports
    )
    if not lost:
        return ()
    return (UnreadableAnswer(search, _OPERATION, lost),)


def ports_of(
    settings: Settings, graph: RouteGraph, places: Mapping[str, Port | str], until: float | None
) -> Flow[dict[str, Port]]:
    """Return the port that a caller means by a port, a code or a name, for each argument.

    A code, or a whole name in the client's language, is found in the graph; only for another text
    the names of every language are read.

    Raises:
        UnknownPlaceError: No port has such a name.
        AmbiguousPlaceError: Several ports do.
        InvalidInputError: It is neither a port nor a text.
    """
    ports: dict[str, Port] = {}
    for argument, place in places.items():
        text: Any = place.code if isinstance(place, Port) else place
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError("expected a port, its code or its name", field=argument)

        port = graph.port(text)
        if port is None:
            index = yield from place_index(settings, until)
            port = index.get(text, argument)
        ports[argument] = port
    return ports
