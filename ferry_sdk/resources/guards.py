"""Guards: reads before a write that can hold the write back."""

from __future__ import annotations

import logging
from typing import Any

from ferry_sdk._engine.operation import Guard, Operation
from ferry_sdk._engine.parsing import Record
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.errors import PenaltyExceededError, PriceChangedError
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingConfirmation
from ferry_sdk.models.tickets import CancellationFee, TicketCancellation
from ferry_sdk.resources.arguments import money
from ferry_sdk.resources.read_back import read_booking
from ferry_sdk.safety import SAFETY

logger: logging.Logger = logging.getLogger("ferry_sdk")


def total_guard(expect_total: object, booking_id: str) -> Guard[BookingConfirmation] | None:
    """Return a guard that allows a confirmation only at this total; None without one."""
    if expect_total is None:
        return None
    expected = money(expect_total, "expect_total")

    def judge(booking: Booking) -> None:
        if booking.total_price != expected:
            raise PriceChangedError(
                expected=expected, found=booking.total_price, currency=booking.currency
            )

    return Guard(read_booking(booking_id), judge, conclude=lambda confirmation, _: confirmation)


def penalty_guard(max_penalty: object, identifier: str) -> Guard[Any] | None:
    """Return a guard that allows a cancellation only up to this penalty; None without one."""
    if max_penalty is None:
        return None
    limit = money(max_penalty, "max_penalty")

    def judge(fee: CancellationFee) -> None:
        penalty = fee.penalty_amount
        if penalty > limit:
            raise PenaltyExceededError(limit=limit, penalty=penalty, currency=fee.currency)

    return Guard(
        Operation(
            Rest.post("booking", "cancel-fee", body={"id": identifier}),
            Record(CancellationFee),
            SAFETY["bookings.cancel_fee"],
        ),
        judge,
        _with_preview,
    )


def _with_preview(
    cancellation: BookingCancellation | TicketCancellation, fee: CancellationFee
) -> BookingCancellation | TicketCancellation:
    with_preview = cancellation.model_copy(update={"previewed": fee})
    if isinstance(with_preview, BookingCancellation) and (with_preview.refund_shortfall or 0) > 0:
        logger.warning(
            "a cancellation refunded %s %s less than was previewed",
            with_preview.refund_shortfall,
            fee.currency,
        )
    return with_preview
