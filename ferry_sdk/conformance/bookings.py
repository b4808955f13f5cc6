"""Probes of the assumptions by bookings and tickets, and the booking that is made for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ferry_sdk._engine.effects import Flow
from ferry_sdk.conformance.findings import Findings, NotSeenError, describe
from ferry_sdk.conformance.probes import ADULT
from ferry_sdk.conformance.shapes import is_object
from ferry_sdk.errors import AlreadyDoneError, FerryError, NotFoundError, OutcomeUnknownError
from ferry_sdk.models.availability import Availability, Place, Tariff
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import PaymentStatus, PlaceType, TariffType, TicketStatus
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.planning.results import describe_unreadable

_OFFSET: Final = re.compile(r"T[^T]*(Z|[+-]\d\d:?\d\d)$")
_ABSENT: Final = object()
_DETAILS: Final = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
BY_WRITES: Final = ("place_price", "created_status", "created_stage", "cancelled_status")
"""The assumptions that a booking shows when it is made and cancelled."""
_RANKS: Final = {PlaceType.CABIN: 1, PlaceType.SUITE: 2}
_STATUSES: Final = frozenset(status.value.lower() for status in TicketStatus)
_TRAVELLER: Final = {**ADULT, "first_name": "Conformance", "last_name": "Check"}
_BY_TICKETS: Final = ("times", "qr_code", "boarding_time", "traveller_details", "voucher")
"""The assumptions that a ticket shows."""


def read_records(findings: Findings, booking_id: str | None, ticket_id: str | None) -> Flow[None]:
    """Read a booking, a ticket, or both; without a ticket's id the booking's first ticket."""
    if booking_id is not None:
        steps = _read_booking(findings, booking_id, with_ticket=ticket_id is None)
        yield from findings.try_steps((*_BY_TICKETS, "preview"), steps)
    if ticket_id is not None:
        yield from findings.try_steps(_BY_TICKETS, _read_ticket(findings, ticket_id))


def _read_booking(findings: Findings, booking_id: str, *, with_ticket: bool) -> Flow[None]:
    reply = yield from findings.call("bookings.get", booking_id)
    booking, body = reply.require(), reply.body
    _see_times(findings, body)
    yield from findings.try_steps(["preview"], _preview(findings, booking))
    if not with_ticket:
        return
    if not booking.tickets:
        findings.miss(_BY_TICKETS, "the booking has no tickets")
    else:
        steps = _see_ticket(findings, body["tickets"][0], booking.tickets[0].id)
        yield from findings.try_steps(_BY_TICKETS, steps)


def _read_ticket(findings: Findings, ticket_id: str) -> Flow[None]:
    reply = yield from findings.call("tickets.get", ticket_id)
    reply.require()
    _see_times(findings, reply.body)
    yield from _see_ticket(findings, reply.body, ticket_id)


def _see_times(findings: Findings, record: Any) -> None:  # noqa: ANN401 -- decoded JSON
    if times := [*_times(record)]:
        has_offsets = all(_OFFSET.search(time) for time in times)
        findings.seen["times"] = "with_offset" if has_offsets else "without_offset"
    else:
        findings.miss(["times"], "the reply has no times")


def _times(record: Any) -> Iterator[str]:  # noqa: ANN401 -- decoded JSON
    """Yield the times of a booking or a ticket."""
    times = [record.get("expire_at")]
    times += [action.get("timeLimit") for action in _objects_in(record.get("possible_actions"))]
    for ticket in record.get("tickets") or [record]:
        for leg in _objects_in(ticket.get("availability")):
            times += [journey.get("depart_at") for journey in _objects_in([leg.get("journey")])]
    yield from (time for time in times if isinstance(time, str))


def _objects_in(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- decoded JSON
    """Return the objects in a list or an object; nothing of another value, such as null."""
    members = value.values() if is_object(value) else value
    return [member for member in members or () if is_object(member)]


def _preview(findings: Findings, booking: Booking) -> Flow[None]:
    statuses = {ticket.status for ticket in booking.tickets}
    if booking.payment_status != PaymentStatus.PAID or statuses != {TicketStatus.ISSUED}:
        raise NotSeenError("the booking is not paid and issued")
    reply = yield from findings.call("bookings.cancel_fee", booking.booking_id)
    fee: CancellationFee = reply.require()
    if exact_sum((fee.penalty_amount, fee.refund_amount)) == booking.total_price:
        findings.seen["preview"] = "sum"
    else:
        findings.seen["preview"] = "another sum" if fee.penalty_amount else "refund_only"


def _see_ticket(findings: Findings, ticket: Any, ticket_id: str) -> Flow[None]:  # noqa: ANN401 -- decoded JSON
    qr_code, time = ticket.get("qr_code") or "", ticket.get("boarding_time") or ""
    findings.seen["qr_code"] = "base64" if qr_code else "absent"
    if qr_code.startswith("data:"):
        findings.seen["qr_code"] = "data_uri"
    shapes = (("absent", r""), ("moment", r"\d{4}-\d\d-\d\dT.*"), ("clock_time", r"\d\d?:\d\d"))
    matching = (shape for shape, pattern in shapes if re.fullmatch(pattern, time))
    findings.seen["boarding_time"] = next(matching, "another text")
    travellers = ticket["passengers"]
    values = [traveller.get(name, _ABSENT) for traveller in travellers for name in _DETAILS]
    if _ABSENT in values:
        findings.seen["traveller_details"] = "absent"
    elif None in values:
        findings.seen["traveller_details"] = "null"
    else:
        findings.miss(["traveller_details"], "the ticket has all details")
    voucher = yield from findings.call("tickets.pdf", ticket_id)
    if isinstance(voucher.error, NotFoundError):
        findings.seen["voucher"] = "not_found"
    elif voucher.require().url is None:
        findings.seen["voucher"] = "null"
    else:
        findings.miss(["voucher"], "the ticket has its voucher")


class Choice(NamedTuple):
    """The sailing, tariff and place to book for the check.

    Attributes:
        sailing: The sailing.
        tariff: Its cheapest tariff of a ticket.
        place: The best kind of place, which may cost more than the tariff's amount.
        is_better: Whether there is a cheaper kind.
    """

    sailing: Availability
    tariff: Tariff
    place: Place
    is_better: bool


def choose(
    findings: Findings, searches: Iterable[Mapping[str, Any]], limit: Decimal, currency: str
) -> Flow[Choice | None]:
    """Search, and return the cheapest choice within the limit, one with a better place first."""
    choices: list[Choice] = []
    for search in searches:
        reply = yield from findings.call("availability.search", **search)
        for sailing in reply.value or ():
            choices += _choices(sailing, limit, currency)
    if not choices:
        problem = "no sailing within the price was found"
        if findings.unreadable:
            problem += f"; {describe_unreadable(findings.unreadable)}"
        findings.miss(BY_WRITES, problem)
        return None
    return min(choices, key=lambda choice: (not choice.is_better, choice.tariff.amount))


def _choices(sailing: Availability, limit: Decimal, currency: str) -> Iterator[Choice]:
    ranks = {place: _RANKS.get(place.type, 0) for place in sailing.places}
    tariffs = [
        tariff
        for tariff in sailing.tariffs
        if tariff.type == TariffType.TICKET
        and not tariff.roundtrip_locked
        and tariff.currency == currency
        and tariff.amount <= limit
    ]
    if tariffs and ranks:
        best = max(ranks, key=lambda place: ranks[place])
        is_better = ranks[best] > min(ranks.values())
        yield Choice(sailing, min(tariffs, key=lambda tariff: tariff.amount), best, is_better)


def book(findings: Findings, choice: Choice, correlation_id: str) -> Flow[None]:
    """Create the booking, read it, and cancel it, whatever happens in between."""
    chosen = choice.sailing.select(tariff=choice.tariff, place=choice.place)
    new = {"availabilities": [chosen], "passengers": [_TRAVELLER]}
    create = findings.call("bookings.create", correlation_id=correlation_id, **new)
    findings.left = f"a booking may have been made (correlation id {correlation_id})"
    try:
        booking: BookingCreated = (yield from create).require()
        _see_created(findings, booking, choice)
        yield from read_records(findings, booking.booking_id, None)
    except GeneratorExit:
        raise  # nobody makes calls any more
    except BaseException:
        yield from _cancel(findings)
        raise
    yield from _cancel(findings)


def _see_created(findings: Findings, booking: BookingCreated, choice: Choice) -> None:
    status, stage = booking.status.lower(), booking.stage
    findings.seen["created_status"] = status if status in _STATUSES else "another status"
    findings.seen["created_stage"] = str(stage) if stage.is_known else "another stage"
    if not choice.is_better:
        findings.miss(["place_price"], "no sailing with a better place was found")
    elif booking.total_price > choice.tariff.amount:
        findings.seen["place_price"] = "added"
    else:
        is_same = booking.total_price == choice.tariff.amount
        findings.seen["place_price"] = "included" if is_same else "another price"


def _cancel(findings: Findings) -> Flow[None]:
    """Cancel what was created, but never for a fee; note what is left if that fails."""
    created = findings.replies.get("bookings.create")
    if created is None:  # the create was interrupted
        return
    if created.error is not None:
        if created.error.outcome == "unknown":
            findings.leave(f"a booking may have been made {_correlation(created.error)}")
        else:
            findings.left = None
        return
    booking_id = created.value.booking_id
    findings.left = f"booking {booking_id} may not be cancelled"
    reply = yield from findings.call("bookings.cancel", booking_id, max_penalty=0)
    if isinstance(reply.error, OutcomeUnknownError):
        reply = yield from findings.call("recover", reply.error)
    was_cancelled = isinstance(reply.error, AlreadyDoneError)
    if reply.error is not None and not was_cancelled:
        findings.miss(["cancelled_status"], describe(reply.error))
        findings.leave(f"booking {booking_id} is not cancelled {_correlation(reply.error)}")
        return
    findings.left = None
    if was_cancelled:
        findings.miss(["cancelled_status"], "the booking was cancelled before")
    elif reply.value.read_back:
        findings.miss(["cancelled_status"], "the reply was lost")
    else:
        status = reply.value.status.lower()
        is_known = status in {"cancelled", "canceled", "voided"}
        findings.seen["cancelled_status"] = status if is_known else "another status"


def _correlation(error: FerryError) -> str:
    return f"({type(error).__name__}, correlation id {error.correlation_id})"
