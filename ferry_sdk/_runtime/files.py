"""Files that a user names. A pipe in the place of a file does not block the caller for ever."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

TEMPORARY: Final = ".tmp-"
"""The beginning of the names of files that are being written."""
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
            if piece is None:  # an open pipe without data
                readable, _, _ = select.select([opened], [], [], _READ_TIMEOUT)
                if not readable:
                    raise TimeoutError("nothing was sent")
            elif not piece:  # the end
                break
            else:
                content += piece
    return content


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a temporary file, and rename it when it is on the disk: nobody sees a part of a file.

    Args:
        path: The file; one that exists is replaced.
        content: Its content.
        mode: Its permissions, which the umask of the process may reduce.

    Raises:
        OSError: Writing failed; a file that was there before has not changed.
    """
    # A short name, because the file's own name may be as long as the system allows.
    temporary = path.with_name(f"{TEMPORARY}{uuid4().hex}")
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)

    with suppress(OSError):  # not every file system can do it, nor Windows
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # the new name is on the disk when the folder is
        finally:
            os.close(descriptor)
