"""Probes of the assumptions by reads.

Most assumptions are about searches, and a search needs a line that sails. So the probes go from
what every service has to what needs more:

1. The catalogues of ports and journeys. They also show the service's clock, and so its day.
2. Reads of ids that do not exist.
3. The lines, from MCP's timetable, else from the route graph. Lines that sail a few times a day
   come first: a search of one has several sailings, and its reply is short.
4. A search 31 days ahead, of one line after another until one has sailings; then searches of the
   same line for two adults, from a later time, and with a return.
5. The same search over MCP.
6. A search of a day without sailings, from a gap in the timetable or a day that is too far ahead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
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
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Journey, Port, ScheduledDeparture
from ferry_sdk.planning.results import describe_unreadable
from ferry_sdk.planning.routes import Route

ADULT: Final[Mapping[str, object]] = {"type": "Adult", "gender": "Female", "age": 34}
"""A traveller of a search."""
_DAYS_AHEAD: Final = 31
"""The day of most searches: near enough to have sailings, and not sold out yet."""
_MOST_ROUTES: Final = 4
_MOST_SEARCHES: Final = 10
_DAY: Final = 24 * 3600
_BEST_INTERVAL: Final = 4 * 3600
"""Seconds between two sailings of a line that shows enough in short replies."""
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
_OTHER_CAUSES: Final = (401, 403, 408, 429, *range(500, 600))
"""Statuses that say nothing about the request."""
_ARROWS: Final = re.compile(r"→|->|=>|—|\u2013|>|/| - ")
"""What separates the ports in the route of a journey, such as ``Genova → Bastia``."""
_COUNTRY_CODE: Final = re.compile(r"[A-Z]{2}")


class Line(NamedTuple):
    """A journey of a company."""

    company: str
    depart_code: str
    arrive_code: str
    out_journey_id: str

    def search(self, day: date, **more: object) -> dict[str, Any]:
        """Return the arguments of a search for one adult, from the beginning of a day."""
        return {
            **self._asdict(),
            "out_at": day,
            "out_time": "00:00",
            "passengers": [ADULT],
            **more,
        }


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
        """Make all reads that need no id. A later one uses what an earlier one has found."""
        try_steps = self.findings.try_steps
        yield from try_steps(["port_country", "date_header", "journey_route"], self._ports())
        yield from try_steps(["port_position", "mcp_resource"], self._mcp_ports())
        yield from try_steps(["unknown_id", "mcp_error"], self._unknown_ids())
        yield from try_steps(["invalid_request", "no_sailings"], self._timetable())
        yield from try_steps(
            [
                "search_list",
                "currency",
                "balance",
                "amount",
                "out_time",
                "return_search",
                "no_journeys",
            ],
            self._searches(),
        )
        yield from try_steps(["mcp_result"], self._tool())
        yield from try_steps(["no_sailings"], self._gaps())

    def _ports(self) -> Flow[None]:
        reply = yield from self._call("catalogue.ports")
        ports: Sequence[Port] = reply.require()

        self.seen["date_header"] = "present" if "date" in reply.headers else "absent"
        now = parse_date(reply.headers.get("date", ""))
        if now is not None:
            self.today = datetime.fromtimestamp(now, UTC).date()

        if not ports:
            raise NotSeenError("the service has no ports")
        codes = [port.country for port in ports if _COUNTRY_CODE.fullmatch(port.country)]
        self.seen["port_country"] = "code" if len(codes) > len(ports) / 2 else "name"
        yield from self.findings.try_steps(["journey_route"], self._journeys(ports))

    def _mcp_ports(self) -> Flow[None]:
        reply = yield from self._call("mcp.read_resource", "resource://service/ports")
        ports: Any = reply.require()
        self.seen["mcp_resource"] = resource_shape(reply.body)
        names: set[str] = set(raw_list(ports)[0])
        if {"latitude", "longitude"} <= names:
            self.seen["port_position"] = "latitude_longitude"
        elif {"lat", "lng"} <= names:
            self.seen["port_position"] = "lat_lng"
        else:
            self.seen["port_position"] = "other names"

    def _journeys(self, ports: Sequence[Port]) -> Flow[None]:
        reply = yield from self._call("catalogue.journeys")
        journeys: Sequence[Journey] = reply.require()

        names = {port.name for port in ports}
        codes = {port.code for port in ports}
        kinds: Counter[str] = Counter()
        for journey in journeys:
            parts = [part.strip() for part in _ARROWS.split(journey.route)]
            ends = {parts[0], parts[-1]}
            if ends <= names:
                kinds["names"] += 1
            elif ends <= codes:
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
            return
        reason = "the service accepted it" if error is None else describe(error)
        self.findings.note_not_seen([name], reason)

    def _timetable(self) -> Flow[None]:
        """Read which lines there are and on which days they sail."""
        reply = yield from self._call("mcp.departures")
        self._take_lines(reply.value or ())
        if not self.lines:
            yield from self._take_lines_of_routes()
        if not self.lines:
            reply.require()
            if self.findings.unreadable:
                raise NotSeenError(f"no route was found: {self._unreadable}")
            raise NotSeenError("no route was found")

        wrong_line = self.lines[0]._replace(company="NO-SUCH-COMPANY")
        reply = yield from self._search(wrong_line, self._day)
        self._see_status("invalid_request", reply.error)

    def _take_lines(self, departures: Iterable[ScheduledDeparture]) -> None:
        """Take the lines of the timetable, and the days on which each sails."""
        times: dict[Line, list[datetime]] = {}
        for departure in departures:
            line = _line_of(departure)
            if line is None:
                continue
            times_of_line = times.setdefault(line, [])
            if isinstance(departure.depart_at, datetime):  # else a text that is no moment
                times_of_line.append(departure.depart_at)

        intervals: dict[Line, float] = {}
        for line, times_of_line in times.items():
            intervals[line] = _interval(times_of_line)
            self._days[line] = {time.date() for time in times_of_line}
        self._sort_lines(intervals)

    def _take_lines_of_routes(self) -> Flow[None]:
        """Take the lines of the route graph, because MCP has no timetable, or an empty one."""
        reply = yield from self._call("routes.find")
        routes: Sequence[Route] = reply.value or ()
        intervals: dict[Line, float] = {}
        for route in routes:
            for company in route.companies:
                line = Line(
                    company=company,
                    depart_code=route.depart_code,
                    arrive_code=route.arrive_code,
                    out_journey_id=route.journey_id,
                )
                times = route.departure_times.get(company)
                intervals[line] = _DAY / len(times) if times else inf
        self._sort_lines(intervals)

    def _sort_lines(self, intervals: Mapping[Line, float]) -> None:
        """Take the lines, those that sail about as often as is best for a check first."""
        self.lines = sorted(intervals, key=lambda line: abs(intervals[line] - _BEST_INTERVAL))

    def sample(self) -> Iterator[dict[str, Any]]:
        """Yield a few searches of lines of all kinds, from many departures a day to few."""
        step = max(1, len(self.lines) // _MOST_SEARCHES)
        for line in self.lines[::step][:_MOST_SEARCHES]:
            yield line.search(self._day)

    @property
    def _day(self) -> date:
        return self._days_from_today(_DAYS_AHEAD)

    def _days_from_today(self, days: int) -> date:
        return date.fromordinal(min(self.today.toordinal() + days, date.max.toordinal()))

    def _searches(self) -> Flow[None]:
        """Search a line with sailings, and compare with what other searches of it show."""
        line, reply = yield from self._line_with_sailings()
        # `_tool` searches the first line again.
        self.lines = [line, *(other for other in self.lines if other != line)]
        sailings: Sequence[Availability] = reply.value
        self.seen["search_list"] = "list" if is_list(reply.body) else "in_object"

        yield from self.findings.try_steps(["currency", "balance"], self._amounts(reply.body))
        yield from self.findings.try_steps(["amount"], self._two_adults(line, sailings))
        yield from self.findings.try_steps(["out_time"], self._later(line, sailings))
        yield from self.findings.try_steps(["return_search"], self._return(line))

        providers = [sailing.provider.id for sailing in sailings if sailing.provider.id]
        if providers:
            yield from self.findings.try_steps(["no_journeys"], self._departures(providers[0]))
        else:
            self.findings.note_not_seen(["no_journeys"], "no sailing names its provider")

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
        yield from ()  # it is a flow for `try_steps`, and makes no call
        tariffs = [*_raw_tariffs(body)]
        if not tariffs:
            raise NotSeenError("no tariff was found")
        self.seen["currency"] = _case_of(tariffs[0]["currency"])
        self.seen["balance"] = _balance_of(tariffs)

    def _search(self, line: Line, day: date, **more: Any) -> Flow[Observation]:  # noqa: ANN401 -- arguments of a search
        return self._call("availability.search", **line.search(day, **more))

    def _two_adults(self, line: Line, sailings: Sequence[Availability]) -> Flow[None]:
        """Compare the prices of two adults with those of one."""
        reply = yield from self._search(line, self._day, passengers=[ADULT, ADULT])
        sailings_for_two: Sequence[Availability] = reply.require()
        prices = {
            sailing.depart_at: _lowest_price(sailing) for sailing in sailings if sailing.tariffs
        }

        ratios: list[Decimal] = []
        for sailing in sailings_for_two:
            price_of_one = prices.get(sailing.depart_at)
            if sailing.tariffs and price_of_one:  # of 0, there is no ratio
                ratios.append(_lowest_price(sailing) / price_of_one)
        if not ratios:
            raise NotSeenError("no sailing with a price for one adult and for two was found")

        median = sorted(ratios)[len(ratios) // 2]
        self.seen["amount"] = "whole_party" if median > _MORE_THAN_ONE else "per_person"

    def _later(self, line: Line, sailings: Sequence[Availability]) -> Flow[None]:
        """Search from the time of the second sailing on."""
        times = sorted({sailing.depart_at for sailing in sailings})
        if len(times) == 1:
            raise NotSeenError("no day with several sailings was found")

        reply = yield from self._search(line, self._day, out_time=f"{times[1]:%H:%M}")
        departures = [sailing.depart_at for sailing in reply.require()]
        if not departures:
            raise NotSeenError("no sailing was found from the time of a sailing on")
        self.seen["out_time"] = "ignored" if min(departures) < times[1] else "earliest"

    def _return(self, line: Line) -> Flow[None]:
        """Search a line with a return, if another line sails back."""
        back = self._line_back(line)
        if back is None:
            raise NotSeenError("no line sails back")

        day_back = self._days_from_today(_DAYS_AHEAD + 2)
        reply = yield from self._search(
            line,
            self._day,
            ret_journey_id=back.out_journey_id,
            ret_at=day_back,
            ret_time="00:00",
        )
        directions = {str(sailing.direction) for sailing in reply.require()}
        if directions >= {"Outward", "Return"}:
            self.seen["return_search"] = "both_directions"
            return

        # Only if something sails back, the reply lacks it. The error of this search says otherwise.
        reply = yield from self._search(back, day_back)
        reply.require()
        self.seen["return_search"] = "outward_only"

    def _line_back(self, line: Line) -> Line | None:
        for other in self.lines:
            if (other.depart_code, other.arrive_code) == (line.arrive_code, line.depart_code):
                return other
        return None

    def _departures(self, provider: str) -> Flow[None]:
        """Compare the departures of a provider with those of an empty list of journeys."""
        reply = yield from self._call("catalogue.departures", provider)
        departures = reply.require()
        reply = yield from self._call("catalogue.departures", provider, journey_ids=[])
        departures_of_no_journeys = reply.require()

        if not departures:
            raise NotSeenError("the provider has no departures")
        self.seen["no_journeys"] = "all" if departures_of_no_journeys else "none"

    def _tool(self) -> Flow[None]:
        if not self.lines:
            raise NotSeenError("no sailing was found")
        search = self.lines[0].search(self._day)
        reply = yield from self._call("mcp.search_availability", **search)
        if reply.body is None:
            reply.require()
        self.seen["mcp_result"] = result_shape(reply.body)

    def _gaps(self) -> Flow[None]:
        """Search days on which a line does not sail, until a reply shows how that is said."""
        far_day = self._days_from_today(_DAYS_BEYOND)
        for line, day in islice(self._days_without_sailing(), _MOST_ROUTES):
            reply = yield from self._search(line, day)
            if _is_refusal(reply.error):
                if day == far_day:
                    continue  # as below
                self._see_status("no_sailings", reply.error)
                return
            if self._see_no_sailings(reply):
                return

        # The last lines sail least, so that even a service that sells such days has gaps.
        for line in reversed(self.lines[-_MOST_ROUTES:]):
            reply = yield from self._search(line, far_day)
            if _is_refusal(reply.error):
                continue  # the day may be refused because it is too far ahead
            if self._see_no_sailings(reply):
                return
        raise NotSeenError("no day without sailings was found")

    def _see_no_sailings(self, reply: Observation) -> bool:
        """See how a reply says that nothing sails; return False if it has sailings."""
        if isinstance(reply.error, NoSailingsError):
            self.seen["no_sailings"] = "not_found"
            return True
        if reply.require():
            return False
        self.seen["no_sailings"] = "empty_list"
        return True

    @property
    def _unreadable(self) -> str:
        return describe_unreadable(self.findings.unreadable)

    def _days_without_sailing(self) -> Iterator[tuple[Line, date]]:
        """Yield, of each line, the last day between two departures on which it does not sail."""
        for line, days in self._days.items():
            if not days:
                continue
            for ordinal in range(max(days).toordinal() - 1, min(days).toordinal(), -1):
                day = date.fromordinal(ordinal)
                if day not in days:
                    yield line, day
                    break


def _is_refusal(error: FerryError | None) -> bool:
    return isinstance(error, APIError) and not isinstance(error, NoSailingsError)


def _line_of(departure: ScheduledDeparture) -> Line | None:
    """Return the line of a departure; None if something that a search needs is missing."""
    company: Any = departure.company
    if is_object(company):
        company = company.get("code") or company.get("id")
    parts: tuple[Any, ...] = (
        company,
        departure.depart_code,
        departure.arrive_code,
        departure.journey_id,
    )
    if not all(isinstance(part, str) and part for part in parts):
        return None
    return Line(*parts)


def _interval(times: Sequence[datetime]) -> float:
    """Return about how many seconds are between two sailings; infinity if no time is known."""
    if not times:
        return inf
    return (max(times) - min(times)).total_seconds() / len(times)


def _lowest_price(sailing: Availability) -> Decimal:
    return min(tariff.amount for tariff in sailing.tariffs)


def _raw_tariffs(body: object) -> Iterator[Mapping[str, Any]]:
    """Yield the tariffs of a search as they were sent, if they have amounts and a currency."""
    for sailing in raw_list(body):
        tariffs: Any = sailing.get("tariffs") if is_object(sailing) else None
        if not is_list(tariffs):
            continue
        for tariff in tariffs:
            if is_object(tariff) and tariff.keys() >= {"currency", "amount", "balance_amount"}:
                yield tariff


def _case_of(currency: str) -> str:
    if currency == currency.upper():
        return "upper_case"
    return "capitalized" if currency == currency.capitalize() else "another case"


def _balance_of(tariffs: Sequence[Mapping[str, Any]]) -> str:
    if all(tariff["balance_amount"] == tariff["amount"] for tariff in tariffs):
        return "as_amount"
    if any(tariff["balance_amount"] for tariff in tariffs):
        return "another amount"
    return "zero"
