"""What bookings and tickets show of the assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ferry_sdk.conformance.calls import Call, Steps
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.errors import NotFoundError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import PaymentStatus, TicketStatus
from ferry_sdk.models.tickets import CancellationFee

_OFFSET: Final = re.compile(r"T.*(Z|[+-]\d\d:?\d\d)$")
_ABSENT: Final = object()
_DETAILS: Final = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
_OF_TICKETS: Final = ("times", "qr_code", "boarding_time", "traveller_details")


def read_records(findings: Findings, booking_id: str | None, ticket_id: str | None) -> Steps[None]:
    """Read a booking, a ticket, or both; without a ticket's id the booking's first ticket."""
    if booking_id is not None:
        names = ("times", "preview") if ticket_id else (*_OF_TICKETS, "preview", "voucher")
        steps = _read_booking(findings, booking_id, with_ticket=ticket_id is None)
        yield from findings.try_steps(names, steps)
    if ticket_id is not None:
        yield from findings.try_steps((*_OF_TICKETS, "voucher"), _read_ticket(findings, ticket_id))


def _read_booking(findings: Findings, booking_id: str, *, with_ticket: bool) -> Steps[None]:
    reply = yield Call("bookings.get", booking_id)
    booking, body = reply.require(), reply.body
    _see_times(findings, body)
    yield from findings.try_steps(["preview"], _preview(findings, booking))
    if with_ticket:
        ticket = body["tickets"][0]
        yield from findings.try_steps(
            (*_OF_TICKETS, "voucher"), _see_ticket(findings, ticket, booking.tickets[0].id)
        )


def _read_ticket(findings: Findings, ticket_id: str) -> Steps[None]:
    reply = yield Call("tickets.get", ticket_id)
    reply.require()
    _see_times(findings, reply.body)
    yield from _see_ticket(findings, reply.body, ticket_id)


def _see_times(findings: Findings, record: Any) -> None:  # noqa: ANN401 -- decoded JSON
    if found := [*_times(record)]:
        has_offsets = all(_OFFSET.search(time) for time in found)
        findings.seen["times"] = "with_offset" if has_offsets else "without_offset"


def _times(record: Any) -> Iterator[str]:  # noqa: ANN401 -- decoded JSON
    """Yield the times of a booking or a ticket."""
    actions: dict[str, Any] = record.get("possible_actions", {})
    yield from filter(
        None, (record.get("expire_at"), *(one["timeLimit"] for one in actions.values()))
    )
    for ticket in record.get("tickets", [record]):
        for leg in ticket["availability"].values():
            yield leg["journey"]["depart_at"]


def _preview(findings: Findings, booking: Booking) -> Steps[None]:
    statuses = {ticket.status for ticket in booking.tickets}
    if booking.payment_status != PaymentStatus.PAID or statuses != {TicketStatus.ISSUED}:
        findings.miss(["preview"], "the booking is not paid and issued")
        return
    fee: CancellationFee = (yield Call("bookings.cancel_fee", booking.booking_id)).require()
    if fee.penalty_amount + fee.refund_amount == booking.total_price:
        findings.seen["preview"] = "sum"
    else:
        findings.seen["preview"] = "another sum" if fee.penalty_amount else "refund_only"


def _see_ticket(findings: Findings, ticket: Any, ticket_id: str) -> Steps[None]:  # noqa: ANN401 -- decoded JSON
    qr_code, time = ticket.get("qr_code") or "", ticket.get("boarding_time") or ""
    findings.seen["qr_code"] = "base64" if qr_code else "absent"
    if qr_code.startswith("data:"):
        findings.seen["qr_code"] = "data_uri"
    shapes = (("absent", r""), ("moment", r"\d{4}-\d\d-\d\dT.*"), ("clock_time", r"\d\d?:\d\d"))
    found = (shape for shape, pattern in shapes if re.fullmatch(pattern, time))
    findings.seen["boarding_time"] = next(found, "another text")
    travellers = ticket["passengers"]
    values = [one.get(name, _ABSENT) for one in travellers for name in _DETAILS]
    if _ABSENT in values:
        findings.seen["traveller_details"] = "absent"
    elif None in values:
        findings.seen["traveller_details"] = "null"
    else:
        findings.miss(["traveller_details"], "the ticket has all details")
    voucher = yield Call("tickets.pdf", ticket_id)
    if isinstance(voucher.error, NotFoundError):
        findings.seen["voucher"] = "not_found"
    elif voucher.require().url is None:
        findings.seen["voucher"] = "null"
    else:
        findings.miss(["voucher"], "the ticket has its voucher")
