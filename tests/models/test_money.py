"""Amounts have the decimals of their currency wherever people read them."""

import json
from decimal import Decimal

import pytest

from ferry_sdk import BookingCreated, PenaltyExceededError, PriceChangedError
from ferry_sdk.models import BookingCancellation, CancellationFee
from tests.support import samples


def created(amount, currency):
    return BookingCreated.model_validate(
        samples.BOOKING_CREATED | {"total_price": Decimal(amount), "currency": currency}
    )


def fee_of(refund, currency):
    return CancellationFee(
        penalty_amount=Decimal(0), refund_amount=refund, currency=currency, ticket_status="Issued"
    )


DIGITS = pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("155.1", "EUR", "155.10"),
        ("0.0", "EUR", "0.00"),
        ("82.125", "EUR", "82.125"),
        ("1200.0", "JPY", "1200"),
        ("3.5", "KWD", "3.500"),
        ("40", "TND", "40.000"),
        ("7.25", "XXX", "7.25"),
    ],
)


@DIGITS
def test_json_has_the_decimals_of_the_currency(amount, currency, text):
    booking = created(amount, currency)
    assert str(booking.total_price) == amount
    assert booking.model_dump()["total_price"] == Decimal(text)
    assert booking.model_dump(mode="json")["total_price"] == text
    assert json.loads(booking.model_dump_json())["total_price"] == text
    assert BookingCreated.model_validate_json(booking.model_dump_json()) == booking


@DIGITS
def test_a_card_has_the_decimals_of_the_currency(amount, currency, text):
    for record in (created(amount, currency), fee_of(Decimal(amount), currency)):
        assert f">{text} {currency}<" in record._repr_html_()


@DIGITS
def test_a_changed_price_has_its_decimals(amount, currency, text):
    price = Decimal(amount)
    for expected, found in ((Decimal(1), price), (price, Decimal(1))):
        error = PriceChangedError(expected=expected, found=found, currency=currency)
        assert f" {text} {currency}" in str(error)


@DIGITS
def test_a_refused_penalty_has_its_decimals(amount, currency, text):
    error = PenaltyExceededError(
        limit=None, penalty=Decimal(0), min_refund=Decimal(amount), currency=currency
    )
    assert f"an unknown amount, expected at least {text} {currency}" in str(error)


def test_an_amount_longer_than_a_line_is_whole():
    digits = "7" * 60 + ".5"
    assert created(digits, "EUR").model_dump(mode="json")["total_price"] == digits


def cancellation_of(refund, currency):
    return BookingCancellation(
        booking_id="b1",
        status="cancelled",
        refund_amount=refund,
        previewed=fee_of(Decimal("82.5"), currency) if currency else None,
    )


@pytest.mark.parametrize(
    ("currency", "text"),
    [
        ("EUR", "82.50"),
        ("KWD", "82.500"),
        (None, "82.50"),
        ("CLP", "82.5"),
    ],
)
def test_a_refund_has_the_decimals_of_the_fee(currency, text):
    cancellation = cancellation_of(Decimal("82.5"), currency)
    assert cancellation.model_dump(mode="json")["refund_amount"] == text


@pytest.mark.parametrize("currency", ["EUR", None])
def test_an_unknown_refund_is_null(currency):
    assert cancellation_of(None, currency).model_dump(mode="json")["refund_amount"] is None
