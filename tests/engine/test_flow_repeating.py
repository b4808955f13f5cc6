"""When an attempt is followed by another: full jitter, Retry-After, and their bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import NotFoundError, RateLimitError, ServerError
from tests.engine.replies import reply, reset, scripted_driver
from tests.support.operations import described
from tests.support.tables import each

NOT_FOUND = reply(404)
DATE = "Wed, 01 Mar 2028 08:00:00 GMT"
PORTS = described("catalogue.ports")


def test_waits_are_full_jitter_that_doubles_up_to_eight_seconds(monkeypatch):
    bounds = []

    def uniform(low, high):
        bounds.append((low, high))
        return high / 2

    monkeypatch.setattr("tenacity.wait.random.uniform", uniform)
    driver = scripted_driver(then=reply(503))
    driver.error(ServerError, PORTS, max_retries=7)
    assert bounds[:7] == [(0, high) for high in (0.5, 1, 2, 4, 8, 8, 8)]
    assert driver.waits == [0.25, 0.5, 1, 2, 4, 4, 4]


def test_waits_differ_from_call_to_call():
    waits = set()
    for _ in range(20):
        driver = scripted_driver(reset(), NOT_FOUND)
        driver.error(NotFoundError, PORTS)
        waits |= {*driver.waits}
    assert len(waits) > 10


def test_many_retries_wait_no_longer_than_eight_seconds_each():
    driver = scripted_driver(then=reply(503))
    driver.error(ServerError, PORTS, max_retries=2000)
    assert len(driver.requests) == 2001
    assert max(driver.waits) <= 8


@each(
    ("asked", "date", "wait"),
    [
        ("0", DATE, 0.0),
        ("7", DATE, 7.0),
        ("1.5", DATE, 1.5),
        (" 7 ", DATE, 7.0),
        ("Wed, 01 Mar 2028 08:00:09 GMT", DATE, 9.0),
        ("Wed, 01 Mar 2028 09:00:09 +0100", DATE, 9.0),
        ("Wednesday, 01-Mar-28 08:00:09 GMT", DATE, 9.0),
        ("Wed Mar  1 08:00:09 2028", DATE, 9.0),
        ("Wed, 01 Mar 2028 07:59:00 GMT", DATE, 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None, 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "yesterday", 0.0),
    ],
)
@each("name", ["bookings.create", "catalogue.ports", "mcp.create_booking"])
def test_retry_after_is_waited_for_exactly(name, asked, date, wait):
    headers = {"retry_after": asked} | ({} if date is None else {"date": date})
    driver = scripted_driver(reply(429, **headers), NOT_FOUND)
    driver.error(NotFoundError, name)
    assert driver.waits == [wait]


@each("asked", ["", "soon", "-1", "٣", "1e3", "Wed,", "31 Feb"])
def test_a_retry_after_that_cannot_be_read_leaves_the_backoff(asked):
    driver = scripted_driver(reply(429, retry_after=asked, date=DATE), NOT_FOUND)
    error = driver.error(NotFoundError, PORTS)
    (wait,) = driver.waits
    assert 0 <= wait <= 0.5
    assert error.attempts[0].waited == wait


@each(
    ("asked", "seconds"),
    [
        ("60.1", 60.1),
        ("86400", 86400.0),
        ("Wed, 01 Mar 2028 08:01:01 GMT", 61.0),
        ("9" * 400, float("inf")),
    ],
)
@each("status", [429, 503])
def test_without_a_deadline_no_more_than_a_minute_is_waited_for(asked, seconds, status):
    driver = scripted_driver(reply(status, retry_after=asked, date=DATE))
    error = driver.error((RateLimitError, ServerError), PORTS)
    assert error.retry_after == seconds
    assert driver.waits == []


@each(
    ("deadline", "asked", "is_waited_for"),
    [
        (10, "9", True),
        (10, "9.75", True),
        (10, "9.8", False),
        (200, "180", True),
        (0.5, "1", False),
    ],
)
@each("name", ["bookings.create", "bookings.confirm", "catalogue.ports"])
def test_with_a_deadline_what_is_left_of_it_bounds_the_wait(name, deadline, asked, is_waited_for):
    driver = scripted_driver(reply(429, retry_after=asked), NOT_FOUND)
    with pytest.raises(Exception) as info:  # noqa: PT011 -- which one depends on the deadline
        driver.raw(name, deadline=deadline)
    assert driver.waits == ([float(asked)] if is_waited_for else [])
    if not is_waited_for:
        assert isinstance(info.value, RateLimitError)
        assert info.value.retry_after == float(asked)
        assert driver.now == 1000.25


def test_a_backoff_beyond_the_deadline_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=reply(503))
    driver.error(ServerError, PORTS, max_retries=9, deadline=3.0)
    assert driver.waits == [0.5, 1]
    assert driver.now < 1003


def test_a_rate_limit_without_a_time_is_outlived_in_the_last_second(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high / 10)
    driver = scripted_driver(reply(429), NOT_FOUND)
    driver.error(NotFoundError, PORTS, deadline=0.75)


@given(
    asked=st.lists(st.floats(0, 120).map(lambda value: round(value, 3)), max_size=6),
    deadline=st.none() | st.floats(0.1, 200),
    max_retries=st.integers(0, 5),
)
def test_whatever_is_asked_the_waits_are_within_bounds(asked, deadline, max_retries):
    replies = [reply(429, retry_after=f"{value:.3f}") for value in asked]
    driver = scripted_driver(*replies, then=NOT_FOUND)
    with pytest.raises(Exception):  # noqa: B017, PT011 -- the end does not matter here
        driver.raw("bookings.create", deadline=deadline, max_retries=max_retries)
    assert len(driver.requests) <= max_retries + 1
    if deadline is None:
        assert max(driver.waits, default=0.0) <= 60
    else:
        assert driver.now <= 1000 + deadline + 1e-6
