"""`ferry cancel`: show the fee and ask before sending, as `ferry confirm` does."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.confirm import check_stage, result_of_earlier
from ferry_sdk.cli.commands.show import record_of
from ferry_sdk.cli.terminal.errors import print_written
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
    print_facts,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.errors import AlreadyDoneError, PenaltyExceededError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.models.tickets import CancellationFee, TicketCancellation

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
        status: Stage | TicketStatus
        send: Callable[..., BookingCancellation | TicketCancellation]
        if isinstance(target, Booking):
            status, operation, send = target.stage, "bookings.cancel", ferry.bookings.cancel
            tickets = count(target.ticket_count or len(target.tickets), "ticket")
            name = f"booking {target.booking_reference} with its {tickets}"
        else:
            status, operation, send = target.status, "tickets.cancel", ferry.tickets.cancel
            name = f"ticket {target.ticket_number or target.id}"
        done: Any = result_of_earlier(ferry, record, target, operation, some_id)
        fee: CancellationFee | None = None
        if done is None:
            check_stage(status, "cancelled", "ID")
            with show_progress("Reading the fee"):
                fee = ferry.bookings.cancel_fee(some_id)
            kept, refund, currency = fee.penalty_amount, fee.refund_amount, fee.currency
            if max_penalty is not None and kept > max_penalty:
                raise PenaltyExceededError(limit=max_penalty, penalty=kept, currency=currency)
            amounts = [("fee", money(kept, currency)), ("refund", money(refund, currency))]
            print_facts(("status", status), *amounts, on=error_console())
            ask_consent(f"Cancel {name}?", yes=yes)
            try:
                with show_progress("Cancelling"):
                    done = send(some_id, max_penalty=kept, min_refund=refund, currency=currency)
            except AlreadyDoneError as error:
                done, fee = error.result, None
    document: dict[str, object] = {"cancellation": done.model_dump(mode="json")}
    if fee is None:
        document["already_done"] = True
        facts = [("status", "already cancelled")]
    else:
        document["fee"] = fee.model_dump(mode="json")
        back = getattr(done, "refund_amount", None)
        charged = money(fee.penalty_amount, fee.currency)
        returned = money(fee.refund_amount if back is None else back, fee.currency)
        facts = [("status", done.status), ("fee", charged), ("refund", returned)]
    print_written("it was cancelled", some_id, document, facts, as_json=common.as_json)
