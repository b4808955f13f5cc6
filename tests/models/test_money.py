"""Amounts have the decimals of their currency wherever people read them."""

import json
from decimal import Decimal

from ferry_sdk import BookingCreated, PenaltyExceededError, PriceChangedError
from ferry_sdk.models import BookingCancellation, CancellationFee
from tests.support import samples
from tests.support.tables import each


def created(amount, currency):
    return BookingCreated.model_validate(
        samples.BOOKING_CREATED | {"total_price": Decimal(amount), "currency": currency}
    )


def fee_of(refund, currency):
    return CancellationFee(
        penalty_amount=Decimal(0), refund_amount=refund, currency=currency, ticket_status="Issued"
    )


@each(
    ("amount", "currency", "text"),
    [
        *(("155.1", "EUR", "155.10"), ("0.0", "EUR", "0.00"), ("82.125", "EUR", "82.125")),
        *(("1200.0", "JPY", "1200"), ("3.5", "KWD", "3.500"), ("40", "TND", "40.000")),
        ("7.25", "XXX", "7.25"),
    ],
)
def test_a_card_a_document_and_an_error_show_the_same_digits(amount, currency, text):
    booking, refund = created(amount, currency), Decimal(amount)
    assert str(booking.total_price) == amount
    assert booking.model_dump()["total_price"] == Decimal(text)
    assert booking.model_dump(mode="json")["total_price"] == text
    assert json.loads(booking.model_dump_json())["total_price"] == text
    assert BookingCreated.model_validate_json(booking.model_dump_json()) == booking
    for record in (booking, fee_of(refund, currency)):
        assert f">{text} {currency}<" in record._repr_html_()
    for expected, found in ((Decimal(1), refund), (refund, Decimal(1))):
        error = PriceChangedError(expected=expected, found=found, currency=currency)
        assert f" {text} {currency}" in str(error)
    limits = {"limit": None, "penalty": Decimal(0), "min_refund": refund}
    refused = PenaltyExceededError(**limits, currency=currency)
    assert f"an unknown amount, expected at least {text} {currency}" in str(refused)
    digits = "7" * 60 + ".5"  # more than a line has
    assert created(digits, "EUR").model_dump(mode="json")["total_price"] == digits


@each(("currency", "text"), [("EUR", "82.50"), ("KWD", "82.500"), (None, "82.50"), ("CLP", "82.5")])
def test_a_refund_has_the_decimals_of_the_previewed_fee(currency, text):
    cancellation = BookingCancellation(
        booking_id="b1",
        status="cancelled",
        refund_amount=Decimal("82.5"),
        previewed=fee_of(Decimal("82.5"), currency) if currency else None,
    )
    assert cancellation.model_dump(mode="json")["refund_amount"] == text
    unknown = cancellation.model_copy(update={"refund_amount": None})
    assert unknown.model_dump(mode="json")["refund_amount"] is None
