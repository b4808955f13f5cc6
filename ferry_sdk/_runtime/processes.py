"""Find out whether another process has ended, also if its id is one of another machine."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path


def machine_id() -> str | None:
    """Identify the processes among which a pid is unique; return None if they are not known.

    Containers that share a file have pids of their own, often with equal host names.
    """
    if os.name != "posix":  # elsewhere, `os.kill` ends the process
        return None
    if sys.platform != "linux":
        return socket.gethostname()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def has_ended(pid: int, machine: str | None) -> bool:
    """Return True if a process has ended, False if it has not or that is unknown.

    Args:
        pid: Its id.
        machine: What `machine_id` returned in that process.
    """
    if machine is None or machine != machine_id():
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False
