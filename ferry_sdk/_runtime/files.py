"""Files that a user names. A pipe in the place of a file blocks nobody for ever."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Final

_READ_TIMEOUT: Final = 30.0
"""Seconds to wait for the next piece from a pipe."""
_PIECE: Final = 64 * 1024


def open_at_once(path: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`; a pipe without a writer does not block."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_file(path: Path, longest: float = float("inf")) -> bytes:
    """Return the content of a file or a pipe, up to a little more than `longest` bytes.

    Raises:
        OSError: The file cannot be read, or a pipe sent nothing in time.
        ValueError: It is not a valid file name.
    """
    content = b""
    with open(path, "rb", buffering=0, opener=open_at_once) as opened:
        while len(content) <= longest:
            piece = opened.read(_PIECE)
            if piece is None:  # the pipe is open and has no data yet
                if not select.select([opened], [], [], _READ_TIMEOUT)[0]:
                    raise TimeoutError("nothing was sent")
            elif piece:
                content += piece
            else:
                break
    return content
