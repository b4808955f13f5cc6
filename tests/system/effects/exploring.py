"""Schedules run one after the other, judged, and the broken promises gathered."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import Phase, given, seed, settings

from .judging import SOFT, Judgement
from .running import run
from .schedules import Schedule, schedules

STRETCHES = (1, 3, 10)
"""The clocks, each slower, on which a schedule is run before a slow machine is ruled out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A schedule that broke promises.

    Attributes:
        schedule: Its text is the expression that makes it again.
        violations: Which.
    """

    schedule: Schedule
    violations: tuple[str, ...]

    def __str__(self):
        return "\n".join([f"{self.schedule!r}", *(f"    {one}" for one in self.violations)])


def judge(world, schedule):
    """The promises that a schedule breaks; what time may be to blame for is given another try."""
    violations = []
    for factor in STRETCHES:
        slower = schedule.stretch(factor)
        violations = Judgement(slower, run(world, slower)).violations()
        if not violations or not all(one.startswith(SOFT) for one in violations):
            break
    return violations


def explore(world, operations, numbers, *, is_async):
    """Run the schedules of these numbers; how many were run, and what was found.

    Args:
        world: Where.
        operations: Which calls.
        numbers: One number makes one schedule, always the same.
        is_async: Whether the clients are async.
    """
    findings = []
    ran = 0
    for number in numbers:
        schedule = generate_schedule(schedules(operations, is_async=is_async), number)
        violations = judge(world, schedule)
        ran += 1
        if violations:
            findings.append(Finding(schedule, tuple(violations)))
    return ran, findings


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
