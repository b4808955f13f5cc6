"""A watch of offers that is killed at statements loses no event, and repeats one by its id."""

import random
from itertools import count

import pytest

from tests.offers.courses import Course, random_reply
from tests.offers.virtual import Offered, Reply

SHORT = [
    Reply((Offered("100"),)),
    Reply(),
    Reply((Offered("85", places=("Cabin",)),)),
]


def kills_of_a_series(seed):
    """Kill the watches of a series at random statements; return how many were killed."""
    lot = random.Random(seed)  # noqa: S311 -- no secret
    with Course([random_reply(lot) for _ in range(lot.randint(2, 7))]) as course:
        while not course.is_over:
            course.watch(lot.randint(0, 80))
        course.check()
    return course.kills


@pytest.mark.parametrize(
    ("first", "number"),
    [
        pytest.param(0, 12, id="few"),
        # Each is a row, so that they run at the same time.
        pytest.param(1000, 300, id="many", marks=pytest.mark.long),
        pytest.param(2000, 300, id="many from 2000", marks=pytest.mark.long),
    ],
)
@pytest.mark.timeout(1200)
def test_random_kills_lose_no_event(first, number, record_property):
    kills = 0
    for seed in range(first, first + number):
        kills += kills_of_a_series(seed)
    assert kills > number
    record_property("watches of offers killed at a random statement", kills)


@pytest.mark.long
def test_no_kill_of_a_short_series_loses_an_event(record_property):
    kills = 0
    for statement in count():
        with Course(SHORT) as course:
            course.watch(10**9)
            course.watch(10**9)
            course.watch(statement)
            if not course.kills:
                break
            course.watch()
            course.check()
        kills += 1
    assert kills > 30
    record_property("watches of offers killed at each statement", kills)
