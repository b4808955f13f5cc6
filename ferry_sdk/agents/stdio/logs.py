"""What is logged: to stderr, since stdout carries the protocol, and without anybody's secrets."""

from __future__ import annotations

import logging
import sys


class _Terse(logging.Formatter):
    """A line for each record; of an exception its kind only, for its text may be a traveller's."""

    def formatException(  # noqa: N802 -- logging's own name
        self, ei: tuple[type[BaseException] | None, object, object]
    ) -> str:
        return f"({ei[0].__name__})" if ei[0] else ""

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 -- the same
        del stack_info
        return ""


def to_stderr() -> None:
    """Send what is logged from now on to stderr, and nothing of it anywhere else."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Terse("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("ferry_sdk").setLevel(logging.INFO)
