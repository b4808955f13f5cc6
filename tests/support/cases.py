"""Many cases in one test: a test of its own for each takes longer than what it looks at."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def case(*named: object) -> Generator[None]:
    """Name the case in which the block fails."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:
        raise AssertionError(f"in the case of {', '.join(map(str, named))}") from failure
