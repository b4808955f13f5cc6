"""Every course of several callers that use one idempotency key, checked against what must hold."""

import logging

import pytest

from ferry_sdk import FerryError, IdempotencyError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.models import BookingCreated
from tests.journal.key_courses import walk
from tests.support.tiers import LONG

WITHOUT_EFFECT = {"rejected", "not_sent"}
ALIKE, OTHER = "Ada", "Nadia"


@pytest.fixture(autouse=True, scope="module")
def quiet():
    """Log nothing: the courses fail thousands of times."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def judge(course):
    """Check a course that is over, then what further calls with the key give."""
    try:
        judge_outcomes(course)
        judge_repeated(course)
    except AssertionError as error:
        went = ", ".join(course.went)
        raise AssertionError(f"{course.key}: {went}: {error}") from error


def judge_outcomes(course):
    assert len(course.made) <= 1
    for caller in course.callers:
        judge_outcome(course, caller)
        if caller.made is not None:
            assert course.state_of(caller) not in WITHOUT_EFFECT


def judge_outcome(course, caller):
    outcome = caller.outcome
    if isinstance(outcome, BookingCreated):
        assert course.made[outcome.booking_id].traveller == caller.traveller
    elif isinstance(outcome, IdempotencyError):
        assert any(other.traveller != caller.traveller for other in course.callers)
    elif isinstance(outcome, FerryError) and caller.made is not None:
        assert outcome.outcome == "unknown"


def judge_repeated(course):
    """Check repeated calls: before a person settles what is left, and after it."""
    judge_outcome(course, course.call_again(ALIKE))
    assert len(course.made) <= 1

    course.settle_all()
    for traveller in (ALIKE, OTHER):
        caller = course.call_again(traveller)
        ((booking_id, maker),) = course.made.items()
        if traveller != maker.traveller:
            assert isinstance(caller.outcome, IdempotencyError)
        elif isinstance(caller.outcome, UnresolvedWriteError):
            assert "names none" in course.went
        else:
            assert caller.outcome.booking_id == booking_id


def walk_all(journal, travellers, most, note):
    count = 0
    for course in walk(journal, travellers, most):
        judge(course)
        count += 1
    note("courses of an idempotency key walked", count)


@pytest.mark.parametrize(
    "travellers",
    [
        pytest.param((ALIKE, ALIKE), id="one booking"),
        pytest.param((ALIKE, OTHER), id="two bookings"),
    ],
)
def test_key_has_one_booking_after_a_trouble(travellers, record_property):
    with Journal("sqlite://") as journal:
        walk_all(journal, travellers, 1, record_property)


@LONG
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("travellers", "most"),
    [
        pytest.param((ALIKE, ALIKE), 2, id="two callers"),
        pytest.param((ALIKE, OTHER), 2, id="two callers, two bookings"),
        pytest.param((ALIKE, ALIKE, ALIKE), 1, id="three callers"),
        pytest.param((ALIKE, OTHER, ALIKE), 1, id="three callers, two bookings"),
    ],
)
def test_key_has_one_booking_on_every_course(travellers, most, record_property):
    with Journal("sqlite://") as journal:
        walk_all(journal, travellers, most, record_property)


@LONG
@pytest.mark.timeout(1200)
def test_key_has_one_booking_in_any_database(journal, record_property):
    walk_all(journal, (ALIKE, OTHER, ALIKE), 1, record_property)
