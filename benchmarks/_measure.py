"""How things are measured: in turn, round after round, judged by medians."""

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
        is_tiny: Just enough to see that it runs; what comes out says nothing.
    """

    is_tiny: bool = False

    def of(self, whole: int, tiny: int = 1) -> int:
        """A number of rounds, calls or records."""
        return tiny if self.is_tiny else whole


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of each contender, round by round.

    Attributes:
        rounds: By contender, as many figures as there were rounds.
    """

    rounds: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """The middle figure of a contender."""
        return median(self.rounds[name])

    def ratio(self, name: str, to: str) -> float:
        """The middle one of the ratios between two contenders in the same round."""
        pairs = zip(self.rounds[name], self.rounds[to], strict=True)
        return median(one / other for one, other in pairs)


def in_turn(contenders: Mapping[str, Measurement], *, rounds: int, warm_ups: int = 1) -> Figures:
    """Measure every contender once a round; each round another one is first.

    Args:
        contenders: What gives a figure of each.
        rounds: How many figures of each are wanted.
        warm_ups: Rounds before, of which nothing is kept.
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


def timed(
    work: Callable[[], object], calls: int = 1, clock: Callable[[], float] = perf_counter
) -> Measurement:
    """Measure the seconds that a call takes, the mean of so many in a row.

    The collector is at work meanwhile, as it is in a program. What the last call gives is freed
    when the clock has stopped.
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
