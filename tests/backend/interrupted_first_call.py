"""A program whose first call is interrupted, each time in a new process, and made again.

Arguments: the service's address, and either ``lines``, the number of the first line and every how
many lines follow (of those before the first request, each counted once), or ``signals`` and after
how many seconds a real signal comes.
Each line of standard output is what became of one process, as JSON.

Where a line is interrupted, the modules of other packages are there already: the processes are
hundreds, and every import takes place in a thread that no interruption reaches.
"""

import json
import os
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count

from ferry_sdk import Ferry

url, kind, *values = sys.argv[1:]


class Interruption:
    def __init__(self, number):
        self.left = number
        self.where = None
        self.met = set()
        self.trace = self.of_call  # held, because Python calls it after it raised in a finalizer

    def of_call(self, frame, *_):
        if frame.f_code.co_name == "start" and "context.py" in frame.f_code.co_filename:
            sys.settrace(None)
            return None
        return self.of_line

    def of_line(self, frame, event, arg):
        line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and line not in self.met and sys.gettrace() is not None:
            self.met.add(line)
            if self.left == 0:
                self.where = f"{line[0]}:{line[1]}"
                raise KeyboardInterrupt
            self.left -= 1
        return self.of_line


def create(ferry):
    try:
        ferry.bookings.create(
            availabilities=[{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
            passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
        )
    except BaseException as error:  # noqa: BLE001 -- it is told
        return repr(error)
    return "done"


def interrupt(*_):
    raise KeyboardInterrupt


def run(place):
    ferry = Ferry("t", base_url=url, deadline=60 if len(place) % 2 else None)
    interruption = Interruption(int(place) if kind == "lines" else -1)
    first = "interrupted"
    with suppress(KeyboardInterrupt):  # between the call and here
        if kind == "lines":
            sys.settrace(interruption.trace)
        else:
            signal.setitimer(signal.ITIMER_REAL, float(place))
        first = create(ferry)
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
    later = [create(ferry), create(Ferry("t", base_url=url))]
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(10)
    left = [thread.name for thread in threading.enumerate()][1:]
    where = interruption.where if kind == "lines" else place
    return {"first": first, "where": where, "later": later, "threads": left}


def fork(function):
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        with os.fdopen(writer, "w", encoding="utf-8") as file:
            json.dump(function(), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        result = json.load(file)
    os.waitpid(pid, 0)
    return result


def imported_by_a_first_call():
    before = {*sys.modules}
    create(Ferry("t", base_url=url))
    return [name for name in {*sys.modules} - before if not name.startswith("ferry_sdk")]


signal.signal(signal.SIGALRM, interrupt)
places = values
if kind == "lines":
    for name in fork(imported_by_a_first_call):
        with suppress(ModuleNotFoundError):  # Cython makes modules that have no file
            import_module(name)
    first_line, step = map(int, values)
    places = map(str, count(first_line, step))
for place in places:
    result = fork(partial(run, place))
    sys.stdout.write(json.dumps(result) + "\n")
    if result["where"] is None:
        break
