"""How the time of a function grows with its input: linear work is told from quadratic work.

Only times of one process are compared, by its own processor time. What looks quadratic is measured
again, so that a busy machine makes no test fail.
"""

import time

SHORT, LONG = 500, 2_000
"""Lengths that are compared first: linear work takes 4 times as long, quadratic work 16 times."""
MOST = 8
"""The growth above which work is not linear, if the length is 4 times as much."""
NOISE = 500_000
"""Nanoseconds below which a time is not looked at: the work is done at once."""


def grows_faster_than_linear(run, make):
    """Whether `run(make(n))` takes more than linear time."""
    short, long = make(SHORT), make(LONG)
    least = _time(run, long, 1)
    if least < NOISE or least <= MOST * _time(run, short, 1):
        return False
    return all(_time(run, long, 3) > MOST * _time(run, short, 3) for _ in range(3))


def _time(run, value, times):
    least = None
    for _ in range(times):
        began = time.thread_time_ns()
        run(value)
        taken = time.thread_time_ns() - began
        least = taken if least is None else min(least, taken)
    return least
