"""The events of a watch of offers, and how a journal stores them until they were given."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from pydantic import TypeAdapter

from ferry_sdk.models.availability import Availability
from ferry_sdk.offers.rules import Below, Drop, Opens, Rule, RuleEvent
from ferry_sdk.planning.results import AskedSearch
from ferry_sdk.planning.trips import FoundSailing, Trip, one_way
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.types import OfferEventRecord

logger: logging.Logger = logging.getLogger("ferry_sdk")

OfferEventKind = Literal[RuleEvent, "ended"]

_KINDS: Final[dict[type[Rule], OfferEventKind]] = {Below: "below", Drop: "dropped", Opens: "opened"}
"""The kind of event of each rule."""


@dataclass(frozen=True, slots=True)
class OfferEvent:
    """What a wish has found, or its end.

    Attributes:
        id: The id of the event. An event that is given again has the same id.
        key: The key of the wish.
        kind: ``below``, ``dropped`` or ``opened``: the rule has fired. ``ended``: the last day of
            the wish has passed; then all fields but `id`, `key`, `kind` and `seen_at` are None.
        seen_at: When the answer was seen, by the service's clock, UTC.
        rule: The rule that has fired.
        trip: The trip: the cheapest one, or the cheapest with the place that has opened. Search
            again before you book it: its ids are valid for a time only.
        price: The price of the trip.
        currency: The currency of the price, ISO 4217.
        before: Of ``below`` the last price above the amount, of ``dropped`` the highest since the
            rule fired last; None if there is none.
    """

    id: str
    key: str
    kind: OfferEventKind
    seen_at: datetime
    rule: Rule | None = None
    trip: Trip | None = field(default=None, repr=False)
    price: Decimal | None = None
    currency: str | None = None
    before: Decimal | None = None


@dataclass(frozen=True, slots=True)
class FoundTrip:
    """A trip for which a rule fires: what a journal stores of an event.

    Attributes:
        rule: The rule.
        sailing: The sailing of the trip.
        search: The search that has shown it.
        reservation_type: The type of the trip's fares; None: all.
        before: As in the event.
    """

    rule: Rule
    sailing: Availability
    search: AskedSearch
    reservation_type: ReservationTypeName | None
    before: Decimal | None

    def to_text(self) -> str:
        """Return it as JSON."""
        return _stored.dump_json(self).decode()


_stored: Final = TypeAdapter(FoundTrip)
ENDED: Final = "ended"
"""What a journal stores of the event ``ended``."""


def event_of(record: OfferEventRecord) -> OfferEvent | None:
    """Return the event of a record; None, with a warning in the log, if it is damaged."""
    if record.content == ENDED:
        return OfferEvent(record.id, record.key, kind="ended", seen_at=record.seen_at)

    found = _found_trip(record.content)
    trip: Trip | None = None
    if found is not None:
        trip = one_way(FoundSailing(found.sailing, found.search), found.reservation_type)
    if found is None or trip is None or not trip.fares:
        logger.warning("event %s of wish %r is damaged: it is left out", record.id, record.key)
        return None

    return OfferEvent(
        id=record.id,
        key=record.key,
        kind=_KINDS[type(found.rule)],
        seen_at=record.seen_at,
        rule=found.rule,
        trip=trip,
        price=trip.price,
        currency=trip.currency,
        before=found.before,
    )


def _found_trip(text: str) -> FoundTrip | None:
    """Return what `FoundTrip.to_text` was made of; None if the text is damaged."""
    try:
        return _stored.validate_json(text)
    except ValueError:
        return None
