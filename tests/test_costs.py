"""What `tests/support/costs.py` counts."""

import sys
from textwrap import dedent

import pytest

from tests.support.costs import Costs, counting

HARNESS = (__name__.partition(".")[0], "tests")


@pytest.fixture
def library():
    """A module that is not of the harness: a loop, a coroutine's step, and a call in C."""
    names = {"__name__": "library"}
    source = dedent(
        """
        def add_up_to(number):
            total = 0
            for one in range(number):
                total += one
            return total

        def steps():
            while True:
                yield add_up_to(10)

        def sort(values):
            return sorted(values)
        """
    )
    exec(source, names)  # noqa: S102 -- the text above
    # Python 3.13 counts few bytecodes of a function's first traced call.
    costs_of(names["add_up_to"], 1)
    costs_of(next, names["steps"]())
    return names


def costs_of(function, *arguments):
    with counting(Costs(HARNESS)) as costs:
        function(*arguments)
    return costs


def test_a_loop_twice_as_long_costs_twice(library):
    once, twice = (costs_of(library["add_up_to"], number).bytecodes for number in (1000, 2000))
    assert 1.9 * once < twice < 2.1 * once


def test_the_same_work_costs_the_same(library):
    assert len({costs_of(library["add_up_to"], 100).bytecodes for _ in range(5)}) == 1


def test_the_harness_does_not_count():
    costs = costs_of(lambda: sorted(str(number) for number in range(100)))
    assert (costs.bytecodes, costs.c_calls) == (0, 0)


def test_work_that_the_harness_starts_counts(library):
    direct = costs_of(library["add_up_to"], 100).bytecodes
    assert costs_of(lambda: library["add_up_to"](100)).bytecodes == direct > 0


def test_a_call_in_c_counts(library):
    assert costs_of(library["sort"], [2, 1]).c_calls == 1
    assert costs_of(library["add_up_to"], 10).c_calls == 0


def test_each_step_of_a_generator_counts(library):
    steps = library["steps"]()
    first, second, third = (costs_of(next, steps).bytecodes for _ in range(3))
    assert first > 0
    assert second == third > 0


def test_a_later_block_adds_nothing(library):
    """A frame that is entered in one block and left in the next keeps the first one's tracer."""
    steps = library["steps"]()
    first = costs_of(next, steps)
    counted = first.bytecodes
    costs_of(next, steps)
    assert first.bytecodes == counted


def test_tracers_of_others_are_put_back():
    def trace(*_):
        return None

    previous = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(trace)
    try:
        costs_of(list)
        assert (sys.gettrace(), sys.getprofile()) == (trace, trace)
    finally:
        sys.settrace(previous[0])
        sys.setprofile(previous[1])
