"""An exception at one line of some files, as a signal or a lack of memory may raise it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ferry_sdk import FerryError

if TYPE_CHECKING:
    from collections.abc import Callable


def interrupt_at(
    kind: type[BaseException], line: int, use: Callable[[], object], path: str
) -> bool:
    """Raise an exception at this line of those that run; return whether there are as many."""
    passed = 0

    def at_line(_: object, event: str, __: object) -> Any:
        nonlocal passed
        passed += event == "line"
        if event == "line" and passed == line:
            raise kind
        return at_line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: at_line if frame.f_code.co_filename.startswith(path) else None)
    try:
        with suppress(kind, FerryError):
            use()
    finally:
        sys.settrace(before)
    return passed >= line
