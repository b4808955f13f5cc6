"""The history of prices and places: what searches have answered over time."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, overload

from pydantic import TypeAdapter

from ferry_sdk._runtime.clock import Date, Datetime
from ferry_sdk._runtime.values import is_a
from ferry_sdk.errors import InvalidInputError, UnknownPlaceError
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.offers.searches import Person
from ferry_sdk.offers.wish import store_of
from ferry_sdk.planning.names import PlaceIndex
from ferry_sdk.resources.arguments import ReservationTypeName

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal
    from ferry_sdk.notebook.frames import DataFrame, MoneyAs

logger: logging.Logger = logging.getLogger("ferry_sdk")


@dataclass(frozen=True, slots=True)
class StoredSailing:
    """A sailing of an answer as a journal has it: its cheapest fare of a type, and its places."""

    depart_at: Datetime
    reservation_type: ReservationTypeName | None
    price: Decimal
    currency: str
    places: dict[str, int]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as a journal has it: its search, and the sailings that were offered."""

    day: Date
    company: str
    party: tuple[Person, ...]
    vehicle: str | None
    sailings: tuple[StoredSailing, ...]

    def to_text(self) -> str:
        """Return it as JSON."""
        return _stored.dump_json(self).decode()


_stored: Final = TypeAdapter(StoredAnswer)


@dataclass(frozen=True, slots=True)
class Observation:
    """A sailing that an answered search has shown.

    Attributes:
        seen_at: When it was seen, by the service's clock, UTC.
        day: The day of the search, local to the port of departure.
        company: The company, as a search takes it.
        depart_at: The departure, with the offset of the port.
        price: The amount of the cheapest fare, with the cheapest place, for all passengers.
        currency: The currency of the price, ISO 4217.
        places: How often each type of place was offered, such as ``{"Seat": 1, "Cabin": 3}``.
        passengers: For whom the search was.
        vehicle: The vehicle of the search, as ``BRAND__MODEL``; None: none.
        reservation_type: The type of fares that the price is of; None: any.
    """

    seen_at: datetime
    day: date
    company: str
    depart_at: datetime
    price: Decimal
    currency: str
    places: Mapping[str, int] = field(hash=False)
    passengers: tuple[SearchPassenger, ...] = field(default=(), repr=False)
    vehicle: str | None = None
    reservation_type: ReservationTypeName | None = None


class PriceHistory(Sequence[Observation]):
    """What searches have shown of a route over time: an immutable sequence, oldest first.

    Searches of several parties and types of fares may be among them: compare the prices of one
    only. What was not offered is not in it, and neither is a search that failed.

    Attributes:
        route: The names of the two ports, for people.

    Example:
        ```python
        from ferry_sdk import offers
        from ferry_sdk.journal import Journal

        with Journal("sqlite:///ferry.db") as journal:
            history = offers.history(journal, "Genoa", "Tunis")
            print(len(history.to_frame()), "observations")
            # > 0 observations
        ```
    """

    __slots__ = ("_observations", "route")

    def __init__(self, observations: Iterable[Observation], route: str = "") -> None:
        self._observations = tuple(observations)
        self.route: str = route

    @overload
    def __getitem__(self, index: int) -> Observation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Observation, ...]: ...
    def __getitem__(self, index: int | slice) -> Observation | tuple[Observation, ...]:
        return self._observations[index]

    def __len__(self) -> int:
        return len(self._observations)

    def __iter__(self) -> Iterator[Observation]:
        return iter(self._observations)

    def to_frame(self, *, money: MoneyAs = "decimal") -> DataFrame:
        """Return a pandas frame with a row for each observation. Requires the extra ``notebook``.

        `places` has a column for each type of place, such as ``places_cabin``.

        Args:
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: The option has another value.
            ModuleNotFoundError: pandas is not installed.
        """
        from ferry_sdk.notebook.frames import (  # noqa: PLC0415 -- loads pandas
            check_options,
            frame_of_columns,
        )

        check_options("record", money)
        types_of_places: set[str] = set()
        for each in self:
            types_of_places.update(each.places)

        columns: dict[str, tuple[str, Sequence[object]]] = {
            "seen_at": ("datetime64[us, UTC]", [each.seen_at for each in self]),
            "day": ("datetime64[s]", [each.day for each in self]),
            "company": ("string", [each.company for each in self]),
            "depart_local": (
                "datetime64[us]",
                [each.depart_at.replace(tzinfo=None) for each in self],
            ),
            "price": ("money", [each.price for each in self]),
            "currency": ("string", [each.currency for each in self]),
            "party": ("string", [party_text(each.passengers) for each in self]),
            "vehicle": ("string", [each.vehicle for each in self]),
            "reservation_type": ("string", [each.reservation_type for each in self]),
        }
        for kind in sorted(types_of_places):
            counts = [each.places.get(kind, 0) for each in self]
            columns[f"places_{kind.lower()}"] = ("int64", counts)
        return frame_of_columns(columns, money)

    def __repr__(self) -> str:
        route = f" {self.route}" if self.route else ""
        return f"<PriceHistory{route}: {len(self)} observations>"

    def _repr_html_(self) -> str:
        from ferry_sdk.offers.display import history_card  # noqa: PLC0415 -- for notebooks only

        return history_card(self)


