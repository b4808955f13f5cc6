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
        is_other_currency = agreed_currency not in {None, booking.currency}
        if booking.total_price != expected or is_other_currency:
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
    *,
    subject: Mapping[str, str],
    operation: str,
) -> Guard[Any] | None:
    """Return a guard that allows a cancellation only within these amounts; None without any.

    Args:
        max_penalty: The highest acceptable penalty; None: any.
        min_refund: The lowest acceptable refund; None: any.
        currency: The currency of both; None: that of the fee.
        subject: The id of what is cancelled, by the name of the argument.
        operation: The cancellation's name in the safety table.
    """
    limit = optional_money(max_penalty, "max_penalty")
    lowest = optional_money(min_refund, "min_refund")
    agreed_currency = currency_of(currency, limit, lowest)
    if limit is None and lowest is None:
        return None

    def judge(fee: CancellationFee) -> None:
        is_other_currency = agreed_currency not in {None, fee.currency}
        is_penalty_too_high = limit is not None and fee.penalty_amount > limit
        is_refund_too_low = lowest is not None and fee.refund_amount < lowest
        if is_other_currency or is_penalty_too_high or is_refund_too_low:
            raise PenaltyExceededError(
                limit=limit,
                min_refund=lowest,
                penalty=fee.penalty_amount,
                refund=fee.refund_amount,
                currency=fee.currency,
                expected_currency=agreed_currency,
            )

    ((argument, some_id),) = subject.items()
    reading = read_fee("bookings.cancel_fee", some_id, argument)
    suggests = SAFETY[operation].is_suggested_by
    return Guard(reading, judge, conclude=_with_preview, suggests=suggests)


def read_fee(operation: str, some_id: str, argument: str) -> Operation[CancellationFee]:
    """Return the read of what cancelling a booking or a ticket now would cost."""
    call = Rest.post("booking", "cancel-fee", body={"id": some_id})
    names = {"id": argument}
    return Operation(call, Record(CancellationFee), SAFETY[operation], argument_names=names)


def _with_preview(
    cancellation: BookingCancellation | TicketCancellation, fee: CancellationFee
) -> BookingCancellation | TicketCancellation:
    """Return the cancellation with its previewed fee, and warn of a smaller refund."""
    with_preview = cancellation.model_copy(update={"previewed": fee})
    if isinstance(with_preview, BookingCancellation):
        shortfall = with_preview.refund_shortfall
        if shortfall is not None and shortfall > 0:
            logger.warning(
                "a cancellation refunded %s %s less than was previewed", shortfall, fee.currency
            )
    return with_preview
