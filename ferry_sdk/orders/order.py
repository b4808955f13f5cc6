"""Orders: several bookings as one, as users see them, and as the journal stores them.

`Order` is what users see. `OrderPlan` is what the journal stores of it, as JSON: the same parts,
and what a step has agreed and begun, so that any process can go on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ferry_sdk.errors import FerryError, JournalError
from ferry_sdk.models.sums import price_of

OrderState = Literal["held", "confirmed", "cancelled", "partial", "unknown"]
OrderKind = Literal["hold", "change"]
Role = Literal["new", "old"]
Step = Literal["hold", "confirm", "cancel", "change"]
Action = Literal["create", "confirm", "cancel"]
"""A write for a part."""


@dataclass(frozen=True, slots=True)
class OrderPart:
    """A booking of an order.

    Attributes:
        booking_id: The booking; None if none was made, or if it is not known.
        role: ``new``, or ``old`` for the booking that a change replaces.
        state: ``held``: made, not paid. ``confirmed``: paid, and not rejected. ``cancelled``:
            nothing stands, because it was cancelled, has lapsed or was not made. ``partial``: some
            of its tickets stand, or it was paid and not issued. ``unknown``: a write may have
            happened.
        total: Its price in `currency`; None if it is not known.
        currency: ISO 4217.
        expires_at: When it lapses unless it is confirmed; None if the service does not say.
        error: Why the last call for it failed; None if it did not, and in an order from the
            journal.
    """

    booking_id: str | None = None
    role: Role = "new"
    state: OrderState = "cancelled"
    total: Decimal | None = None
    currency: str | None = None
    expires_at: datetime | None = None
    error: FerryError | None = field(default=None, compare=False)

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)


@dataclass(frozen=True, slots=True)
class Order:
    """Several bookings as one.

    Attributes:
        id: Its id in the journal.
        kind: ``hold``, or ``change`` for a booking that replaces another one.
        parts: Its bookings; of a change, the new one and the old one.
        state: ``unknown`` if that of any part is. Of a hold: that of all parts, or ``partial``. Of
            a change: that of the new booking; ``confirmed`` if the old one is cancelled too, and
            ``partial`` if both stand.
        totals: What the new bookings cost that are not cancelled, by currency.
        expires_at: When the first of its bookings lapses unless it is confirmed; None without one.
    """

    id: str
    kind: OrderKind
    parts: tuple[OrderPart, ...]

    @property
    def state(self) -> OrderState:
        """The state of the whole."""
        states: set[OrderState] = {part.state for part in self.parts}
        if "unknown" in states:
            return "unknown"
        if self.kind == "change":
            new, old = self.parts
            both_stand = new.state == "confirmed" and old.state != "cancelled"
            return "partial" if both_stand else new.state
        if len(states) == 1:
            return states.pop()
        return "partial"

    @property
    def totals(self) -> Mapping[str, Decimal]:
        """What the new bookings cost that are not cancelled, by currency."""
        return sums(
            (part.currency, part.total)
            for part in self.parts
            if part.role == "new" and part.state != "cancelled"
        )

    @property
    def expires_at(self) -> datetime | None:
        """When the first of its bookings lapses unless it is confirmed."""
        moments = [part.expires_at for part in self.parts if part.state == "held"]
        return min((moment for moment in moments if moment is not None), default=None)


def sums(amounts: Iterable[tuple[str | None, Decimal | None]]) -> Mapping[str, Decimal]:
    """Return the sum of the amounts of each currency."""
    by_currency: dict[str, list[Decimal]] = {}
    for currency, amount in amounts:
        if currency is not None and amount is not None:
            by_currency.setdefault(currency, []).append(amount)
    totals = {code: price_of(addends, code) for code, addends in by_currency.items()}
    return MappingProxyType(totals)


class Price(NamedTuple):
    """An amount in a currency; the journal stores it as a list."""

    currency: str
    amount: Decimal


class Fee(NamedTuple):
    """What cancelling costs; the journal stores it as a list.

    Attributes:
        currency: ISO 4217.
        penalty: What is kept.
        refund: What is paid back.
    """

    currency: str
    penalty: Decimal
    refund: Decimal


class PendingWrite(NamedTuple):
    """A write that was begun; the journal stores it as a list.

    Attributes:
        part_index: The index of its part.
        action: What it does.
        state_before: The state of the part before it.
    """

    part_index: int
    action: Action
    state_before: OrderState


@dataclass(slots=True)
class OrderPlan:
    """What is intended with an order, and how far that got: what the journal stores of it.

    The names of the attributes are those of the stored JSON, which later versions read.

    Attributes:
        parts: The bookings.
        step: What was begun and has not ended.
        agreed: The price at which a part may be confirmed in this step, by its index.
        limits: The highest penalties of the step, by currency.
        min_refund: The lowest refunds of the step, by currency.
        cancels_all: Whether a refused confirmation cancels what is confirmed too.
        fees: The fee at which a part may be cancelled in this step, by its index.
        is_undone: Whether the step was refused, so that what it made is cancelled.
        problem: Why the last step failed, for people.
        doing: The write that was begun last; None once its outcome is part of this.
    """

    parts: list[OrderPart]
    step: Step | None = None
    agreed: dict[int, Price] = field(default_factory=dict[int, Price])
    limits: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    cancels_all: bool = False
    min_refund: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    fees: dict[int, Fee] = field(default_factory=dict[int, Fee])
    is_undone: bool = False
    problem: str | None = None
    doing: PendingWrite | None = None

    def to_text(self) -> str:
        """Return it as JSON."""
        return _stored.dump_json(self, exclude={"parts": {"__all__": {"error"}}}).decode()

    @classmethod
    def of(cls, order_id: str, text: str) -> OrderPlan:
        """Return what `to_text` was made of.

        Raises:
            JournalError: The text is damaged.
        """
        with suppress(ValidationError):
            return _stored.validate_json(text)
        raise JournalError(f"order {order_id} is damaged: look at its bookings and at the journal")


_stored: TypeAdapter[OrderPlan] = TypeAdapter(OrderPlan)
