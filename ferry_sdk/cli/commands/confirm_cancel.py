"""`ferry confirm` and `ferry cancel`: what it costs is shown before it is asked and done."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.errors import shown
from ferry_sdk.cli.terminal.formatting import moment, money
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile, Yes
from ferry_sdk.cli.terminal.output import aside, document, facts, working
from ferry_sdk.cli.terminal.prompts import agreed
from ferry_sdk.cli.terminal.records import name_of, record_of
from ferry_sdk.errors import PenaltyExceededError, PriceChangedError
from ferry_sdk.models.bookings import Booking


def confirm(
    *,
    booking_id: Annotated[str, typer.Argument(metavar="BOOKING", help="The booking's id.")],
    expect_total: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="Refuse if it costs anything else."),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Confirm a booking: it is paid, and its tickets are made. Shows the total, and asks."""
    expected = amount(expect_total, "--expect-total")
    with connected(base_url, token_file) as ferry:
        with working("Reading the booking"):
            booking = ferry.bookings.get(booking_id)
        total = booking.total_price
        if expected is not None and expected != total:
            raise PriceChangedError(expected=expected, found=total, currency=booking.currency)
        facts(
            [
                ("booking", f"{booking.booking_reference}, {booking.stage}"),
                ("total", money(total, booking.currency)),
                ("expires", moment(booking.expire_at)),
            ],
            on=aside(),
        )
        agreed(f"Confirm it for {money(total, booking.currency)}?", yes=yes)
        with working("Confirming"):
            confirmation = ferry.bookings.confirm(booking_id, expect_total=total)
    with shown("it is confirmed", booking_id):
        if as_json:
            document({"confirmation": confirmation.model_dump(mode="json")})
            return
        facts(
            [
                ("status", confirmation.status),
                ("ticket", confirmation.ticket_number),
                ("ticket id", confirmation.ticket_id),
                ("voucher", f"ferry voucher {confirmation.ticket_id}"),
            ]
        )


def cancel(
    *,
    some_id: Annotated[str, typer.Argument(metavar="ID", help="Of a booking or of a ticket.")],
    max_penalty: Annotated[
        str | None, typer.Option(metavar="AMOUNT", help="Refuse if more would be kept.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Cancel a booking or a ticket. Shows the fee, and asks; never at a higher fee than shown."""
    limit = amount(max_penalty, "--max-penalty")
    with connected(base_url, token_file) as ferry:
        with working("Asking for the fee"):
            record = record_of(ferry, some_id)
            fee = ferry.bookings.cancel_fee(some_id)
        kept, refund = fee.penalty_amount, fee.refund_amount
        if limit is not None and kept > limit:
            raise PenaltyExceededError(limit=limit, penalty=kept, currency=fee.currency)
        facts(
            [
                ("status", record.stage if isinstance(record, Booking) else record.status),
                ("fee", money(kept, fee.currency)),
                ("comes back", money(refund, fee.currency)),
            ],
            on=aside(),
        )
        agreed(f"Cancel {name_of(record)}?", yes=yes)
        with working("Cancelling"):
            done = (
                ferry.bookings.cancel(some_id, max_penalty=kept)
                if isinstance(record, Booking)
                else ferry.tickets.cancel(some_id, max_penalty=kept)
            )
    back = getattr(done, "refund_amount", None)
    with shown("it is cancelled", some_id):
        if as_json:
            members = done.model_dump(mode="json")
            document({"cancellation": members, "fee": fee.model_dump(mode="json")})
            return
        facts(
            [
                ("status", done.status),
                ("fee", money(kept, fee.currency)),
                ("comes back", money(refund if back is None else back, fee.currency)),
            ]
        )


def amount(said: str | None, option: str) -> Decimal | None:
    """The money that an option says.

    Raises:
        BadParameter: It is no amount.
    """
    try:
        read = None if said is None else Decimal(said)
    except InvalidOperation:
        read = Decimal("NaN")
    if read is not None and not read.is_finite():
        raise typer.BadParameter(f"{said!r} is no amount, such as 49.90", param_hint=f"'{option}'")
    return read
