"""Connections: two one-way sailings that meet in a port.

`ConnectionPlan` searches them, for example from Barcelona to Tunis:

1. `_look_up` finds the ports to change in, those with the fastest routes first: Genoa, Marseille.
2. `_ask_round` adds the searches of first legs, such as Barcelona to Genoa on 6 June.
3. `_join` keeps the legs of each answer. After a first leg it adds the searches of the second legs
   that can be caught: Genoa to Tunis on the days that the wait allows.
4. `itineraries` pairs the legs when all searches have ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.money import money
from ferry_sdk._runtime.values import is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import Selection, elements_of
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.planning.request import ConnectionRequest, Query, check_days, days_between
from ferry_sdk.planning.results import CONNECTION, AskedSearch, SearchReport, SearchResult
from ferry_sdk.planning.routes import Route
from ferry_sdk.planning.search import TripPlan, ports_of
from ferry_sdk.planning.trips import FoundSailing, Trip, one_way


@dataclass(frozen=True, slots=True, repr=False)
class Itinerary:
    """Two one-way trips that meet in a port. They are separate tickets.

    No company is bound to wait for the other, or to pay for a sailing that is missed.

    Attributes:
        legs: The two trips, one way each, in their order.
        via: The port where the first ends and the second begins.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            found = ferry.trips.connections(
                "Tunis (La Goulette)",
                "Algiers",
                on=date.today() + timedelta(days=30),
                passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            )
            itinerary = found[0]
            print(itinerary.via.name, len(itinerary.select()), "bookings")
            # > Marseille 2 bookings
        ```
    """

    legs: tuple[Trip, Trip]
    via: Port

    @property
    def wait(self) -> timedelta:
        """The time from the arrival of the first leg to the departure of the second."""
        return self.legs[1].depart_at - self.legs[0].arrive_at

    @property
    def depart_at(self) -> datetime:
        """The departure of the first leg, with the offset of the port."""
        return self.legs[0].depart_at

    @property
    def arrive_at(self) -> datetime:
        """The arrival of the second leg, with the offset of the port."""
        return self.legs[1].arrive_at

    @property
    def travel_time(self) -> timedelta:
        """The time from the first departure to the last arrival."""
        return self.arrive_at - self.depart_at

    @property
    def companies(self) -> tuple[str, ...]:
        """The companies, each once, as a search takes them."""
        first, second = self.legs
        return tuple(dict.fromkeys((*first.companies, *second.companies)))

    @property
    def prices(self) -> Mapping[str, Decimal]:
        """The sum of the cheapest fares of the legs, by currency."""
        prices: dict[str, Decimal] = {}
        for leg in self.legs:
            prices[leg.currency] = exact_sum([prices.get(leg.currency, Decimal(0)), leg.price])
        return prices

    @property
    def price(self) -> Decimal | None:
        """The sum of the cheapest fares; None where the legs have different currencies."""
        prices = [*self.prices.values()]
        return prices[0] if len(prices) == 1 else None

    @property
    def currency(self) -> str | None:
        """The currency of `price`, ISO 4217; None where the legs have different ones."""
        return None if self.price is None else self.legs[0].currency

    def select(self) -> tuple[tuple[Selection, ...], ...]:
        """Return the selections of each leg, with its cheapest fare and its first place.

        Each leg is a booking of its own: `bookings.create` takes the selections of one leg as
        ``availabilities``.
        """
        return tuple(leg.select() for leg in self.legs)

    def __repr__(self) -> str:
        first, second = (leg.outward for leg in self.legs)
        prices = " and ".join(money(amount, currency) for currency, amount in self.prices.items())
        route = f"{first.depart_code}-{self.via.code}-{second.arrive_code}"
        depart_at = f"{self.depart_at:%Y-%m-%d %H:%M}"
        return f"<Itinerary: {route} {depart_at}, {', '.join(self.companies)}, from {prices}>"

    def _repr_html_(self) -> str:
        from ferry_sdk.planning.display import itinerary_card  # noqa: PLC0415 -- for notebooks only

        return itinerary_card(self)


class ConnectionSearch(SearchResult[Itinerary]):
    """The itineraries that a search has found: an immutable sequence by price, then arrival.

    Itineraries with two currencies, which have no single price, come last.

    Attributes:
        report: Which companies were asked, and what became of each search.
        left_out: How many single sailings were found without a fare of the wanted
            `reservation_type`.
    """

    __slots__ = ()
    _KIND = "itineraries"
    _ROUTE_NOTES = CONNECTION

    def __init__(self, itineraries: Iterable[Itinerary], report: SearchReport) -> None:
        super().__init__(sorted(itineraries, key=_rank), report)

    def _repr_html_(self) -> str:
        from ferry_sdk.planning.display import connections_table  # noqa: PLC0415 -- for notebooks

        return connections_table(self, self.report)


def _rank(itinerary: Itinerary) -> tuple[bool, Decimal, datetime]:
    """Return the key of an itinerary's place among others: those without one price come last."""
    price = itinerary.price
    return price is None, price or Decimal(0), itinerary.arrive_at


class ConnectionPlan(TripPlan):
    """A search of connections, in steps.

    Args:
        request: What to search, for one day.

    Raises:
        InvalidInputError: `wait` is not two durations, the shorter first, or `via` is no list.
    """

    def __init__(self, request: ConnectionRequest) -> None:
        super().__init__(request)
        wait: object = request.wait
        # The pattern asks for the length of its subject, and an array without an axis has none.
        durations: tuple[object, ...] = tuple(wait) if is_iterable(wait) else ()
        match durations:
            case [timedelta() as shortest, timedelta() as longest] if (
                timedelta() <= shortest <= longest
            ):
                self._wait = shortest, longest
            case _:
                raise InvalidInputError(
                    "expected two durations, the shortest and the longest wait", field="wait"
                )
        check_days(longest.days, "wait")
        via: Sequence[Any] = () if request.via is None else elements_of(request.via, "via")
        self._via = {f"via[{index}]": port for index, port in enumerate(via)}

        self._ports_of_change: Iterator[str] = iter(())
        self._first_legs: list[Trip] = []
        self._second_legs: list[Trip] = []
        self._added: set[tuple[str, AskedSearch]] = set()

    def itineraries(self) -> Iterator[Itinerary]:
        """Yield the pairs of legs that meet, with a wait that is allowed."""
        shortest, longest = self._wait
        for first, second in product(self._first_legs, self._second_legs):
            code = first.outward.arrive_code
            if second.outward.depart_code == code:
                itinerary = Itinerary((first, second), self._graph.ports[code])
                if shortest <= itinerary.wait <= longest:
                    yield itinerary

    def _look_up(self, settings: Settings) -> Flow[Sequence[Route]]:
        """Find the ports to change in as well; return the routes of the first legs."""
        yield from super()._look_up(settings)
        via = yield from ports_of(settings, self._graph, self._via, until=self._batch.until)
        wanted = {port.code for port in via.values()}

        routes = self._graph.between(self._ends[0].code, None)
        codes: list[str] = []
        for code in dict.fromkeys(route.arrive_code for route in routes):
            is_wanted = not wanted or code in wanted
            if is_wanted and self._routes_to(code) and self._routes_from(code):
                codes.append(code)
        self._ports_of_change = iter(sorted(codes, key=self._duration_by))
        return [route for route in routes if route.arrive_code in codes]

    def _routes_to(self, code: str) -> Sequence[Route]:
        """Return the routes of first legs to a port to change in."""
        return self._graph.between(self._ends[0].code, code)

    def _routes_from(self, code: str) -> Sequence[Route]:
        """Return the routes of second legs from a port to change in."""
        return self._graph.between(code, self._ends[1].code)

    def _duration_by(self, code: str) -> tuple[bool, timedelta]:
        """Return the duration of the two fastest routes; an unknown one comes last."""
        first = [route.duration for route in self._routes_to(code)]
        second = [route.duration for route in self._routes_from(code)]
        are_known = all(first) and all(second)
        return not are_known, min(first) + min(second)

    def _route_companies(self, routes: Sequence[Route]) -> list[tuple[Route, str]]:
        """Return each route with each company to ask for it.

        A company that is known not to sail the route is left out.
        """
        return [
            (route, company)
            for route, company in super()._route_companies(routes)
            if company not in self._graph.companies or company in self._graph.companies_on(route)
        ]

    def _ask_round(self) -> bool:
        """Add the searches of first legs, until as many run as may run at the same time."""
        for code in self._ports_of_change:
            for route, company in self._route_companies(self._routes_to(code)):
                self._add_once(route, company, self._request.first_day)
            if len(self._batch) >= self._request.concurrency:
                break
        return bool(self._batch)

    def _add_once(self, route: Route, company: str, day: date) -> None:
        """Add a search to the batch, unless it was added before."""
        query = Query(route, company, day, first_day=self._request.first_day)
        key = route.journey_id, query.search
        if key not in self._added:
            self._added.add(key)
            self._add(query)

    def _join(self, query: Query, sailings: Sequence[Availability]) -> list[Trip]:
        """Keep the legs of an answer, and add the searches of second legs that follow a first.

        No trip is returned: `itineraries` makes the results when all legs are known.
        """
        search = query.search
        ends = search.depart_code, search.arrive_code
        legs = self._drop_unwanted(
            one_way(FoundSailing(sailing, search), self._request.reservation_type)
            for sailing in sailings
            if (sailing.depart_code, sailing.arrive_code) == ends
        )

        is_second = search.depart_code != self._ends[0].code
        if is_second:
            self._second_legs += legs
            return []

        self._first_legs += legs
        days: set[date] = set()
        for leg in legs:
            days.update(self._days_after(leg.arrive_at))
        onward = self._route_companies(self._routes_from(search.arrive_code))
        for day in sorted(days):
            for route, company in onward:
                self._add_once(route, company, day)
        return []

    def _days_after(self, arrival: datetime) -> Iterator[date]:
        """Yield the days on which a second leg may leave, in the time of the port."""
        shortest, longest = self._wait
        rest_of_calendar = datetime.max.replace(tzinfo=arrival.tzinfo) - arrival
        first_day = (arrival + min(shortest, rest_of_calendar)).date()
        last_day = (arrival + min(longest, rest_of_calendar)).date()
        yield from days_between(first_day, last_day)

    def _place_or_day_at(self, path: str, query: Query) -> str | None:
        """Return the argument of the caller for a port or a day of a search."""
        is_first = query.route.depart_code == self._ends[0].code
        match path:
            case "depart_code" if is_first:
                return "origin"
            case "out_at" if is_first:
                return "on"
            case "arrive_code" if not is_first:
                return "destination"
            case _:  # of the port to change in, or of the day that the first leg gives
                return None
