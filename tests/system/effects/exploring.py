"""Schedules run one after the other, judged, and the broken promises gathered."""

from hypothesis import Phase, given, seed, settings

from .judging import SOFT, Judgement
from .running import run
from .schedules import schedules

STRETCHES = (1, 3, 10)
"""The clocks, each slower, on which a schedule is run before a slow machine is ruled out."""


def first_clear(tries):
    """The promises broken in the last try; one more is made where time may be to blame."""
    violations = []
    for violations in tries:
        if not violations or not all(one.startswith(SOFT) for one in violations):
            break
    return violations


def gather(named, judge):
    """Judge what is named; how many there were, and what was found: a name, and what it broke."""
    ran, findings = 0, []
    for words, one in named:
        ran += 1
        if violations := judge(one):
            findings.append("\n    ".join([words, *violations]))
    return ran, findings


def judge_schedule(world, schedule):
    """The promises that a schedule breaks."""
    slower = (schedule.stretch(factor) for factor in STRETCHES)
    return first_clear(Judgement(one, run(world, one)).violations() for one in slower)


def explore(world, operations, numbers, *, is_async):
    """Run the schedules of these numbers; how many were run, and what was found."""
    drawn = (
        generate_schedule(schedules(operations, is_async=is_async), number) for number in numbers
    )
    # The text of a schedule is the expression that makes it again.
    return gather(((repr(one), one) for one in drawn), lambda one: judge_schedule(world, one))


def generate_schedule(strategy, number):
    """One schedule, drawn without regard to any other: hypothesis varies what it drew before."""
    drawn = []

    @seed(number)
    @settings(max_examples=2, phases=[Phase.generate], database=None)
    @given(strategy)
    def draw(schedule):
        drawn.append(schedule)

    draw()
    return drawn[-1]  # the first is the simplest there is
