"""What a write costs is read before it leaves, and may hold it back."""

import logging
from decimal import Decimal

import pytest

from ferry_sdk import (
    AlreadyDoneError,
    AuthenticationError,
    BadRequestError,
    Booking,
    ConflictError,
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    NotFoundError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PriceChangedError,
    RequestTimeoutError,
    ServerError,
    Ticket,
    UnexpectedResponseError,
    UnresolvedWriteError,
)
from tests.engine.recorder import Notes, entry
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
from tests.support.operations import described
from tests.support.samples import (
    BOOKING_CANCELLATION,
    BOOKING_CONFIRMATION,
    CANCELLATION_FEE,
    TICKET_CANCELLATION,
)
from tests.support.tables import each

AFTER = {
    "bookings.confirm": booking("ticketed", "Issued"),
    "bookings.cancel": booking("voided", "Canceled"),
    "tickets.cancel": ticket("Canceled"),
}
"""Of each guarded write: what shows that it is done."""
CANCELLED_FEE = CANCELLATION_FEE | {"ticket_status": "Canceled", "penalty_amount": 999}
GUARDED = {
    "bookings.confirm": ("expect_total", "/api/booking/b-1"),
    "bookings.cancel": ("max_penalty", "/api/booking/cancel-fee"),
    "tickets.cancel": ("max_penalty", "/api/booking/cancel-fee"),
}
"""Of each guarded write: the guard's argument, and what is read first."""


READ = {
    "bookings.confirm": booking(),
    "bookings.cancel": CANCELLATION_FEE,
    "tickets.cancel": CANCELLATION_FEE,
}
"""Of each guarded write: what is read first."""
ANSWERS = {
    "bookings.confirm": BOOKING_CONFIRMATION,
    "bookings.cancel": BOOKING_CANCELLATION,
    "tickets.cancel": TICKET_CANCELLATION,
}


def describe_guarded(name, amount=50):
    return described(name, **{GUARDED[name][0]: amount})


@each("expected", [Decimal("148.18"), "148.18", "148.180", "1.4818e2"])
def test_a_total_as_expected_lets_the_confirmation_leave(expected):
    driver = scripted_driver(good(booking()), good(BOOKING_CONFIRMATION))
    result = driver.raw(describe_guarded("bookings.confirm", expected)).parse()
    assert not result.read_back
    assert driver.paths == ["/api/booking/b-1", "/api/booking/confirm"]


def test_a_whole_total_may_be_an_int():
    driver = scripted_driver(good(booking(total_price=148)), good(BOOKING_CONFIRMATION))
    assert driver.raw(describe_guarded("bookings.confirm", 148)).parse()


@each("expected", ["148.17", "148.19", Decimal(148), 0, "-148.18"])
def test_any_other_total_holds_the_confirmation_back(expected):
    driver = scripted_driver(good(booking(currency="Tnd")))
    error = driver.error(PriceChangedError, describe_guarded("bookings.confirm", expected))
    assert (error.expected, error.found) == (Decimal(expected), Decimal("148.18"))
    assert (error.currency, error.outcome, error.operation) == (
        "TND",
        "not_sent",
        "bookings.confirm",
    )
    assert driver.paths == ["/api/booking/b-1"]


def test_a_cent_of_a_great_sum_is_noticed():
    driver = scripted_driver(good(booking(total_price=1e15)), good(BOOKING_CONFIRMATION))
    driver.error(PriceChangedError, describe_guarded("bookings.confirm", "1000000000000000.01"))


def test_a_currency_is_the_same_in_any_case():
    for currency in ("EUR", "eur", "Eur"):
        for name, answer in ANSWERS.items():
            driver = scripted_driver(good(READ[name] | {"currency": "Eur"}), good(answer))
            amount = "148.18" if name == "bookings.confirm" else 50
            operation = described(name, **{GUARDED[name][0]: amount, "currency": currency})
            assert driver.raw(operation).parse()


