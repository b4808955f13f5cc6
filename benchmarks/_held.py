"""The memory that one search needs at its peak, its answer read and held; in a process of its own.

`python -m benchmarks._held CLIENT SERVICE traced|resident` prints bytes.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from ._clients import opened, reader_of

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUS = Path("/proc/self/status")
_FORGET_PEAK = "5"


def traced(work: Callable[[], object]) -> int:
    """What Python allocated at the peak."""
    tracemalloc.start()
    result = work()
    _, peak = tracemalloc.get_traced_memory()
    del result
    return peak


def resident(work: Callable[[], object]) -> int:
    """What the process grew by at the peak, by the system's own count."""
    _STATUS.with_name("clear_refs").write_text(_FORGET_PEAK)
    before = _of_status("VmRSS")
    result = work()
    peak = _of_status("VmHWM")
    del result
    return peak - before


def resident_now() -> int:
    """What the process holds now, by the system's own count."""
    return _of_status("VmRSS")


def can_tell_resident() -> bool:
    """Whether this system counts it in a way that is known here."""
    return _STATUS.exists()


def _of_status(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def main(client: str, base_url: str, way: str) -> int:
    """Search once for little, so that all is loaded; then measure."""
    with (
        opened("search", [client], f"{base_url}/few") as few,
        opened("search", [client], base_url) as many,
    ):
        read = reader_of(client)

        def read_and_held() -> object:
            answer = many[client]()
            read(answer)
            return answer

        read(few[client]())
        gc.collect()
        return traced(read_and_held) if way == "traced" else resident(read_and_held)


if __name__ == "__main__":
    sys.stdout.write(f"{main(*sys.argv[1:])}\n")
