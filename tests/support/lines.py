"""An exception at one line of some files, as a signal or a lack of memory may raise it."""

import sys
from contextlib import suppress

from ferry_sdk import FerryError


def interrupt_at(kind, line, use, path):
    """Raise an exception at this line (from 1, as they run); return whether there are as many."""
    passed = 0

    def at_line(_, event, __):
        nonlocal passed
        passed += event == "line"
        if event == "line" and passed == line:
            raise kind
        return at_line

    def at_call(frame, *_):
        return at_line if frame.f_code.co_filename.startswith(path) else None

    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        with suppress(kind, FerryError):
            use()
    finally:
        sys.settrace(before)
    return passed >= line