def history(
    journal: Journal,
    origin: Port | str,
    destination: Port | str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> PriceHistory:
    """Return what the searches of `watch` have shown between two ports.

    Args:
        journal: Where the answers are stored.
        origin: A port, its code, or its name, of a search that was made. The names are those in the
            language of the client that has watched.
        destination: The same for the other end.
        since: What was seen at this moment or later.
        until: What was seen before this moment.

    Returns:
        The observations, oldest first. Empty if no search of these ports was answered. A damaged
        answer is left out, with a warning in the log.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
        AmbiguousPlaceError: Several ports have such a name.
        JournalError: The journal cannot be read.

    Example:
        ```python
        from ferry_sdk import offers
        from ferry_sdk.journal import Journal

        with Journal("sqlite:///ferry.db") as journal:
            for each in offers.history(journal, "Genoa", "Tunis"):
                print(each.seen_at, each.company, each.price, each.currency)
        ```
    """
    store = store_of(journal)
    start = _moment(since, "since")
    end = _moment(until, "until")

    index = PlaceIndex()
    index.add_ports(
        Port(code=code, name=name, country="") for code, name in store.load_ports().items()
    )
    departure = _port_of(index, origin, "origin")
    arrival = _port_of(index, destination, "destination")
    if departure is None or arrival is None:
        return PriceHistory(())

    observations: list[Observation] = []
    for record in store.load_answers((departure.code, arrival.code), start, end):
        try:
            answer = _stored.validate_json(record.content)
        except ValueError:
            logger.warning("the answer seen at %s is damaged: it is left out", record.seen_at)
            continue
        observations += _observations_of(answer, record.seen_at)
    return PriceHistory(observations, f"{departure.name} → {arrival.name}")


def _port_of(index: PlaceIndex, place: object, argument: str) -> Port | None:
    """Return the port that a caller means; None if no search has asked for it."""
    text = place.code if isinstance(place, Port) else place
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError("expected a port, its code or its name", field=argument)
    with suppress(UnknownPlaceError):
        return index.get(text, argument)
    return None


def _moment(value: object, argument: str) -> datetime | None:
    """Return an aware moment, or None."""
    if value is None or (is_a(value, datetime) and value.utcoffset() is not None):
        return value
    raise InvalidInputError("expected a datetime with a time zone", field=argument)


def _observations_of(answer: StoredAnswer, seen_at: datetime) -> list[Observation]:
    """Return an observation for each sailing of an answer."""
    return [
        Observation(
            seen_at=seen_at,
            day=answer.day,
            company=answer.company,
            depart_at=sailing.depart_at,
            price=sailing.price,
            currency=sailing.currency,
            places=MappingProxyType(sailing.places),
            passengers=_passengers_of(answer.party),
            vehicle=answer.vehicle,
            reservation_type=sailing.reservation_type,
        )
        for sailing in answer.sailings
    ]


@lru_cache(1000)
def _passengers_of(party: tuple[Person, ...]) -> tuple[SearchPassenger, ...]:
    """Return the passengers of a search, once for all of its observations."""
    return tuple(SearchPassenger.model_validate(person._asdict()) for person in party)


def party_text(passengers: Iterable[SearchPassenger]) -> str:
    """Return a party for people, such as "Adult 34, Child 7"."""
    return ", ".join(f"{each.type.value} {each.age}" for each in passengers)
