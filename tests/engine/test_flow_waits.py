"""A wait looks again and again, gently, until enough is seen or its own time is up."""

from __future__ import annotations

from typing import Any

import pytest

from ferry_sdk import (
    Booking,
    FerryError,
    InvalidInputError,
    RateLimitError,
    RequestTimeoutError,
    Stage,
)
from ferry_sdk._engine.effects import CallUser
from tests.engine.replies import (
    booking,
    good,
    refused,
    reply,
    reset,
    scripted_driver,
    timed_out,
    undecodable,
)
from tests.support.driven import SETTINGS
from tests.support.operations import described
from tests.support.tables import each

WAITS = ("bookings.wait", "tickets.wait_pdf")
ENOUGH = {
    "bookings.wait": booking("ticketed"),
    "tickets.wait_pdf": {"url": "https://service.example/v.pdf"},
}
NOT_YET = {"bookings.wait": booking("payment_due"), "tickets.wait_pdf": {"url": None}}
every_wait = each("name", WAITS)


@every_wait
def test_pauses_grow_gently_up_to_ten_seconds(name: str) -> None:
    driver = scripted_driver(*[good(NOT_YET[name])] * 12, good(ENOUGH[name]))
    driver.raw(described(name, deadline=600), SETTINGS)
    pauses = (0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10)
    for wait, pause in zip(driver.waits, pauses, strict=True):
        assert pause <= wait <= pause + 0.25
    assert len({wait - pause for wait, pause in zip(driver.waits, pauses, strict=True)}) > 6


@every_wait
def test_what_does_not_come_ends_at_the_deadline_with_what_was_seen_last(name: str) -> None:
    driver = scripted_driver(then=good(NOT_YET[name]))
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(described(name, deadline=45), SETTINGS)
    error = info.value
    assert 1044.5 < driver.now <= 1045
    assert isinstance(error.last_seen, described(name).answer.model)
    assert (error.operation, error.outcome, error.__cause__) == (name, "unknown", None)


@every_wait
@each("deadline", [0.01, 0.2, 0.25, 0.3])
def test_a_short_deadline_leaves_one_look(name: str, deadline: float) -> None:
    driver = scripted_driver(then=good(NOT_YET[name]))
    driver.latency = 0.005
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name, deadline=deadline), SETTINGS)
    assert 1 <= len(driver.requests) <= 3
    assert info.value.last_seen is not None
    assert driver.now <= 1000 + deadline


@every_wait
@each("deadline", [0, -1, float("nan")])
def test_a_deadline_that_is_no_time_is_refused(name: str, deadline: float) -> None:
    with pytest.raises(InvalidInputError) as info:
        described(name, deadline=deadline)
    assert info.value.field == "deadline"


@each(
    ("until", "stages"),
    [
        ("ticketed", ["ticketed"]),
        (Stage.ISSUANCE_DUE, ["issuance_due"]),
        (["ticketed", "in_progress"], ["in_progress", "ticketed"]),
        ((Stage.REJECTED, "moored"), ["moored", "rejected"]),
        ({"ticketed"}, ["ticketed"]),
        ("voided", ["voided"]),
        (["lapsed"], ["lapsed"]),
    ],
)
def test_a_booking_is_waited_for_until_it_is_of_a_stage(until: Any, stages: list[str]) -> None:
    for stage in [*Stage, "moored"]:
        driver = scripted_driver(good(booking(stage)), good(booking(stages[0])))
        is_final = stage in ("voided", "lapsed") and stage not in stages
        if is_final:
            with pytest.raises(RequestTimeoutError):
                driver.raw(described("bookings.wait", until=until), SETTINGS)
        else:
            seen = driver.raw(described("bookings.wait", until=until), SETTINGS).parse()
            assert seen.stage in stages
        assert len(driver.requests) == (1 if stage in stages or is_final else 2)


@each("stage", ["voided", "lapsed"])
def test_a_booking_that_is_over_is_waited_for_no_longer(stage: str) -> None:
    driver = scripted_driver(good(booking("payment_due")), good(booking(stage)))
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described("bookings.wait"), SETTINGS)
    assert isinstance(info.value.last_seen, Booking)
    assert info.value.last_seen.stage == stage
    assert driver.now < 1002


def test_a_predicate_decides_by_itself() -> None:
    seen: list[str] = []

    def has_two(known: Booking) -> bool:
        seen.append(known.stage)
        return len(known.tickets) == 2

    driver = scripted_driver(
        good(booking("voided")), good(booking("lapsed")), good(booking("x", "a", "b"))
    )
    found = driver.raw(described("bookings.wait", until=has_two), SETTINGS).parse()
    assert len(found.tickets) == 2
    assert seen == ["voided", "lapsed", "x"]


def test_what_a_predicate_raises_goes_to_the_caller() -> None:
    def failing_condition(_: Booking) -> bool:
        raise ZeroDivisionError

    driver = scripted_driver(then=good(booking("ticketed")))
    with pytest.raises(ZeroDivisionError):
        driver.raw(described("bookings.wait", until=failing_condition), SETTINGS)


@each("until", [[], (), set()])
def test_a_wait_for_no_stage_at_all_is_refused(until: Any) -> None:
    with pytest.raises(InvalidInputError) as info:
        described("bookings.wait", until=until)
    assert info.value.field == "until"


@every_wait
def test_progress_is_told_of_everything_that_is_read(name: str) -> None:
    told: list[Any] = []
    driver = scripted_driver(good(NOT_YET[name]), reset(), good(NOT_YET[name]), good(ENOUGH[name]))
    last = driver.raw(described(name, on_progress=told.append), SETTINGS).parse()
    assert len(told) == 3
    assert told[-1] is last