def test_the_same_number_in_another_currency_holds_the_write_back():
    driver = scripted_driver(good(booking(currency="Kwd")))
    price = driver.error(
        PriceChangedError, described("bookings.confirm", expect_total="148.18", currency="eur")
    )
    assert (price.currency, price.expected_currency) == ("KWD", "EUR")
    assert str(price) == "the booking costs 148.180 KWD, expected 148.18 EUR"
    for name in ("bookings.cancel", "tickets.cancel"):
        for amounts in ({"max_penalty": 50}, {"min_refund": 100}):
            driver = scripted_driver(good(CANCELLATION_FEE | {"currency": "Kwd"}))
            fee = driver.error(PenaltyExceededError, described(name, **amounts, currency="EUR"))
            error = fee
            assert (error.currency, error.expected_currency) == ("KWD", "EUR")
            assert (error.penalty, error.refund) == (Decimal("48.13"), Decimal("100.05"))
            assert "KWD" in str(error)
            assert "EUR" in str(error)
            assert (error.outcome, len(driver.requests)) == ("not_sent", 1)


def test_a_currency_without_an_amount_is_refused_at_once():
    for name in GUARDED:
        with pytest.raises(InvalidInputError) as info:
            described(name, currency="EUR")
        assert info.value.field == "currency"


def test_less_paid_back_holds_the_cancellation_back():
    for name in ("bookings.cancel", "tickets.cancel"):
        driver = scripted_driver(good(CANCELLATION_FEE))
        error = driver.error(
            PenaltyExceededError, described(name, max_penalty=50, min_refund="100.06")
        )
        assert (error.limit, error.min_refund) == (Decimal(50), Decimal("100.06"))
        assert (error.refund, error.currency, error.expected_currency) == (
            Decimal("100.05"),
            "EUR",
            "EUR",
        )
        assert str(error) == "the cancellation pays back 100.05 EUR, expected at least 100.06 EUR"
        driver = scripted_driver(good(CANCELLATION_FEE), good(ANSWERS[name]))
        result = driver.raw(described(name, min_refund="100.05")).parse()
        assert result.previewed is not None


def test_nothing_is_sent_for_what_the_guard_shows_to_be_done():
    """A total, a fee and a currency that another guard would refuse do not matter."""
    for name, after in AFTER.items():
        first = [] if name == "bookings.confirm" else [good(CANCELLED_FEE)]
        driver, notes = scripted_driver(*first, good(after)), Notes()
        operation = described(name, **{GUARDED[name][0]: 1, "currency": "USD"})
        error = driver.error(AlreadyDoneError, operation, journal=notes)
        assert (error.outcome, error.operation, error.__cause__) == ("not_sent", name, None)
        assert error.result.read_back
        assert isinstance(error.last_seen, Booking | Ticket)
        assert notes.states == {"entry-1": "not_sent"}
        assert len(driver.requests) == len(first) + 1


def test_a_fee_of_a_cancelled_ticket_shows_nothing_of_a_booking():
    """The fee names the status of one ticket, and the booking has another one."""
    fee = CANCELLATION_FEE | {"ticket_status": "Canceled"}
    half = booking("partially_voided", "Canceled", "Issued")
    for seen in (good(half), reply(404), reset()):
        driver = scripted_driver(good(fee), seen, good(BOOKING_CANCELLATION))
        result = driver.raw(describe_guarded("bookings.cancel"), max_retries=0).parse()
        assert not result.read_back
        assert len(driver.requests) == 3


def test_a_fee_that_is_refused_for_what_is_cancelled_is_looked_into():
    for name in ("bookings.cancel", "tickets.cancel"):
        driver = scripted_driver(reply(409), good(AFTER[name]))
        error = driver.error(AlreadyDoneError, describe_guarded(name))
        assert error.outcome == "not_sent"
        for seen in (good(CANCELLATION_FEE), reply(404)):
            driver = scripted_driver(reply(409), seen)
            refused = driver.error(ConflictError, describe_guarded(name), max_retries=0)
            assert refused.operation == name
            assert len(driver.requests) == 2


def test_an_id_that_a_read_or_a_write_is_refused_for_is_the_argument():
    refusal = reply(400, {"error": True, "code": "BAD_ID", "message": "no id", "field": "id"})
    for name, argument in (("bookings.cancel", "booking_id"), ("tickets.cancel", "ticket_id")):
        driver = scripted_driver(refusal, reply(404))
        refused = driver.error(BadRequestError, describe_guarded(name))
        assert refused.field == argument
    for name, argument in (("bookings.confirm", "booking_id"), ("bookings.cancel_fee", "id")):
        driver = scripted_driver(refusal, reply(404))
        refused = driver.error(BadRequestError, name)
        assert refused.field == argument


