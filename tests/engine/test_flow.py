"""What a call does about each failure is decided without any I/O, by the safety table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    SAFETY,
    APIError,
    ConflictError,
    ConnectionFailedError,
    FerryError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitError,
    ReadOnlyError,
    RequestTimeoutError,
    ServerError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.http import Reply
from tests.engine.replies import (
    pool_full,
    refused,
    reply,
    reset,
    scripted_driver,
    timed_out,
    undecodable,
)
from tests.support.cases import case
from tests.support.driven import SETTINGS
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each

if TYPE_CHECKING:
    from collections.abc import Callable

WAITS = ("bookings.wait", "tickets.wait_pdf")
"""They outlive failures, and have tests of their own."""

READS = [name for name in OPERATIONS if SAFETY[name].is_read]
WRITES = [name for name in OPERATIONS if not SAFETY[name].is_read]
FOR_EXAMPLE = ("catalogue.ports", "bookings.confirm", "mcp.ports", "mcp.confirm_booking")
NOT_FOUND = reply(404)
"""Ends every call at once, whatever its protocol."""


@dataclass(frozen=True)
class Row:
    """A failure and what the contract says about it.

    Attributes:
        failure: A reply, or what makes a failure of the network.
        read_again: Whether a read is sent again.
        write_again: Whether a write is.
        kind: The error of a read that is not, or that ends with it.
        write_kind: The error of a write that is not sent again.
        wait: The exact wait before the next attempt; None is the backoff's.
    """

    failure: Reply | Callable[[], FerryError]
    read_again: bool
    write_again: bool
    kind: type[FerryError]
    write_kind: type[FerryError]
    wait: float | None = None

    def made(self) -> Reply | FerryError:
        return self.failure if isinstance(self.failure, Reply) else self.failure()

    def again(self, name: str) -> bool:
        return self.read_again if SAFETY[name].is_read else self.write_again

    def error_of(self, name: str) -> type[FerryError]:
        return self.kind if SAFETY[name].is_read else self.write_kind


UNKNOWN = OutcomeUnknownError
TABLE = {
    "refused": Row(refused, True, True, ConnectionFailedError, ConnectionFailedError),
    "pool full": Row(pool_full, True, True, RequestTimeoutError, RequestTimeoutError),
    "429": Row(reply(429), True, True, RateLimitError, RateLimitError),
    "429 after 7": Row(
        reply(429, retry_after="7"), True, True, RateLimitError, RateLimitError, 7.0
    ),
    "429 now": Row(reply(429, retry_after="0"), True, True, RateLimitError, RateLimitError, 0.0),
    "429 after 60": Row(
        reply(429, retry_after="60"), True, True, RateLimitError, RateLimitError, 60.0
    ),
    "429 after 61": Row(reply(429, retry_after="61"), False, False, RateLimitError, RateLimitError),
    "reset": Row(reset, True, False, ConnectionFailedError, UNKNOWN),
    "time-out": Row(timed_out, True, False, RequestTimeoutError, UNKNOWN),
    "408": Row(reply(408), True, False, APIError, UNKNOWN),
    "500": Row(reply(500), True, False, ServerError, UNKNOWN),
    "503 after 3": Row(reply(503, retry_after="3"), True, False, ServerError, UNKNOWN, 3.0),
    "503 after 61": Row(reply(503, retry_after="61"), False, False, ServerError, UNKNOWN),
    "599": Row(reply(599), True, False, ServerError, UNKNOWN),
    "no JSON": Row(reply(200), True, False, UnexpectedResponseError, UNKNOWN),
    "undecodable": Row(undecodable, True, False, UnexpectedResponseError, UNKNOWN),
    "redirect": Row(reply(302), False, False, UnexpectedResponseError, UnexpectedResponseError),
    "401": Row(reply(401), False, False, APIError, APIError),
    "404": Row(NOT_FOUND, False, False, NotFoundError, NotFoundError),
    "409": Row(reply(409), False, False, ConflictError, ConflictError),
}
every_row = each("row", TABLE.values(), ids=TABLE)


@every_row
def test_a_failure_is_repeated_as_the_contract_says(row: Row) -> None:
    for name in OPERATIONS:
        if name in WAITS:
            continue
        with case(name):
            driver = scripted_driver(row.made(), then=NOT_FOUND)
            with pytest.raises(FerryError) as info:
                driver.raw(described(name), SETTINGS)
            tried = [attempt for attempt in info.value.attempts if attempt.operation == name]
            assert len(tried) == (2 if row.again(name) else 1)
            assert len(info.value.attempts) == len(driver.requests)
            if row.again(name):
                assert type(info.value) is NotFoundError
                (wait,) = driver.waits
                assert wait == row.wait if row.wait is not None else 0 <= wait <= 0.5
            else:
                assert isinstance(info.value, row.error_of(name))
                assert driver.waits == []


@each("name", WRITES)
@each("row", [row for row in TABLE.values() if row.write_kind is UNKNOWN])
def test_only_what_a_read_shows_is_read_back(name: str, row: Row) -> None:
    driver = scripted_driver(row.made(), then=NOT_FOUND)
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described(name), SETTINGS)
    reads = [attempt.operation for attempt in info.value.attempts][1:]
    assert reads == [proof.read for proof in SAFETY[name].confirmed_by][-1:]


@every_row
def test_no_more_attempts_than_allowed_follow_the_first(row: Row) -> None:
    for name, max_retries in product(FOR_EXAMPLE, [0, 1, 3]):
        with case(name, max_retries):
            count = max_retries + 1 if row.again(name) else 1
            driver = scripted_driver(*(row.made() for _ in range(count)), then=NOT_FOUND)
            with pytest.raises(FerryError) as info:
                driver.raw(described(name), SETTINGS, max_retries=max_retries)
            assert isinstance(info.value, row.error_of(name))
            tried = [attempt for attempt in info.value.attempts if attempt.operation == name]
            assert len(tried) == count
            assert len(driver.waits) == count - 1


@every_row
@each("name", FOR_EXAMPLE)
def test_an_error_says_what_became_of_the_call(name: str, row: Row) -> None:
    driver = scripted_driver(row.made(), then=NOT_FOUND)
    with pytest.raises(FerryError) as info:
        driver.raw(described(name), SETTINGS, max_retries=0, correlation_id="c-1")
    error, failure = info.value, row.made()
    if isinstance(failure, Reply):
        refusal = 400 <= failure.status_code < 500 and failure.status_code != 408
        assert error.outcome == ("rejected" if refusal else "unknown")
        assert error.attempts[0].status_code == failure.status_code
    else:
        assert error.outcome == failure.outcome
        assert error.attempts[0].sent == (failure.outcome != "not_sent")
    assert error.operation == name
    assert error.correlation_id == "c-1"


def test_different_failures_count_together() -> None:
    driver = scripted_driver(refused(), reply(429, retry_after="2"), timed_out())
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described("bookings.create"), SETTINGS)
    problems = [attempt.problem for attempt in info.value.attempts]
    assert problems == ["ConnectionFailedError", "RateLimitError", "RequestTimeoutError"]
    assert [attempt.sent for attempt in info.value.attempts] == [False, True, True]
    assert driver.waits[1] == 2.0


def test_attempts_of_a_call_carry_one_correlation_id_and_calls_their_own() -> None:
    seen = []
    for _ in range(2):
        driver = scripted_driver(reply(503), reply(503), NOT_FOUND)
        with pytest.raises(NotFoundError) as info:
            driver.raw(described("catalogue.ports"), SETTINGS)
        ids = {request.headers["x-client-correlation-id"] for request in driver.requests}
        assert ids == {info.value.correlation_id}
        seen.append(info.value.correlation_id)
    assert seen[0] != seen[1]


@each("name", WRITES)
def test_a_client_that_only_reads_sends_no_write(name: str) -> None:
    driver = scripted_driver()
    with pytest.raises(ReadOnlyError) as info:
        driver.raw(described(name), SETTINGS, read_only=True)
    assert (info.value.operation, info.value.outcome) == (name, "not_sent")
    assert info.value.attempts == ()
    assert driver.effects == []


@each("name", READS)
def test_a_client_that_only_reads_sends_reads(name: str) -> None:
    driver = scripted_driver(NOT_FOUND)
    with pytest.raises(NotFoundError):
        driver.raw(described(name), SETTINGS, read_only=True)
    assert len(driver.requests) == 1


@each("name", OPERATIONS)
def test_what_is_no_failure_of_the_service_passes_through_unchanged(name: str) -> None:
    for stop in (KeyboardInterrupt(), RuntimeError()):
        driver = scripted_driver(stop)
        with pytest.raises(type(stop)) as info:
            driver.raw(described(name), SETTINGS)
        assert info.value is stop


@each("name", OPERATIONS)
def test_a_call_that_is_given_up_asks_for_nothing_more(name: str) -> None:
    steps: Any = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    steps.close()
    assert list(steps) == []
