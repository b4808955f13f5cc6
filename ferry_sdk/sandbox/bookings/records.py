"""Bookings and tickets as the interface represents them."""

from __future__ import annotations

import base64
import io
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import segno

from ferry_sdk.models.enums import ActionType, PaymentStatus, Stage, TicketDirection, TicketStatus
from ferry_sdk.models.tickets import TicketPassenger
from ferry_sdk.sandbox.bookings.bookings import Booking, payment_of, status_of
from ferry_sdk.sandbox.bookings.fees import ZERO, Fee
from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket
from ferry_sdk.sandbox.offers.fares import round_to_cents
from ferry_sdk.sandbox.requests.access import Access, CallContext
from ferry_sdk.sandbox.requests.errors import text

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.control import BookingSummary
    from ferry_sdk.sandbox.responses.fields import JsonObject

CURRENCY = "EUR"
_MANDATORY = {Stage.PAYMENT_DUE: "Pay", Stage.ISSUANCE_DUE: "Issue"}


def booking_record(booking: Booking, context: CallContext) -> JsonObject:
    """Return a booking, as the read endpoint answers it."""
    payment = payment_of(booking.tickets)
    language = context.caller.language
    return {
        **created_record(booking, context.now),
        "payment_status": payment,
        "all_tickets_paid": payment is PaymentStatus.PAID,
        "ticket_count": len(booking.tickets),
        "expire_at": _timestamp(booking.expires_at),
        "pricing": pricing_record(booking, context.caller.access, language),
        "tickets": [ticket_record(ticket, booking, context) for ticket in booking.tickets],
        "journey_details": _journey_details(booking, language),
    }


def created_record(booking: Booking, now: datetime) -> JsonObject:
    """Return a booking, as the create endpoint answers it."""
    status = status_of(booking.tickets)
    return {
        "booking_id": booking.id,
        "booking_reference": booking.reference,
        "stage": booking.stage,
        "possible_actions": possible_actions(booking, now),
        "status": "pending" if status is TicketStatus.INIT else status,
        "total_price": float(booking.total),
        "currency": CURRENCY,
    }


def summary_record(booking: Booking) -> BookingSummary:
    """Return a booking without its travellers, for the controls."""
    return {
        "booking_id": booking.id,
        "booking_reference": booking.reference,
        "account": booking.account,
        "stage": booking.stage,
        "payment_status": payment_of(booking.tickets),
        "total_price": float(booking.total),
        "currency": CURRENCY,
        "tickets": [
            {
                "id": ticket.id,
                "status": ticket.status,
                "company": leg.offer.sailing.company.code,
                "depart_code": leg.offer.sailing.journey.depart.code,
                "arrive_code": leg.offer.sailing.journey.arrive.code,
                "depart_at": leg.offer.sailing.depart_at.isoformat(),
            }
            for ticket, leg in booking.crossings
        ],
    }


def ticket_record(ticket: Ticket, booking: Booking, context: CallContext) -> JsonObject:
    """Return a ticket, as the read endpoint answers it."""
    language = context.caller.language
    number = None if ticket.status is TicketStatus.PENDING else ticket.number
    directions = "+".join(leg.offer.direction.upper() for leg in ticket.legs)
    passenger_fields = set(TicketPassenger.model_fields)
    code = booking.reference
    if ticket.status is TicketStatus.ISSUED:
        code = f"{booking.reference}/{ticket.number}"

    return {
        "id": ticket.id,
        "status": ticket.status,
        "ticket_number": number,
        "pdf_url": voucher_url(ticket, context),
        "direction": TicketDirection(directions),
        "vehicle": vehicle_of(booking, ticket),
        "passengers": [
            passenger.model_dump(mode="json", include=passenger_fields)
            for passenger in booking.passengers
        ],
        "availability": {
            leg.offer.direction.lower(): {"journey": _journey(leg, language), **_validity(leg)}
            for leg in ticket.legs
        },
        "qr_code": qr_code(code),
        "boarding_time": ticket.boards_at.isoformat(),
    }


_ROLES: dict[Access, tuple[str, Decimal]] = {
    Access.READ_WRITE: ("agency", Decimal("0.05")),
    Access.ORGANISATION: ("organisation", Decimal("0.08")),
}
"""The role of a token's owner, and their commission."""


