"""Many cases in one test: a test of its own for each takes longer than what it looks at."""

from contextlib import contextmanager

import pytest


@contextmanager
def case(*named):
    """Name the case in which the block fails."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:
        raise AssertionError(f"in the case of {', '.join(map(str, named))}") from failure
