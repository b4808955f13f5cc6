"""Bookings, their possible actions, and the results of confirming and cancelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Final, NamedTuple

from pydantic import AfterValidator, Field, field_serializer

from ferry_sdk._runtime.money import exact_amount, money
from ferry_sdk.models.base import (
    Amount,
    Count,
    Currency,
    FrozenDict,
    Identifier,
    LooseMoment,
    Members,
    Model,
    Price,
    PricedModel,
)
from ferry_sdk.models.enums import ActionType, PaymentStatus, Stage
from ferry_sdk.models.sums import exact_difference
from ferry_sdk.models.tickets import CancellationFee, Ticket

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class PossibleAction(Model):
    """An action that is possible next. Interface: Booking, member possible_actions.

    Attributes:
        type: Mandatory (the primary action) or optional.
        time_limit: Deadline of the action; a text if it cannot be parsed.
        requested_items: The items that the action requires, as given by the service.
    """

    type: ActionType = ActionType("")
    time_limit: LooseMoment | None = Field(default=None, alias="timeLimit")
    requested_items: Members = Field(default_factory=FrozenDict, alias="requestedItems", repr=False)


class NextAction(NamedTuple):
    """A possible action together with its name on the wire (Pay, Issue, Cancel, …).

    Attributes:
        name: Name on the wire: Pay, Issue, Cancel, Retry or Download.
        action: Its deadline and its required items.
    """

    name: str
    action: PossibleAction

    @property
    def is_mandatory(self) -> bool:
        """Whether it is the primary action."""
        return self.action.type == ActionType.MANDATORY

    @property
    def time_limit(self) -> datetime | str | None:
        """Deadline of the action; a text if it cannot be parsed."""
        return self.action.time_limit


class WithActions(Model):
    """A record with possible actions.

    Attributes:
        possible_actions: What can be done now, by name (Pay, Issue, Cancel, Retry, Download).
    """

    possible_actions: Annotated[Mapping[str, PossibleAction], AfterValidator(FrozenDict)] = Field(
        default_factory=FrozenDict
    )

    def next_actions(self) -> tuple[NextAction, ...]:
        """Return the possible actions: mandatory ones first, then by deadline and name.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                for name, action in booking.next_actions():
                    print(name, action.type)
                    # > Pay mandatory
                    # > Cancel optional
            ```
        """

        def urgency(action: NextAction) -> tuple[bool, datetime, str]:
            deadline = action.time_limit if isinstance(action.time_limit, datetime) else _NEVER
            return not action.is_mandatory, deadline, action.name

        actions = [NextAction(name, action) for name, action in self.possible_actions.items()]
        return tuple(sorted(actions, key=urgency))


class BookingCreated(WithActions, PricedModel):
    """A booking as returned by its creation. Interface: POST /api/booking.

    Attributes:
        booking_id: The id that every later call takes.
        booking_reference: The service's reference, for people.
        stage: The state on which to decide.
        status: A tracking status; decide on `stage` and `possible_actions` instead.
        total_price: Sum over all journeys, in `currency`.
        currency: ISO 4217, upper case.
        read_back: Whether the reply failed and the booking was read back.
    """

    booking_id: Identifier
    booking_reference: str = ""
    stage: Stage
    status: str = ""
    total_price: Price
    currency: Currency
    read_back: bool = False

    def __str__(self) -> str:
        """Return the booking in a few lines; the repr has all of it."""
        return _text_of(self, [])


def _text_of(booking: BookingCreated | Booking, details: Iterable[str]) -> str:
    """Return a booking in a few lines: its state, its price, the details, and what comes next."""
    price = money(booking.total_price, booking.currency)
    lines = [
        f"Booking {booking.booking_reference}: {booking.stage}, {price}",
        f"id {booking.booking_id}",
        *details,
    ]
    for name, action in booking.next_actions():
        until = f", until {_minutes(action.time_limit)}" if action.time_limit else ""
        lines.append(f"next {name}, {action.type}{until}")
    return "\n  ".join(lines)


def _minutes(moment: datetime | str) -> str:
    return moment.isoformat(" ", "minutes") if isinstance(moment, datetime) else moment


def _lines_of(ticket: Ticket) -> Iterator[str]:
    number = ticket.ticket_number or "without a number"
    yield f"ticket {number}, {ticket.direction}, {ticket.status}, id {ticket.id}"
    for leg in (ticket.availability.outward, ticket.availability.return_):
        if leg is not None and leg.journey is not None:
            journey = leg.journey
            departure = f"{journey.depart_port_name} {_minutes(journey.depart_at)}".strip()
            arrival = f"{journey.arrive_port_name} {_minutes(journey.arrive_at)}"
            yield f"  {departure} → {arrival}".rstrip()


class Received(PricedModel):
    """Money received. Interface: Booking, pricing.received.

    Attributes:
        amount: Money received, in `currency`.
        currency: ISO 4217, upper case.
        from_label: Name of the payer.
        from_kind: Kind of payer.
    """

    amount: Amount
    currency: Currency
    from_label: str | None = Field(default=None, repr=False)
    from_kind: str | None = None


class KeptLine(Model):
    """One part of the money kept. Interface: Booking, pricing.kept.lines.

    Attributes:
        key: Name of the part, for programs.
        label: Name of the part, for people.
        amount: Money, in the currency of the pricing.
    """

    key: str = ""
    label: str = ""
    amount: Amount


class Kept(Model):
    """Money kept by the reader. Interface: Booking, pricing.kept.

    Attributes:
        total: Sum of the lines, in the currency of the pricing.
        lines: The parts.
    """

    total: Amount
    lines: tuple[KeptLine, ...] = ()


class Reverse(PricedModel):
    """Money passed on to another party. Interface: Booking, pricing.reverse.

    Attributes:
        amount: Money passed on, in `currency`.
        currency: ISO 4217, upper case.
        to_label: Name of the receiver.
        to_kind: Kind of receiver.
    """

    amount: Amount
    currency: Currency
    to_label: str | None = Field(default=None, repr=False)
    to_kind: str | None = None


class Balance(Model):
    """The reader's balance before and after. Interface: Booking, pricing.balance.

    Attributes:
        mutated: Whether the booking changed the balance.
        before: Balance before it, in the currency of the pricing.
        after: Balance after it, in the currency of the pricing.
    """

    mutated: bool = False
    before: Amount | None
    after: Amount | None


class Pricing(Model):
    """The money of a booking from the reader's viewpoint. Interface: Booking, member pricing.

    Attributes:
        viewer_role: Role of the reader, who is the token's owner.
        currency: ISO 4217, upper case.
        received: Money received; None if the reader receives none.
        kept: Money kept; None if the reader keeps none.
        reverse: Money passed on; None if there is none.
        balance: The reader's balance; None if there is none.
    """

    viewer_role: str = ""
    currency: Currency
    received: Received | None = None
    kept: Kept | None = None
    reverse: Reverse | None = None
    balance: Balance | None = None


class Booking(WithActions, PricedModel):
    """A booking with its journeys. Interface: Booking.

    Attributes:
        booking_id: The id that every call takes.
        booking_reference: The service's reference, for people.
        stage: The state on which to decide.
        status: A tracking status; decide on `stage` and `possible_actions` instead.
        payment_status: paid, partially_paid or unpaid.
        all_tickets_paid: Whether every journey is paid.
        ticket_count: Number of journeys; a round trip has one ticket or two.
        total_price: Sum over all journeys in `currency`; a round trip is counted once.
        currency: ISO 4217, upper case.
        expire_at: The earliest deadline; a text if it cannot be parsed.
        pricing: None if the token has no recognised role.
        tickets: One for each journey.
        journey_details: Not defined by the interface: plain JSON.
    """

    booking_id: Identifier
    booking_reference: str = ""
    stage: Stage
    status: str = ""
    payment_status: PaymentStatus
    all_tickets_paid: bool = False
    ticket_count: Count | None = None
    total_price: Price
    currency: Currency
    expire_at: LooseMoment | None = None
    pricing: Pricing | None = None
    tickets: tuple[Ticket, ...]
    journey_details: Members = Field(default_factory=FrozenDict, repr=False)

    def __str__(self) -> str:
        """Return the booking in a few lines, without travellers; the repr has all of it."""
        lines = [f"payment {self.payment_status}"]
        for ticket in self.tickets:
            lines += _lines_of(ticket)
        return _text_of(self, lines)


class BookingConfirmation(Model):
    """A confirmed booking. Interface: POST /api/booking/confirm.

    Attributes:
        booking_id: The booking.
        status: confirmed, as sent by the service.
        ticket_id: The first ticket; `bookings.get` lists all.
        ticket_number: The company's reference; None before the ticket is issued.
        read_back: Whether the reply was lost and the effect was confirmed by reading.
    """

    booking_id: Identifier
    status: str
    ticket_id: Identifier
    ticket_number: str | None = None
    read_back: bool = False


class BookingCancellation(Model):
    """A cancelled booking. Interface: POST /api/booking/cancel.

    Attributes:
        booking_id: The booking.
        status: cancelled, as sent by the service.
        refund_amount: In the booking's currency; None if the effect was read back, unless the
            unreadable reply named it.
        read_back: Whether the reply was lost and the effect was confirmed by reading.
        previewed: The fee that was read before cancelling; None if it was not read.
    """

    booking_id: Identifier
    status: str
    refund_amount: Amount | None
    read_back: bool = False
    previewed: CancellationFee | None = None

    @field_serializer("refund_amount", when_used="json-unless-none")
    def _write_refund(self, amount: Decimal) -> str | None:
        currency = self.previewed.currency if self.previewed else ""
        return exact_amount(amount, currency)

    @property
    def refund_shortfall(self) -> Decimal | None:
        """Previewed minus actual refund; negative if more was refunded, None if unknown."""
        if self.previewed is None or self.refund_amount is None:
            return None
        return exact_difference(self.previewed.refund_amount, self.refund_amount)
