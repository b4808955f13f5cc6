"""Runs made one after the other, judged, and the broken promises gathered."""

from __future__ import annotations

from dataclasses import dataclass

from tests.system.effects.judging import SOFT

from .judging import violations
from .runs import Run, draw_run

TRIES = 10
"""How often a run is made before what a slow machine may have caused is believed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A run that broke promises.

    Attributes:
        run: The run; its number makes it again.
        violations: Which.
    """

    run: Run
    violations: tuple[str, ...]

    def __str__(self):
        again = f"scripts/soak --hostile 1 --seed {self.run.number}"
        lines = (f"    {one}" for one in self.violations)
        return "\n".join([again, f"    {self.run!r}", *lines])


def explore(stage, numbers):
    """Make the runs of these numbers; how many were made, and what was found."""
    findings = []
    ran = 0
    for number in numbers:
        run = draw_run(number)
        found = []
        for _ in range(TRIES):
            found = violations(stage.run(run))
            if not found or not all(one.startswith(SOFT) for one in found):
                break
        ran += 1
        if found:
            findings.append(Finding(run, tuple(found)))
    return ran, findings
