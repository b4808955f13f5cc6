"""A write whose reply was lost is read back until its effect is seen or time is up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    AlreadyDoneError,
    APIError,
    Booking,
    ConfigurationError,
    ConflictError,
    NotFoundError,
    OutcomeUnknownError,
    Ticket,
    TicketNotFoundError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.effects import Send, Sleep
from ferry_sdk._engine.limiter import current_request
from ferry_sdk.types import OutcomeDetails
from tests.engine.recorder import Notes
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

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Case:
    """A write that is read back.

    Attributes:
        name: The operation.
        read: What is read, below the base address.
        before: What is read before the effect.
        after: What is read after it.
        subject: The ids of what is changed.
        changes: Arguments of its own.
    """

    name: str
    read: str
    before: Any
    after: Any
    subject: Mapping[str, str]
    changes: Mapping[str, Any]

    def operation(self) -> Any:
        return described(self.name, **self.changes)


BOOKING = {"booking_id": "b-1"}
TICKET = {"ticket_id": "t-1"}
PENDING = booking("issuance_due", "Pending")
CASES = {
    "confirm": Case(
        "bookings.confirm", "/api/booking/b-1", PENDING, booking("ticketed", "Issued"), BOOKING, {}
    ),
    "confirm over MCP": Case(
        "mcp.confirm_booking",
        "/api/booking/b-1",
        PENDING,
        booking("in_progress", "Issued", "Issued"),
        BOOKING,
        {},
    ),
    "cancel": Case(
        "bookings.cancel", "/api/booking/b-1", PENDING, booking("voided", "Pending"), BOOKING, {}
    ),
    "cancel a ticket": Case(
        "tickets.cancel", "/api/ticket/t-1", ticket("Issued"), ticket("Canceled"), TICKET, {}
    ),
    "cancel a ticket over MCP": Case(
        "mcp.cancel_ticket", "/mcp", ticket("Issued"), ticket("Canceled"), TICKET, {}
    ),
    "pay a ticket": Case(
        "tickets.mark_paid", "/api/ticket/t-1", ticket("Pending"), ticket("Issued"), TICKET, {}
    ),
    "pay a ticket of a booking": Case(
        "tickets.mark_paid",
        "/api/booking/b-1",
        PENDING,
        booking("issuance_due", "Pending", payment_status="paid"),
        TICKET | BOOKING,
        BOOKING,
    ),
}
LOST = {
    "reset": reset,
    "time-out": timed_out,
    "408": lambda: reply(408),
    "500": lambda: reply(500, {"message": "oops"}),
    "503": lambda: reply(503, retry_after="3600"),
    "no JSON": lambda: reply(200),
    "another shape": lambda: reply(200, {"status": 7}),
    "undecodable": undecodable,
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_loss = pytest.mark.parametrize("lost", LOST.values(), ids=LOST)


@every_loss
@every_case
def test_an_effect_seen_at_once_gives_the_result(case: Case, lost: Any) -> None:
    driver = scripted_driver(lost(), good(case.after))
    result = driver.raw(case.operation(), SETTINGS).parse()
    assert result.read_back
    assert type(result) is case.operation().answer.model
    assert {name: getattr(result, name, value) for name, value in case.subject.items()} == {
        **case.subject
    }
    assert driver.paths[1:] == [case.read]
    assert driver.waits == []


@every_case
def test_an_effect_seen_later_gives_the_result(case: Case) -> None:
    driver = scripted_driver(reset(), *[good(case.before)] * 4, good(case.after))
    assert driver.raw(case.operation(), SETTINGS).parse().read_back
    assert driver.paths[1:] == [case.read] * 5
    for wait, pause in zip(driver.waits, (0.25, 0.5, 1, 2), strict=True):
        assert pause <= wait <= pause + 0.25


@every_case
@pytest.mark.parametrize("number", [1, 2])
def test_a_pause_that_the_client_is_closed_in_leaves_the_write_in_doubt(
    case: Case, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = scripted_driver(reset(), then=good(case.before))
    perform = driver.perform

    def close_in_a_pause(effect: Any) -> Any:
        if isinstance(effect, Sleep) and len(driver.waits) == number - 1:
            driver.effects.append(effect)
            raise ConfigurationError("the client is closed")
        return perform(effect)

    monkeypatch.setattr(driver, "perform", close_in_a_pause)
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(case.operation(), SETTINGS)
    assert info.value.last_seen is not None
    assert len(driver.waits) == number


@every_case
def test_a_write_whose_effect_is_never_seen_is_unknown_after_half_a_minute(case: Case) -> None:
    driver = scripted_driver(reset(), then=good(case.before))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(case.operation(), SETTINGS)
    error = info.value
    assert 1029 < driver.now <= 1030.25
    assert max(driver.waits) <= 10.25
    assert 6 <= len(driver.requests) <= 12
    assert error.subject == case.subject
    assert error.operation == case.name
    assert error.outcome == "unknown"
    assert error.last_seen.model_dump(mode="json", include={"status"}) == {
        "status": case.before["status"]
    }
    assert "may have happened" in str(error)


@every_case
def test_the_last_look_is_just_before_time_is_up(case: Case) -> None:
    driver = scripted_driver(reset(), then=good(case.before))
    driver.latency = 0.01
    with pytest.raises(OutcomeUnknownError):
        driver.raw(case.operation(), SETTINGS, deadline=20.0)
    assert 1019.7 < driver.now < 1020


@every_case
def test_the_write_itself_is_never_sent_again(case: Case) -> None:
    driver = scripted_driver(reset(), *[reset()] * 3, *[refused()] * 3, then=good(case.before))
    with pytest.raises(OutcomeUnknownError):
        driver.raw(case.operation(), SETTINGS, deadline=60.0)
    writes = [
        request
        for request in driver.requests
        if request.method == "POST" and b"view_ticket" not in (request.content or b"")
    ]
    assert len(writes) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(reset, id="reset"),
        pytest.param(refused, id="refused"),
        pytest.param(lambda: reply(503), id="503"),
        pytest.param(lambda: reply(429, retry_after="2"), id="429"),
        pytest.param(lambda: reply(408), id="408"),
        pytest.param(lambda: reply(200), id="no JSON"),
        pytest.param(lambda: reply(200, {"id": 7}), id="another shape"),
    ],
)
@every_case
def test_a_look_that_fails_is_followed_by_others(case: Case, trouble: Any) -> None:
    driver = scripted_driver(reset(), *(trouble() for _ in range(4)), good(case.after))
    assert driver.raw(case.operation(), SETTINGS).parse().read_back
    assert len(driver.requests) == 6


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 410, 422])
@every_case
def test_a_look_that_never_will_succeed_is_the_last(case: Case, status: int) -> None:
    driver = scripted_driver(reset(), good(case.before), reply(status))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(case.operation(), SETTINGS)
    assert info.value.last_seen.model_dump(include={"status"}) == {"status": case.before["status"]}
    assert info.value.attempts[-1].status_code == status
    assert len(driver.requests) == 3


@pytest.mark.parametrize("status", [401, 404])
@every_case
def test_what_cannot_be_read_at_all_is_unknown_at_once(case: Case, status: int) -> None:
    driver = scripted_driver(reply(500, {"message": "oops"}), reply(status))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(case.operation(), SETTINGS)
    assert info.value.last_seen == {"message": "oops"}
    assert driver.waits == []


@every_case
def test_a_look_that_is_told_to_wait_too_long_is_the_last(case: Case) -> None:
    driver = scripted_driver(reset(), good(case.before), reply(429, retry_after="31"))
    with pytest.raises(OutcomeUnknownError):
        driver.raw(case.operation(), SETTINGS)
    assert len(driver.requests) == 3
    assert driver.now < 1002


@every_case
def test_a_redirect_is_unknown_and_not_read_back(case: Case) -> None:
    driver = scripted_driver(reply(307, location="https://elsewhere.example/"))
    with pytest.raises(UnexpectedResponseError, match="redirect") as info:
        driver.raw(case.operation(), SETTINGS)
    assert info.value.outcome == "unknown"
    assert len(driver.requests) == 1


@every_case
def test_a_refusal_that_says_nothing_of_the_state_is_final(case: Case) -> None:
    for status in (401, 403, 404, 429):
        driver = scripted_driver(reply(status))
        with pytest.raises(APIError) as info:
            driver.raw(case.operation(), SETTINGS, max_retries=0)
        assert (info.value.status_code, info.value.outcome) == (status, "rejected")
        assert len(driver.requests) == 1


@every_case
def test_a_refusal_stands_unless_one_read_shows_the_effect(case: Case) -> None:
    unseen = (good(case.before), reply(404), reply(503), reply(200), reset(), timed_out())
    for status in (400, 402, 409, 410, 422):
        for read in unseen:
            driver = scripted_driver(reply(status), read)
            with pytest.raises(APIError) as info:
                driver.raw(case.operation(), SETTINGS, max_retries=0)
            assert (info.value.status_code, info.value.outcome) == (status, "rejected")
            assert (info.value.operation, info.value.__cause__) == (case.name, None)
            assert driver.paths[1:] == [case.read]


@every_case
def test_a_refused_write_whose_effect_is_there_is_already_done(case: Case) -> None:
    notes, driver = Notes(), scripted_driver(reply(409), good(case.after))
    with pytest.raises(AlreadyDoneError) as info:
        driver.raw(case.operation(), SETTINGS, journal=notes)
    error = info.value
    assert not isinstance(error, APIError)
    assert (error.outcome, error.operation) == ("rejected", case.name)
    assert (
        error.result
        == scripted_driver(reset(), good(case.after)).raw(case.operation(), SETTINGS).parse()
    )
    assert isinstance(error.last_seen, Booking | Ticket)
    assert isinstance(error.__cause__, ConflictError)
    assert error.__cause__.correlation_id == error.correlation_id
    assert [attempt.status_code for attempt in error.attempts] == [409, 200]
    assert notes.states == {"entry-1": "rejected"}
    assert notes.details["entry-1"] == OutcomeDetails(status_code=409)
    assert driver.waits == []


@every_case
def test_a_read_after_a_refusal_ends_before_the_deadline(case: Case) -> None:
    for deadline, end in ((None, 1025.25), (5.0, 1003.8125)):
        driver = scripted_driver(reply(409), timed_out())
        with pytest.raises(ConflictError):
            driver.raw(case.operation(), SETTINGS, deadline=deadline, max_retries=0)
        (_, read) = [effect for effect in driver.effects if isinstance(effect, Send)]
        assert read.until == end


def test_a_refusal_in_the_body_of_a_tool_is_looked_into_but_for_one_of_an_unknown_ticket() -> None:
    case = CASES["cancel a ticket over MCP"]
    for code, requests in (("TICKET_CANCEL_ERROR", 2), ("BOOKED", 2), ("TICKET_NOT_FOUND", 1)):
        refusal = good({"error": True, "code": code, "message": "No"})
        driver = scripted_driver(refusal, good(case.after))
        kind = AlreadyDoneError if requests > 1 else TicketNotFoundError
        with pytest.raises(kind) as info:
            driver.raw(case.operation(), SETTINGS)
        assert info.value.outcome == "rejected"
        assert len(driver.requests) == requests


def test_what_no_read_shows_is_not_read_after_a_refusal() -> None:
    for name in ("bookings.create", "mcp.create_booking", "mcp.call_tool"):
        driver = scripted_driver(reply(409))
        with pytest.raises(ConflictError):
            driver.raw(described(name), SETTINGS)
        assert len(driver.requests) == 1


@pytest.mark.parametrize("name", ["bookings.create", "mcp.create_booking", "mcp.call_tool"])
@every_loss
def test_what_no_read_shows_is_unknown_at_once(name: str, lost: Any) -> None:
    driver = scripted_driver(lost())
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described(name), SETTINGS)
    assert info.value.subject == {}
    assert len(driver.requests) == 1
    assert driver.waits == []


def test_a_reply_that_cannot_be_read_is_what_was_last_seen() -> None:
    driver = scripted_driver(reply(200, {"booking_id": 7}))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described("bookings.create"), SETTINGS)
    assert info.value.last_seen == {"booking_id": 7}


@every_case
def test_an_unknown_outcome_names_the_request_without_its_content(case: Case) -> None:
    seen = set()
    for _ in range(2):
        driver = scripted_driver(reset(), reply(404))
        with pytest.raises(OutcomeUnknownError) as info:
            driver.raw(case.operation(), SETTINGS)
        digest = info.value.request
        assert digest.method == "POST"
        assert digest.path.startswith(driver.paths[0])
        seen.add(digest.digest)
    assert len(seen) == 1


def test_a_payment_is_read_with_the_clients_own_token() -> None:
    driver = scripted_driver(reset(), good(ticket("Issued")))
    driver.raw(described("tickets.mark_paid"), SETTINGS)
    sent = [request.headers["Authorization"] for request in driver.requests]
    assert sent == ["Bearer organisation-token", "Bearer test-token"]


def test_a_booking_that_is_named_is_read_instead_of_the_ticket_and_not_sent() -> None:
    driver = scripted_driver(reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("tickets.mark_paid", booking_id="b-1"), SETTINGS)
    assert driver.paths[1] == "/api/booking/b-1"
    assert b"b-1" not in (driver.requests[0].content or b"")


def test_a_confirmed_booking_without_a_ticket_is_not_yet_a_result() -> None:
    driver = scripted_driver(
        reset(), good(booking("ticketed")), good(booking("ticketed", "Issued"))
    )
    assert driver.raw(described("bookings.confirm"), SETTINGS).parse().ticket_id == "t-1"
    assert len(driver.requests) == 3


def test_without_retries_each_look_is_one_request() -> None:
    driver = scripted_driver(reset(), reset(), reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("bookings.confirm"), SETTINGS, max_retries=0)
    assert len(driver.requests) == 4
    assert [wait >= 0.25 for wait in driver.waits] == [True, True]


def test_the_failure_of_the_write_is_the_cause() -> None:
    lost = reset()
    driver = scripted_driver(lost, reply(404))
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described("bookings.confirm"), SETTINGS)
    assert info.value.__cause__ is lost
    assert not isinstance(info.value.__cause__, NotFoundError)


def test_a_read_of_the_effect_goes_before_requests_that_wait_for_the_limiter() -> None:
    goes_first: list[tuple[str, bool]] = []

    class Limiter:
        def acquire(self, operation: str) -> None:
            goes_first.append((operation, current_request.get().goes_first))

    driver = scripted_driver(reply(409), good(booking("ticketed", "Issued")))
    with pytest.raises(AlreadyDoneError):
        driver.raw(described("bookings.confirm"), SETTINGS, limiter=Limiter())
    assert goes_first == [("bookings.confirm", False), ("bookings.get", True)]
