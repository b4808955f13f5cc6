"""`ferry confirm`: show the total and ask before sending.

What was shown is what is sent: the amounts and their currency go with the request as its guard. A
booking that is confirmed or cancelled already is a result and no failure, and nothing is asked.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.errors import print_written
from ferry_sdk.cli.terminal.options import (
    Common,
    OptionalJournalUrl,
    Yes,
    open_recorder,
    option,
    parse_amount,
)
from ferry_sdk.cli.terminal.output import (
    error_console,
    moment,
    print_facts,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.errors import (
    AlreadyDoneError,
    InvalidInputError,
    OutcomeUnknownError,
    PriceChangedError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.resources.read_back import read_back

if TYPE_CHECKING:
    from ferry_sdk.cli.terminal.command_journal import CommandJournal
    from ferry_sdk.client import Ferry

_TOTAL = option("AMOUNT", help="Refuse to confirm at any other total.", parse=parse_amount)


def confirm(
    *,
    booking_id: Annotated[str, typer.Argument(metavar="BOOKING", help="The booking's id.")],
    expect_total: Annotated[Decimal | None, _TOTAL] = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    common: Common,
) -> None:
    """Confirm and pay a booking, which issues its tickets. Shows the total and asks first."""
    with open_recorder(journal) as record, common.open_client(journal=record) as ferry:
        with show_progress("Reading the booking"):
            booking = ferry.bookings.get(booking_id)
        done: Any = result_of_earlier(ferry, record, booking, "bookings.confirm", booking_id)
        is_new = done is None
        if is_new:
            check_stage(booking.stage, "confirmed", "BOOKING")
            if booking.stage == Stage.IN_PROGRESS and booking.payment_status == PaymentStatus.PAID:
                problem = "it is paid already, and its tickets are being issued"
                raise InvalidInputError(problem, field="BOOKING")
            total, currency = booking.total_price, booking.currency
            if expect_total is not None and expect_total != total:
                raise PriceChangedError(expected=expect_total, found=total, currency=currency)
            name, price = f"{booking.booking_reference}, {booking.stage}", money(total, currency)
            facts = [("booking", name), ("total", price), ("expires", moment(booking.expire_at))]
            print_facts(*facts, on=error_console())
            ask_consent(f"Confirm it for {price}?", yes=yes)
            try:
                with show_progress("Confirming"):
                    done = ferry.bookings.confirm(booking_id, expect_total=total, currency=currency)
            except AlreadyDoneError as error:
                done, is_new = error.result, False
    facts = [
        ("status", done.status if is_new else "already confirmed"),
        ("ticket", done.ticket_number),
        ("ticket id", done.ticket_id),
        ("voucher", f"ferry voucher {done.ticket_id}"),
    ]
    document = {"confirmation": done.model_dump(mode="json")}
    if not is_new:
        document["already_done"] = True
    print_written("it was confirmed", booking_id, document, facts, as_json=common.as_json)


def result_of_earlier(
    ferry: Ferry,
    recorder: CommandJournal | None,
    record: Booking | Ticket,
    operation: str,
    some_id: str,
) -> Any:  # noqa: ANN401 -- the result of the operation
    """Return the result of a write whose effect the record shows; else None.

    The same writes that the journal has as unresolved are recorded as done.
    """
    row = SAFETY[operation]
    back = read_back(row, {row.confirmed_by[0].subject: some_id})
    if back is None or not back.shows(record):
        return None
    for entry in () if recorder is None else recorder.unresolved():
        earlier = SAFETY.get(entry.operation)
        is_same = earlier is not None and earlier.effect == row.effect
        if is_same and some_id in entry.subject.values():
            with suppress(OutcomeUnknownError):
                ferry.recover(entry)
    return back.result(record)


def check_stage(status: Stage | TicketStatus, action: str, argument: str) -> None:
    """Raise if a booking or a ticket has ended, so that nobody is asked about it."""
    if status in {Stage.VOIDED, Stage.LAPSED, TicketStatus.EXPIRED}:
        raise InvalidInputError(f"it is {status} and cannot be {action}", field=argument)
