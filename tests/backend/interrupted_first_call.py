"""A program whose first call is interrupted, each time in a new process, and made again.

Arguments: the service's address, and either ``lines`` and which lines (of those before the first
request, each counted once), or ``signals`` and after how many seconds a real signal comes. Each
line of standard output is what became of one process, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from ferry_sdk import Ferry

url, kind, *places = sys.argv[1:]


class Interruption:
    """Raises at a line of the main thread, before the flow of a call begins."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.where: str | None = None
        self.met: set[tuple[str, int]] = set()

    def of_call(self, frame: Any, *_: object) -> Any:
        if frame.f_code.co_name == "start" and "context.py" in frame.f_code.co_filename:
            sys.settrace(None)
            return None
        return self.of_line

    def of_line(self, frame: Any, event: str, arg: object) -> Any:
        line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and line not in self.met and sys.gettrace() is not None:
            self.met.add(line)
            if self.left == 0:
                self.where = f"{line[0]}:{line[1]}"
                raise KeyboardInterrupt
            self.left -= 1
        return self.of_line


def create(ferry: Ferry) -> str:
    """Make a write, and tell what it raised."""
    try:
        ferry.bookings.create(
            availabilities=[{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
            passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
        )
    except BaseException as error:  # noqa: BLE001 -- it is told
        return repr(error)
    return "done"


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def run(place: str) -> dict[str, Any]:
    """Interrupt the first call of this process, and make it again, and again by other clients."""
    ferry = Ferry("t", base_url=url, deadline=60 if len(place) % 2 else None)
    interruption = Interruption(int(place) if kind == "lines" else -1)
    first = "interrupted"
    try:
        if kind == "lines":
            sys.settrace(interruption.of_call)
        else:
            signal.setitimer(signal.ITIMER_REAL, float(place))
        first = create(ferry)
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:  # between the call and here
        pass
    later = [create(ferry), create(Ferry("t", base_url=url))]
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(10)
    left = [thread.name for thread in threading.enumerate()][1:]
    where = interruption.where if kind == "lines" else place
    return {"first": first, "where": where, "later": later, "threads": left}


signal.signal(signal.SIGALRM, interrupt)
for place in places:
    pid = os.fork()
    if not pid:
        sys.stdout.write(json.dumps(run(place)) + "\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
