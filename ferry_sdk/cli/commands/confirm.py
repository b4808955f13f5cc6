"""`ferry confirm`: show the total and ask before sending.

The total that was shown goes with the request as its guard: at any other total, nothing is
confirmed. A booking that is confirmed or cancelled already is a result and no failure, and nothing
is asked.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.show import details_of
from ferry_sdk.cli.terminal.errors import print_write
from ferry_sdk.cli.terminal.options import (
    Common,
    OptionalJournalUrl,
    Yes,
    open_recorder,
    option,
    parse_amount,
)
from ferry_sdk.cli.terminal.output import error_console, moment, print_details, show_progress
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.errors import (
    AlreadyDoneError,
    InvalidInputError,
    OutcomeUnknownError,
    PriceChangedError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage, TicketStatus
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

        # An earlier run may have confirmed it, and recorded that in the journal.
        result: Any = result_of_earlier(
            ferry, record, target=booking, operation="bookings.confirm", some_id=booking_id
        )
        is_new = result is None
        if is_new:
            _check(booking, expect_total)
            price = money(booking.total_price, booking.currency)
            print_details(
                ("booking", f"{booking.booking_reference}, {booking.stage}"),
                *details_of(booking),
                ("total", price),
                ("expires", moment(booking.expire_at)),
                on=error_console(),
            )

            ask_consent(f"Confirm it for {price}?", yes=yes)
            try:
                with show_progress("Confirming"):
                    result = ferry.bookings.confirm(
                        booking_id, expect_total=booking.total_price, currency=booking.currency
                    )
            except AlreadyDoneError as error:
                result = error.result
                is_new = False

    _print_result(booking_id, result, is_new=is_new, as_json=common.as_json)


def _check(booking: Booking, expect_total: Decimal | None) -> None:
    """Raise if a booking cannot be confirmed, or not at this total, before anybody is asked."""
    check_stage(booking.stage, "confirmed", "BOOKING")
    if expect_total is not None and expect_total != booking.total_price:
        raise PriceChangedError(
            expected=expect_total, found=booking.total_price, currency=booking.currency
        )


def _print_result(
    booking_id: str,
    result: Any,  # noqa: ANN401 -- a confirmation, of this command or of an earlier write
    *,
    is_new: bool,
    as_json: bool,
) -> None:
    document = {"confirmation": result.model_dump(mode="json")}
    status = result.status
    if not is_new:
        document["already_done"] = True
        status = "already confirmed"

    print_write(
        "it was confirmed",
        booking_id,
        document=document,
        details=[
            ("status", status),
            ("ticket", result.ticket_number),
            ("ticket id", result.ticket_id),
            ("voucher", f"ferry voucher {result.ticket_id}"),
        ],
        as_json=as_json,
    )


def result_of_earlier(
    ferry: Ferry,
    recorder: CommandJournal | None,
    *,
    target: Booking | Ticket,
    operation: str,
    some_id: str,
) -> Any:  # noqa: ANN401 -- the result of the operation
    """Return the result of an earlier write whose effect a record shows; None without one.

    The writes of the same effect that the journal has as unresolved are recorded as done.

    Args:
        ferry: The client.
        recorder: The journal of the command; None without one.
        target: The booking or the ticket that was read.
        operation: The write that the command would send.
        some_id: The id of the target.
    """
    row = SAFETY[operation]
    back = read_back(row, {row.confirmed_by[0].subject: some_id})
    if back is None or not back.shows(target):
        return None

    unresolved = () if recorder is None else recorder.unresolved()
    for entry in unresolved:
        earlier = SAFETY.get(entry.operation)
        has_effect = earlier is not None and earlier.effect == row.effect
        if has_effect and some_id in entry.subject.values():
            with suppress(OutcomeUnknownError):
                ferry.recover(entry)
    return back.result(target)


def check_stage(status: Stage | TicketStatus, action: str, argument: str) -> None:
    """Raise if a booking or a ticket has ended, so that nobody is asked about it."""
    if status in {Stage.VOIDED, Stage.LAPSED, TicketStatus.EXPIRED}:
        raise InvalidInputError(f"it is {status} and cannot be {action}", field=argument)
