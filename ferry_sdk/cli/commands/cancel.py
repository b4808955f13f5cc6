"""`ferry cancel`: show the fee and ask before sending, as `ferry confirm` does."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.confirm import check_stage, result_of_earlier
from ferry_sdk.cli.commands.show import details_of, record_of
from ferry_sdk.cli.terminal.errors import print_write
from ferry_sdk.cli.terminal.options import (
    Common,
    OptionalJournalUrl,
    RecordId,
    Yes,
    open_recorder,
    option,
    parse_amount,
)
from ferry_sdk.cli.terminal.output import (
    count,
    error_console,
    print_details,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AlreadyDoneError, PenaltyExceededError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.tickets import CancellationFee, Ticket, TicketCancellation

_FEE = option("AMOUNT", help="Refuse to cancel at a higher fee.", parse=parse_amount)


def cancel(
    *,
    some_id: RecordId,
    max_penalty: Annotated[Decimal | None, _FEE] = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    common: Common,
) -> None:
    """Cancel a booking or a ticket. Shows the fee and asks first; never accepts a higher fee."""
    with open_recorder(journal) as record, common.open_client(journal=record) as ferry:
        with show_progress("Reading it"):
            target = record_of(ferry, some_id)
        result: Any = result_of_earlier(
            ferry,
            record,
            target=target,
            operation="bookings.cancel" if isinstance(target, Booking) else "tickets.cancel",
            some_id=some_id,
        )

        fee: CancellationFee | None = None
        if result is None:
            status = target.stage if isinstance(target, Booking) else target.status
            check_stage(status, "cancelled", "ID")
            fee = read_fee(ferry, some_id, max_penalty)
            print_details(
                ("status", status),
                *details_of(target),
                ("fee", money(fee.penalty_amount, fee.currency)),
                ("refund", money(fee.refund_amount, fee.currency)),
                on=error_console(),
            )
            ask_consent(f"Cancel {_name(target)}?", yes=yes)
            try:
                with show_progress("Cancelling"):
                    result = _send(ferry, target, some_id, fee)
            except AlreadyDoneError as error:
                result = error.result
                fee = None
    _print_result(some_id, result, fee, as_json=common.as_json)


def read_fee(ferry: Ferry, some_id: str, max_penalty: Decimal | None) -> CancellationFee:
    """Return the fee of a booking or a ticket.

    Raises:
        PenaltyExceededError: It is higher than `max_penalty`.
    """
    with show_progress("Reading the fee"):
        fee = ferry.bookings.cancel_fee(some_id)
    if max_penalty is not None and fee.penalty_amount > max_penalty:
        raise PenaltyExceededError(
            limit=max_penalty, penalty=fee.penalty_amount, currency=fee.currency
        )
    return fee


def _name(target: Booking | Ticket) -> str:
    if isinstance(target, Booking):
        tickets = count(target.ticket_count or len(target.tickets), "ticket")
        return f"booking {target.booking_reference} with its {tickets}"
    return f"ticket {target.ticket_number or target.id}"


def _send(
    ferry: Ferry, target: Booking | Ticket, some_id: str, fee: CancellationFee
) -> BookingCancellation | TicketCancellation:
    """Cancel at the fee that was shown, or not at all."""
    guards: dict[str, Any] = {
        "max_penalty": fee.penalty_amount,
        "min_refund": fee.refund_amount,
        "currency": fee.currency,
    }
    if isinstance(target, Booking):
        return ferry.bookings.cancel(some_id, **guards)
    return ferry.tickets.cancel(some_id, **guards)


def _print_result(
    some_id: str,
    result: Any,  # noqa: ANN401 -- a cancellation, of this command or of an earlier write
    fee: CancellationFee | None,
    *,
    as_json: bool,
) -> None:
    """Print a cancellation; without a fee, it was cancelled before."""
    document: dict[str, object] = {"cancellation": result.model_dump(mode="json")}
    if fee is None:
        document["already_done"] = True
        details = [("status", "already cancelled")]
    else:
        document["fee"] = fee.model_dump(mode="json")
        refund = getattr(result, "refund_amount", None)  # of a booking only
        if refund is None:
            refund = fee.refund_amount
        details = [
            ("status", result.status),
            ("fee", money(fee.penalty_amount, fee.currency)),
            ("refund", money(refund, fee.currency)),
        ]

    print_write("it was cancelled", some_id, document=document, details=details, as_json=as_json)
