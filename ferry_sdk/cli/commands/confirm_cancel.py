"""`ferry confirm` and `ferry cancel`: show the cost and ask before sending.

What was shown is what is sent: the amounts and their currency go with the request as its guard. A
booking that is confirmed or cancelled already is a result and no failure, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.show import record_of
from ferry_sdk.cli.terminal.errors import report_output_failure
from ferry_sdk.cli.terminal.options import (
    AsJson,
    BaseUrl,
    CommandRecorder,
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
from ferry_sdk.errors import (
    AlreadyDoneError,
    InvalidInputError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PriceChangedError,
)
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingConfirmation
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.models.tickets import CancellationFee, Ticket, TicketCancellation
from ferry_sdk.resources.read_back import read_back
from ferry_sdk.safety import SAFETY

if TYPE_CHECKING:
    from ferry_sdk.client import Ferry


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
        done_before = _result_shown_by(booking, "bookings.confirm", booking_id)
        if done_before is not None:
            _settle_earlier(ferry, record, "bookings.confirm", booking_id)
            _print_confirmation(done_before, is_new=False, as_json=as_json)
            return
        _check_stage(booking.stage, "confirmed", "BOOKING")
        if booking.stage == Stage.IN_PROGRESS and booking.payment_status == PaymentStatus.PAID:
            raise InvalidInputError(
                "it is paid already, and its tickets are being issued", field="BOOKING"
            )
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
        is_new = True
        try:
            with show_progress("Confirming"):
                confirmation: Any = ferry.bookings.confirm(
                    booking_id, expect_total=total, currency=booking.currency
                )
        except AlreadyDoneError as error:
            confirmation, is_new = error.result, False
    with report_output_failure("it was confirmed", booking_id):
        _print_confirmation(confirmation, is_new=is_new, as_json=as_json)


def _print_confirmation(confirmation: BookingConfirmation, *, is_new: bool, as_json: bool) -> None:
    if as_json:
        members = confirmation.model_dump(mode="json")
        print_json({"confirmation": members, **({} if is_new else {"already_done": True})})
        return
    print_facts(
        [
            ("status", confirmation.status if is_new else "already confirmed"),
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
        with show_progress("Reading it"):
            found = record_of(ferry, some_id)
        status: Stage | TicketStatus
        send: Callable[..., BookingCancellation | TicketCancellation]
        if isinstance(found, Booking):
            status, operation, send = found.stage, "bookings.cancel", ferry.bookings.cancel
            tickets = count(found.ticket_count, "ticket")
            name = f"booking {found.booking_reference} with its {tickets}"
        else:
            status, operation, send = found.status, "tickets.cancel", ferry.tickets.cancel
            name = f"ticket {found.ticket_number or found.id}"
        done_before = _result_shown_by(found, operation, some_id)
        if done_before is not None:
            _settle_earlier(ferry, record, operation, some_id)
            _print_cancellation(done_before, None, as_json=as_json)
            return
        _check_stage(status, "cancelled", "ID")
        with show_progress("Reading the fee"):
            fee = ferry.bookings.cancel_fee(some_id)
        kept, refund = fee.penalty_amount, fee.refund_amount
        if max_penalty is not None and kept > max_penalty:
            raise PenaltyExceededError(limit=max_penalty, penalty=kept, currency=fee.currency)
        print_facts(
            [
                ("status", status),
                ("fee", money(kept, fee.currency)),
                ("refund", money(refund, fee.currency)),
            ],
            on=error_console(),
        )
        ask_consent(f"Cancel {name}?", yes=yes)
        shown_fee: CancellationFee | None = fee
        try:
            with show_progress("Cancelling"):
                done: Any = send(
                    some_id, max_penalty=kept, min_refund=refund, currency=fee.currency
                )
        except AlreadyDoneError as error:
            done, shown_fee = error.result, None
    with report_output_failure("it was cancelled", some_id):
        _print_cancellation(done, shown_fee, as_json=as_json)


def _print_cancellation(
    cancellation: BookingCancellation | TicketCancellation,
    fee: CancellationFee | None,
    *,
    as_json: bool,
) -> None:
    """Print a cancellation; without a fee, it was cancelled before."""
    if as_json:
        members = cancellation.model_dump(mode="json")
        other = {"already_done": True} if fee is None else {"fee": fee.model_dump(mode="json")}
        print_json({"cancellation": members, **other})
    elif fee is None:
        print_facts([("status", "already cancelled")])
    else:
        back = getattr(cancellation, "refund_amount", None)
        print_facts(
            [
                ("status", cancellation.status),
                ("fee", money(fee.penalty_amount, fee.currency)),
                ("refund", money(fee.refund_amount if back is None else back, fee.currency)),
            ]
        )


def _result_shown_by(record: Booking | Ticket, operation: str, some_id: str) -> Any:  # noqa: ANN401 -- the result of the operation
    """Return the result of a write if the record shows its effect; else None."""
    row = SAFETY[operation]
    back = read_back(row, {row.confirmed_by[0].subject: some_id})
    return back.result(record) if back is not None and back.shows(record) else None


def _settle_earlier(
    ferry: Ferry, recorder: CommandRecorder | None, operation: str, some_id: str
) -> None:
    """Record as done the same writes that the journal has as unresolved."""
    for entry in () if recorder is None else recorder.journal.unresolved():
        row = SAFETY.get(entry.operation)
        is_same = row is not None and row.effect == SAFETY[operation].effect
        if is_same and some_id in entry.subject.values():
            with suppress(OutcomeUnknownError):
                ferry.recover(entry)


def _check_stage(status: Stage | TicketStatus, action: str, argument: str) -> None:
    """Raise if a booking or a ticket has ended, so that nobody is asked about it."""
    if status in {Stage.VOIDED, Stage.LAPSED, TicketStatus.EXPIRED}:
        raise InvalidInputError(f"it is {status} and cannot be {action}", field=argument)
