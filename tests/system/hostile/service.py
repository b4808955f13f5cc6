"""A small service that keeps bookings and counts what was done to them."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.support import samples
from tests.system.effects.judging import ADDRESSES
from tests.system.effects.schedules import EFFECTS

_BY_ADDRESS = {
    **ADDRESSES,
    ("POST", "/api/booking/cancel-fee"): "bookings.cancel_fee",
    ("POST", "/api/availability"): "availability.search",
    ("GET", "/api/port"): "catalogue.ports",
}
_CREATED = {"bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel"}
_PORTS = [{"code": "FRMRS", "name": "Marseille", "country": "France"}]
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """What a request asks for."""

    operation: str
    subject: str = ""
    document: str = ""
    message_id: Any = None

    @property
    def effect(self):
        """What it does, by the name of the operation of REST; None for a read."""
        return EFFECTS.get(self.operation)

    @property
    def is_mcp(self):
        return self.operation.startswith("mcp.")


def parse_call(method, path, body):
    if path == "/mcp":
        return _parse_mcp_call(body)
    parts = path.split("/")
    if path.endswith("/mark-paid"):
        return ServiceCall("tickets.mark_paid", parts[3])
    if method == "GET" and len(parts) == 4:
        return ServiceCall("bookings.get" if parts[2] == "booking" else "tickets.get", parts[3])
    return _call_on(_BY_ADDRESS[method, path], _members(body))


def _parse_mcp_call(body):
    message = _members(body)
    params = message.get("params", {})
    if not message:
        return ServiceCall("mcp.?")
    if message["method"] != "tools/call":
        return ServiceCall(f"mcp.{message['method']}", message_id=message.get("id"))
    return _call_on(f"mcp.{params['name']}", params["arguments"], message["id"])


def _call_on(operation, arguments, message_id=None):
    subject = arguments.get("booking_id") or arguments.get("ticket_id") or arguments.get("id", "")
    travellers = arguments.get("passengers") or [{}]
    return ServiceCall(operation, subject, travellers[0].get("doc_number", ""), message_id)


def _members(body):
    with suppress(ValueError):
        value = json.loads(body)
        return value if isinstance(value, dict) else {}
    return {}


@dataclass(slots=True)
class Booking:
    """A booking of one ticket."""

    booking_id: str
    ticket_id: str
    stage: str = "payment_due"
    status: str = "Blocked"
    payment: str = "unpaid"


@dataclass(frozen=True, slots=True)
class Effect:
    intent: tuple[str, str]
    booking_id: str
    correlation_id: str


class Service:
    def __init__(self):
        self.effects = []
        self._bookings = {}
        self._lock = threading.Lock()

    def book(self, *, is_confirmed):
        """A new booking, which counts as no effect."""
        number = next(_numbers)
        booking = Booking(f"bo-{number}", f"ti-{number}")
        if is_confirmed:
            booking.stage, booking.status, booking.payment = "ticketed", "Issued", "paid"
        self._bookings[booking.booking_id] = self._bookings[booking.ticket_id] = booking
        return booking

    def perform(self, request, correlation_id):
        with self._lock:
            booking = self._bookings.get(request.subject) or self.book(is_confirmed=False)
            match request.effect:
                case "bookings.confirm":
                    booking.stage, booking.status, booking.payment = "ticketed", "Issued", "paid"
                case "bookings.cancel" | "tickets.cancel":
                    booking.stage, booking.status = "voided", "Canceled"
                case "tickets.mark_paid":
                    booking.payment = "paid"
                case "bookings.create":
                    self._bookings[request.document] = booking
            intent = (request.effect or "", request.subject or request.document)
            self.effects.append(Effect(intent, booking.booking_id, correlation_id))

    def answer(self, request, booking=None):
        """Status and content of the reply that says that it is done."""
        name = request.effect or request.operation
        about = booking or self._bookings.get(request.subject or request.document)
        status = 201 if name in _CREATED else 200
        return status, _content(name, about or self.book(is_confirmed=False))


def _content(operation, it):
    ids = {"booking_id": it.booking_id, "booking_reference": f"R{it.booking_id}"}
    ticket = {**samples.TICKET, "id": it.ticket_id, "status": it.status}
    named = {"booking_id": it.booking_id, "ticket_id": it.ticket_id}
    stands = {"stage": it.stage, "payment_status": it.payment, "tickets": [ticket]}
    contents = {
        "bookings.create": {**samples.BOOKING_CREATED, **ids},
        "bookings.confirm": {**samples.BOOKING_CONFIRMATION, **named},
        "bookings.cancel": {**samples.BOOKING_CANCELLATION, "booking_id": it.booking_id},
        "bookings.cancel_fee": samples.CANCELLATION_FEE,
        "tickets.cancel": {"ticket_id": it.ticket_id, "status": "cancelled"},
        "tickets.mark_paid": {"ticket_id": it.ticket_id, "payment_status": "paid"},
        "bookings.get": {**samples.BOOKING, **ids, **stands},
        "tickets.get": ticket,
        "mcp.view_ticket": ticket,
        "availability.search": [samples.AVAILABILITY],
        "catalogue.ports": {"ports": _PORTS},
    }
    return contents.get(operation, _PORTS)