def pricing_record(booking: Booking, access: Access, language: str) -> JsonObject | None:
    """Return the `pricing` object; None for a token without a role.

    `received` is the payments less the refunds. The commission is kept, and the rest is passed on
    to the company. `balance` is what the buyer owed at first and owes now.
    """
    if access not in _ROLES:
        return None
    role, rate = _ROLES[access]

    settlements = [each.settlement for each in booking.tickets if each.settlement is not None]
    charged = sum((ticket.charged for ticket in booking.tickets), start=ZERO)
    received = charged - sum((fee.refund for fee in settlements), start=ZERO)
    commission = round_to_cents(received * rate)

    if booking.contact is not None:
        buyer = booking.contact.name
    else:
        first = booking.passengers[0]
        buyer = f"{first.first_name} {first.last_name}"
    companies = dict.fromkeys(ticket.company.name for ticket in booking.tickets)  # in order, once
    line = {
        "key": "commission",
        "label": text("label_commission", language),
        "amount": float(commission),
    }
    return {
        "viewer_role": role,
        "currency": CURRENCY,
        "received": _amount(received, from_label=buyer, from_kind="customer"),
        "kept": {"total": float(commission), "lines": [line]},
        "reverse": _amount(received - commission, to_label=", ".join(companies), to_kind="carrier"),
        "balance": {
            "mutated": charged > ZERO,
            "before": float(booking.total),
            "after": float(booking.total - charged),
        },
    }


def _amount(amount: Decimal, **party: str) -> JsonObject:
    return {"amount": float(amount), "currency": CURRENCY, **party}


def fee_record(fee: Fee, status: TicketStatus) -> JsonObject:
    """Return a fee, as the preview endpoint answers it."""
    return {
        "penalty_amount": float(fee.penalty),
        "refund_amount": float(fee.refund),
        "currency": CURRENCY,
        "ticket_status": status,
    }


def voucher_url(ticket: Ticket, context: CallContext) -> str | None:
    """Return the URL of the voucher; None if the voucher is not available."""
    if not ticket.voucher_ready(context.now):
        return None
    return f"{context.caller.base_url}/voucher/{ticket.id}/{ticket.key}.pdf"


@lru_cache(maxsize=1024)
def qr_code(content: str) -> str:
    """Return a QR code as a PNG data URI."""
    image = io.BytesIO()
    segno.make(content, error="m", micro=False).save(image, kind="png", scale=4)
    return f"data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}"


def possible_actions(booking: Booking, now: datetime) -> JsonObject:
    """Return the actions that the stage allows, with their time limits."""
    stage = booking.stage
    actions: JsonObject = {}
    if stage in _MANDATORY:
        actions[_MANDATORY[stage]] = _action(ActionType.MANDATORY, booking.expires_at)

    failed = [ticket for ticket in booking.tickets if ticket.status is TicketStatus.FAILED]
    if failed and stage is not Stage.IN_PROGRESS:
        retry_until = min(ticket.ends_at for ticket in failed)
        if now < retry_until:
            actions["Retry"] = _action(ActionType.MANDATORY, retry_until)

    cancel_until = booking.cancellable_until
    if cancel_until is not None and now < cancel_until:
        actions["Cancel"] = _action(ActionType.OPTIONAL, cancel_until)

    if any(ticket.status is TicketStatus.ISSUED for ticket in booking.tickets):
        actions["Download"] = _action(ActionType.OPTIONAL, None)
    return actions


def _action(action_type: ActionType, limit: datetime | None) -> JsonObject:
    return {"type": action_type, "timeLimit": _timestamp(limit), "requestedItems": {}}


def _timestamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


def _journey(leg: Leg, language: str) -> JsonObject:
    sailing = leg.offer.sailing
    return {
        "depart_at": sailing.depart_at.isoformat(),
        "arrive_at": sailing.arrive_at.isoformat(),
        "depart_port_name": sailing.journey.depart.name_in(language),
        "arrive_port_name": sailing.journey.arrive.name_in(language),
        "duration_minutes": sailing.minutes,
    }


def _validity(leg: Leg) -> JsonObject:
    """Return the validity of an open crossing; nothing for a fixed one."""
    until = leg.offer.valid_until
    if until is None:
        return {}
    return {"is_open": True, "valid_until": until.isoformat(timespec="seconds")}


def _journey_details(booking: Booking, language: str) -> JsonObject:
    return {
        leg.offer.direction.lower(): {
            "ticket_id": ticket.id,
            "journey_id": leg.offer.sailing.journey.id,
            "company": leg.offer.sailing.company.name,
            "ship_name": leg.offer.sailing.ship,
            "place_name": leg.place.name_in(language),
            "depart_code": leg.offer.sailing.journey.depart.code,
            "arrive_code": leg.offer.sailing.journey.arrive.code,
            **_journey(leg, language),
            **_validity(leg),
        }
        for ticket, leg in booking.crossings
    }


def vehicle_of(booking: Booking, ticket: Ticket) -> JsonObject | None:
    """Return the vehicle of a ticket, if it has one.

    What the booking does not say of its vehicle is taken from the search.
    """
    searched = ticket.legs[0].offer.vehicle
    booked = booking.vehicle
    if searched is None or booked is None:
        return None
    return {
        "code": booked.code,
        "vehicule_code": booked.vehicule_code or searched.code,
        "brand_name": booked.brand or searched.brand,
        "model": booked.model or searched.model,
        "type": searched.type.name,
    }
