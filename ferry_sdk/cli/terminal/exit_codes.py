"""How a command ends: one exit code for each outcome, the same from version to version."""

from __future__ import annotations

from enum import IntEnum

from ferry_sdk.errors import FerryError, PenaltyExceededError, PriceChangedError
from ferry_sdk.safety import SAFETY


class Exit(IntEnum):
    """The exit codes.

    Attributes:
        DONE: It was done.
        FAILED: Something of this machine failed: a file, an extra that is missing, a bug.
        USAGE: The command line makes no sense.
        NOT_SENT: Nothing was changed: refused before the wire, no connection, or a read without
            a reply.
        REJECTED: The service refused it.
        UNKNOWN: A write that may have happened.
        DECLINED: The user said no, or a guard did.
        INTERRUPTED: Ctrl-C.
    """

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_SENT = 3
    REJECTED = 4
    UNKNOWN = 5
    DECLINED = 6
    INTERRUPTED = 130


def exit_of(error: FerryError) -> Exit:
    """The code that a command ends with when its call ended in this error."""
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        return Exit.DECLINED
    if error.outcome == "rejected":
        return Exit.REJECTED
    row = SAFETY.get(error.operation)
    may_have_happened = error.outcome == "unknown" and (row is None or not row.is_read)
    return Exit.UNKNOWN if may_have_happened else Exit.NOT_SENT
