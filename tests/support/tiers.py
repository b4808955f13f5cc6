"""Which tests `scripts/test` leaves to `scripts/test --all`."""

import pytest
from hypothesis import HealthCheck, settings

LONG = pytest.mark.long
QUICK_EXAMPLES = 20
QUICK_CASES = 6
"""The cases of one test that `scripts/test` runs at most."""

settings.register_profile("long", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("long"), max_examples=QUICK_EXAMPLES)


def load_profile(marks, seed):
    """Have hypothesis try the same examples in each run, fewer without the long tests."""
    tier = settings.get_profile("quick" if "not long" in marks else "long")
    settings.register_profile("tier", tier, derandomize=seed is None)
    settings.load_profile("tier")


def is_quick():
    """Whether the long tests are left out."""
    return settings.default.max_examples == QUICK_EXAMPLES


def examples(count, **options):
    """Return the settings of a test that tries so many examples, and fewer in the quick tier."""
    return settings(max_examples=min(count, QUICK_EXAMPLES) if is_quick() else count, **options)


def mostly_long(values, *, short=1, ids=None):
    """Return the parameters of a test; all but the first `short` are marked `long`."""
    given = []
    for index, value in enumerate(values):
        if index >= short and is_quick():
            break
        if hasattr(value, "marks"):
            known = value
        else:
            known = pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)
        marks = known.marks if index < short else (*known.marks, LONG)
        name = ids(value) if ids else known.id
        given.append(pytest.param(*known.values, marks=marks, id=name))
    return given


def surplus(cases):
    """Return the cases of a test that the quick tier leaves out.

    The values of a case's parameters are all in other cases, or there are more than six cases
    without it; of these, six are kept that are far apart.
    """
    left = {index: {*enumerate(case.callspec._idlist)} for index, case in enumerate(cases)}
    repeated = []
    if len(left[0]) > 1:
        missing = set().union(*left.values())
        while missing:
            missing -= left.pop(max(left, key=lambda index: len(left[index] & missing)))
        repeated = [*left]

    others = [case for index, case in enumerate(cases) if index not in repeated]
    step = max(1, len(others) / QUICK_CASES)
    kept = [others[int(number * step)] for number in range(min(len(others), QUICK_CASES))]
    return [case for case in cases if case not in kept]
