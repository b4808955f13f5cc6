"""The fields of each record in its short view, in their order.

A short view has no data of a traveller: no field that the repr of a record hides is in a row. A
record of a catalogue has no such data, and without a row it is shown whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ferry_sdk.models.availability import Availability, Place, Provider, SailingCompany, Tariff
from ferry_sdk.models.base import Model
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
)
from ferry_sdk.models.catalogue import Company, Port
from ferry_sdk.models.tickets import (
    CancellationFee,
    Ticket,
    TicketCancellation,
    TicketJourney,
    TicketJourneys,
    TicketLeg,
    Voucher,
)

SHORT: Final[Mapping[type[Model], Sequence[str]]] = {
    Availability: (
        "id",
        "direction",
        "depart_code",
        "arrive_code",
        "depart_at",
        "arrive_at",
        "is_open",
        "company",
        "provider",
        "ship_name",
        "tariffs",
        "places",
    ),
    SailingCompany: ("id", "name"),
    Provider: ("id",),
    Tariff: ("id", "type", "amount", "currency", "expiration_date", "roundtrip_locked"),
    Place: ("id", "name", "type", "capacity", "count"),
    BookingCreated: (
        "booking_id",
        "booking_reference",
        "stage",
        "total_price",
        "currency",
        "next_actions",
        "read_back",
    ),
    Booking: (
        "booking_id",
        "booking_reference",
        "stage",
        "payment_status",
        "total_price",
        "currency",
        "expire_at",
        "next_actions",
        "tickets",
    ),
    BookingConfirmation: ("booking_id", "status", "ticket_id", "ticket_number", "read_back"),
    BookingCancellation: ("booking_id", "status", "refund_amount", "read_back", "previewed"),
    Ticket: ("id", "status", "ticket_number", "direction", "availability", "boarding_time"),
    TicketJourneys: ("outward", "return_"),
    TicketLeg: ("journey",),
    TicketJourney: ("depart_at", "arrive_at", "depart_port_name", "arrive_port_name"),
    TicketCancellation: ("ticket_id", "status", "read_back", "previewed"),
    CancellationFee: ("penalty_amount", "refund_amount", "currency", "ticket_status"),
    Voucher: ("url",),
    Port: ("code", "name", "country"),
    Company: ("id", "code", "name"),
}
"""The names of fields; `next_actions` is the method of that name."""
