"""The memory of a scan, in a process of its own.

`python -m benchmarks._scan_memory SERVICE SEARCHES` prints the resident memory after each tenth of
the searches, in MB. Its last line is the memory at the end divided by that after the first tenth.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from datetime import timedelta

from ferry_sdk import AsyncFerry
from ferry_sdk.scan import FareScan, Party

from ._by_hand import PASSENGERS
from ._catalogues import START
from ._payload import TOKEN
from ._peak_memory import resident_now
from .scan import COMPANIES, IN_FLIGHT, ROUTE


def main(base_url: str, searches: int) -> None:
    """Scan, and measure the memory after each tenth."""
    memory: list[int] = []
    sent = 0

    def measure(event: object) -> None:
        nonlocal sent
        del event
        sent += 1
        if sent % (searches // 10) == 0:
            gc.collect()
            memory.append(resident_now())
            sys.stdout.write(f"{sent:,} searches: {memory[-1] / 1e6:.1f} MB\n")

    ferry = AsyncFerry(TOKEN, base_url=base_url, event_hooks={"response": [measure]})
    last = START + timedelta(days=searches // COMPANIES - 1)
    with tempfile.TemporaryDirectory() as folder:
        parties = [Party("one", PASSENGERS)]
        scan = FareScan(folder, routes=[ROUTE], dates=(START, last), parties=parties)
        scan.run(ferry, concurrency=IN_FLIGHT)
    sys.stdout.write(f"{memory[-1] / memory[0]:.3f}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
