"""Atomic writing of a file that only its owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from uuid import uuid4

from ferry_sdk.errors import InvalidInputError

_PRIVATE = 0o600
_BINARY: int = getattr(os, "O_BINARY", 0)
"""On Windows, without this flag line ends are translated."""


def save(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it, so that nobody sees a part of a file.

    Only the owner can read the file, also if it replaces another one.

    Raises:
        InvalidInputError: No file can be written there, or the path is not a regular file.
        OSError: Writing failed.
    """
    # A short name, because the file's own name may be as long as the system allows.
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        _refuse_special(path)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _PRIVATE)
    except OSError as error:
        raise InvalidInputError(
            f"no file can be written there: {error.strerror}", field="path"
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _refuse_special(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise InvalidInputError("not a regular file", field="path")
