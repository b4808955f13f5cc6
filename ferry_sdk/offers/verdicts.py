"""When a rule of a wish fires.

A rule has a state for each search of its wish. `judge` is a pure function of the rule, its state
and an answer: it returns the next state and, if the rule fires, the trip. For example,
``Below("90", "EUR")``:

| The cheapest trip | State after it         | Fires                                     |
|-------------------|------------------------|-------------------------------------------|
| 95 EUR            | armed, 95 EUR          | no                                        |
| 88 EUR            | not armed              | yes, the price before was 95 EUR          |
| 85 EUR            | not armed              | no                                        |
| a failed search   | not armed              | no: it is no answer, and not judged       |
| 93 TND            | not armed              | no: another currency changes nothing      |
| 92 EUR            | armed, 92 EUR          | no                                        |

An answer with records that could not be read may fire a rule, but arms none: a cheaper trip, or the
missing place, may be among these records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from ferry_sdk.offers.rules import WHOLE, Below, Drop, Opens, Rule
from ferry_sdk.planning.trips import Trip


@dataclass(frozen=True, slots=True)
class RuleState:
    """The state of a rule for one search.

    Attributes:
        is_armed: Whether it may fire. A `Drop` may if it has a price.
        price: Of a `Below` the last price above its amount, of a `Drop` the highest since it fired;
            None if there is none.
        currency: The currency of a percentage; None if no price was seen.
    """

    is_armed: bool = False
    price: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answered search shows of the trips that a wish is about.

    Attributes:
        trips: The trips by price, then departure.
        is_complete: Whether every record of the answer could be read.
    """

    trips: tuple[Trip, ...]
    is_complete: bool

    def cheapest(self, currency: str | None) -> Trip | None:
        """Return the cheapest trip in a currency; None as the currency: that of the first trip."""
        return next((trip for trip in self.trips if currency in {None, trip.currency}), None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means for a rule.

    Attributes:
        state: The next state.
        trip: The trip for which the rule fires; None: it does not.
        before: The price before, if the rule compares prices and has seen one.
    """

    state: RuleState
    trip: Trip | None = None
    before: Decimal | None = None


def first_state(rule: Rule) -> RuleState:
    """Return the state of a rule before the first answer, which only a `Below` can fire at."""
    return RuleState(is_armed=isinstance(rule, Below))


def judge(rule: Rule, state: RuleState, answer: Answer) -> Verdict:
    """Return what an answer means for a rule."""
    match rule:
        case Below():
            return _judge_below(rule, state, answer)
        case Drop():
            return _judge_drop(rule, state, answer)
        case Opens():
            return _judge_opens(rule, state, answer)


def _judge_below(rule: Below, state: RuleState, answer: Answer) -> Verdict:
    trip = answer.cheapest(rule.currency)
    if trip is None:
        return Verdict(state)
    if trip.price <= Decimal(rule.amount):
        fires = Verdict(RuleState(is_armed=False), trip, before=state.price)
        return fires if state.is_armed else Verdict(state)
    if answer.is_complete:
        return Verdict(RuleState(is_armed=True, price=trip.price))
    return Verdict(state)


def _judge_drop(rule: Drop, state: RuleState, answer: Answer) -> Verdict:
    trip = answer.cheapest(rule.currency or state.currency)
    if trip is None:
        return Verdict(state)

    highest = state.price
    seen = RuleState(price=trip.price, currency=trip.currency)
    if highest is not None and _is_reached(rule, highest, trip.price):
        after = seen if answer.is_complete else replace(seen, price=None)
        return Verdict(after, trip, before=highest)

    if answer.is_complete and (highest is None or trip.price > highest):
        return Verdict(seen)
    return Verdict(state)


def _judge_opens(rule: Opens, state: RuleState, answer: Answer) -> Verdict:
    trip = next((trip for trip in answer.trips if _is_met_by(rule, trip)), None)
    if trip is None and answer.is_complete:
        return Verdict(RuleState(is_armed=True))
    if trip is not None and state.is_armed:
        return Verdict(RuleState(is_armed=False), trip)
    return Verdict(state)


def _is_reached(rule: Drop, highest: Decimal, price: Decimal) -> bool:
    """Return whether a price is so much below the highest one."""
    drop = Fraction(highest) - Fraction(price)  # exact, which `Decimal` is not in every context
    if rule.amount is not None:
        return drop >= Fraction(rule.amount)
    return drop > 0 and drop * WHOLE >= Fraction(highest) * Fraction(rule.percent or WHOLE)


def _is_met_by(rule: Opens, trip: Trip) -> bool:
    """Return whether a trip has a place of the rule."""
    if rule.place is None:
        return True
    wanted = rule.place.casefold()
    return any(
        wanted in {place.type.casefold(), place.code.casefold()} for place in trip.outward.places
    )
