"""The validated arguments of a search of trips, and the days and searches that they mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, timedelta
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple, get_args

from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.validation import seconds
from ferry_sdk._runtime.values import is_text
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import (
    SearchPassenger,
    SearchPassengerDict,
    Traveller,
    VehicleQuery,
    VehicleQueryDict,
    elements_of,
)
from ferry_sdk.models.records import Records
from ferry_sdk.models.travellers import Travellers, first_day_possible, parse_day
from ferry_sdk.planning.results import AskedSearch
from ferry_sdk.planning.routes import Route
from ferry_sdk.resources import arguments, bodies
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.availability import AvailabilityGroup

MOST_DAYS: Final = 3660
"""Days of a call at most. No company sells as many, and millions of them would take minutes."""
ANY_TIME: Final = "00:00"
"""The earliest departure of a search that asks for a whole day."""


class TripDays(NamedTuple):
    """The day out and the day back of a trip.

    Attributes:
        out: The day out.
        back: The day back; None: one way.
    """

    out: date
    back: date | None


Round = tuple[TripDays, ...]
"""Days that are asked at the same time. A round is asked only if those before found nothing."""


@dataclass(slots=True)
class TripRequest(ABC):
    """The arguments of a search of trips, validated.

    Attributes:
        rounds: The days to ask, in rounds.
        day_arguments: The arguments that the first day and the other days come from.
    """

    origin: Port | str
    destination: Port | str
    _: KW_ONLY
    passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller] = field(repr=False)
    vehicle: VehicleQuery | VehicleQueryDict | str | None = None
    companies: Sequence[str] | None = None
    max_calls: int = 60
    concurrency: int = 8
    reservation_type: ReservationTypeName | None = "TICKET"
    patience: float | None = None
    rounds: tuple[Round, ...] = field(init=False)
    day_arguments: ClassVar[tuple[str, str]] = ("on", "on")

    @abstractmethod
    def plan_rounds(self) -> tuple[Round, ...]:
        """Return the days to ask, in rounds.

        Raises:
            InvalidInputError: A day is invalid; `field` names it.
        """

    def __post_init__(self) -> None:
        """Validate the arguments.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
        """
        self.rounds = self.plan_rounds()

        whole_number(self.max_calls, "max_calls", least=1)
        whole_number(self.concurrency, "concurrency", least=1)
        kind = self.reservation_type
        if kind is not None and not is_text(kind, *get_args(ReservationTypeName)):
            raise InvalidInputError(
                "expected TICKET, PRESALE, OPTION or None", field="reservation_type"
            )
        if self.patience is not None:
            seconds(self.patience, "patience")

        if self.companies is not None:
            companies = elements_of(self.companies, "companies")
            self.companies = arguments.identifiers(companies, "companies")

        if isinstance(self.vehicle, str):
            text = arguments.text(self.vehicle, "vehicle")
            # A name, such as "golf", is looked up when the plan runs.
            self.vehicle = VehicleQuery(code=text) if "__" in text else text

        if not isinstance(self.passengers, Travellers):
            # Each search reads them again, so an iterator, or a list that changes, is copied.
            passengers: Any = elements_of(self.passengers, "passengers")
            self.passengers = tuple(passengers)

        # `party_on` validates the travellers and the vehicle. Its result is not needed here.
        days_out = [days.out for days in chain.from_iterable(self.rounds)]
        first_day = min(days_out, default=first_day_possible())
        bodies.party_on(self.passengers, self._vehicle_query, first_day)

    @property
    def first_day(self) -> date:
        """The day that is asked first. A calendar of past days only has none."""
        return self.rounds[0][0].out

    @property
    def is_one_way(self) -> bool:
        """Whether no way back is asked."""
        return self.rounds[0][0].back is None

    @property
    def _vehicle_query(self) -> VehicleQuery | VehicleQueryDict | None:
        """The vehicle as a search takes it; None also while only its name is known."""
        return None if isinstance(self.vehicle, str) else self.vehicle

    def operation(self, query: Query) -> Operation[Records[Availability]]:
        """Return the search of a query."""
        passengers = self.passengers
        if query.first_day is not None:
            passengers = bodies.passengers_on(query.first_day, passengers)

        back: dict[str, Any] = {}
        if query.way_back is not None:
            back = {
                "ret_journey_id": query.way_back.route.journey_id,
                "ret_at": query.way_back.day,
                "ret_time": ANY_TIME,
            }

        return AvailabilityGroup.search(
            None,
            company=query.company,
            depart_code=query.route.depart_code,
            arrive_code=query.route.arrive_code,
            out_journey_id=query.route.journey_id,
            out_at=query.day,
            out_time=ANY_TIME,
            passengers=passengers,
            vehicle=self._vehicle_query,
            **back,
        )


@dataclass(slots=True, kw_only=True)
class DayRequest(TripRequest):
    """The arguments of a search for a day, and the days around it."""

    on: date | str
    back: date | str | None = None
    flexible: int = 0

    def plan_rounds(self) -> tuple[Round, ...]:
        """Return the day of the search, and then its neighbours."""
        return flexible_rounds(self.on, self.back, self.flexible)


@dataclass(slots=True, kw_only=True)
class CalendarRequest(TripRequest):
    """The arguments of a calendar."""

    start: date | str
    end: date | str
    max_calls: int = 400
    day_arguments: ClassVar[tuple[str, str]] = ("start", "end")

    def plan_rounds(self) -> tuple[Round, ...]:
        """Return every day that is not past, in one round."""
        earliest = first_day_possible()
        days = [TripDays(day, None) for day in self.whole_calendar() if day >= earliest]
        return (tuple(days),)

    def whole_calendar(self) -> list[date]:
        """Return every day, also those that are past."""
        first = parse_day(self.start, "start")
        last = parse_day(self.end, "end")
        if last < first:
            raise InvalidInputError("the last day is before the first", field="end")
        check_days((last - first).days, "end")
        return days_between(first, last)


@dataclass(slots=True, kw_only=True)
class ConnectionRequest(TripRequest):
    """The arguments of a search of connections."""

    on: date | str
    wait: tuple[timedelta, timedelta] = (timedelta(hours=2), timedelta(hours=24))
    via: Sequence[Port | str] | None = None

    def plan_rounds(self) -> tuple[Round, ...]:
        """Return the day of the first departure."""
        return flexible_rounds(self.on, back=None, flexible=0)


@dataclass(frozen=True, slots=True)
class Query:
    """One search of one company, on one route and day, with its way back if there is one.

    Attributes:
        route: The route.
        company: The company, as the search takes it.
        day: The day of departure.
        way_back: The search of the way back alone, if this search asks for both ways; else None.
        first_day: The day of the first departure, if this search asks for a later part of a trip
            alone: travellers have their age of that day.
    """

    route: Route
    company: str
    day: date
    way_back: Query | None = None
    first_day: date | None = None

    @property
    def search(self) -> AskedSearch:
        """The search, for a report."""
        return AskedSearch(
            company=self.company,
            depart_code=self.route.depart_code,
            arrive_code=self.route.arrive_code,
            day=self.day,
        )

    def with_ports(self, sailing: Availability) -> Availability:
        """Return a sailing of the answer with its ports, which a service may leave out.

        Its journey says which way it goes.
        """
        if sailing.depart_code and sailing.arrive_code:
            return sailing
        route = self.route
        if self.way_back is not None and sailing.journey_id == self.way_back.route.journey_id:
            route = self.way_back.route
        ports = {
            "depart_code": sailing.depart_code or route.depart_code,
            "arrive_code": sailing.arrive_code or route.arrive_code,
        }
        return sailing.model_copy(update=ports)


def flexible_rounds(on: date | str, back: date | str | None, flexible: int) -> tuple[Round, ...]:
    """Return the days to ask: the day itself in a first round, then its neighbours, nearest first.

    The way back moves with the way out. Days that are over everywhere, or beyond the last date,
    are left out. For ``on`` 6 June and ``flexible`` 2, the rounds are 6 June, and then 7, 5, 8 and
    4 June.

    Raises:
        InvalidInputError: A date or `flexible` is invalid; `field` names it.
    """
    check_days(whole_number(flexible, "flexible", least=0), "flexible")
    out = parse_day(on, "on")
    return_day = None if back is None else parse_day(back, "back")
    if return_day is not None and return_day < out:
        raise InvalidInputError("the way back is before the way out", field="back")

    least_shift = first_day_possible() - out
    most_shift = date.max - (return_day or out)
    neighbours: list[TripDays] = []
    for days in range(1, flexible + 1):
        for shift in (timedelta(days), timedelta(-days)):
            if least_shift <= shift <= most_shift:
                shifted_back = None if return_day is None else return_day + shift
                neighbours.append(TripDays(out + shift, shifted_back))
    return (TripDays(out, return_day),), tuple(neighbours)


def days_between(first: date, last: date) -> list[date]:
    """Return every day from the first to the last."""
    return [first + timedelta(days) for days in range((last - first).days + 1)]


def check_days(number: int, argument: str) -> None:
    """Reject an argument that asks for too many days.

    Raises:
        InvalidInputError: There are more than `MOST_DAYS`; `field` is the argument.
    """
    if number > MOST_DAYS:
        raise InvalidInputError(f"expected at most {MOST_DAYS} days", field=argument)


def whole_number(value: object, argument: str, *, least: int) -> int:
    """Return a whole number, and reject one that is too small."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise InvalidInputError(f"expected a whole number from {least}", field=argument)
