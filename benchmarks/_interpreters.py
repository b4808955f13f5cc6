"""Measurements in new interpreters, which have imported nothing yet."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from ._service import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection

    from ._measure import Measurement

_HIDDEN = ("click", "h2", "rich", "trio")
"""Optional packages that httpx and httpcore load if they are installed, as they are for tests.

They are hidden, because the library does not install them.
"""

_TIMED = """
import sys
from time import perf_counter
sys.modules.update(dict.fromkeys({hidden}))
began = perf_counter()
{code}
print(perf_counter() - began)
"""


def seconds_of(code: str, *, hidden: Collection[str] = _HIDDEN) -> Measurement:
    """Return the measurement of some code in seconds, from its first line on.

    Args:
        code: The code.
        hidden: Packages that cannot be imported.
    """
    return last_number_printed("-c", _TIMED.format(code=code, hidden=hidden))


def last_number_printed(*arguments: str) -> Measurement:
    """Return the measurement that is the last number printed by an interpreter.

    Args:
        *arguments: The arguments of the interpreter.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FERRY_") and name != "PYTHONDONTWRITEBYTECODE"
    }

    def measurement() -> float:
        done = subprocess.run(  # noqa: S603 -- the benchmarks' own code
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return float(done.stdout.split()[-1])

    return measurement
