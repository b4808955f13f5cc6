"""A deadline is over everything that a call does: attempts, waits, turns, guards, read-backs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    ConnectionFailedError,
    FerryError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitError,
    RequestTimeoutError,
)
from ferry_sdk._engine.effects import CallUser, Exclusive, Send, SingleFlight
from ferry_sdk._engine.http import Timeout
from ferry_sdk._engine.settings import Secret
from tests.engine.replies import booking, good, refused, reply, reset, scripted_driver, timed_out
from tests.engine.writes import SHOWN
from tests.support.driven import SETTINGS, Driven, replied
from tests.support.mcp_samples import TICKET as MCP_TICKET
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each

if TYPE_CHECKING:
    from ferry_sdk._engine.http import Reply, Request

READ_BACK = ("bookings.confirm", "mcp.confirm_booking")
ENDS = dict.fromkeys(SHOWN, 1007 - 7 / 4) | {"bookings.wait": 1060.0, "tickets.wait_pdf": 1060.0}
"""When the first exchange of 7 seconds' deadline is over, where it is not those 7 seconds."""


@each("name", OPERATIONS)
def test_every_exchange_is_over_by_the_deadline(name: str) -> None:
    driver = scripted_driver(then=reply(404))
    with pytest.raises(FerryError):
        driver.raw(described(name), SETTINGS, deadline=7.0)
    sent = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert [effect.until for effect in sent] == [ENDS.get(name, 1007.0)]


@each("name", OPERATIONS)
def test_without_a_deadline_an_exchange_has_only_its_time_outs(name: str) -> None:
    driver = scripted_driver(then=reply(404))
    with pytest.raises(FerryError):
        driver.raw(described(name), SETTINGS, timeout=Timeout(1, 2, 3, 4))
    sent = next(effect for effect in driver.effects if isinstance(effect, Send))
    if name not in ("bookings.wait", "tickets.wait_pdf"):
        assert (sent.until, sent.timeout) == (None, Timeout(1, 2, 3, 4))


@each(
    ("timeout", "seen"),
    [
        (Timeout(1, 2, 3, 4), Timeout(1, 2, 2.5, 2.5)),
        (Timeout(None, None, None, None), Timeout(2.5, 2.5, 2.5, 2.5)),
        (Timeout(0.5, None, 0.5, None), Timeout(0.5, 2.5, 0.5, 2.5)),
    ],
)
def test_no_time_out_lasts_longer_than_the_deadline(timeout: Timeout, seen: Timeout) -> None:
    driver = scripted_driver(reply(404))
    with pytest.raises(FerryError):
        driver.raw(described("catalogue.ports"), SETTINGS, deadline=2.5, timeout=timeout)
    (sent,) = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert sent.timeout == seen


def test_time_outs_shrink_from_attempt_to_attempt() -> None:
    driver = scripted_driver(reply(429, retry_after="4"), reply(404))
    with pytest.raises(FerryError):
        driver.raw(described("catalogue.ports"), SETTINGS, deadline=10.0)
    first, second = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert first.timeout.read == 10.0
    assert second.timeout.read == 5.75
    assert first.until == second.until == 1010.0


@each("name", [name for name in OPERATIONS if "wait" not in name])
@each("failure", [refused, reset], ids=["not sent", "lost"])
def test_failures_for_ever_end_at_the_deadline(name: str, failure: Any) -> None:
    driver = scripted_driver(*(failure() for _ in range(400)))
    with pytest.raises(FerryError):
        driver.raw(described(name), SETTINGS, deadline=5.0, max_retries=10_000)
    assert driver.now <= 1005.0
    assert driver.effects


@each(
    ("name", "kind", "outcome"),
    [
        ("catalogue.ports", RequestTimeoutError, "unknown"),
        ("bookings.create", OutcomeUnknownError, "unknown"),
        ("bookings.confirm", OutcomeUnknownError, "unknown"),
        ("mcp.cancel_ticket", OutcomeUnknownError, "unknown"),
    ],
)
def test_an_exchange_that_is_cut_by_the_deadline_may_have_happened(
    name: str, kind: type[FerryError], outcome: str
) -> None:
    driver = scripted_driver()
    with pytest.raises(kind) as info:
        driver.raw(described(name), SETTINGS, deadline=0.2)
    assert info.value.outcome == outcome
    assert info.value.attempts[0].sent
    assert driver.now <= 1000.2


def test_a_deadline_that_ends_before_the_write_leaves_it_not_sent() -> None:
    driver = scripted_driver(reply(429, retry_after="0.75"))
    with pytest.raises(RequestTimeoutError, match="deadline") as info:
        driver.raw(described("bookings.create"), SETTINGS, deadline=1.0)
    assert info.value.outcome == "not_sent"
    assert [attempt.sent for attempt in info.value.attempts] == [True, False]
    assert len(driver.requests) == 1


