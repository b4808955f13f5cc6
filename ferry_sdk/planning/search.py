"""The search of trips: which companies to ask on which days, and what their answers make.

`TripPlan` asks the companies in rounds, and its steps give the trips as the companies answer: a
search takes all of them, a stream gives them to its caller one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from itertools import product
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
from ferry_sdk._runtime.clock import monotonic
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
from ferry_sdk.planning.request import Query, TripRequest
from ferry_sdk.planning.results import (
    AskedSearch,
    FailedSearch,
    SearchReport,
    UnreadableAnswer,
    describe_unreadable,
    numbered,
    unreadable_answers,
    unusable,
)
from ferry_sdk.planning.routes import Route, RouteGraph
from ferry_sdk.planning.trips import Offer, Trip, one_way, round_trip
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
        self._ends: Sequence[Port] = ()
        self._out: list[Offer] = []
        self._back: list[Offer] = []
        self._ways_back: list[Query] = []
        self._calls = 0
        self._ended: list[AskedSearch] = []
        self._answered: list[AskedSearch] = []
        self._nothing: list[AskedSearch] = []
        self._failed: list[FailedSearch] = []
        self._not_asked: list[AskedSearch] = []
        self._unreadable: list[UnreadableAnswer] = []
        self._has_route: bool | None = True
        self._left_out = 0
        self._began = monotonic()
        self._seconds: float | None = None

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, as of now."""
        under_way = [call.key.search for call in self._batch.under_way.copy().values()]
        seconds = self._seconds
        if seconds is None:
            seconds = monotonic() - self._began
        return SearchReport(
            asked=(*self._ended, *under_way),
            answered=tuple(self._answered),
            nothing=tuple(self._nothing),
            failed=tuple(self._failed),
            not_asked=tuple(self._not_asked),
            seconds=seconds,
            has_route=self._has_route,
            left_out=self._left_out,
            unreadable=tuple(self._unreadable),
        )

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
                pass
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
        if self._failed and not self._answered and not self._nothing:
            raise self._failed[0].error

    def stop(self, settings: Settings) -> Flow[None]:
        """Stop the searches that are under way; those that have not begun are not asked."""
        del settings
        self._seconds = self._seconds or monotonic() - self._began
        waiting = self._batch.waiting.copy()
        yield from StopBatch(self._batch)
        begun = [call.key for call in self._batch.under_way.values()]
        self._not_asked += [call.key.search for call in waiting if call.key not in begun]

    def _steps(self, settings: Settings) -> Steps[Trip]:
        self._batch.until = deadline_of(settings)
        routes = yield from self._look_up(settings)
        self._has_route = self._graph.has_any(routes)
        if self._request.companies is None and routes and not self._sailings(routes):
            problem = "the service does not say which companies sail"
            if self._graph.unreadable:
                problem = f"no company is known; {describe_unreadable(self._graph.unreadable)}"
            raise InvalidInputError(f"{problem}; pass them", field="companies")
        while not self.trips and self._ask_round():
            while self._batch:
                answer = yield from next_answer(self._batch)
                if answer is None:
                    yield from self._end_at_deadline(settings)
                    return
                trips = self._take(answer)
                self.trips += trips
                yield from map(Item, trips)

    def _look_up(self, settings: Settings) -> Flow[Sequence[Route]]:
        """Find the two ports, and the vehicle if it has a name; return the routes to ask for."""
        request, until = self._request, self._batch.until
        self._graph = yield from route_graph(settings, until)
        self._unreadable += self._graph.unreadable
        places = {"origin": request.origin, "destination": request.destination}
        ports = yield from ports_of(settings, self._graph, places, until)
        if ports["origin"].code == ports["destination"].code:
            raise InvalidInputError("the same port as the origin", field="destination")
        self._ends = tuple(ports.values())
        if isinstance(request.vehicle, str):
            vehicle = yield from find_vehicle(settings, request.vehicle, until)
            request.vehicle = vehicle.query
        return self._routes()

    def _routes(self, *, back: bool = False) -> Sequence[Route]:
        depart, arrive = reversed(self._ends) if back else self._ends
        return self._graph.between(depart.code, arrive.code)

    def _ask_round(self) -> bool:
        """Add the searches of the next round to the batch; return whether there is any.

        Ways back that were not found, because nothing sailed out, are asked if another company, or
        another day, has a way out.
        """
        if self._out and self._ways_back:
            queries, self._ways_back = self._ways_back, []
        else:
            queries = [query for days in next(self._rounds, ()) for query in self._queries(*days)]
        for query in queries:
            self._add(query)
        return bool(queries)

    def _add(self, query: Query) -> None:
        """Add a search to the batch, if one more may be made."""
        if self._calls >= self._request.max_calls:
            self._not_asked.append(query.search)
        else:
            self._calls += 1
            patience = self._request.patience
            limits = {} if patience is None else {"deadline": patience}
            self._batch.add(query, self._request.operation(query), **limits)

    def _queries(self, out: date, return_day: date | None) -> Iterator[Query]:
        """Yield the searches of a day: each company's way out with its way back, if it has one."""
        ways_back: list[Query] = []
        if return_day is not None:
            sailings = self._sailings(self._routes(back=True))
            ways_back = [Query(*sailed, return_day, first_day=out) for sailed in sailings]
        for route, company in self._sailings(self._routes()):
            way_back = next((query for query in ways_back if query.company == company), None)
            if way_back is not None:
                ways_back.remove(way_back)
            yield Query(route, company, out, way_back)
        yield from ways_back  # of companies that have no way out

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
        query, error = answer.key, answer.error
        self._ended.append(query.search)
        if isinstance(error, APIError) and error.field is not None:
            error.field = self._argument_at(error.field, query)
        if isinstance(error, POINTLESS):
            raise error
        if answer.value is not None:
            self._unreadable += unreadable_answers(_OPERATION, answer.value, query.search)
            self._unreadable += _elsewhere(query, answer.value)
        if answer.value:
            self._answered.append(query.search)
            for sailing in answer.value:
                self._graph.confirm(sailing.journey_id, query.company)
            sailings = [query.with_ports(sailing) for sailing in answer.value]
            return self._join(query, [*map(self._graph.name_stops, sailings)])
        if error is None or isinstance(error, NoSailingsError):
            self._nothing.append(query.search)
            if query.way_back is not None:
                self._ways_back.append(query.way_back)
        else:
            self._failed.append(FailedSearch(**asdict(query.search), error=error))
        return []

    def _argument_at(self, path: str, query: Query) -> str | None:
        """Return the argument of the caller for an argument of a search; None if it has none."""
        if path.startswith(("passengers", "vehicle")):
            return path
        companies = [self._name_of(company) for company in self._request.companies or ()]
        if path == "company" and query.company in companies:
            return f"companies[{companies.index(query.company)}]"
        return self._place_or_day(path, query)

    def _place_or_day(self, path: str, query: Query) -> str | None:
        first_day, other_days = self._request.day_arguments
        names = {"depart_code": "origin", "arrive_code": "destination", "ret_at": "back"}
        names["out_at"] = first_day if query.day == self._request.rounds[0][0][0] else other_days
        if query.route.depart_code != self._ends[0].code:  # a search of the way back alone
            names = {"depart_code": "destination", "arrive_code": "origin", "out_at": "back"}
        return names.get(path)

    def _join(self, query: Query, sailings: Sequence[Availability]) -> list[Trip]:
        """Return the trips that the sailings of a search make, with those before them."""
        search, kind, origin = query.search, self._request.reservation_type, self._ends[0].code
        offers = [Offer(sailing, search) for sailing in sailings]
        out = [offer for offer in offers if offer.sailing.depart_code == origin]
        if self._request.rounds[0][0][1] is None:  # one way
            return self._wanted(one_way(offer, kind) for offer in out)
        back = [offer for offer in offers if offer.sailing.depart_code != origin]
        pairs = [*product(out, [*self._back, *back]), *product(self._out, back)]
        self._out += out
        self._back += back
        return self._wanted(round_trip(*pair, kind) for pair in pairs)

    def _wanted(self, trips: Iterable[Trip | None]) -> list[Trip]:
        """Return the trips that have fares of the wanted type, and count those that have none."""
        possible = [trip for trip in trips if trip is not None]
        wanted = [trip for trip in possible if trip.fares]
        self._left_out += len(possible) - len(wanted)
        return wanted

    def _end_at_deadline(self, settings: Settings) -> Flow[None]:
        """End the search at its deadline with what has answered by then."""
        yield from self.stop(settings)
        for number in [*self._batch.under_way]:
            error = RequestTimeoutError("the deadline has passed", outcome="unknown")
            self._take(self._batch.answer(number, None, error))


def _elsewhere(query: Query, sailings: Records[Availability]) -> tuple[UnreadableAnswer, ...]:
    """Return the sailings that leave from neither port of a search: no trip can be made of them."""
    ports = query.search.depart_code, query.search.arrive_code
    lost = tuple(
        unusable(index, "depart_code", "none of the ports of the search", sailing)
        for index, sailing in numbered(sailings)
        if sailing.depart_code not in ports
    )
    return (UnreadableAnswer(query.search, _OPERATION, lost),) if lost else ()


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