def test_an_earlier_attempt_that_the_guard_shows_to_be_done_is_settled():
    notes = Notes(api_error=UnresolvedWriteError(entry("bookings.confirm")))
    after = AFTER["bookings.confirm"]
    driver = scripted_driver(good(after), good(after))
    result = driver.raw(describe_guarded("bookings.confirm", 1), journal=notes).parse()
    assert result.read_back
    assert notes.states == {"entry-7": "done"}


@each("amount", [148.18, True, "", "many", "NaN", "Infinity", [], {}])
@each("name", GUARDED)
def test_an_amount_that_is_no_money_is_refused_at_once(name, amount):
    with pytest.raises(InvalidInputError) as info:
        describe_guarded(name, amount)
    assert info.value.field == GUARDED[name][0]


@each("name", GUARDED)
def test_without_a_guard_nothing_is_read_first(name):
    driver = scripted_driver(reply(403))
    driver.error(FerryError, described(name, **{GUARDED[name][0]: None}))
    assert driver.paths != [GUARDED[name][1]]


@each(
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
@each("name", GUARDED)
def test_a_guard_that_cannot_be_read_holds_the_write_back(name, failure, kind, outcome):
    driver = scripted_driver(*(failure() for _ in range(3)))
    error = driver.error(kind, describe_guarded(name))
    assert not isinstance(error, OutcomeUnknownError)
    assert (error.outcome, error.operation) == (outcome, name)
    assert set(driver.paths) == {GUARDED[name][1]}


@each("limit", [Decimal("48.13"), "48.14", 49, "1e9"])
@each(
    ("name", "answer"),
    [("bookings.cancel", BOOKING_CANCELLATION), ("tickets.cancel", TICKET_CANCELLATION)],
)
def test_a_penalty_within_the_limit_lets_the_cancellation_leave(name, answer, limit):
    driver = scripted_driver(good(CANCELLATION_FEE), good(answer))
    result = driver.raw(describe_guarded(name, limit)).parse()
    assert result.previewed.penalty_amount == Decimal("48.13")
    assert not result.read_back
    assert len(driver.requests) == 2


@each("limit", [Decimal("48.12"), 48, 0, "-1"])
@each("name", ["bookings.cancel", "tickets.cancel"])
def test_a_higher_penalty_holds_the_cancellation_back(name, limit):
    driver = scripted_driver(good(CANCELLATION_FEE))
    error = driver.error(PenaltyExceededError, describe_guarded(name, limit))
    assert (error.limit, error.penalty, error.currency) == (Decimal(limit), Decimal("48.13"), "EUR")
    assert (error.outcome, error.operation) == ("not_sent", name)
    assert len(driver.requests) == 1


@pytest.mark.parametrize(
    ("refund", "shortfall"),
    [("100.05", "0"), ("90.05", "10.00"), ("100.04", "0.01"), ("101", "-0.95")],
)
def test_a_refund_is_compared_with_the_preview(refund, shortfall, caplog):
    cancelled = BOOKING_CANCELLATION | {"refund_amount": float(refund)}
    driver = scripted_driver(good(CANCELLATION_FEE), good(cancelled))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded("bookings.cancel")).parse()
    assert result.refund_shortfall == Decimal(shortfall)
    warned = [record.getMessage() for record in caplog.records]
    assert len(warned) == (1 if Decimal(shortfall) > 0 else 0)
    assert all("less than was previewed" in words and "EUR" in words for words in warned)


def test_a_cancellation_without_preview_knows_no_shortfall():
    driver = scripted_driver(good(BOOKING_CANCELLATION))
    result = driver.raw("bookings.cancel").parse()
    assert (result.previewed, result.refund_shortfall) == (None, None)


@each(
    ("name", "after"),
    [("bookings.cancel", booking("voided", "Canceled")), ("tickets.cancel", ticket("Canceled"))],
)
def test_a_guarded_cancellation_that_is_read_back_keeps_its_preview(name, after, caplog):
    driver = scripted_driver(good(CANCELLATION_FEE), reset(), good(after))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded(name)).parse()
    assert result.read_back
    assert result.previewed.refund_amount == Decimal("100.05")
    assert getattr(result, "refund_shortfall", None) is None
    assert caplog.records == []
