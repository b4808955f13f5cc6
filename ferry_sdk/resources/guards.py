"""Guards: reads before a write that can hold the write back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferry_sdk._engine.log import logger
from ferry_sdk._engine.operation import Guard, Operation
from ferry_sdk._engine.parsing import Record
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.errors import PenaltyExceededError, PriceChangedError
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingConfirmation
from ferry_sdk.models.tickets import CancellationFee, TicketCancellation
from ferry_sdk.resources.arguments import currency_of, optional_money
from ferry_sdk.resources.read_back import read_booking


def total_guard(
    expect_total: object, currency: object, booking_id: str
) -> Guard[BookingConfirmation] | None:
    """Return a guard that allows a confirmation only at this total; None without one."""
    expected = optional_money(expect_total, "expect_total")
    agreed_currency = currency_of(currency, expected)
    if expected is None:
        return None

    def judge(booking: Booking) -> None:
        if booking.total_price != expected or agreed_currency not in {None, booking.currency}:
            raise PriceChangedError(
                expected=expected,
                found=booking.total_price,
                currency=booking.currency,
                expected_currency=agreed_currency,
            )

    return Guard(read_booking(booking_id), judge, conclude=lambda confirmation, _: confirmation)


def penalty_guard(
    max_penalty: object,
    min_refund: object,
    currency: object,
    subject: Mapping[str, str],
    operation: str,
) -> Guard[Any] | None:
    """Return a guard that allows a cancellation only within these amounts; None without any."""
    ((argument, some_id),) = subject.items()
    limit = optional_money(max_penalty, "max_penalty")
    lowest = optional_money(min_refund, "min_refund")
    agreed_currency = currency_of(currency, limit, lowest)
    if limit is None and lowest is None:
        return None

    def judge(fee: CancellationFee) -> None:
        if (
            agreed_currency not in {None, fee.currency}
            or (limit is not None and fee.penalty_amount > limit)
            or (lowest is not None and fee.refund_amount < lowest)
        ):
            raise PenaltyExceededError(
                limit=limit,
                min_refund=lowest,
                penalty=fee.penalty_amount,
                refund=fee.refund_amount,
                currency=fee.currency,
                expected_currency=agreed_currency,
            )

    reading = read_fee("bookings.cancel_fee", some_id, argument)
    return Guard(reading, judge, _with_preview, suggests=SAFETY[operation].is_suggested_by)


def read_fee(operation: str, some_id: str, argument: str) -> Operation[CancellationFee]:
    """Return the read of what cancelling a booking or a ticket now would cost."""
    call, names = Rest.post("booking", "cancel-fee", body={"id": some_id}), {"id": argument}
    return Operation(call, Record(CancellationFee), SAFETY[operation], argument_names=names)


def _with_preview(
    cancellation: BookingCancellation | TicketCancellation, fee: CancellationFee
) -> BookingCancellation | TicketCancellation:
    with_preview = cancellation.model_copy(update={"previewed": fee})
    if isinstance(with_preview, BookingCancellation) and (with_preview.refund_shortfall or 0) > 0:
        facts = with_preview.refund_shortfall, fee.currency
        logger.warning("a cancellation refunded %s %s less than was previewed", *facts)
    return with_preview
