"""Probes of the assumptions by bookings and tickets, and the booking that is made for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ferry_sdk._engine.effects import Flow
from ferry_sdk.conformance.assumptions import BOOK, TICKET_ID, ids_shown_by
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

BY_WRITES: Final = ids_shown_by(BOOK)
"""The assumptions that a booking shows when it is made and cancelled."""
_BY_TICKETS: Final = ("times", *ids_shown_by(TICKET_ID))
"""The assumptions that a ticket shows."""

_TRAVELLER: Final = {**ADULT, "first_name": "Conformance", "last_name": "Check"}
_RANKS: Final = {PlaceType.CABIN: 1, PlaceType.SUITE: 2}
"""How good a kind of place is, if it is better than the others, which have 0."""
_STATUSES: Final = frozenset(status.value.lower() for status in TicketStatus)
_CANCELLED: Final = frozenset({"cancelled", "canceled", "voided"})
_OFFSET: Final = re.compile(r"T[^T]*(Z|[+-]\d\d:?\d\d)$")
"""The end of a time with an offset: ``T08:30:00+02:00``, ``T06:30Z``."""
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT.*")
_CLOCK_TIME: Final = re.compile(r"\d\d?:\d\d")
_DETAILS: Final = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
_ABSENT: Final = object()


def read_records(findings: Findings, booking_id: str | None, ticket_id: str | None) -> Flow[None]:
    """Read a booking, a ticket, or both; without a ticket's id the booking's first ticket."""
    if booking_id is not None:
        steps = _read_booking(findings, booking_id, with_ticket=ticket_id is None)
        yield from findings.try_steps((*_BY_TICKETS, "preview"), steps)
    if ticket_id is not None:
        yield from findings.try_steps(_BY_TICKETS, _read_ticket(findings, ticket_id))


def _read_booking(findings: Findings, booking_id: str, *, with_ticket: bool) -> Flow[None]:
    reply = yield from findings.call("bookings.get", booking_id)
    booking: Booking = reply.require()
    _see_times(findings, reply.body)
    yield from findings.try_steps(["preview"], _preview(findings, booking))

    if not with_ticket:
        return
    if not booking.tickets:
        findings.note_not_seen(_BY_TICKETS, "the booking has no tickets")
        return
    steps = _see_ticket(findings, reply.body["tickets"][0], booking.tickets[0].id)
    yield from findings.try_steps(_BY_TICKETS, steps)


def _read_ticket(findings: Findings, ticket_id: str) -> Flow[None]:
    reply = yield from findings.call("tickets.get", ticket_id)
    reply.require()
    _see_times(findings, reply.body)
    yield from _see_ticket(findings, reply.body, ticket_id)


def _see_times(findings: Findings, record: Any) -> None:  # noqa: ANN401 -- decoded JSON
    times = [*_times(record)]
    if not times:
        findings.note_not_seen(["times"], "the reply has no times")
    elif all(_OFFSET.search(time) for time in times):
        findings.seen["times"] = "with_offset"
    else:
        findings.seen["times"] = "without_offset"


def _times(record: Any) -> Iterator[str]:  # noqa: ANN401 -- decoded JSON
    """Yield the times of a booking or a ticket; a value of another type is left out."""
    times = [record.get("expire_at")]
    times += [action.get("timeLimit") for action in _objects_in(record.get("possible_actions"))]
    for ticket in record.get("tickets") or [record]:
        for leg in _objects_in(ticket.get("availability")):
            journey: Any = leg.get("journey")
            if is_object(journey):
                times.append(journey.get("depart_at"))
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
    elif fee.penalty_amount:
        findings.seen["preview"] = "another sum"
    else:
        findings.seen["preview"] = "refund_only"


def _see_ticket(findings: Findings, ticket: Any, ticket_id: str) -> Flow[None]:  # noqa: ANN401 -- decoded JSON
    findings.seen["qr_code"] = _form_of_qr_code(ticket.get("qr_code") or "")
    findings.seen["boarding_time"] = _form_of_boarding_time(ticket.get("boarding_time") or "")
    _see_traveller_details(findings, ticket["passengers"])

    voucher = yield from findings.call("tickets.pdf", ticket_id)
    if isinstance(voucher.error, NotFoundError):
        findings.seen["voucher"] = "not_found"
    elif voucher.require().url is None:
        findings.seen["voucher"] = "null"
    else:
        findings.note_not_seen(["voucher"], "the ticket has its voucher")


def _form_of_qr_code(code: str) -> str:
    if not code:
        return "absent"
    return "data_uri" if code.startswith("data:") else "base64"


def _form_of_boarding_time(time: str) -> str:
    if not time:
        return "absent"
    if _MOMENT.fullmatch(time):
        return "moment"
    return "clock_time" if _CLOCK_TIME.fullmatch(time) else "another text"


def _see_traveller_details(findings: Findings, travellers: list[dict[str, object]]) -> None:
    """See how the ticket shows a detail that it does not know."""
    details: list[object] = []
    for traveller in travellers:
        details += [traveller.get(name, _ABSENT) for name in _DETAILS]

    if _ABSENT in details:
        findings.seen["traveller_details"] = "absent"
    elif None in details:
        findings.seen["traveller_details"] = "null"
    else:
        findings.note_not_seen(["traveller_details"], "the ticket has all details")


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
        findings.note_not_seen(BY_WRITES, problem)
        return None
    return min(choices, key=lambda choice: (not choice.is_better, choice.tariff.amount))


def _choices(sailing: Availability, limit: Decimal, currency: str) -> Iterator[Choice]:
    """Yield the choice of a sailing, if it has a tariff within the limit and a place."""
    ranks = {place: _RANKS.get(place.type, 0) for place in sailing.places}
    tariffs = [
        tariff
        for tariff in sailing.tariffs
        if tariff.type == TariffType.TICKET
        and not tariff.roundtrip_locked
        and tariff.currency == currency
        and tariff.amount <= limit
    ]
    if not tariffs or not ranks:
        return

    cheapest = min(tariffs, key=lambda tariff: tariff.amount)
    best = max(ranks, key=lambda place: ranks[place])
    is_better = ranks[best] > min(ranks.values())
    yield Choice(sailing=sailing, tariff=cheapest, place=best, is_better=is_better)


def book(findings: Findings, choice: Choice, correlation_id: str) -> Flow[None]:
    """Create the booking, read it, and cancel it, whatever happens in between."""
    selection = choice.sailing.select(tariff=choice.tariff, place=choice.place)
    create = findings.call(
        "bookings.create",
        correlation_id=correlation_id,
        availabilities=[selection],
        passengers=[_TRAVELLER],
    )

    # Before the request: from here on, an interruption may leave a booking.
    findings.left = f"a booking may have been made (correlation id {correlation_id})"
    try:
        booking: BookingCreated = (yield from create).require()
        _see_created(findings, booking, choice)
        yield from read_records(findings, booking.booking_id, None)
    except GeneratorExit:
        raise  # the flow was dropped, so nobody makes its calls
    except BaseException:
        yield from _cancel(findings)
        raise
    yield from _cancel(findings)


def _see_created(findings: Findings, booking: BookingCreated, choice: Choice) -> None:
    status = booking.status.lower()
    findings.seen["created_status"] = status if status in _STATUSES else "another status"
    stage = booking.stage
    findings.seen["created_stage"] = str(stage) if stage.is_known else "another stage"

    if not choice.is_better:
        findings.note_not_seen(["place_price"], "no sailing with a better place was found")
    elif booking.total_price > choice.tariff.amount:
        findings.seen["place_price"] = "added"
    elif booking.total_price == choice.tariff.amount:
        findings.seen["place_price"] = "included"
    else:
        findings.seen["place_price"] = "another price"


def _cancel(findings: Findings) -> Flow[None]:
    """Cancel what was created, but never for a fee; note what is left if that fails."""
    created = findings.replies.get("bookings.create")
    if created is None:  # the create was interrupted
        return
    if created.error is not None:
        if created.error.outcome == "unknown":
            findings.note_left(f"a booking may have been made {_correlation(created.error)}")
        else:
            findings.left = None
        return

    booking_id = created.value.booking_id
    findings.left = f"booking {booking_id} may not be cancelled"
    reply = yield from findings.call("bookings.cancel", booking_id, max_penalty=0)
    if isinstance(reply.error, OutcomeUnknownError):
        reply = yield from findings.call("recover", reply.error)

    was_cancelled_before = isinstance(reply.error, AlreadyDoneError)
    if reply.error is not None and not was_cancelled_before:
        findings.note_not_seen(["cancelled_status"], describe(reply.error))
        findings.note_left(f"booking {booking_id} is not cancelled {_correlation(reply.error)}")
        return

    findings.left = None
    if was_cancelled_before:
        findings.note_not_seen(["cancelled_status"], "the booking was cancelled before")
    elif reply.value.read_back:
        findings.note_not_seen(["cancelled_status"], "the reply was lost")
    else:
        status = reply.value.status.lower()
        findings.seen["cancelled_status"] = status if status in _CANCELLED else "another status"


def _correlation(error: FerryError) -> str:
    return f"({type(error).__name__}, correlation id {error.correlation_id})"
