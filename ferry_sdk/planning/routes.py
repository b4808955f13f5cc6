"""Routes: which company sails which journey between which two ports.

No catalogue of the service has a whole route. `RouteSources` collects the catalogues and joins them
to a `RouteGraph`:

- A journey has an id and a text with two port names, such as "Genoa - Tunis (La Goulette)". The
  text is divided at each separator, until both halves are names of ports.
- The departures of a company list the journeys that it sails, by id.
- MCP's timetable has the ports and the company of a departure, for some days only. It is read where
  the others lack something.

The graph also keeps which companies searches have found on which journey.

Some records can be read, but not used: a journey whose text names no two known ports, and a company
without a code and an id. The graph lists them together with the unreadable ones.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any, Final

from pydantic import TypeAdapter

from ferry_sdk._protocols.json_body import members_of
from ferry_sdk.models.availability import Availability, PortOfCall
from ferry_sdk.models.catalogue import (
    Company,
    Departure,
    Journey,
    McpPort,
    Port,
    ScheduledDeparture,
)
from ferry_sdk.models.records import Match, Records
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.results import (
    PORT_OPERATIONS,
    UnreadableAnswer,
    numbered,
    ports_without_code,
    unusable,
)

_Ends = tuple[Any, Any]
"""The codes of the ports of departure and of arrival.

In the timetable they may be anything. Where both are in a table of ports, they are texts.
"""
_SEPARATOR: Final = re.compile(r"→|⇒|➔|➝|->|=>|—|\u2013|>|/|-")
FRESH_FOR: Final = 24 * 3600.0
"""Seconds for which a catalogue is used without being read again."""
_INCOMPLETE_FRESH: Final = 300.0
"""Seconds for which a graph is used if one of its catalogues could not be read."""
_MINUTES_OF_YEAR: Final = 366 * 24 * 60
"""A longer duration counts as unknown."""
DEPARTURES_OF: Final = "departures of "
"""The prefix of a company's key: a company may have the same name as a catalogue."""


@dataclass(frozen=True, slots=True)
class Route(Match):
    """A journey between two ports, and who sails it.

    Attributes:
        journey_id: The journey, as a search takes it.
        depart_code: The code of the port of departure.
        arrive_code: The code of the port of arrival.
        depart_name: The name of the port of departure, in the client's language.
        arrive_name: The name of the port of arrival.
        companies: The companies that sail it, as a search takes them: a code, or an id where a
            company has no code. Empty if the service does not say.
        duration: The time from departure to arrival; zero if the service does not say.
        departure_times: The times of departure by company, as HH:MM in port-local time. The
            service does not say on which days they are.
    """

    journey_id: str
    depart_code: str
    arrive_code: str
    depart_name: str
    arrive_name: str
    companies: tuple[str, ...]
    duration: timedelta
    departure_times: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]],
        hash=False,  # a dict has none
    )


