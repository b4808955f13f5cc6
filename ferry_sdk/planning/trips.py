"""Trips: sailings out and back, with the fares that can be booked for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Place, Tariff
from ferry_sdk.models.inputs import Selection
from ferry_sdk.models.sums import price_of
from ferry_sdk.planning.results import (
    SAILING,
    AskedSearch,
    SearchReport,
    SearchResult,
    count_unreadable,
)
from ferry_sdk.resources.arguments import ReservationTypeName

if TYPE_CHECKING:
    from ferry_sdk.notebook.frames import By, DataFrame, MoneyAs

FareKind = Literal["single", "round_trip", "two_singles"]


@dataclass(frozen=True, slots=True, repr=False)
class Fare:
    """One price of a trip, as a tariff for each way.

    Attributes:
        kind: "single"; with a way back "round_trip" where a tariff is locked to the round trip
            with one company, else "two_singles", of one company or two.
        tariffs: The tariff of each way, outward first, of one type; a presale is booked as one.
        amount: The sum of the tariffs. It is the price with the cheapest place: a cabin costs
            more, and how much is known when the booking is made.
        currency: ISO 4217.
        expires_at: When the first of the tariffs expires, UTC; None if no tariff says it.
        reservation_type: TICKET, PRESALE or OPTION, as `bookings.create` takes it.
    """

    kind: FareKind
    tariffs: tuple[Tariff, ...]

    @property
    def amount(self) -> Decimal:
        """The sum of the tariffs, with the decimals of the currency."""
        return price_of((tariff.amount for tariff in self.tariffs), self.currency)

    @property
    def currency(self) -> str:
        """The currency of all tariffs, ISO 4217."""
        return self.tariffs[0].currency

    @property
    def expires_at(self) -> datetime | None:
        """When the first of the tariffs expires, UTC; None if no tariff says it."""
        dates = (tariff.expiration_date for tariff in self.tariffs)
        return min((date for date in dates if isinstance(date, datetime)), default=None)

    @property
    def reservation_type(self) -> str:
        """TICKET, PRESALE or OPTION, as `bookings.create` takes it."""
        return self.tariffs[0].type.upper()

    def __repr__(self) -> str:
        text = f"{self.tariffs[0].type}, {self.kind}, {money(self.amount, self.currency)}"
        if len(self.tariffs) > 1:
            parts = [format_amount(tariff.amount, tariff.currency) for tariff in self.tariffs]
            text += f" ({' + '.join(parts)})"
        if self.expires_at:
            text += f", until {self.expires_at:%Y-%m-%d %H:%M %Z}"
        return f"<Fare: {text}>"


@dataclass(frozen=True, slots=True, repr=False)
class Trip:
    """A sailing, or a sailing out and one back, with the fares that can be booked.

    The price is that of the cheapest fare with the cheapest place. A cabin or another place may
    cost more: how much is known when the booking is made, so compare its `total_price` before
    you confirm it.

    Attributes:
        outward: The sailing out.
        back: The sailing back; None on a one-way trip.
        fares: The fares, cheapest first.
        companies: The companies, each once, outward first, as a search takes them.
    """

    outward: Availability
    back: Availability | None
    fares: tuple[Fare, ...]
    companies: tuple[str, ...]

    @property
    def outward_company(self) -> str:
        """The code of the company of the way out, as a search takes it."""
        return self.companies[0]

    @property
    def back_company(self) -> str | None:
        """The code of the company of the way back; None on a one-way trip."""
        return None if self.back is None else self.companies[-1]

    @property
    def price(self) -> Decimal:
        """The amount of the cheapest fare, with the cheapest place."""
        return self.fares[0].amount

    @property
    def currency(self) -> str:
        """The currency of the cheapest fare, ISO 4217."""
        return self.fares[0].currency

    @property
    def depart_at(self) -> datetime:
        """The departure of the way out, with the offset of the port."""
        return self.outward.depart_at

    @property
    def arrive_at(self) -> datetime:
        """The arrival of the way out, with the offset of the port."""
        return self.outward.arrive_at

    @property
    def travel_time(self) -> timedelta:
        """The time from departure to arrival of the way out."""
        return self.outward.travel_time

    def __repr__(self) -> str:
        ways = [
            f"{way.depart_code}-{way.arrive_code} {way.depart_at:%Y-%m-%d %H:%M}"
            for way in ways_of(self)
        ]
        companies = ", ".join(self.companies)
        price = money(self.price, self.currency)
        return f"<Trip: {', back '.join(ways)}, {companies}, from {price}>"

    def _repr_html_(self) -> str:
        from ferry_sdk.planning.display import trip_card  # noqa: PLC0415 -- for notebooks only

        return trip_card(self)

    def select(
        self,
        fare: Fare | None = None,
        places: Sequence[Place | str] | None = None,
    ) -> tuple[Selection, ...]:
        """Return the selections that book this trip.

        Args:
            fare: One of `fares`; None: the cheapest.
            places: A place, or its id, for each way; None: the first place of each.

        Returns:
            What `bookings.create` takes as ``availabilities``.

        Raises:
            InvalidInputError: The fare is not one of `fares`, or the places do not match the
                ways.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                trips = ferry.trips.search(
                    "Tarifa",
                    "MATNG",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                trip = trips[0]
                booking = ferry.bookings.create(
                    availabilities=trip.select(trip.fares[0], places=[trip.outward.places[0]]),
                    passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
                )
                print(booking.total_price == trip.price)
                # > True
            ```
        """
        chosen = self.fares[0] if fare is None else fare
        if chosen not in self.fares:
            raise InvalidInputError("not one of this trip's fares", field="fare")

        ways = ways_of(self)
        if places is None:
            places = [way.places[0] for way in ways]
        elif isinstance(places, str | Place):
            places = (places,)
        if len(places) != len(ways):
            raise InvalidInputError(f"expected {len(ways)}, one for each way", field="places")

        chosen_ways = zip(ways, chosen.tariffs, places, strict=True)
        return tuple(way.select(tariff=tariff, place=place) for way, tariff, place in chosen_ways)


def ways_of(trip: Trip) -> list[Availability]:
    """Return the sailing out, and the one back if there is one."""
    return [way for way in (trip.outward, trip.back) if way is not None]


@dataclass(frozen=True, slots=True)
class FoundSailing:
    """A sailing that a search has found, with the search."""

    sailing: Availability
    search: AskedSearch


def one_way(found: FoundSailing, kind: ReservationTypeName | None = None) -> Trip | None:
    """Return the trip of one sailing; None if no fare of it is valid one way.

    Args:
        found: The sailing.
        kind: The type of the trip's fares, of which it may have none; None: all.
    """
    sailing = found.sailing
    tariffs = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
    if not tariffs or not sailing.places:
        return None

    wanted = [tariff for tariff in tariffs if kind is None or tariff.type.upper() == kind]
    wanted.sort(key=attrgetter("amount"))  # the amount of a fare takes longer to read
    fares = tuple(Fare("single", (tariff,)) for tariff in wanted)
    return Trip(outward=sailing, back=None, fares=fares, companies=(found.search.company,))


def round_trip(
    out: FoundSailing, back: FoundSailing, kind: ReservationTypeName | None = None
) -> Trip | None:
    """Return the trip of two sailings; None if they cannot be combined.

    A locked tariff requires that one search has found both, with one company.

    Args:
        out: The sailing out.
        back: The sailing back.
        kind: The type of the trip's fares, of which it may have none; None: all.
    """
    way_out = out.sailing
    way_back = back.sailing
    if way_back.depart_at < way_out.arrive_at or not (way_out.places and way_back.places):
        return None

    are_together = out.search is back.search and way_out.company.id == way_back.company.id
    fares: list[Fare] = []
    for tariff_out, tariff_back in product(way_out.tariffs, way_back.tariffs):
        # One booking has one kind of reservation, and one currency.
        if tariff_out.type != tariff_back.type or tariff_out.currency != tariff_back.currency:
            continue
        is_locked = tariff_out.roundtrip_locked or tariff_back.roundtrip_locked
        if are_together or not is_locked:
            fare_kind: FareKind = "round_trip" if is_locked else "two_singles"
            fares.append(Fare(fare_kind, (tariff_out, tariff_back)))
    if not fares:
        return None

    companies = dict.fromkeys((out.search.company, back.search.company))
    return Trip(
        outward=way_out,
        back=way_back,
        fares=_of_type(kind, fares),
        companies=tuple(companies),
    )


def _of_type(kind: ReservationTypeName | None, fares: Iterable[Fare]) -> tuple[Fare, ...]:
    """Return the fares of a type, or all, cheapest first."""
    wanted = (fare for fare in fares if kind is None or fare.reservation_type == kind)
    return tuple(sorted(wanted, key=lambda fare: fare.amount))


class TripSearch(SearchResult[Trip]):
    """The trips that a search has found: an immutable sequence by price, then departure.

    Attributes:
        report: Which companies were asked, and what became of each search.
        left_out: How many trips were found without a fare of the wanted `reservation_type`.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            trips = ferry.trips.search(
                "Tarifa",
                "MATNG",
                on=date.today() + timedelta(days=30),
                passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                reservation_type=None,
            )
            tickets = trips.filter(reservation_type="TICKET")
            first = tickets.best(by="arrival")
            print(first and first.arrive_at)
            # > 2026-06-03 07:00:00+01:00
            print(len(tickets.to_frame()) == len(tickets))
            # > True
        ```
    """

    __slots__ = ()
    _KIND = "trips"
    _ROUTE_NOTES = SAILING

    def __init__(self, trips: Iterable[Trip], report: SearchReport) -> None:
        super().__init__(sorted(trips, key=lambda trip: (trip.price, trip.depart_at)), report)

    def filter(self, *, reservation_type: ReservationTypeName) -> TripSearch:
        """Return the trips with their fares of one type only, again by price, then departure.

        Args:
            reservation_type: TICKET, PRESALE or OPTION.

        Raises:
            InvalidInputError: It is none of these.
        """
        if reservation_type not in get_args(ReservationTypeName):
            raise InvalidInputError("expected TICKET, PRESALE or OPTION", field="reservation_type")
        filtered = (replace(trip, fares=_of_type(reservation_type, trip.fares)) for trip in self)
        trips = [trip for trip in filtered if trip.fares]
        left_out = self.left_out + len(self) - len(trips)
        return TripSearch(trips, replace(self.report, left_out=left_out))

    def best(self, by: Literal["price", "arrival", "duration"] = "price") -> Trip | None:
        """Return the cheapest, earliest or fastest trip; None if there is none.

        Args:
            by: "price", "arrival" (the earliest) or "duration" (the shortest way out).

        Raises:
            InvalidInputError: It is none of these.
        """
        orders = {"price": "price", "arrival": "arrive_at", "duration": "travel_time"}
        if by not in orders:
            raise InvalidInputError("expected price, arrival or duration", field="by")
        return min(self, key=attrgetter(orders[by]), default=None)

    def to_frame(self, *, by: By = "record", money: MoneyAs = "decimal") -> DataFrame:
        """Return a pandas frame with a row for each trip. Requires the extra ``notebook``.

        ``frame.attrs["unreadable"]`` is the number of records that could not be read.

        Args:
            by: The content of a row: a ``"record"``, which is a trip, or a ``"tariff"``, which is
                a fare of a trip.
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: An option has another value.
            ModuleNotFoundError: pandas is not installed.
        """
        from ferry_sdk.notebook.frames import (  # noqa: PLC0415 -- loads pandas
            check_options,
            frame_of_columns,
        )

        check_options(by, money)

        trips: Sequence[Trip] = self
        columns_of_fares: dict[str, tuple[str, list[Any]]] = {}
        if by == "tariff":
            trips = []
            fares: list[Fare] = []
            for trip in self:
                trips += [trip] * len(trip.fares)
                fares += trip.fares
            columns_of_fares = {
                "tariff_kind": ("string", [fare.kind for fare in fares]),
                "tariff_type": ("string", [str(fare.tariffs[0].type) for fare in fares]),
                "tariff_amount": ("money", [fare.amount for fare in fares]),
                "tariff_currency": ("string", [fare.currency for fare in fares]),
            }

        back_at = [None if trip.back is None else trip.back.depart_at for trip in trips]
        return frame_of_columns(
            {
                "depart_local": _local_column(trip.depart_at for trip in trips),
                "arrive_local": _local_column(trip.arrive_at for trip in trips),
                "travel_time": ("timedelta64[us]", [trip.travel_time for trip in trips]),
                "back_local": _local_column(back_at),
                "companies": ("string", [", ".join(trip.companies) for trip in trips]),
                "price": ("money", [trip.price for trip in trips]),
                "currency": ("string", [trip.currency for trip in trips]),
                **columns_of_fares,
            },
            money,
            unreadable=count_unreadable(self.report.unreadable),
        )

    def _repr_html_(self) -> str:
        from ferry_sdk.planning.display import trips_table  # noqa: PLC0415 -- for notebooks only

        return trips_table(self, self.report)


def _local_column(moments: Iterable[datetime | None]) -> tuple[str, list[datetime | None]]:
    """Return a column of moments in the time of their port, without its offset."""
    clocks = [None if moment is None else moment.replace(tzinfo=None) for moment in moments]
    return "datetime64[us]", clocks
