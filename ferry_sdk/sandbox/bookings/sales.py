"""The operations on bookings and tickets: create, confirm, read, pay and cancel."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from string import digits
from typing import TYPE_CHECKING

from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.sandbox import request_context
from ferry_sdk.sandbox.bookings.bookings import Booking, payment_of, status_of
from ferry_sdk.sandbox.bookings.disruptions import apply_disruptions
from ferry_sdk.sandbox.bookings.fees import ZERO
from ferry_sdk.sandbox.bookings.preparation import bring_to_stage, new_booking
from ferry_sdk.sandbox.bookings.records import (
    booking_record,
    created_record,
    fee_record,
    ticket_record,
    voucher_url,
)
from ferry_sdk.sandbox.bookings.selection import make_tickets, select_cheapest
from ferry_sdk.sandbox.bookings.state import SandboxState
from ferry_sdk.sandbox.bookings.state_records import dump_booking
from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket
from ferry_sdk.sandbox.bookings.vouchers import voucher
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.details import (
    FailsLater,
    OptionExpired,
    PlaceTaken,
    PriceChange,
    TicketFails,
)
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.network.seeded_random import Ids
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests import bookings as requests
from ferry_sdk.sandbox.requests.access import CallContext
from ferry_sdk.sandbox.requests.control import BookingToMake
from ferry_sdk.sandbox.requests.errors import Problem, RefusedError, conflict, invalid, not_found

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.fields import JsonObject

# No vowels and no similar characters: a reference spells no word and is easy to read.
_REFERENCE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"


@dataclass(eq=False, repr=False)
class Sales:
    """All bookings of an account; not thread-safe. They are saved in `state`, if there is one.

    Attributes:
        account: The name of the account.
        every: The bookings of all accounts of the service, oldest first.
    """

    account: str
    every: list[Booking]
    offers: Offers
    faults: Faults
    counters: Counters
    ids: Ids
    state: SandboxState | None

    def __post_init__(self) -> None:
        self._bookings: dict[str, Booking] = {}
        self._tickets: dict[str, tuple[Booking, Ticket]] = {}
        self._numbers: set[str] = set()
        self._unsaved: dict[str, Booking] = {}

    def save(self) -> None:
        """Save the bookings that were used since the last call, if there is a state file."""
        unsaved = self._unsaved
        self._unsaved = {}
        if unsaved and self.state is not None:
            records = {booking.id: dump_booking(booking) for booking in unsaved.values()}
            self.state.save_bookings(records, self.ids.used)

    def create(self, request: requests.NewBooking, context: CallContext) -> JsonObject:
        """Book the selected availabilities."""
        tickets = make_tickets(request, self.offers, self.ids, context.now)
        # The faults of a trial route are found by its journeys, so these are noted first.
        request_context.current().journeys.update(_journey_ids(tickets))
        self._check_places_of(request, tickets, context)

        if change := self.faults.take(PriceChange, context.operation):
            factor = Decimal(str(change.factor))
            addition = Decimal(str(change.amount))
            first, *others = tickets
            first.reprice(factor, addition)
            for ticket in others:
                ticket.reprice(factor, ZERO)

        booking = self._book(request, tickets)
        self.counters.effect("bookings.create", booking.id)
        return created_record(booking, context.now)

    def create_by_tool(self, request: requests.McpNewBooking, context: CallContext) -> JsonObject:
        """Book the selected availabilities, or the cheapest tariff and place of one."""
        selections = request.availabilities or [
            select_cheapest(request.id or "", request.reservation_type, self.offers)
        ]
        return self.create(request.to_rest(selections), context)

    def prepare(self, order: BookingToMake, context: CallContext) -> JsonObject:
        """Make a booking in the stage that a test needs, and return it as its reader has it.

        Raises:
            InvalidOrderError: There is no such booking.
        """
        request = new_booking(order, self.offers, context.now)
        booking = self._book(request, make_tickets(request, self.offers, self.ids, context.now))
        bring_to_stage(booking, order.stage, context.now, self._new_number)
        return booking_record(booking, context)

    def confirm(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Pay and issue the tickets that wait or have failed."""
        booking = self._booking(request.id, context)

        def can_expire(_: OptionExpired) -> bool:
            return booking.expires_at is not None

        if self.faults.take(OptionExpired, context.operation, can_expire):
            booking.expire()

        tickets = booking.issuable_tickets(context.now)
        for ticket in tickets:
            # A ticket of a presale holds no places yet, and a failed one holds them no longer.
            if not ticket.holds_place(context.now):
                self._check_free(ticket.legs, context.now)

        if failure := self.faults.take(TicketFails, context.operation):
            failing = _failing_ticket(booking, failure.index, tickets)
            failing.status = TicketStatus.FAILED
            tickets = [ticket for ticket in tickets if ticket is not failing]
        if not tickets:
            raise conflict("company_refused")
        for ticket in tickets:
            ticket.issue(context.now, self._new_number(ticket))

        first = tickets[0]
        answer = {
            "booking_id": booking.id,
            "status": "confirmed",
            "ticket_id": first.id,
            "ticket_number": first.number,
        }
        if later := self.faults.take(FailsLater, context.operation):
            failing = _failing_ticket(booking, later.index, tickets)
            failing.fail_after(context.now, timedelta(seconds=later.seconds))
        self.counters.effect("bookings.confirm", booking.id)
        return answer

    def booking(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Return a booking."""
        return booking_record(self._booking(request.id, context), context)

    def cancel_booking(self, request: requests.BookingToCancel, context: CallContext) -> JsonObject:
        """Cancel every open ticket of a booking."""
        booking = self._booking(request.booking_id, context, "booking_id")
        if request.booking_reference not in {None, booking.reference}:
            raise invalid("booking_reference", "reference_differs")

        fee = booking.cancel(context.now)
        self.counters.effect("bookings.cancel", booking.id)
        return {
            "booking_id": booking.id,
            "status": "cancelled",
            "refund_amount": float(fee.refund),
        }

    def cancellation_fee(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Return the fee of cancelling a booking or a ticket, without cancelling it."""
        if request.id in self._bookings:
            booking = self._booking(request.id, context)
            return fee_record(booking.fee(context.now), status_of(booking.tickets))
        if request.id in self._tickets:
            _, ticket = self._ticket(request.id, context)
            return fee_record(ticket.fee(context.now), ticket.status)
        raise not_found("id_unknown", "id")

    def ticket(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Return a ticket."""
        booking, ticket = self._ticket(request.id, context)
        return ticket_record(ticket, booking, context)

    def ticket_by_tool(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Return a ticket with a summary of its booking."""
        booking, ticket = self._ticket(request.id, context)
        return {
            **ticket_record(ticket, booking, context),
            "booking": {
                "booking_id": booking.id,
                "booking_reference": booking.reference,
                "stage": booking.stage,
                "payment_status": payment_of(booking.tickets),
            },
        }

    def cancel_ticket(self, request: requests.TicketToCancel, context: CallContext) -> JsonObject:
        """Cancel one ticket."""
        _, ticket = self._ticket(request.ticket_id, context, "ticket_id")
        if request.ticket_number not in {None, ticket.number}:
            raise invalid("ticket_number", "number_differs")

        ticket.cancel(context.now)
        self.counters.effect("tickets.cancel", ticket.id)
        return {"ticket_id": ticket.id, "status": "cancelled"}

    def voucher_address(self, request: requests.Identified, context: CallContext) -> JsonObject:
        """Return the URL of a ticket's voucher."""
        _, ticket = self._ticket(request.id, context)
        return {"url": voucher_url(ticket, context)}

    def mark_paid(self, request: requests.Payment, context: CallContext) -> JsonObject:
        """Record an external payment; repeating the same payment changes nothing."""
        _, ticket = self._ticket(request.id, context)
        if ticket.pay(request.external_payment_ref):
            self.counters.effect("tickets.mark_paid", ticket.id)
        return {"ticket_id": ticket.id, "payment_status": "paid"}

    def voucher_file(self, ticket_id: str, key: str, now: datetime) -> bytes | None:
        """Return a voucher as PDF; None if the key is wrong or there is no voucher (yet)."""
        if ticket_id not in self._tickets:
            return None
        booking, ticket = self._tickets[ticket_id]
        ticket.settle(now)
        is_right_key = hmac.compare_digest(key.encode(), ticket.key.encode())
        if not is_right_key or not ticket.voucher_ready(now):
            return None
        return voucher(ticket, booking)

    def _book(self, request: requests.NewBooking, tickets: tuple[Ticket, ...]) -> Booking:
        """Return a new booking of these tickets, which is on record from now on."""
        booking = Booking(
            tickets=tickets,
            passengers=tuple(sorted(request.passengers, key=lambda each: each.order or 0)),
            vehicle=request.vehicle,
            contact=request.contact,
            id=self.ids.uuid(),
            reference=self.ids.reference(_REFERENCE_LETTERS, 8),
            account=self.account,
        )
        self.add(booking)
        self._unsaved[booking.id] = booking
        return booking

    def add(self, booking: Booking) -> None:
        """Add a new booking, or one of the state file."""
        self.every.append(booking)
        self._bookings[booking.id] = booking
        for ticket in booking.tickets:
            self._tickets[ticket.id] = booking, ticket
            if ticket.number is not None:
                self._numbers.add(ticket.number)
            for leg in ticket.legs:
                self.offers.inventory.add(
                    leg.offer.sailing.id,
                    leg.place.kind.code,
                    reservation=(leg.place.units, ticket.holds_place),
                )

    def _check_places_of(
        self, request: requests.NewBooking, tickets: Sequence[Ticket], context: CallContext
    ) -> None:
        """Check the places of a new booking, which the fault `place_taken` takes away."""
        legs: list[Leg] = []
        for ticket in tickets:
            legs += ticket.legs
        place_ids = [selection.place_id for selection in request.availabilities]

        def has_crossing(details: PlaceTaken) -> bool:
            return details.index < len(legs)

        if loss := self.faults.take(PlaceTaken, context.operation, has_crossing):
            lost = legs[loss.index]
            if loss.sold_out:
                self.offers.inventory.sell_out(lost.offer.sailing.id, lost.place.kind.code)
            raise _place_taken(lost, place_ids)
        self._check_free(legs, context.now, place_ids)

    def _check_free(
        self, legs: Sequence[Leg], now: datetime, place_ids: Sequence[str] | None = None
    ) -> None:
        """Raise an error if a place has been taken since the search.

        Args:
            legs: The crossings.
            now: The time.
            place_ids: The selected places in the order of the request, so that the error names
                one; None if the request selects none.
        """
        for leg in legs:
            if not self.offers.is_free(leg.offer.sailing, leg.place, now):
                raise _place_taken(leg, place_ids)

    def _booking(self, booking_id: str, context: CallContext, path: str = "id") -> Booking:
        booking = self._bookings.get(booking_id)
        if booking is None:
            raise not_found("booking_unknown", path)
        self._update(booking, context)
        return booking

    def _ticket(
        self, ticket_id: str, context: CallContext, path: str = "id"
    ) -> tuple[Booking, Ticket]:
        if ticket_id not in self._tickets:
            raise not_found("ticket_unknown", path)
        booking, ticket = self._tickets[ticket_id]
        self._update(booking, context)
        return booking, ticket

    def _update(self, booking: Booking, context: CallContext) -> None:
        """Apply what has happened to a booking since its last use."""
        self._unsaved[booking.id] = booking
        request_context.current().journeys.update(_journey_ids(booking.tickets))
        booking.settle(context.now)
        apply_disruptions(booking, self.faults, context)

    def _new_number(self, ticket: Ticket) -> str:
        while True:
            number = f"{ticket.company.code[:3]}{self.ids.reference(digits, 9)}"
            if number not in self._numbers:
                self._numbers.add(number)
                return number


def _failing_ticket(booking: Booking, index: int, tickets: Sequence[Ticket]) -> Ticket:
    """Return the ticket of a confirmation that a fault lets fail.

    Args:
        booking: The booking.
        index: The index among all tickets of the booking; -1 is the last.
        tickets: The tickets that are confirmed now. If the indexed one is not among them, the last
            of these fails.
    """
    if index < len(booking.tickets):
        ticket = booking.tickets[index]
        if ticket in tickets:
            return ticket
    return tickets[-1]


def _place_taken(leg: Leg, place_ids: Sequence[str] | None) -> RefusedError:
    path = None
    if place_ids:
        path = f"availabilities[{place_ids.index(leg.place.id)}].place_id"
    return RefusedError(409, Problem("place_taken", path))


def _journey_ids(tickets: Sequence[Ticket]) -> set[str]:
    journey_ids: set[str] = set()
    for ticket in tickets:
        journey_ids.update(leg.offer.sailing.journey.id for leg in ticket.legs)
    return journey_ids