@dataclass(slots=True)
class RouteGraph:
    """All routes of a service, in one language.

    Attributes:
        ports: The ports by code.
        routes: The routes.
        companies: The ids of the companies, by what a search takes.
        unread: The companies whose departures could not be read.
        is_complete: Whether every catalogue that the service has was read.
        made_at: When it was made, in seconds since the epoch.
        confirmed: Pairs of journey and company for which a search has found sailings.
        unreadable: The catalogues with records that could not be read: routes may be missing.
    """

    ports: dict[str, Port]
    routes: tuple[Route, ...]
    companies: dict[str, str]
    unread: tuple[str, ...] = ()
    is_complete: bool = True
    made_at: float = field(default_factory=time.time)
    confirmed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    unreadable: tuple[UnreadableAnswer, ...] = ()
    _by_ends: dict[tuple[str, str], list[Route]] = field(init=False, repr=False)
    _by_name: dict[str, list[Port]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the routes by their ports, and the ports by their folded names."""
        self._index_routes()
        self._by_name = {}
        for port in self.ports.values():
            self._by_name.setdefault(fold(port.name), []).append(port)

    def _index_routes(self) -> None:
        by_ends: dict[tuple[str, str], list[Route]] = {}
        for route in self.routes:
            by_ends.setdefault((route.depart_code, route.arrive_code), []).append(route)
        self._by_ends = by_ends  # whole, because other threads read it at any time

    @property
    def is_fresh(self) -> bool:
        """Whether it is used without being read again."""
        age = time.time() - self.made_at
        fresh_for = FRESH_FOR if self.is_complete else _INCOMPLETE_FRESH
        return 0 <= age < fresh_for

    def between(self, depart_code: str | None, arrive_code: str | None) -> tuple[Route, ...]:
        """Return the routes from one port to another; None: any port."""
        if depart_code is not None and arrive_code is not None:
            return tuple(self._by_ends.get((depart_code, arrive_code), ()))
        return tuple(
            route
            for route in self.routes
            if depart_code in {None, route.depart_code} and arrive_code in {None, route.arrive_code}
        )

    def has_any(self, routes: Sequence[Route]) -> bool | None:
        """Return whether there are routes; None if it is not known, because some may be missing."""
        if routes:
            return True
        return None if self.unreadable else False

    def port(self, text: str) -> Port | None:
        """Return the port with this code, or with this whole name if it is the only one."""
        port = self.ports.get(text.strip().upper())
        if port is not None:
            return port
        ports = self._by_name.get(fold(text), [])
        return ports[0] if len(ports) == 1 else None

    def name_stops(self, sailing: Availability) -> Availability:
        """Return a sailing whose ports of call have their names, as far as they are known."""
        if not sailing.stops:
            return sailing
        stops = [*sailing.stops]
        for index, code in enumerate(stops):
            if code in self.ports:
                stops[index] = PortOfCall.of(code, self.ports[code].name)
        return sailing.model_copy(update={"stops": tuple(stops)})

    def companies_on(self, route: Route) -> tuple[str, ...]:
        """Return the companies that sail a route, and after them those that may.

        A company may sail it if its departures could not be read. If no company is known to sail
        the route, every company may.
        """
        companies = dict.fromkeys((*route.companies, *self.unread))
        return tuple(companies or self.companies)

    def confirm(self, journey_id: str, company: str) -> None:
        """Record that a search has found sailings of a company on a journey."""
        if (journey_id, company) in self.confirmed:
            return
        self.confirmed.add((journey_id, company))

        routes: list[Route] = []
        for route in self.routes:
            if route.journey_id == journey_id and company not in route.companies:
                routes.append(replace(route, companies=(*route.companies, company)))
            else:
                routes.append(route)
        self.routes = tuple(routes)
        self._index_routes()


GRAPH: Final[TypeAdapter[RouteGraph]] = TypeAdapter(RouteGraph)
"""Reads and writes a graph as JSON."""


@dataclass(slots=True)
class RouteSources:
    """The catalogues that were read so far, from which a graph is made.

    Attributes:
        ports: The ports, in the language of the journeys.
        journeys: The journeys.
        companies: The ids of MCP's companies, by what a search takes.
        departures: The departures of each company, by what a search takes.
        timetable: MCP's timetable; None: not read.
        mcp_ports: MCP's ports, which are read if `ports` were not.
        unreadable: The catalogues with records that could not be read.
    """

    ports: Sequence[Port] = ()
    journeys: Sequence[Journey] = ()
    companies: dict[str, str] = field(default_factory=dict[str, str])
    departures: dict[str, Sequence[Departure]] = field(
        default_factory=dict[str, Sequence[Departure]]
    )
    timetable: Sequence[ScheduledDeparture] | None = None
    mcp_ports: Sequence[McpPort] = ()
    unreadable: list[UnreadableAnswer] = field(default_factory=list[UnreadableAnswer])

    def add(self, name: str, records: Any) -> None:  # noqa: ANN401 -- records of any catalogue
        """Add a catalogue by its name, or the departures of a company by the company's name."""
        match name:
            case "ports":
                self.ports = records
            case "journeys":
                self.journeys = records
            case "companies":
                self._add_companies(records)
                self._add_unusable_companies(records)
            case "timetable":
                self.timetable = records
                self._add_companies(_company_of(departure) for departure in records)
            case "mcp_ports":
                self.mcp_ports = records
                self.unreadable += ports_without_code(records)
            case _:
                self.departures[name.removeprefix(DEPARTURES_OF)] = records

    def _add_companies(self, companies: Iterable[Company]) -> None:
        """Add companies that are not known yet, by their code, or by their id without a code."""
        for company in companies:
            name = company.code or company.id
            if name is not None and company.id not in self.companies.values():
                self.companies.setdefault(name, company.id or name)

    def _add_unusable_companies(self, companies: Iterable[Company]) -> None:
        """Add the companies that no search can name to the unreadable records.

        Where no company has a code or an id, the catalogue has other fields than the library knows.
        Nothing is added then: the search reports that no company is known.
        """
        lost = tuple(
            unusable(index, "code", "neither a code nor an id", record=company)
            for index, company in numbered(companies)
            if not company.code and not company.id
        )
        if lost and self.companies:
            answer = UnreadableAnswer(search=None, operation="mcp.companies", records=lost)
            self.unreadable.append(answer)

    @property
    def unread(self) -> tuple[str, ...]:
        """The companies whose departures were not read."""
        return tuple(name for name in self.companies if name not in self.departures)

    def are_enough(self) -> bool:
        """Return whether they name the two ports and the companies of every journey."""
        if not self.companies or not self.journeys or self.unread:
            return False
        return {journey.journey_id for journey in self.journeys} == {*self._ends_of_journeys()}

    def graph(self, *, is_complete: bool) -> RouteGraph:
        """Join the catalogues."""
        ports = self._ports()
        ends = self._ends_of_journeys()
        durations = self._durations_of_journeys()
        # The timetable adds what the journeys do not say.
        for journey_id, departure in self._scheduled_departures(ports).items():
            ends.setdefault(journey_id, (departure.depart_code, departure.arrive_code))
            durations[journey_id] = durations.get(journey_id) or _duration_of(departure)

        times = self._times()
        routes: list[Route] = []
        for journey_id, (depart_code, arrive_code) in ends.items():
            departures = times.get(journey_id, {})
            routes.append(
                Route(
                    journey_id=journey_id,
                    depart_code=depart_code,
                    arrive_code=arrive_code,
                    depart_name=ports[depart_code].name,
                    arrive_name=ports[arrive_code].name,
                    companies=tuple(departures),
                    duration=durations.get(journey_id, timedelta()),
                    departure_times={name: hours for name, hours in departures.items() if hours},
                )
            )

        return RouteGraph(
            ports=ports,
            routes=tuple(routes),
            companies=self.companies,
            unread=self.unread,
            is_complete=is_complete,
            unreadable=(*self.unreadable, *self._unplaced(ends)),
        )

    def _durations_of_journeys(self) -> dict[str, timedelta]:
        """Return the durations by journey; one that is longer than a year counts as unknown."""
        return {
            journey.journey_id: journey.duration or timedelta()
            for journey in self.journeys
            if abs(journey.duration_minutes or 0) < _MINUTES_OF_YEAR
        }

    def _scheduled_departures(self, ports: Mapping[str, Port]) -> dict[str, ScheduledDeparture]:
        """Return a departure of the timetable for each journey between two of the ports."""
        return {
            departure.journey_id: departure
            for departure in self.timetable or ()
            if departure.journey_id
            and departure.depart_code in ports
            and departure.arrive_code in ports
        }

    def _unplaced(self, ends: Mapping[str, _Ends]) -> tuple[UnreadableAnswer, ...]:
        """Return the journeys whose ports are not known; none if unreadable ports explain them."""
        if any(answer.operation in PORT_OPERATIONS for answer in self.unreadable):
            return ()
        lost = tuple(
            unusable(index, "route", "names no two known ports", record=journey)
            for index, journey in numbered(self.journeys)
            if journey.journey_id not in ends
        )
        if not lost:
            return ()
        return (UnreadableAnswer(search=None, operation="catalogue.journeys", records=lost),)

    def _ports(self) -> dict[str, Port]:
        """Return the ports by code. If REST's were not read, they are made of what MCP says."""
        if self.ports:
            return {port.code: port for port in self.ports}

        mcp_ports = {port.code: port for port in self.mcp_ports if port.code}
        for departure in self.timetable or ():
            for code in (departure.depart_code, departure.arrive_code):
                if code:
                    mcp_ports.setdefault(code, McpPort(code=code))
        return {
            code: Port(code=code, name=port.name or port.city or code, country=port.country or "")
            for code, port in mcp_ports.items()
        }

    def _times(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the times of departure by journey and company.

        A company that sails a journey is there even if its times are not known.
        """
        times: dict[str, dict[str, tuple[str, ...]]] = {}
        for name in self.companies:
            departures = self.departures.get(name, ())
            for departure in departures:
                times.setdefault(departure.journey_id, {})[name] = departure.departure_times
            for journey_id in _journeys_of_unreadable(departures):
                times.setdefault(journey_id, {}).setdefault(name, ())

        names_by_id = {company_id: name for name, company_id in self.companies.items()}
        for scheduled in self.timetable or ():
            company = _company_of(scheduled)
            code = names_by_id.get(company.id or "", company.code)
            if scheduled.journey_id is not None and code in self.companies:
                times.setdefault(scheduled.journey_id, {}).setdefault(str(code), ())
        return times

    def _ends_of_journeys(self) -> dict[str, _Ends]:
        """Return the two ports of each journey whose text names them for certain."""
        codes: dict[str, list[str]] = {}
        for port in self._ports().values():
            for name in {fold(port.name), fold(port.code)}:
                codes.setdefault(name, []).append(port.code)

        ends: dict[str, _Ends] = {}
        for journey in self.journeys:
            ends_of_journey = _ends_of(journey, codes)
            if ends_of_journey is not None:
                ends[journey.journey_id] = ends_of_journey
        return ends


def _journeys_of_unreadable(departures: Sequence[Departure]) -> Iterator[str]:
    """Yield the journeys that unreadable departures name: the company sails them nevertheless."""
    if not isinstance(departures, Records):
        return
    for record in departures.unreadable:
        journey_id = members_of(record.raw).get("journey_id")
        if isinstance(journey_id, str) and journey_id:
            yield journey_id


def _ends_of(journey: Journey, codes: Mapping[str, list[str]]) -> _Ends | None:
    """Return the codes of the two ports that a journey's text has; None if it is not certain.

    Every separator of the text is tried, because a port's name may contain one. Codes that a
    service adds to its journeys decide between ports of the same name.

    Args:
        journey: The journey.
        codes: The codes of the ports of a name, by the folded name.
    """
    pairs: set[_Ends] = set()
    for separator in _SEPARATOR.finditer(journey.route):
        depart_name = fold(journey.route[: separator.start()])
        arrive_name = fold(journey.route[separator.end() :])
        pairs.update(product(codes.get(depart_name, ()), codes.get(arrive_name, ())))

    if len(pairs) > 1:
        extra = journey.model_extra
        pairs &= {(extra.get("depart_code"), extra.get("arrive_code"))}
    return pairs.pop() if len(pairs) == 1 else None


def _duration_of(departure: ScheduledDeparture) -> timedelta:
    """Return how long a departure takes; zero if the timetable does not say."""
    depart_at = departure.depart_at
    arrive_at = departure.arrive_at
    if not isinstance(depart_at, datetime) or not isinstance(arrive_at, datetime):
        return timedelta()
    is_comparable = (depart_at.utcoffset() is None) == (arrive_at.utcoffset() is None)
    return max(arrive_at - depart_at, timedelta()) if is_comparable else timedelta()


def _company_of(departure: ScheduledDeparture) -> Company:
    """Return the company of a departure, which MCP gives as a text or as an object."""
    company: Any = departure.company
    if isinstance(company, dict):
        return Company.model_validate(company)
    return Company(code=company) if isinstance(company, str) else Company()
