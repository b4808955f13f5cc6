"""Runs made one after the other, judged, and the broken promises gathered."""

from tests.system.effects.exploring import first_clear, gather

from .judging import violations
from .runs import draw_run

TRIES = 10
"""How often a run is made before what a slow machine may have caused is believed."""


def explore(stage, numbers):
    """Make the runs of these numbers; how many were made, and what was found."""
    runs = (draw_run(number) for number in numbers)
    named = ((f"scripts/soak --hostile 1 --seed {run.number}\n    {run!r}", run) for run in runs)
    return gather(named, lambda run: first_clear(violations(stage.run(run)) for _ in range(TRIES)))
