"""A deadline is over everything that a call does: attempts, waits, turns, guards, read-backs."""

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
from tests.support.driven import Driven, replied
from tests.support.mcp_samples import TICKET as MCP_TICKET
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each

READ_BACK = ("bookings.confirm", "mcp.confirm_booking")
ENDS = dict.fromkeys(SHOWN, 1007 - 7 / 4) | {"bookings.wait": 1060.0, "tickets.wait_pdf": 1060.0}
"""When the first exchange of 7 seconds' deadline is over, where it is not those 7 seconds."""


@each("name", OPERATIONS)
def test_every_exchange_is_over_by_the_deadline(name):
    driver = scripted_driver(then=reply(404))
    driver.error(FerryError, name, deadline=7.0)
    sent = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert [effect.until for effect in sent] == [ENDS.get(name, 1007.0)]


@each("name", OPERATIONS)
def test_without_a_deadline_an_exchange_has_only_its_time_outs(name):
    driver = scripted_driver(then=reply(404))
    driver.error(FerryError, name, timeout=Timeout(1, 2, 3, 4))
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
def test_no_time_out_lasts_longer_than_the_deadline(timeout, seen):
    driver = scripted_driver(reply(404))
    driver.error(FerryError, "catalogue.ports", deadline=2.5, timeout=timeout)
    (sent,) = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert sent.timeout == seen


def test_time_outs_shrink_from_attempt_to_attempt():
    driver = scripted_driver(reply(429, retry_after="4"), reply(404))
    driver.error(FerryError, "catalogue.ports", deadline=10.0)
    first, second = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert first.timeout.read == 10.0
    assert second.timeout.read == 5.75
    assert first.until == second.until == 1010.0


@each("name", [name for name in OPERATIONS if "wait" not in name])
@each("failure", [refused, reset], ids=["not sent", "lost"])
def test_failures_for_ever_end_at_the_deadline(name, failure):
    driver = scripted_driver(*(failure() for _ in range(400)))
    driver.error(FerryError, name, deadline=5.0, max_retries=10_000)
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
def test_an_exchange_that_is_cut_by_the_deadline_may_have_happened(name, kind, outcome):
    driver = scripted_driver()
    error = driver.error(kind, name, deadline=0.2)
    assert error.outcome == outcome
    assert error.attempts[0].sent
    assert driver.now <= 1000.2


def test_a_deadline_that_ends_before_the_write_leaves_it_not_sent():
    driver = scripted_driver(reply(429, retry_after="0.75"))
    with pytest.raises(RequestTimeoutError, match="deadline") as info:
        driver.raw("bookings.create", deadline=1.0)
    assert info.value.outcome == "not_sent"
    assert [attempt.sent for attempt in info.value.attempts] == [True, False]
    assert len(driver.requests) == 1


def test_a_guard_uses_up_the_deadline_of_its_write():
    driver = scripted_driver(good(booking()))
    driver.latency = 1.0
    error = driver.error(
        RequestTimeoutError, described("bookings.confirm", expect_total="148.18"), deadline=1.0
    )
    assert error.outcome == "not_sent"
    assert driver.paths == ["/api/booking/b-1"]


def test_a_guard_that_is_cut_by_the_deadline_leaves_the_write_not_sent():
    driver = scripted_driver()
    error = driver.error(
        RequestTimeoutError, described("bookings.confirm", expect_total="148.18"), deadline=0.2
    )
    assert error.outcome == "not_sent"
    assert driver.paths == ["/api/booking/b-1"]


@each("name", READ_BACK)
def test_a_write_is_read_back_until_the_deadline(name):
    driver = scripted_driver(reset(), then=good(booking("payment_due", "Pending")))
    driver.error(OutcomeUnknownError, name, deadline=100.0)
    assert 1099 < driver.now <= 1100
    ends = [effect.until for effect in driver.effects if isinstance(effect, Send)]
    assert ends == [1095.0] + [1100.0] * (len(ends) - 1)


@each(("deadline", "reserve"), [(100.0, 5.0), (20.0, 5.0), (8.0, 2.0), (1.0, 0.25)])
@each("name", SHOWN)
def test_a_reply_that_does_not_come_is_given_up_in_time_to_read_back(name, deadline, reserve):
    def too_late(_):
        driver.now = 1000 + deadline - reserve
        raise timed_out()

    driver = scripted_driver(too_late, good(SHOWN[name]))
    driver.latency = 0.01
    assert driver.raw(name, deadline=deadline).parse().read_back
    first, _ = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert first.until == 1000 + deadline - reserve


@each("name", READ_BACK)
def test_what_is_kept_for_reading_back_is_a_part_of_what_is_left(name):
    driver = scripted_driver(reply(429, retry_after="5.75"), reply(404))
    driver.error(NotFoundError, name, deadline=10.0)
    first, second = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert (first.until, second.until) == (1007.5, 1009.0)
    assert second.timeout.read == 3.0


@each("name", READ_BACK)
def test_a_write_that_took_the_whole_deadline_is_not_read_back(name):
    def too_late(_):
        driver.now = 1002.0
        raise timed_out()

    driver = scripted_driver(too_late)
    error = driver.error(OutcomeUnknownError, name, deadline=2.0)
    assert len(driver.requests) == len(error.attempts) == 1


@each("name", READ_BACK)
def test_a_look_that_is_cut_by_the_deadline_ends_the_call(name):
    driver = scripted_driver(timed_out(), then=good(booking("ticketed", "Issued")))
    driver.latency = 2.0
    driver.error(OutcomeUnknownError, name, deadline=3.0)
    assert driver.now == 1003.0
    assert len(driver.requests) == 2


def test_turns_questions_and_company_end_at_the_deadline():
    driver = Driven(
        replied(result={"protocolVersion": "2025-11-25"}),
        replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}}),
    )
    driver.raw("mcp.view_ticket", token=Secret(lambda: "t"), deadline=9.0)
    confirming = scripted_driver(reply(404))
    confirming.error(FerryError, "bookings.confirm", deadline=9.0)
    effects = driver.effects + confirming.effects
    assert {type(effect) for effect in effects} == {CallUser, Exclusive, Send, SingleFlight}
    assert {effect.until for effect in effects} == {1009.0, 1009 - 9 / 4}


@each("name", ["bookings.create", "mcp.create_booking", "catalogue.ports"])
def test_a_token_that_comes_too_late_ends_the_call_as_not_sent(name):
    def too_late():
        driver.now += 5
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver()
    error = driver.error(RequestTimeoutError, name, token=Secret(too_late), deadline=5.0)
    assert error.outcome == "not_sent"
    assert driver.requests == []
    assert driver.now == 1005.0


@each("failure", [refused(), reply(429, retry_after="100"), reset()])
def test_a_deadline_ends_with_what_happened_rather_than_with_itself(failure, monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=failure)
    driver.error(
        (ConnectionFailedError, RateLimitError),
        described("catalogue.ports"),
        deadline=0.26,
        max_retries=5,
    )
    assert driver.now <= 1000.26


def test_a_wait_has_its_own_deadline_before_the_clients():
    driver = scripted_driver(then=good(booking("payment_due")))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60), deadline=1.0)
    assert 1059 < driver.now <= 1060
