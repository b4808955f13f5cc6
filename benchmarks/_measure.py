"""Measurements: the contenders take turns in each round, and medians are compared.

A `Measurement` is a function that does the work and returns a figure, such as the seconds of
`timing`. `measure_in_turn` calls those of all contenders once a round.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Measurement = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done for a figure.

    Attributes:
        is_tiny: Just enough to see that it runs; the figures mean nothing.
    """

    is_tiny: bool = False

    def of(self, whole: int, tiny: int = 1) -> int:
        """Return a number of rounds, calls or records: the whole one, or the tiny one."""
        return tiny if self.is_tiny else whole


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of the contenders.

    Attributes:
        rounds: The figures of each contender by its name, one for each round.
    """

    rounds: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """Return the median of a contender's figures."""
        return median(self.rounds[name])

    def ratio(self, name: str, to: str) -> float:
        """Return the median of the ratios between two contenders in the same round."""
        pairs = zip(self.rounds[name], self.rounds[to], strict=True)
        return median(one / other for one, other in pairs)


def measure_in_turn(
    contenders: Mapping[str, Measurement], *, rounds: int, warm_ups: int = 1
) -> Figures:
    """Measure every contender once a round; each round begins with another one.

    Args:
        contenders: The measurement of each, by its name.
        rounds: The figures of each.
        warm_ups: The rounds before, whose figures are dropped.
    """
    names = [*contenders]
    figures: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-warm_ups, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            figure = contenders[name]()
            if number >= 0:
                figures[name].append(figure)
    return Figures(figures)


def timing(
    work: Callable[[], object], calls: int = 1, clock: Callable[[], float] = perf_counter
) -> Measurement:
    """Return the measurement of the seconds of a call.

    The garbage collector stays on, as in a program. The result of the last call is freed after the
    clock has stopped.

    Args:
        work: Makes a call.
        calls: The calls of a round, of which the mean is taken.
        clock: Tells the seconds.
    """

    def measurement() -> float:
        gc.collect()
        result: object = None
        began = clock()
        for _ in range(calls):
            result = work()
        spent = clock() - began
        del result
        return spent / calls

    return measurement


def calls_a_second(work: Callable[[], object], calls: int) -> Measurement:
    """Return the measurement of the calls in a second, of work that makes so many."""
    seconds = timing(work)
    return lambda: calls / seconds()
