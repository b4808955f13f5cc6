"""`ferry confirm` and `ferry cancel`: show the cost and ask before sending."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated

import typer

from ferry_sdk.cli.commands.show import record_of
from ferry_sdk.cli.terminal.errors import report_output_failure
from ferry_sdk.cli.terminal.options import (
    AsJson,
    BaseUrl,
    OptionalJournalUrl,
    RecordId,
    TokenFile,
    Yes,
    open_client,
    open_recorder,
    parse_amount,
    parser,
)
from ferry_sdk.cli.terminal.output import (
    count,
    error_console,
    moment,
    print_facts,
    print_json,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.errors import PenaltyExceededError, PriceChangedError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.display.money import money
from ferry_sdk.models.tickets import TicketCancellation


def _amount_option(help_text: str) -> object:
    return typer.Option(metavar="AMOUNT", help=help_text, parser=parser(parse_amount))


def confirm(
    *,
    booking_id: Annotated[str, typer.Argument(metavar="BOOKING", help="The booking's id.")],
    expect_total: Annotated[
        Decimal | None,
        _amount_option("Refuse to confirm at any other total."),
    ] = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Confirm and pay a booking, which issues its tickets. Shows the total and asks first."""
    with (
        open_recorder(journal) as record,
        open_client(base_url, token_file, journal=record) as ferry,
    ):
        with show_progress("Reading the booking"):
            booking = ferry.bookings.get(booking_id)
        total = booking.total_price
        if expect_total is not None and expect_total != total:
            raise PriceChangedError(expected=expect_total, found=total, currency=booking.currency)
        print_facts(
            [
                ("booking", f"{booking.booking_reference}, {booking.stage}"),
                ("total", money(total, booking.currency)),
                ("expires", moment(booking.expire_at)),
            ],
            on=error_console(),
        )
        ask_consent(f"Confirm it for {money(total, booking.currency)}?", yes=yes)
        with show_progress("Confirming"):
            confirmation = ferry.bookings.confirm(booking_id, expect_total=total)
    with report_output_failure("it was confirmed", booking_id):
        if as_json:
            print_json({"confirmation": confirmation.model_dump(mode="json")})
            return
        print_facts(
            [
                ("status", confirmation.status),
                ("ticket", confirmation.ticket_number),
                ("ticket id", confirmation.ticket_id),
                ("voucher", f"ferry voucher {confirmation.ticket_id}"),
            ]
        )


def cancel(
    *,
    some_id: RecordId,
    max_penalty: Annotated[
        Decimal | None,
        _amount_option("Refuse to cancel at a higher fee."),
    ] = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Cancel a booking or a ticket. Shows the fee and asks first; never accepts a higher fee."""
    with (
        open_recorder(journal) as record,
        open_client(base_url, token_file, journal=record) as ferry,
    ):
        with show_progress("Reading the fee"):
            found = record_of(ferry, some_id)
            fee = ferry.bookings.cancel_fee(some_id)
        kept, refund = fee.penalty_amount, fee.refund_amount
        if max_penalty is not None and kept > max_penalty:
            raise PenaltyExceededError(limit=max_penalty, penalty=kept, currency=fee.currency)
        send: Callable[..., BookingCancellation | TicketCancellation]
        if isinstance(found, Booking):
            status, send = str(found.stage), ferry.bookings.cancel
            tickets = count(found.ticket_count, "ticket")
            name = f"booking {found.booking_reference} with its {tickets}"
        else:
            status, send = str(found.status), ferry.tickets.cancel
            name = f"ticket {found.ticket_number or found.id}"
        print_facts(
            [
                ("status", status),
                ("fee", money(kept, fee.currency)),
                ("refund", money(refund, fee.currency)),
            ],
            on=error_console(),
        )
        ask_consent(f"Cancel {name}?", yes=yes)
        with show_progress("Cancelling"):
            done = send(some_id, max_penalty=kept)
    back = getattr(done, "refund_amount", None)
    with report_output_failure("it was cancelled", some_id):
        if as_json:
            members = done.model_dump(mode="json")
            print_json({"cancellation": members, "fee": fee.model_dump(mode="json")})
            return
        print_facts(
            [
                ("status", done.status),
                ("fee", money(kept, fee.currency)),
                ("refund", money(refund if back is None else back, fee.currency)),
            ]
        )
