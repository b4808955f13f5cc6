"""Price calendars: the cheapest fare of every day between two ports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from ferry_sdk.models.travellers import parse_day
from ferry_sdk.planning.results import (
    SAILING,
    SearchReport,
    count_unreadable,
    notes_of,
    unreadable_note,
)
from ferry_sdk.planning.trips import Trip

if TYPE_CHECKING:
    from ferry_sdk.notebook.frames import By, DataFrame, MoneyAs


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """The cheapest fare of one day.

    Without a fare, its values are None: nothing sails, no fare is of the wanted type, or a search
    failed, was not made or could not be read. The calendar's `report` says which.

    Attributes:
        day: The day of departure, local to the port.
        price: The amount of the cheapest fare, with the cheapest place.
        currency: ISO 4217.
        company: The company, as a search takes it.
        depart_at: The departure, with the offset of the port.
        sailings: How many sailings with a fare leave on that day.
        unreadable: How many sailings of that day could not be read. One may be cheaper.
    """

    day: date
    price: Decimal | None = None
    currency: str | None = None
    company: str | None = None
    depart_at: datetime | None = None
    sailings: int = 0
    unreadable: int = 0


class PriceCalendar(Mapping[date, CalendarDay]):
    """The cheapest fare of every day, from the first to the last: an immutable mapping.

    A day is given as a date or as YYYY-MM-DD: ``calendar["2027-12-24"]``.

    Attributes:
        report: Which companies were asked, and what became of each search.
        left_out: How many trips were found without a fare of the wanted `reservation_type`.
        route: The names of the two ports, for people.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            day = date.today() + timedelta(days=30)
            calendar = ferry.trips.calendar(
                "Tarifa",
                "MATNG",
                start=day,
                end=day + timedelta(days=2),
                passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            )
            print(calendar[day].price, calendar.cheapest and calendar.cheapest.day)
            # > 12.32 2026-06-03
            print(len(calendar.to_frame()), "days")
            # > 3 days
        ```
    """

    __slots__ = ("_days", "report", "route")

    def __init__(self, days: Iterable[CalendarDay], report: SearchReport, route: str = "") -> None:
        self._days = {day.day: day for day in days}
        self.report: SearchReport = report
        self.route: str = route

    @property
    def left_out(self) -> int:
        """How many trips were found without a fare of the wanted `reservation_type`."""
        return self.report.left_out

    @property
    def cheapest(self) -> CalendarDay | None:
        """The day with the cheapest fare, the first of several; None if no day has a fare."""
        priced = [(day.price, day.day) for day in self.values() if day.price is not None]
        if not priced:
            return None
        _, cheapest = min(priced)
        return self[cheapest]

    def to_frame(self, *, by: By = "record", money: MoneyAs = "decimal") -> DataFrame:
        """Return a pandas frame with a row for each day. Requires the extra ``notebook``.

        ``frame.attrs["unreadable"]`` is the number of records that could not be read.

        Args:
            by: The content of a row: a ``"record"``, which is a day. Days have no tariffs.
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: An option has another value, or rows of tariffs were requested.
            ModuleNotFoundError: pandas is not installed.
        """
        from ferry_sdk.notebook.frames import (  # noqa: PLC0415 -- loads pandas
            check_options,
            frame_of_columns,
        )

        check_options(by, money, has_tariffs=False)
        days = [*self.values()]
        depart_at = [day.depart_at for day in days]
        depart_local = [None if at is None else at.replace(tzinfo=None) for at in depart_at]
        return frame_of_columns(
            {
                "day": ("datetime64[s]", [day.day for day in days]),
                "price": ("money", [day.price for day in days]),
                "currency": ("string", [day.currency for day in days]),
                "company": ("string", [day.company for day in days]),
                "depart_local": ("datetime64[us]", depart_local),
                "sailings": ("int64", [day.sailings for day in days]),
                "unreadable": ("int64", [day.unreadable for day in days]),
            },
            money,
            unreadable=count_unreadable(self.report.unreadable),
        )

    def __getitem__(self, day: date | str) -> CalendarDay:
        """Return a day, given as a date or as YYYY-MM-DD.

        Raises:
            InvalidInputError: It is no day.
            KeyError: The calendar does not have the day.
        """
        return self._days[parse_day(day, "day")]

    def __iter__(self) -> Iterator[date]:
        return iter(self._days)

    def __len__(self) -> int:
        return len(self._days)

    def __repr__(self) -> str:
        no_route = SAILING.note(self.report)
        if no_route is not None:
            note = f"{no_route}{unreadable_note(self.report.unreadable)}"
        else:
            priced = sum(day.price is not None for day in self.values())
            note = f"{priced} with sailings{notes_of(self.report)}"
        route = f" {self.route}" if self.route else ""
        return f"<PriceCalendar{route}: {len(self)} days, {note}>"

    def _repr_html_(self) -> str:
        from ferry_sdk.planning.display import calendar_card  # noqa: PLC0415 -- for notebooks only

        return calendar_card(self)


def calendar_of(
    days: Iterable[date], trips: Iterable[Trip], report: SearchReport, route: str
) -> PriceCalendar:
    """Return the calendar of days, given the trips of them."""
    by_day: dict[date, list[Trip]] = defaultdict(list)
    for trip in trips:
        by_day[trip.depart_at.date()].append(trip)

    unreadable: Counter[date] = Counter()
    for answer in report.unreadable:
        if answer.search is not None:
            unreadable[answer.search.day] += len(answer.records)

    prices = [_day_of(day, by_day[day], unreadable[day]) for day in days]
    return PriceCalendar(prices, report, route)


def _day_of(day: date, trips: list[Trip], unreadable: int) -> CalendarDay:
    """Return a day of the calendar, given its trips."""
    if not trips:
        return CalendarDay(day, unreadable=unreadable)

    # One way, a fare has one tariff, whose amount is compared faster than a price.
    best = min(trips, key=lambda trip: (trip.fares[0].tariffs[0].amount, trip.depart_at))
    return CalendarDay(
        day=day,
        price=best.price,
        currency=best.currency,
        company=best.companies[0],
        depart_at=best.depart_at,
        sailings=len({trip.outward.id for trip in trips}),
        unreadable=unreadable,
    )
