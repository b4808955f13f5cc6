"""What a write costs is read before it leaves, and may hold it back."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

import pytest

from ferry_sdk import (
    AuthenticationError,
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    NotFoundError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PriceChangedError,
    RequestTimeoutError,
    ServerError,
    UnexpectedResponseError,
)
from tests.engine.replies import (
    booking,
    good,
    refused,
    reply,
    reset,
    scripted_driver,
    ticket,
    timed_out,
    undecodable,
)
from tests.support.driven import SETTINGS
from tests.support.operations import described
from tests.support.samples import (
    BOOKING_CANCELLATION,
    BOOKING_CONFIRMATION,
    CANCELLATION_FEE,
    TICKET_CANCELLATION,
)

GUARDED = {
    "bookings.confirm": ("expect_total", "/api/booking/b-1"),
    "bookings.cancel": ("max_penalty", "/api/booking/cancel-fee"),
    "tickets.cancel": ("max_penalty", "/api/booking/cancel-fee"),
}
"""Of each guarded write: the guard's argument, and what is read first."""


def describe_guarded(name: str, amount: Any = 50) -> Any:
    return described(name, **{GUARDED[name][0]: amount})


@pytest.mark.parametrize("expected", [Decimal("148.18"), "148.18", "148.180", "1.4818e2"])
def test_a_total_as_expected_lets_the_confirmation_leave(expected: Any) -> None:
    driver = scripted_driver(good(booking()), good(BOOKING_CONFIRMATION))
    result = driver.raw(describe_guarded("bookings.confirm", expected), SETTINGS).parse()
    assert not result.read_back
    assert driver.paths == ["/api/booking/b-1", "/api/booking/confirm"]


def test_a_whole_total_may_be_an_int() -> None:
    driver = scripted_driver(good(booking(total_price=148)), good(BOOKING_CONFIRMATION))
    assert driver.raw(describe_guarded("bookings.confirm", 148), SETTINGS).parse()


@pytest.mark.parametrize("expected", ["148.17", "148.19", Decimal(148), 0, "-148.18"])
def test_any_other_total_holds_the_confirmation_back(expected: Any) -> None:
    driver = scripted_driver(good(booking(currency="Tnd")))
    with pytest.raises(PriceChangedError) as info:
        driver.raw(describe_guarded("bookings.confirm", expected), SETTINGS)
    error = info.value
    assert (error.expected, error.found) == (Decimal(expected), Decimal("148.18"))
    assert (error.currency, error.outcome, error.operation) == (
        "TND",
        "not_sent",
        "bookings.confirm",
    )
    assert driver.paths == ["/api/booking/b-1"]


def test_a_cent_of_a_great_sum_is_noticed() -> None:
    driver = scripted_driver(good(booking(total_price=1e15)), good(BOOKING_CONFIRMATION))
    with pytest.raises(PriceChangedError):
        driver.raw(describe_guarded("bookings.confirm", "1000000000000000.01"), SETTINGS)


@pytest.mark.parametrize("amount", [148.18, True, "", "many", "NaN", "Infinity", [], {}])
@pytest.mark.parametrize("name", GUARDED)
def test_an_amount_that_is_no_money_is_refused_at_once(name: str, amount: Any) -> None:
    with pytest.raises(InvalidInputError) as info:
        describe_guarded(name, amount)
    assert info.value.field == GUARDED[name][0]


@pytest.mark.parametrize("name", GUARDED)
def test_without_a_guard_nothing_is_read_first(name: str) -> None:
    driver = scripted_driver(reply(409))
    with pytest.raises(FerryError):
        driver.raw(described(name, **{GUARDED[name][0]: None}), SETTINGS)
    assert driver.paths != [GUARDED[name][1]]


