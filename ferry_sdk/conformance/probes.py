"""Probes of the assumptions by reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from itertools import chain, islice
from math import inf
from typing import Any, Final, NamedTuple
from uuid import uuid4

from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.http import parse_date
from ferry_sdk.conformance.findings import Findings, NotSeenError, describe, is_unreadable
from ferry_sdk.conformance.observations import Observation
from ferry_sdk.conformance.shapes import (
    error_shape,
    is_list,
    is_object,
    raw_list,
    resource_shape,
    result_shape,
)
from ferry_sdk.errors import APIError, FerryError, NoSailingsError, NotFoundError
from ferry_sdk.models.catalogue import Port, ScheduledDeparture
from ferry_sdk.planning.results import describe_unreadable
from ferry_sdk.planning.routes import Route

ADULT: Final[Mapping[str, object]] = {"type": "Adult", "gender": "Female", "age": 34}
"""A traveller of a search."""
_DAYS_AHEAD: Final = 31
_MOST_ROUTES: Final = 4
_MOST_SEARCHES: Final = 10
_SECONDS_BETWEEN: Final = 4 * 3600
"""Of the sailings of a line that says enough in short replies."""
_DAYS_BEYOND: Final = 400
"""A day so far ahead that no season has a timetable of it yet."""
_MORE_THAN_ONE: Final = 1.2
"""The price of two adults divided by that of one, from which it is that of the party."""
_BY_STATUS: Final = {
    200: "error_with_200",
    400: "bad_request",
    404: "not_found",
    422: "unprocessable",
}
_BY_SEARCHES: Final = "search_list currency balance amount out_time return_search no_journeys"
_OTHER_CAUSES: Final = (401, 403, 408, 429, *range(500, 600))
"""Statuses that say nothing of the request."""


class Line(NamedTuple):
    """A journey of a company."""

    company: str
    depart_code: str
    arrive_code: str
    out_journey_id: str

    def search(self, day: date, **more: object) -> dict[str, Any]:
        """Return the arguments of a search for one adult."""
        any_time = {"out_at": day, "out_time": "00:00", "passengers": [ADULT]}
        return {**self._asdict(), **any_time, **more}


class Probes:
    """The probes that need no booking.

    Attributes:
        lines: The lines of MCP's timetable, else of the route graph, those that sail a few times
            a day first.
        today: The service's day, by the clock of its replies.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.seen: dict[str, str] = findings.seen
        self._call = findings.call
        self.lines: list[Line] = []
        self.today: date = date.today()  # noqa: DTZ011 -- the user's, if the service has none
        self._days: dict[Line, set[date]] = {}

    def steps(self) -> Flow[None]:
        """Make all reads that need no id."""
        probes: tuple[tuple[Callable[[], Flow[None]], str], ...] = (
            (self._ports, "port_country date_header journey_route"),
            (self._mcp_ports, "port_position mcp_resource"),
            (self._unknown_ids, "unknown_id mcp_error"),
            (self._timetable, "invalid_request no_sailings"),
            (self._searches, _BY_SEARCHES),
            (self._tool, "mcp_result"),
            (self._gaps, "no_sailings"),
        )
        for probe, names in probes:
            yield from self.findings.try_steps(names.split(), probe())

    def _ports(self) -> Flow[None]:
        reply = yield from self._call("catalogue.ports")
        ports: Sequence[Port] = reply.require()
        self.seen["date_header"] = "present" if "date" in reply.headers else "absent"
        now = parse_date(reply.headers.get("date", ""))
        if now is not None:
            self.today = datetime.fromtimestamp(now, timezone.utc).date()
        if not ports:
            raise NotSeenError("the service has no ports")
        codes = sum(bool(re.fullmatch(r"[A-Z]{2}", port.country)) for port in ports)
        self.seen["port_country"] = "code" if codes / len(ports) > 1 / 2 else "name"
        yield from self.findings.try_steps(["journey_route"], self._journeys(ports))

    def _mcp_ports(self) -> Flow[None]:
        reply = yield from self._call("mcp.read_resource", "resource://service/ports")
        ports: Any = reply.require()
        self.seen["mcp_resource"] = resource_shape(reply.body)
        names: set[str] = set(raw_list(ports)[0])
        if {"latitude", "longitude"} <= names:
            self.seen["port_position"] = "latitude_longitude"
        else:
            self.seen["port_position"] = "lat_lng" if {"lat", "lng"} <= names else "other names"

    def _journeys(self, ports: Sequence[Port]) -> Flow[None]:
        journeys = (yield from self._call("catalogue.journeys")).require()
        names, codes = {port.name for port in ports}, {port.code for port in ports}
        kinds: Counter[str] = Counter()
        for route in (journey.route for journey in journeys):
            ends = [end.strip() for end in re.split(r"→|->|=>|—|\u2013|>|/| - ", route)]
            pair = {ends[0], ends[-1]}
            if pair <= names:
                kinds["names"] += 1
            elif pair <= codes:
                kinds["codes"] += 1
            else:
                kinds["another text"] += 1
        if not kinds:
            raise NotSeenError("the service has no journeys")
        self.seen["journey_route"] = kinds.most_common(1)[0][0]

    def _unknown_ids(self) -> Flow[None]:
        reply = yield from self._call("bookings.get", str(uuid4()))
        self._see_status("unknown_id", reply.error)
        reply = yield from self._call("mcp.view_ticket", str(uuid4()))
        if reply.status in _OTHER_CAUSES or type(reply.error) is NotFoundError:  # no MCP
            reply.require()
        self.seen["mcp_error"] = error_shape(reply.body)

    def _see_status(self, name: str, error: FerryError | None) -> None:
        if isinstance(error, APIError) and error.status_code not in _OTHER_CAUSES:
            self.seen[name] = _BY_STATUS.get(error.status_code, f"HTTP {error.status_code}")
        else:
            self.findings.miss([name], describe(error) if error else "the service accepted it")

    def _timetable(self) -> Flow[None]:
        """Read which lines there are and on which days they sail."""
        reply = yield from self._call("mcp.departures")
        times: dict[Line, list[datetime]] = {}
        for line, at in filter(None, map(_line_of, reply.value or ())):
            moments = times.setdefault(line, [])
            if at is not None:
                moments.append(at)
        self._sort({line: _seconds_between(moments) for line, moments in times.items()})
        self._days = {line: {at.date() for at in moments} for line, moments in times.items()}
        if not self.lines:
            yield from self._routes()
        if not self.lines:
            reply.require()
            if self.findings.unreadable:
                raise NotSeenError(f"no route was found: {self._unreadable}")
            raise NotSeenError("no route was found")
        wrong = self.lines[0]._replace(company="NO-SUCH-COMPANY")
        reply = yield from self._search(wrong, self._day)
        self._see_status("invalid_request", reply.error)

    def _routes(self) -> Flow[None]:
        """Take the lines of the route graph, because MCP has no timetable, or an empty one."""
        routes: Sequence[Route] = (yield from self._call("routes.find")).value or ()
        seconds: dict[Line, float] = {}
        for route in routes:
            for company in route.companies:
                line = Line(company, route.depart_code, route.arrive_code, route.journey_id)
                times = route.departure_times.get(company)
                seconds[line] = 24 * 3600 / len(times) if times else inf
        self._sort(seconds)

    def _sort(self, seconds: Mapping[Line, float]) -> None:
        self.lines = sorted(seconds, key=lambda line: abs(seconds[line] - _SECONDS_BETWEEN))

    def sample(self) -> Iterator[dict[str, Any]]:
        """Yield a few searches of lines of all kinds, from many departures a day to few."""
        step = max(1, len(self.lines) // _MOST_SEARCHES)
        for line in self.lines[::step][:_MOST_SEARCHES]:
            yield line.search(self._day)

    @property
    def _day(self) -> date:
        return self._ahead(_DAYS_AHEAD)

    def _ahead(self, days: int) -> date:
        return date.fromordinal(min(self.today.toordinal() + days, date.max.toordinal()))

    def _searches(self) -> Flow[None]:
        line, reply = yield from self._line_with_sailings()
        self.lines = [line, *(other for other in self.lines if other != line)]
        sailings = reply.value
        self.seen["search_list"] = "list" if is_list(reply.body) else "in_object"
        yield from self.findings.try_steps(["currency", "balance"], self._amounts(reply.body))
        yield from self.findings.try_steps(["amount"], self._two_adults(line, sailings))
        yield from self.findings.try_steps(["out_time"], self._later(line, sailings))
        yield from self.findings.try_steps(["return_search"], self._return(line))
        providers = [sailing.provider.id for sailing in sailings if sailing.provider.id]
        if providers:
            yield from self.findings.try_steps(["no_journeys"], self._departures(providers[0]))
        else:
            self.findings.miss(["no_journeys"], "no sailing names its provider")

    def _line_with_sailings(self) -> Flow[tuple[Line, Observation]]:
        """Search a few lines; return the first with sailings that can be read, and the reply."""
        problem = "no sailing was found"
        for line in self.lines[:_MOST_ROUTES]:
            reply = yield from self._search(line, self._day)
            if reply.value:
                return line, reply
            if reply.error is not None and is_unreadable(reply.error):
                problem = describe(reply.error)
        raise NotSeenError(problem)

    def _amounts(self, body: object) -> Flow[None]:
        """Look at the tariffs as they were sent, also of sailings that cannot be read."""
        yield from ()
        tariffs = [*_raw_tariffs(body)]
        if not tariffs:
            raise NotSeenError("no tariff was found")
        self.seen["currency"] = _case(tariffs[0]["currency"])
        self.seen["balance"] = _balance(tariffs)

    def _search(self, line: Line, day: date, **more: Any) -> Flow[Observation]:  # noqa: ANN401 -- arguments of a search
        return self._call("availability.search", **line.search(day, **more))

    def _two_adults(self, line: Line, alone: Sequence[Any]) -> Flow[None]:
        reply = yield from self._search(line, self._day, passengers=[ADULT, ADULT])
        prices = {sailing.depart_at: _cheapest(sailing) for sailing in alone if sailing.tariffs}
        ratios = [
            _cheapest(sailing) / prices[sailing.depart_at]
            for sailing in reply.require()
            if sailing.tariffs and prices.get(sailing.depart_at)
        ]
        if not ratios:
            raise NotSeenError("no sailing with a price for one adult and for two was found")
        ratio = sorted(ratios)[len(ratios) // 2]
        self.seen["amount"] = "whole_party" if ratio > _MORE_THAN_ONE else "per_person"

    def _later(self, line: Line, sailings: Sequence[Any]) -> Flow[None]:
        times = sorted({sailing.depart_at for sailing in sailings})
        if len(times) == 1:
            raise NotSeenError("no day with several sailings was found")
        later = yield from self._search(line, self._day, out_time=f"{times[1]:%H:%M}")
        departures = [sailing.depart_at for sailing in later.require()]
        if not departures:
            raise NotSeenError("no sailing was found from the time of a sailing on")
        is_first = min(departures) < times[1]
        self.seen["out_time"] = "ignored" if is_first else "earliest"

    def _return(self, line: Line) -> Flow[None]:
        ends = line.arrive_code, line.depart_code
        lines_back = (line for line in self.lines if (line.depart_code, line.arrive_code) == ends)
        back = next(lines_back, None)
        if back is None:
            raise NotSeenError("no line sails back")
        day = self._ahead(_DAYS_AHEAD + 2)
        both_ways = {"ret_journey_id": back.out_journey_id, "ret_at": day, "ret_time": "00:00"}
        sailings = (yield from self._search(line, self._day, **both_ways)).require()
        if {str(sailing.direction) for sailing in sailings} >= {"Outward", "Return"}:
            self.seen["return_search"] = "both_directions"
            return
        (yield from self._search(back, day)).require()  # something sails back
        self.seen["return_search"] = "outward_only"

    def _departures(self, provider: str) -> Flow[None]:
        every = (yield from self._call("catalogue.departures", provider)).require()
        none = (yield from self._call("catalogue.departures", provider, journey_ids=[])).require()
        if not every:
            raise NotSeenError("the provider has no departures")
        self.seen["no_journeys"] = "all" if none else "none"

    def _tool(self) -> Flow[None]:
        if not self.lines:
            raise NotSeenError("no sailing was found")
        search = self.lines[0].search(self._day)
        reply = yield from self._call("mcp.search_availability", **search)
        if reply.body is None:
            reply.require()
        self.seen["mcp_result"] = result_shape(reply.body)

    def _gaps(self) -> Flow[None]:
        far = self._ahead(_DAYS_BEYOND)
        gaps = islice(self._days_without_sailing(), _MOST_ROUTES)
        # The last lines sail least, so that even a service that sells such days has gaps.
        beyond = ((line, far) for line in reversed(self.lines[-_MOST_ROUTES:]))
        for line, day in chain(gaps, beyond):
            reply = yield from self._search(line, day)
            if isinstance(reply.error, NoSailingsError):
                self.seen["no_sailings"] = "not_found"
            elif isinstance(reply.error, APIError):
                if day == far:
                    continue  # it may be refused because it is too far ahead
                self._see_status("no_sailings", reply.error)
            elif not reply.require():
                self.seen["no_sailings"] = "empty_list"
            else:
                continue
            return
        raise NotSeenError("no day without sailings was found")

    @property
    def _unreadable(self) -> str:
        return describe_unreadable(self.findings.unreadable)

    def _days_without_sailing(self) -> Iterator[tuple[Line, date]]:
        """Yield days between two departures of a line on which it does not sail."""
        for line, days in self._days.items():
            between = range(max(days).toordinal() - 1, min(days).toordinal(), -1) if days else ()
            free = (day for day in map(date.fromordinal, between) if day not in days)
            for day in islice(free, 1):
                yield line, day


def _line_of(departure: ScheduledDeparture) -> tuple[Line, datetime | None] | None:
    company: Any = departure.company
    if is_object(company):
        company = company.get("code") or company.get("id")
    ports = departure.depart_code, departure.arrive_code
    parts: tuple[Any, ...] = (company, *ports, departure.journey_id)
    if not all(isinstance(part, str) and part for part in parts):
        return None
    at = departure.depart_at
    return Line(*parts), at if isinstance(at, datetime) else None


def _seconds_between(times: Sequence[datetime]) -> float:
    """Return about how often a line sails."""
    return (max(times) - min(times)).total_seconds() / len(times) if times else inf


def _cheapest(sailing: Any) -> Any:  # noqa: ANN401 -- an availability; its price
    return min(tariff.amount for tariff in sailing.tariffs)


def _raw_tariffs(body: object) -> Iterator[Mapping[str, Any]]:
    """Yield the tariffs of a search as they were sent, those with amounts and a currency."""
    for sailing in raw_list(body):
        tariffs: Any = sailing.get("tariffs") if is_object(sailing) else None
        if not is_list(tariffs):
            continue
        for tariff in tariffs:
            if is_object(tariff) and tariff.keys() >= {"currency", "amount", "balance_amount"}:
                yield tariff


def _case(currency: str) -> str:
    if currency == currency.upper():
        return "upper_case"
    return "capitalized" if currency == currency.capitalize() else "another case"


def _balance(tariffs: Sequence[Mapping[str, Any]]) -> str:
    if all(tariff["balance_amount"] == tariff["amount"] for tariff in tariffs):
        return "as_amount"
    return "zero" if not any(tariff["balance_amount"] for tariff in tariffs) else "another amount"