def test_a_guard_uses_up_the_deadline_of_its_write() -> None:
    driver = scripted_driver(good(booking()))
    driver.latency = 1.0
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described("bookings.confirm", expect_total="148.18"), SETTINGS, deadline=1.0)
    assert info.value.outcome == "not_sent"
    assert driver.paths == ["/api/booking/b-1"]


def test_a_guard_that_is_cut_by_the_deadline_leaves_the_write_not_sent() -> None:
    driver = scripted_driver()
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described("bookings.confirm", expect_total="148.18"), SETTINGS, deadline=0.2)
    assert info.value.outcome == "not_sent"
    assert driver.paths == ["/api/booking/b-1"]


@each("name", READ_BACK)
def test_a_write_is_read_back_until_the_deadline(name: str) -> None:
    driver = scripted_driver(reset(), then=good(booking("payment_due", "Pending")))
    with pytest.raises(OutcomeUnknownError):
        driver.raw(described(name), SETTINGS, deadline=100.0)
    assert 1099 < driver.now <= 1100
    ends = [effect.until for effect in driver.effects if isinstance(effect, Send)]
    assert ends == [1095.0] + [1100.0] * (len(ends) - 1)


@each(("deadline", "reserve"), [(100.0, 5.0), (20.0, 5.0), (8.0, 2.0), (1.0, 0.25)])
@each("name", SHOWN)
def test_a_reply_that_does_not_come_is_given_up_in_time_to_read_back(
    name: str, deadline: float, reserve: float
) -> None:
    def too_late(_: Request) -> Reply:
        driver.now = 1000 + deadline - reserve
        raise timed_out()

    driver = scripted_driver(too_late, good(SHOWN[name]))
    driver.latency = 0.01
    assert driver.raw(described(name), SETTINGS, deadline=deadline).parse().read_back
    first, _ = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert first.until == 1000 + deadline - reserve


@each("name", READ_BACK)
def test_what_is_kept_for_reading_back_is_a_part_of_what_is_left(name: str) -> None:
    driver = scripted_driver(reply(429, retry_after="5.75"), reply(404))
    with pytest.raises(NotFoundError):
        driver.raw(described(name), SETTINGS, deadline=10.0)
    first, second = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert (first.until, second.until) == (1007.5, 1009.0)
    assert second.timeout.read == 3.0


@each("name", READ_BACK)
def test_a_write_that_took_the_whole_deadline_is_not_read_back(name: str) -> None:
    def too_late(_: Request) -> Reply:
        driver.now = 1002.0
        raise timed_out()

    driver = scripted_driver(too_late)
    with pytest.raises(OutcomeUnknownError) as info:
        driver.raw(described(name), SETTINGS, deadline=2.0)
    assert len(driver.requests) == len(info.value.attempts) == 1


@each("name", READ_BACK)
def test_a_look_that_is_cut_by_the_deadline_ends_the_call(name: str) -> None:
    driver = scripted_driver(timed_out(), then=good(booking("ticketed", "Issued")))
    driver.latency = 2.0
    with pytest.raises(OutcomeUnknownError):
        driver.raw(described(name), SETTINGS, deadline=3.0)
    assert driver.now == 1003.0
    assert len(driver.requests) == 2


def test_turns_questions_and_company_end_at_the_deadline() -> None:
    driver = Driven(
        replied(result={"protocolVersion": "2025-11-25"}),
        replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}}),
    )
    driver.raw(described("mcp.view_ticket"), SETTINGS, token=Secret(lambda: "t"), deadline=9.0)
    confirming = scripted_driver(reply(404))
    with pytest.raises(FerryError):
        confirming.raw(described("bookings.confirm"), SETTINGS, deadline=9.0)
    effects = driver.effects + confirming.effects
    assert {type(effect) for effect in effects} == {CallUser, Exclusive, Send, SingleFlight}
    assert {effect.until for effect in effects} == {1009.0, 1009 - 9 / 4}


@each("name", ["bookings.create", "mcp.create_booking", "catalogue.ports"])
def test_a_token_that_comes_too_late_ends_the_call_as_not_sent(name: str) -> None:
    def too_late() -> str:
        driver.now += 5
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver()
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name), SETTINGS, token=Secret(too_late), deadline=5.0)
    assert info.value.outcome == "not_sent"
    assert driver.requests == []
    assert driver.now == 1005.0


@pytest.mark.parametrize("failure", [refused(), reply(429, retry_after="100"), reset()])
def test_a_deadline_ends_with_what_happened_rather_than_with_itself(
    failure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=failure)
    with pytest.raises((ConnectionFailedError, RateLimitError)):
        driver.raw(described("catalogue.ports"), SETTINGS, deadline=0.26, max_retries=5)
    assert driver.now <= 1000.26


def test_a_wait_has_its_own_deadline_before_the_clients() -> None:
    driver = scripted_driver(then=good(booking("payment_due")))
    with pytest.raises(RequestTimeoutError):
        driver.raw(described("bookings.wait", deadline=60), SETTINGS, deadline=1.0)
    assert 1059 < driver.now <= 1060
