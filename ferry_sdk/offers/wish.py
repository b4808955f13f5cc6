"""Wishes: which trips to look for, and by which rules. They are stored in a journal."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from ferry_sdk._engine.validation import encodable_text
from ferry_sdk._runtime.clock import Date
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import (
    SearchPassenger,
    SearchPassengerDict,
    Traveller,
    VehicleQuery,
    VehicleQueryDict,
    elements_of,
    parse_input,
)
from ferry_sdk.models.travellers import first_day_possible, parse_day
from ferry_sdk.offers.rules import Rule
from ferry_sdk.planning.request import Round, TripDays, TripRequest, check_days, days_between
from ferry_sdk.resources import arguments
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.bodies import passengers_on
from ferry_sdk.types import WishRecord

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal
    from ferry_sdk.journal.offer_store import OfferStore

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LONGEST_KEY: Final = 200


@dataclass(slots=True, kw_only=True)
class WishRequest(TripRequest):
    """The arguments of a wish as those of a search of trips."""

    days: tuple[date, date]
    day_arguments: ClassVar[tuple[str, str]] = ("days", "days")

    def plan_rounds(self) -> tuple[Round, ...]:
        """Return every day that is not past, in one round."""
        first, last = self.days
        earliest = first_day_possible()
        days = [TripDays(day, None) for day in days_between(first, last) if day >= earliest]
        return (tuple(days),)


@dataclass(frozen=True, slots=True)
class Wish:
    """Trips to look for, one way, and the rules by which an answer is an event.

    Of travellers, a wish keeps type, gender and age on the first day, and nothing else.

    Attributes:
        origin: A port, its code, or its name in any known language.
        destination: The same for the other end.
        days: The first and the last day of departure, local to the port; dates or YYYY-MM-DD.
        passengers: The travellers, with their true ages.
        vehicle: A `VehicleQuery`, the code of one (``FIAT__500``), or a name, such as "golf".
        companies: Only these, by code or id; None: all that sail.
        depart_between: The earliest and the latest time of departure, both included, local to the
            port: times or HH:MM. None as one of them: no limit.
        reservation_type: The type of fares to look for: TICKET, PRESALE or OPTION; None: all.
        rules: The rules, at least one.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import offers

        day = date.today() + timedelta(days=30)
        wish = offers.Wish(
            "Genoa",
            "Tunis",
            days=(day, day + timedelta(days=6)),
            passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            depart_between=("18:00", None),
            rules=[offers.Below("90", "EUR"), offers.Opens("Cabin")],
        )
        print(len(wish.rules), "rules")
        # > 2 rules
        ```
    """

    origin: Port | str
    destination: Port | str
    _: KW_ONLY
    days: tuple[date | str, date | str]
    passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller] = field(repr=False)
    vehicle: VehicleQuery | VehicleQueryDict | str | None = None
    companies: Sequence[str] | None = None
    depart_between: tuple[time | str | None, time | str | None] | None = None
    reservation_type: ReservationTypeName | None = "TICKET"
    rules: Sequence[Rule]

    def __post_init__(self) -> None:
        """Validate the arguments, and keep what a search needs of them."""
        days = _days_of(self.days)
        passengers = tuple(passengers_on(days[0], self.passengers))
        request = WishRequest(
            origin=_place_of(self.origin, "origin"),
            destination=_place_of(self.destination, "destination"),
            days=days,
            passengers=passengers,
            vehicle=self.vehicle,
            companies=self.companies,
            reservation_type=self.reservation_type,
        )
        vehicle = request.vehicle
        if vehicle is not None and not isinstance(vehicle, str):
            vehicle = parse_input(VehicleQuery, vehicle, "vehicle").code
        companies = None if request.companies is None else tuple(request.companies)

        # A frozen instance is set up by `object.__setattr__`.
        normalised: dict[str, object] = {
            "origin": request.origin,
            "destination": request.destination,
            "days": days,
            "passengers": passengers,
            "vehicle": vehicle,
            "companies": companies,
            "depart_between": _times_of(self.depart_between),
            "rules": _rules_of(self.rules),
        }
        for name, value in normalised.items():
            object.__setattr__(self, name, value)

    @property
    def last_day(self) -> date:
        """The last day of departure."""
        return parse_day(self.days[1], "days")

    @property
    def selection(self) -> str:
        """What chooses the trips of an answer, as a text; a rule's state is about these trips."""
        earliest, latest = _departure_times(self)
        return f"{self.reservation_type} {earliest} {latest}"


def request_of(wish: Wish) -> WishRequest:
    """Return a wish as the arguments of a search of trips."""
    return WishRequest(
        origin=wish.origin,
        destination=wish.destination,
        days=(parse_day(wish.days[0], "days"), wish.last_day),
        passengers=wish.passengers,
        vehicle=wish.vehicle,
        companies=wish.companies,
        reservation_type=wish.reservation_type,
    )


def allows_departure(wish: Wish, departure: time) -> bool:
    """Return whether a trip of a wish may leave at a time of day, local to the port."""
    earliest, latest = _departure_times(wish)
    is_early = earliest is not None and departure < earliest
    is_late = latest is not None and departure > latest
    return not is_early and not is_late


def wish_text(wish: Wish) -> str:
    """Return a wish as JSON, of which `parse_wish` makes an equal one."""
    members: Any = {name: getattr(wish, name) for name in _StoredWish.__annotations__}
    return _stored.dump_json(members).decode()


def _departure_times(wish: Wish) -> tuple[time | None, time | None]:
    """Return the earliest and the latest time of departure."""
    return _times_of(wish.depart_between) or (None, None)


class _StoredWish(TypedDict):
    """A wish as a journal has it."""

    origin: str
    destination: str
    days: tuple[Date, Date]
    passengers: tuple[SearchPassenger, ...]
    vehicle: str | None
    companies: tuple[str, ...] | None
    depart_between: tuple[time | None, time | None] | None
    reservation_type: ReservationTypeName | None
    rules: tuple[Rule, ...]


_stored: Final = TypeAdapter(_StoredWish)


def parse_wish(key: str, text: str) -> Wish | None:
    """Return what `wish_text` was made of; None, with a warning in the log, if it is damaged."""
    try:
        return Wish(**_stored.validate_json(text))
    except ValueError:
        logger.warning("what the journal has of wish %r is damaged: it is left out", key)
        return None


def add(journal: Journal, wish: Wish, *, key: str) -> None:
    """Store a wish, so that each `watch` with the journal looks for it.

    A wish with the same key is replaced if it differs. The states of rules stay as they are where a
    search, the wanted trips and the rule are the same.

    Args:
        journal: Where to store it.
        wish: The wish.
        key: A name of your choice, such as that of the alert in your program.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
        JournalError: The change cannot be committed.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import offers
        from ferry_sdk.journal import Journal

        day = date.today() + timedelta(days=30)
        wish = offers.Wish(
            "Genoa",
            "Tunis",
            days=(day, day),
            passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            rules=[offers.Drop(percent=10)],
        )
        with Journal("sqlite:///ferry.db") as journal:
            offers.add(journal, wish, key="alert-17")
            print([*offers.wishes(journal)])
            # > ['alert-17']
        ```
    """
    if not isinstance(wish, Wish):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected a Wish", field="wish")
    record = WishRecord(key=check_key(key, "key"), content=wish_text(wish), last_day=wish.last_day)
    store_of(journal).save_wish(record)


def remove(journal: Journal, key: str) -> bool:
    """Remove a wish, and its events that were not given.

    Args:
        journal: Where it is stored.
        key: Its key.

    Returns:
        Whether there was such a wish.

    Raises:
        InvalidInputError: The key is invalid.
        JournalError: The change cannot be committed.

    Example:
        ```python
        from ferry_sdk import offers
        from ferry_sdk.journal import Journal

        with Journal("sqlite:///ferry.db") as journal:
            print(offers.remove(journal, "alert-17"))
            # > False
        ```
    """
    return store_of(journal).remove_wish(check_key(key, "key"))


def wishes(journal: Journal) -> Mapping[str, Wish]:
    """Return the wishes of a journal by their keys, also those that have ended.

    Args:
        journal: Where they are stored.

    Raises:
        InvalidInputError: The journal is none.
        JournalError: The journal cannot be read.

    Example:
        ```python
        from ferry_sdk import offers
        from ferry_sdk.journal import Journal

        with Journal("sqlite:///ferry.db") as journal:
            for key, wish in offers.wishes(journal).items():
                print(key, wish.origin, wish.destination)
        ```
    """
    stored: dict[str, Wish] = {}
    for record in store_of(journal).load_wishes():
        wish = parse_wish(record.key, record.content)
        if wish is not None:
            stored[record.key] = wish
    return MappingProxyType(stored)


def store_of(journal: object) -> OfferStore:
    """Return what a journal has of offers.

    Raises:
        InvalidInputError: It is no journal.
    """
    store: OfferStore | None = getattr(journal, "offers", None)
    if store is None:
        problem = 'expected a ferry_sdk.journal.Journal, such as Journal("sqlite:///ferry.db")'
        raise InvalidInputError(problem, field="journal")
    return store


def check_key(key: object, argument: str) -> str:
    """Return the key of a wish.

    Raises:
        InvalidInputError: It is empty, long or not printable.
    """
    if isinstance(key, str) and key.strip() and key.isprintable() and len(key) <= _LONGEST_KEY:
        return key
    problem = f"expected a text of 1 to {_LONGEST_KEY} printable characters"
    raise InvalidInputError(problem, field=argument)


def _place_of(place: object, argument: str) -> str:
    """Return the code of a port, or a text that may name one."""
    text = place.code if isinstance(place, Port) else place
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError("expected a port, its code or its name", field=argument)
    return encodable_text(text, argument)


def _days_of(days: object) -> tuple[date, date]:
    """Return the first and the last day."""
    if not isinstance(days, tuple | list) or len(days) != 2:  # pyright: ignore[reportUnknownArgumentType] -- of a caller  # noqa: PLR2004 -- a pair
        raise InvalidInputError("expected the first and the last day", field="days")
    first, last = (parse_day(day, "days") for day in cast("Sequence[object]", days))
    if last < first:
        raise InvalidInputError("the last day is before the first", field="days")
    check_days((last - first).days, "days")
    return first, last


def _times_of(times: object) -> tuple[time | None, time | None] | None:
    """Return the earliest and the latest time of departure."""
    if times is None:
        return None
    if not isinstance(times, tuple | list) or len(times) != 2:  # pyright: ignore[reportUnknownArgumentType] -- of a caller  # noqa: PLR2004 -- a pair
        problem = "expected the earliest and the latest time"
        raise InvalidInputError(problem, field="depart_between")
    earliest, latest = (_time_of(value) for value in cast("Sequence[object]", times))
    if earliest is not None and latest is not None and latest < earliest:
        raise InvalidInputError("the latest time is before the earliest", field="depart_between")
    return earliest, latest


def _time_of(value: object) -> time | None:
    """Return a time of day, or None."""
    if value is None:
        return None
    if isinstance(value, time):
        return value.replace(tzinfo=None)
    return time.fromisoformat(arguments.clock_time(value, "depart_between"))


def _rules_of(rules: object) -> tuple[Rule, ...]:
    """Return the rules, each once."""
    elements = elements_of(rules, "rules")
    for index, rule in enumerate(elements):
        if not isinstance(rule, Rule):
            raise InvalidInputError("expected Below, Drop or Opens", field=f"rules[{index}]")
    return tuple(dict.fromkeys(cast("Sequence[Rule]", elements)))
