"""What results and errors tell of the attempts that were made."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    OutcomeUnknownError,
)
from ferry_sdk._engine.context import Context
from ferry_sdk._engine.flow import run
from ferry_sdk.types import Attempt
from tests.engine.replies import booking, good, refused, reply, reset, scripted_driver, timed_out
from tests.support.driven import SETTINGS
from tests.support.operations import described
from tests.support.samples import BOOKING_CONFIRMATION, BOOKING_CREATED
from tests.support.tables import each

if TYPE_CHECKING:
    from tests.support.driven import Driver

CONFIRMED = BOOKING_CONFIRMATION | {"booking_id": "b-1"}


def reports_waits(driver: Driver, attempts: tuple[Attempt, ...]) -> bool:
    """Whether the attempts record exactly the waits of the driver."""
    return [attempt.waited for attempt in attempts if attempt.waited] == [
        seconds for seconds in driver.waits if seconds
    ]


def test_a_success_after_failures_has_all_attempts_and_the_time_they_took() -> None:
    driver = scripted_driver(
        reply(429, retry_after="5"),
        reply(503, retry_after="1", x_request_id="r-1"),
        reply(200, {"ports": []}, x_request_id="r-2"),
    )
    raw = driver.raw(described("catalogue.ports"), SETTINGS)
    assert list(raw.parse()) == []
    assert raw.attempts == (
        Attempt(True, 429, None, "RateLimitError", 5.0, "catalogue.ports"),
        Attempt(True, 503, "r-1", "ServerError", 1.0, "catalogue.ports"),
        Attempt(True, 200, "r-2", None, 0.0, "catalogue.ports"),
    )
    assert raw.elapsed == pytest.approx(3 * 0.25 + 6)


def test_an_error_has_all_attempts() -> None:
    driver = scripted_driver(refused(), timed_out(), reply(200, x_request_id="r-3"))
    with pytest.raises(FerryError) as info:
        driver.raw(described("catalogue.ports"), SETTINGS)
    problems = [(attempt.sent, attempt.problem) for attempt in info.value.attempts]
    assert problems == [
        (False, "ConnectionFailedError"),
        (True, "RequestTimeoutError"),
        (True, "UnexpectedResponseError"),
    ]
    assert info.value.attempts[-1].request_id == "r-3"
    assert reports_waits(driver, info.value.attempts)


def test_an_answer_that_is_not_of_its_kind_tells_which_reply_it_was() -> None:
    driver = scripted_driver(then=reply(200, {"ports": 7}, x_request_id="r-1"))
    with pytest.raises(FerryError) as info:
        driver.raw(described("bookings.get"), SETTINGS, max_retries=0)
    (attempt,) = info.value.attempts
    assert (attempt.status_code, attempt.request_id) == (200, "r-1")


@each("name", ["bookings.confirm", "mcp.confirm_booking"])
def test_a_write_read_back_has_the_looks_as_well(name: str) -> None:
    driver = scripted_driver(
        reset(),
        reply(503, x_request_id="r-1"),
        good(booking("issuance_due", "Pending"), x_request_id="r-2"),
        good(booking("ticketed", "Issued"), x_request_id="r-3"),
    )
    raw = driver.raw(described(name), SETTINGS)
    assert [(a.operation, a.status_code, a.request_id) for a in raw.attempts] == [
        (name, None, None),
        ("bookings.get", 503, "r-1"),
        ("bookings.get", 200, "r-2"),
        ("bookings.get", 200, "r-3"),
    ]
    assert reports_waits(driver, raw.attempts)
    assert raw.elapsed == pytest.approx(driver.now - 1000)


def test_a_guarded_write_has_the_read_before_it_as_well() -> None:
    driver = scripted_driver(reset(), good(booking()), refused(), good(CONFIRMED))
    raw = driver.raw(described("bookings.confirm", expect_total="148.18"), SETTINGS)
    assert [(attempt.operation, attempt.sent) for attempt in raw.attempts] == [
        ("bookings.get", True),
        ("bookings.get", True),
        ("bookings.confirm", False),
        ("bookings.confirm", True),
    ]
    assert reports_waits(driver, raw.attempts)
    assert raw.elapsed == pytest.approx(driver.now - 1000)


def test_a_wait_has_all_its_looks_and_the_time_they_took() -> None:
    driver = scripted_driver(
        reset(),
        good(booking("payment_due")),
        reply(503),
        good(booking("in_progress")),
        good(booking("ticketed")),
    )
    raw = driver.raw(described("bookings.wait"), SETTINGS)
    assert [attempt.problem for attempt in raw.attempts] == [
        "ConnectionFailedError",
        None,
        "ServerError",
        None,
        None,
    ]
    assert {attempt.operation for attempt in raw.attempts} == {"bookings.wait"}
    assert reports_waits(driver, raw.attempts)
    assert raw.elapsed == pytest.approx(driver.now - 1000)


def test_attempts_are_logged_and_what_is_tried_again_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    driver = scripted_driver(reply(429, retry_after="5"), reply(503), good({"ports": []}))
    with caplog.at_level(logging.DEBUG, "ferry_sdk"):
        raw = driver.raw(described("catalogue.ports"), SETTINGS)
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    attempts = [words for level, words in told if level == "DEBUG"]
    assert len(attempts) == len(raw.attempts) == 3
    assert "429" in attempts[0]
    again = [words for level, words in told if level == "INFO"]
    assert again[0].startswith(
        "catalogue.ports failed (RateLimitError, HTTP 429), next attempt in 5.00 s"
    )
    assert len(again) == 2
    assert all(f"(correlation id {raw.correlation_id})" in words for _, words in told)


def test_a_code_that_is_a_sentence_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    for code, logged in (("TOO_BUSY", ", TOO_BUSY"), ("Ada Reyes sails already", "")):
        driver = scripted_driver(reply(503, {"code": code, "message": "-"}), good({"ports": []}))
        with caplog.at_level(logging.DEBUG, "ferry_sdk"):
            driver.raw(described("catalogue.ports"), SETTINGS)
        assert f"catalogue.ports failed (ServerError, HTTP 503{logged}), next" in caplog.text
    assert "Reyes" not in caplog.text


class Unreadable:
    """An answer that raises an error which knows of no request."""

    def read(self, value: object) -> object:
        raise InvalidInputError("out of range", field="value")


def test_an_error_raised_while_a_reply_is_read_does_not_say_that_nothing_was_sent() -> None:
    operation: Any = replace(described("bookings.create"), answer=Unreadable())
    with pytest.raises(OutcomeUnknownError) as info:
        scripted_driver(good({})).raw(operation, SETTINGS)
    assert isinstance(info.value.__cause__, InvalidInputError)
    assert [attempt.sent for attempt in info.value.attempts] == [True]


def test_a_token_in_the_words_of_a_failure_is_hidden() -> None:
    words = "the proxy does not know test-token"
    with pytest.raises(ConnectionFailedError, match=r"does not know \[hidden\]"):
        scripted_driver(ConnectionFailedError(words)).raw(
            described("catalogue.ports"), SETTINGS, max_retries=0
        )


@each(("name", "body"), [("catalogue.ports", {"ports": []}), ("bookings.create", BOOKING_CREATED)])
def test_the_attempt_of_a_success_is_recorded_where_somebody_looks(
    name: str, body: dict[str, Any]
) -> None:
    for is_raw in (True, False):
        driver = scripted_driver(good(body, x_request_id="r-1"))
        context = Context.start(SETTINGS, driver.session, name, is_raw=is_raw)
        result = driver.walk(run(described(name), context))
        assert len(context.state.attempts) == is_raw
        # One who joins the call may look later.
        assert [attempt.request_id for attempt in result.raw().attempts] == ["r-1"]
