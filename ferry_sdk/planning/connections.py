"""Connections: two one-way sailings that meet in a port."""

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
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import Selection, elements_of
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.planning.request import ConnectionRequest, Query, days_between
from ferry_sdk.planning.results import CONNECTION, AskedSearch, SearchReport, SearchResult
from ferry_sdk.planning.routes import Route
from ferry_sdk.planning.search import TripPlan, ports_of
from ferry_sdk.planning.trips import Offer, Trip, one_way


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
        return tuple(dict.fromkeys(name for leg in self.legs for name in leg.companies))

    @property
    def prices(self) -> Mapping[str, Decimal]:
        """The sum of the cheapest fares of the legs, by currency."""
        return {
            currency: exact_sum(leg.price for leg in self.legs if leg.currency == currency)
            for currency in dict.fromkeys(leg.currency for leg in self.legs)
        }

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
        return (
            f"<Itinerary: {first.depart_code}-{self.via.code}-{second.arrive_code} "
            f"{self.depart_at:%Y-%m-%d %H:%M}, {', '.join(self.companies)}, from {prices}>"
        )

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
    price = itinerary.price
    return price is None, price or Decimal(0), itinerary.arrive_at


class ConnectionPlan(TripPlan):
    """A search of connections, in steps.

    A round asks for the first legs to the ports that are nearest in duration. An answer adds the
    searches of the second legs that can be caught, on the days that the wait allows.

    Args:
        request: What to search, for one day.

    Raises:
        InvalidInputError: `wait` is not two durations, the shorter first, or `via` is no list.
    """

    def __init__(self, request: ConnectionRequest) -> None:
        super().__init__(request)
        match request.wait:
            case [timedelta() as shortest, timedelta() as longest] if (
                timedelta() <= shortest <= longest
            ):
                self._wait = shortest, longest
            case _:
                raise InvalidInputError(
                    "expected two durations, the shortest and the longest wait", field="wait"
                )
        via: Sequence[Any] = () if request.via is None else elements_of(request.via, "via")
        self._via = {f"via[{index}]": port for index, port in enumerate(via)}
        self._changes: Iterator[str] = iter(())
        self._legs: tuple[list[Trip], list[Trip]] = [], []
        self._asked: set[tuple[str, AskedSearch]] = set()

    def itineraries(self) -> Iterator[Itinerary]:
        """Yield the pairs of legs that meet, with a wait that is allowed."""
        shortest, longest = self._wait
        for first, second in product(*self._legs):
            code = first.outward.arrive_code
            if second.outward.depart_code == code:
                itinerary = Itinerary((first, second), self._graph.ports[code])
                if shortest <= itinerary.wait <= longest:
                    yield itinerary

    def _look_up(self, settings: Settings) -> Flow[Sequence[Route]]:
        """Find the ports to change in as well; return the routes of the first legs."""
        yield from super()._look_up(settings)
        ports = yield from ports_of(settings, self._graph, self._via, self._batch.until)
        via = {port.code for port in ports.values()}
        first_legs = self._graph.between(self._ends[0].code, None)
        changes = [
            code
            for code in dict.fromkeys(route.arrive_code for route in first_legs)
            if (code in via or not via) and all(self._legs_by(code))
        ]
        self._changes = iter(sorted(changes, key=self._duration_by))
        return [route for route in first_legs if route.arrive_code in changes]

    def _legs_by(self, code: str) -> tuple[Sequence[Route], Sequence[Route]]:
        """Return the routes to a port to change in, and from it."""
        origin, destination = self._ends
        between = self._graph.between
        return between(origin.code, code), between(code, destination.code)

    def _duration_by(self, code: str) -> tuple[bool, timedelta]:
        """Return the duration of the two fastest routes; an unknown one comes last."""
        both = [[route.duration for route in routes] for routes in self._legs_by(code)]
        return not all(map(all, both)), sum(map(min, both), timedelta())

    def _sailings(self, routes: Sequence[Route]) -> list[tuple[Route, str]]:
        """Return who sails the routes; a company that is known not to sail one is not asked."""
        return [
            (route, company)
            for route, company in super()._sailings(routes)
            if company not in self._graph.companies or company in self._graph.sailed_by(route)
        ]

    def _ask_round(self) -> bool:
        """Add the searches of first legs, until as many run as may run at the same time."""
        for code in self._changes:
            for route, company in self._sailings(self._legs_by(code)[0]):
                self._ask(route, company, self._request.rounds[0][0][0])
            if len(self._batch) >= self._request.concurrency:
                break
        return bool(self._batch)

    def _ask(self, route: Route, company: str, day: date) -> None:
        query = Query(route, company, day, first_day=self._request.rounds[0][0][0])
        key = route.journey_id, query.search
        if key not in self._asked:
            self._asked.add(key)
            self._add(query)

    def _join(self, query: Query, sailings: Sequence[Availability]) -> list[Trip]:
        """Keep the legs of an answer, and ask for the second legs that follow a first."""
        search = query.search
        is_first = search.depart_code == self._ends[0].code
        legs = self._wanted(
            one_way(Offer(sailing, search), self._request.reservation_type)
            for sailing in sailings
            if (sailing.depart_code, sailing.arrive_code)
            == (search.depart_code, search.arrive_code)
        )
        self._legs[not is_first].extend(legs)
        if is_first:
            onward = self._sailings(self._legs_by(search.arrive_code)[1])
            for day in sorted({day for leg in legs for day in self._days_after(leg.arrive_at)}):
                for route, company in onward:
                    self._ask(route, company, day)
        return []

    def _days_after(self, arrival: datetime) -> Iterator[date]:
        """Yield the days on which a second leg may leave, in the time of the port."""
        rest_of_calendar = datetime.max.replace(tzinfo=arrival.tzinfo) - arrival
        shortest, longest = (min(wait, rest_of_calendar) for wait in self._wait)
        yield from days_between((arrival + shortest).date(), (arrival + longest).date())

    def _place_or_day(self, path: str, query: Query) -> str | None:
        if query.route.depart_code == self._ends[0].code:
            return {"depart_code": "origin", "out_at": "on"}.get(path)
        return "destination" if path == "arrive_code" else None
