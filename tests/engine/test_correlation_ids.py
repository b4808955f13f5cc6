"""The ids that are made for calls: no two alike, in no thread, no child, under no seed."""

import random
from uuid import UUID

import pytest

from ferry_sdk._engine.correlation import next_correlation_id
from tests.backend.children import Child
from tests.backend.gathering import at_once

MANY = 100_000


def new_ids(count):
    return [next_correlation_id() for _ in range(count)]


def test_an_id_is_a_random_uuid():
    for text in new_ids(100):
        uuid = UUID(text)
        assert str(uuid) == text
        assert uuid.version == 4


def test_no_two_of_many_threads_are_alike():
    ids = [one.value() for one in at_once(*[lambda: new_ids(MANY // 20)] * 20)]
    assert len({text for some in ids for text in some}) == MANY


# The children use nothing that a thread of the parent may hold.
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_no_two_of_many_children_are_alike():
    new_ids(1)

    def grandchildren():
        return new_ids(50) + Child(lambda: new_ids(50)).result()

    children = [Child(grandchildren) for _ in range(20)]
    ids = [text for child in children for text in child.result()] + new_ids(50)
    assert len(set(ids)) == len(ids) == 20 * 100 + 50


def test_a_seed_does_not_repeat_them():
    state = random.getstate()
    try:
        random.seed(7)
        first, seeded = new_ids(10), random.getstate()
        random.seed(7)
        again = new_ids(10)
        assert not set(first) & set(again)
        assert random.getstate() == seeded, "the program's own dice were thrown"
    finally:
        random.setstate(state)
