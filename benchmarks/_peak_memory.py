"""The peak memory of a search whose answer is read and kept, measured in a process of its own.

`python -m benchmarks._peak_memory CLIENT SERVICE traced|resident` prints bytes.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ._clients import open_calls, reader_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STATUS = Path("/proc/self/status")
_FORGET_PEAK = "5"
"""What resets the peak of a process when it is written to its ``clear_refs``."""


def traced_peak(work: Callable[[], object]) -> int:
    """Return the bytes that Python had allocated at the peak."""
    tracemalloc.start()
    result = work()
    _, peak = tracemalloc.get_traced_memory()
    del result
    return peak


def resident_peak(work: Callable[[], object]) -> int:
    """Return the bytes by which the process had grown at the peak, as the system counts."""
    _STATUS.with_name("clear_refs").write_text(_FORGET_PEAK)
    before = _of_status("VmRSS")
    result = work()
    peak = _of_status("VmHWM")
    del result
    return peak - before


def resident_now() -> int:
    """Return the memory of the process now, in bytes, as the system counts."""
    return _of_status("VmRSS")


def can_tell_resident() -> bool:
    """Return whether this system tells the resident memory of a process."""
    return _STATUS.exists()


def _of_status(name: str) -> int:
    """Return the bytes of a line of the status, such as ``VmRSS:  1024 kB``."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


MEASURES: Final[Mapping[str, Callable[[Callable[[], object]], int]]] = {
    "traced": traced_peak,
    "resident": resident_peak,
}
"""The measures of memory, by their names on the command line."""


def main(client: str, base_url: str, way: str) -> int:
    """Make a small search, so that everything is loaded; then measure a large one."""
    with (
        open_calls("search", [client], f"{base_url}/few") as few,
        open_calls("search", [client], base_url) as many,
    ):
        read = reader_of(client)

        def read_and_keep() -> object:
            answer = many[client]()
            read(answer)
            return answer

        read(few[client]())
        gc.collect()
        measure = MEASURES[way]
        return measure(read_and_keep)


if __name__ == "__main__":
    sys.stdout.write(f"{main(*sys.argv[1:])}\n")