@pytest.mark.parametrize(
    ("failure", "kind", "outcome"),
    [
        (refused, ConnectionFailedError, "not_sent"),
        (reset, ConnectionFailedError, "not_sent"),
        (timed_out, RequestTimeoutError, "not_sent"),
        (undecodable, UnexpectedResponseError, "not_sent"),
        (lambda: reply(500), ServerError, "not_sent"),
        (lambda: reply(408), FerryError, "not_sent"),
        (lambda: reply(200), UnexpectedResponseError, "not_sent"),
        (lambda: reply(302), UnexpectedResponseError, "not_sent"),
        (lambda: reply(404), NotFoundError, "rejected"),
        (lambda: reply(401), AuthenticationError, "rejected"),
    ],
)
@pytest.mark.parametrize("name", GUARDED)
def test_a_guard_that_cannot_be_read_holds_the_write_back(
    name: str, failure: Any, kind: type[FerryError], outcome: str
) -> None:
    driver = scripted_driver(*(failure() for _ in range(3)))
    with pytest.raises(kind) as info:
        driver.raw(describe_guarded(name), SETTINGS)
    assert not isinstance(info.value, OutcomeUnknownError)
    assert (info.value.outcome, info.value.operation) == (outcome, name)
    assert set(driver.paths) == {GUARDED[name][1]}


@pytest.mark.parametrize("limit", [Decimal("48.13"), "48.14", 49, "1e9"])
@pytest.mark.parametrize(
    ("name", "answer"),
    [("bookings.cancel", BOOKING_CANCELLATION), ("tickets.cancel", TICKET_CANCELLATION)],
)
def test_a_penalty_within_the_limit_lets_the_cancellation_leave(
    name: str, answer: Any, limit: Any
) -> None:
    driver = scripted_driver(good(CANCELLATION_FEE), good(answer))
    result = driver.raw(describe_guarded(name, limit), SETTINGS).parse()
    assert result.previewed.penalty_amount == Decimal("48.13")
    assert not result.read_back
    assert len(driver.requests) == 2


@pytest.mark.parametrize("limit", [Decimal("48.12"), 48, 0, "-1"])
@pytest.mark.parametrize("name", ["bookings.cancel", "tickets.cancel"])
def test_a_higher_penalty_holds_the_cancellation_back(name: str, limit: Any) -> None:
    driver = scripted_driver(good(CANCELLATION_FEE))
    with pytest.raises(PenaltyExceededError) as info:
        driver.raw(describe_guarded(name, limit), SETTINGS)
    error = info.value
    assert (error.limit, error.penalty, error.currency) == (
        Decimal(limit),
        Decimal("48.13"),
        "EUR",
    )
    assert (error.outcome, error.operation) == ("not_sent", name)
    assert len(driver.requests) == 1


@pytest.mark.parametrize(
    ("refund", "shortfall"),
    [("100.05", "0"), ("90.05", "10.00"), ("100.04", "0.01"), ("101", "-0.95")],
)
def test_a_refund_is_compared_with_the_preview(
    refund: str, shortfall: str, caplog: pytest.LogCaptureFixture
) -> None:
    cancelled = BOOKING_CANCELLATION | {"refund_amount": float(refund)}
    driver = scripted_driver(good(CANCELLATION_FEE), good(cancelled))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded("bookings.cancel"), SETTINGS).parse()
    assert result.refund_shortfall == Decimal(shortfall)
    warned = [record.getMessage() for record in caplog.records]
    assert len(warned) == (1 if Decimal(shortfall) > 0 else 0)
    assert all("less than was previewed" in words and "EUR" in words for words in warned)


def test_a_cancellation_without_preview_knows_no_shortfall() -> None:
    driver = scripted_driver(good(BOOKING_CANCELLATION))
    result = driver.raw(described("bookings.cancel"), SETTINGS).parse()
    assert (result.previewed, result.refund_shortfall) == (None, None)


@pytest.mark.parametrize(
    ("name", "after"),
    [("bookings.cancel", booking("voided", "Canceled")), ("tickets.cancel", ticket("Canceled"))],
)
def test_a_guarded_cancellation_that_is_read_back_keeps_its_preview(
    name: str, after: Any, caplog: pytest.LogCaptureFixture
) -> None:
    driver = scripted_driver(good(CANCELLATION_FEE), reset(), good(after))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded(name), SETTINGS).parse()
    assert result.read_back
    assert result.previewed.refund_amount == Decimal("100.05")
    assert getattr(result, "refund_shortfall", None) is None
    assert caplog.records == []