@every_wait
def test_progress_that_takes_long_is_not_awaited_beyond_the_deadline(name: str) -> None:
    driver = scripted_driver(then=good(ENOUGH[name]))
    driver.raw(described(name, on_progress=lambda _: None), SETTINGS)
    (asked,) = [effect for effect in driver.effects if isinstance(effect, CallUser)]
    assert asked.until == 1060.0


@every_wait
@each("is_there", [True, False])
def test_progress_that_outlasts_the_deadline_does_not_hide_what_was_seen(
    name: str, is_there: bool
) -> None:
    def told(_: object) -> None:
        driver.now = 1060.0
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver(good(ENOUGH[name] if is_there else NOT_YET[name]))
    operation = described(name, on_progress=told)
    if is_there:
        assert driver.raw(operation, SETTINGS).parse()
    else:
        with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
            driver.raw(operation, SETTINGS)
        assert info.value.last_seen is not None


@every_wait
@each("moment", [1000.25, 1059.9])
def test_a_time_out_of_the_callers_own_is_not_the_waits(name: str, moment: float) -> None:
    own = RequestTimeoutError("of another call")

    def told(_: object) -> None:
        driver.now = moment
        raise own

    driver = scripted_driver(good(ENOUGH[name]))
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name, on_progress=told), SETTINGS)
    assert info.value is own


@every_wait
@each("trouble", [ZeroDivisionError(), KeyboardInterrupt(), reset()])
def test_what_progress_raises_goes_to_the_caller(name: str, trouble: BaseException) -> None:
    def told(_: object) -> None:
        raise trouble

    driver = scripted_driver(then=good(NOT_YET[name]))
    with pytest.raises(type(trouble)) as info:
        driver.raw(described(name, on_progress=told), SETTINGS)
    assert info.value is trouble
    assert len(driver.requests) == 1


@each(
    "trouble",
    [
        pytest.param(refused, id="refused"),
        pytest.param(reset, id="reset"),
        pytest.param(timed_out, id="time-out"),
        pytest.param(undecodable, id="undecodable"),
        pytest.param(lambda: reply(429), id="429"),
        pytest.param(lambda: reply(429, retry_after="4"), id="429 after 4"),
        pytest.param(lambda: reply(408), id="408"),
        pytest.param(lambda: reply(500), id="500"),
        pytest.param(lambda: reply(500, {"code": "TICKET_VIEW_ERROR"}), id="500 with a code"),
        pytest.param(lambda: reply(503, retry_after="3"), id="503 after 3"),
        pytest.param(lambda: reply(200), id="no JSON"),
    ],
)
@each("max_retries", [0, 2])
@every_wait
def test_failures_that_pass_are_outlived(name: str, trouble: Any, max_retries: int) -> None:
    driver = scripted_driver(
        good(NOT_YET[name]), *(trouble() for _ in range(8)), good(NOT_YET[name]), good(ENOUGH[name])
    )
    driver.raw(described(name, deadline=300), SETTINGS, max_retries=max_retries)
    assert len(driver.requests) == 11


@every_wait
def test_a_wait_that_ends_in_failures_has_the_last_as_its_cause(name: str) -> None:
    driver = scripted_driver(good(NOT_YET[name]), then=reply(503))
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name, deadline=20), SETTINGS)
    assert isinstance(info.value.__cause__, FerryError)
    assert info.value.last_seen is not None
    assert driver.now <= 1020


@every_wait
def test_a_wait_that_could_read_nothing_has_seen_nothing(name: str) -> None:
    driver = scripted_driver(then=reset())
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name, deadline=20), SETTINGS)
    assert info.value.last_seen is None


@each("status", [302, 400, 401, 403, 404, 410, 422])
@every_wait
def test_a_failure_that_stays_ends_the_wait(name: str, status: int) -> None:
    driver = scripted_driver(good(NOT_YET[name]), reply(status))
    with pytest.raises(FerryError) as info:
        driver.raw(described(name), SETTINGS)
    assert not isinstance(info.value, RequestTimeoutError)
    assert info.value.attempts[-1].status_code == status


@every_wait
@each("asked", ["60", "3600", "9" * 400])
def test_a_retry_after_beyond_the_deadline_ends_the_wait(name: str, asked: str) -> None:
    driver = scripted_driver(good(NOT_YET[name]), reply(429, retry_after=asked))
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name, deadline=45), SETTINGS)
    assert driver.now < 1002
    assert isinstance(info.value.__cause__, RateLimitError)
    assert info.value.__cause__.retry_after == float(asked)


@every_wait
def test_a_retry_after_within_the_deadline_is_waited_for(name: str) -> None:
    driver = scripted_driver(reply(429, retry_after="70"), good(ENOUGH[name]))
    driver.raw(described(name, deadline=100), SETTINGS, max_retries=0)
    assert driver.waits == [70.0]


@every_wait
def test_where_there_is_time_for_the_last_look_only_there_is_no_other(name: str) -> None:
    driver = scripted_driver(then=good(NOT_YET[name]))
    with pytest.raises(RequestTimeoutError):
        driver.raw(described(name, deadline=0.5), SETTINGS)
    assert driver.waits == []


@every_wait
def test_a_retry_after_up_to_the_last_look_is_waited_for(name: str) -> None:
    driver = scripted_driver(reply(429, retry_after="1"), good(ENOUGH[name]))
    driver.raw(described(name, deadline=1.5), SETTINGS, max_retries=0)
    assert driver.waits == [1.0]
