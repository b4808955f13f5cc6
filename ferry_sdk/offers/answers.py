"""What an answered search means for the wishes that need it.

`SeenAnswer.judge` is given each wish with the states of its rules, as a journal has them. It takes
the trips that the wish is about, and judges every rule. The result is what the journal saves in one
transaction: the answer for the history, the new states, and the events.

A state holds as long as the wish wants the same trips: a `Drop` of fares in the evening has seen no
price of the morning. So the states are stored with the wish's `selection`, and begin anew if that
has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from secrets import token_hex
from typing import Final

from pydantic import TypeAdapter

from ferry_sdk.models.availability import Availability
from ferry_sdk.offers.events import FoundTrip
from ferry_sdk.offers.price_history import StoredAnswer, StoredSailing
from ferry_sdk.offers.rules import Rule
from ferry_sdk.offers.searches import WishSearch
from ferry_sdk.offers.verdicts import Answer, RuleState, first_state, judge
from ferry_sdk.offers.wish import Wish, allows_departure, parse_wish
from ferry_sdk.planning.trips import FoundSailing, Trip, one_way
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.types import AnswerRecord, Judgement, OfferEventRecord, WishState

_KEPT_WISHES: Final = 20_000
"""Wishes that are kept parsed: several answers of each are judged one after the other."""

_parse_wish: Final = lru_cache(_KEPT_WISHES)(parse_wish)


@dataclass(frozen=True, slots=True)
class RuleStates:
    """The states of the rules of a wish for one search.

    Attributes:
        selection: Which trips the wish was about.
        states: The rules with their states.
    """

    selection: str
    states: tuple[tuple[Rule, RuleState], ...]


_stored: Final = TypeAdapter(RuleStates)


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer of a search.

    Attributes:
        search: The search.
        sailings: The sailings that could be read.
        seen_at: When it was seen, by the service's clock, UTC.
        is_complete: Whether every record of it could be read.
    """

    search: WishSearch
    sailings: Sequence[Availability]
    seen_at: datetime
    is_complete: bool

    def judge(self, wishes: Sequence[WishState]) -> Judgement:
        """Return what the answer means for these wishes."""
        states: dict[str, str] = {}
        events: list[OfferEventRecord] = []
        trips: dict[ReservationTypeName | None, list[Trip]] = {}
        for stored in wishes:
            wish = _parse_wish(stored.key, stored.wish)
            if wish is None:
                continue
            kind = wish.reservation_type
            if kind not in trips:
                trips[kind] = self._trips(kind)  # once for all wishes of this kind

            found, text = self._judge_wish(wish, trips[kind], stored.states)
            if text != stored.states:
                states[stored.key] = text
            for trip in found:
                event_id = token_hex(16)
                content = trip.to_text()
                event = OfferEventRecord(event_id, stored.key, content, seen_at=self.seen_at)
                events.append(event)
        return Judgement(self._record(trips), states, tuple(events))

    def _trips(self, kind: ReservationTypeName | None) -> list[Trip]:
        """Return the trips with fares of a type, by price, then departure."""
        search = self.search.asked
        trips: list[Trip] = []
        for sailing in self.sailings:
            trip = one_way(FoundSailing(sailing, search), kind)
            if trip is not None and trip.fares:
                trips.append(trip)
        return sorted(trips, key=lambda trip: (trip.price, trip.depart_at))

    def _judge_wish(
        self, wish: Wish, trips: Sequence[Trip], text: str | None
    ) -> tuple[list[FoundTrip], str]:
        """Return the trips for which the rules of a wish fire, and the new states."""
        wanted = tuple(trip for trip in trips if allows_departure(wish, trip.depart_at.time()))
        answer = Answer(wanted, is_complete=self.is_complete)
        before = _states_of(wish, text)

        found: list[FoundTrip] = []
        after: list[tuple[Rule, RuleState]] = []
        for rule in wish.rules:
            verdict = judge(rule, before.get(rule) or first_state(rule), answer)
            after.append((rule, verdict.state))
            if verdict.trip is not None:
                found.append(
                    FoundTrip(
                        rule=rule,
                        sailing=verdict.trip.outward,
                        search=self.search.asked,
                        reservation_type=wish.reservation_type,
                        before=verdict.before,
                    )
                )
        states = RuleStates(wish.selection, tuple(after))
        return found, _stored.dump_json(states).decode()

    def _record(self, trips: dict[ReservationTypeName | None, list[Trip]]) -> AnswerRecord:
        """Return the answer for the history."""
        sailings: list[StoredSailing] = []
        for kind, trips_of_kind in trips.items():
            for trip in trips_of_kind:
                places = Counter(str(place.type) for place in trip.outward.places)
                sailings.append(
                    StoredSailing(
                        depart_at=trip.depart_at,
                        reservation_type=kind,
                        price=trip.price,
                        currency=trip.currency,
                        places=dict(places),
                    )
                )

        search = self.search
        answer = StoredAnswer(
            day=search.day,
            company=search.company,
            party=search.party,
            vehicle=search.vehicle,
            sailings=tuple(sailings),
        )
        return AnswerRecord(
            depart_code=search.depart_code,
            arrive_code=search.arrive_code,
            seen_at=self.seen_at,
            content=answer.to_text(),
        )


def _states_of(wish: Wish, text: str | None) -> dict[Rule, RuleState]:
    """Return the states of rules; none before the first answer, or if they are of other trips."""
    if text is None:
        return {}
    try:
        stored = _stored.validate_json(text)
    except ValueError:  # damaged: the rules begin anew
        return {}
    return dict(stored.states) if stored.selection == wish.selection else {}
