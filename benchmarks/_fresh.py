"""A figure out of a fresh interpreter, which has imported nothing yet."""

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
"""What httpx and httpcore load where it is there, as for the tests; with none of them it comes."""

_TIMED = """
import sys
from time import perf_counter
sys.modules.update(dict.fromkeys({hidden}))
began = perf_counter()
{code}
print(perf_counter() - began)
"""


def seconds_of(code: str, *, hidden: Collection[str] = _HIDDEN) -> Measurement:
    """Measure some code by the clock of the interpreter that runs it, from its first line on."""
    return fresh("-c", _TIMED.format(code=code, hidden=hidden))


def fresh(*arguments: str) -> Measurement:
    """Measure by what an interpreter with these arguments prints last."""
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
