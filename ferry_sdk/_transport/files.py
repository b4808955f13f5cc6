"""A file put in its place whole or not at all, for its owner's eyes only."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from uuid import uuid4

from ferry_sdk.errors import InvalidInputError

_PRIVATE = 0o600
_BINARY: int = getattr(os, "O_BINARY", 0)
"""On Windows, bytes are not translated."""


def save(path: Path, content: bytes) -> None:
    """Write beside the place and move there, so that nobody sees half a file.

    The file is new, also where one is replaced: nobody but its owner may read it.

    Raises:
        InvalidInputError: No file can be put there, or something that is no file is there.
        OSError: The disk failed.
    """
    # The name beside it is short: the file's own may be as long as the system allows.
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        _refuse_special(path)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _PRIVATE)
    except OSError as error:
        raise InvalidInputError(
            f"no file can be put there: {error.strerror}", field="path"
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
        raise InvalidInputError("something is there that is no file", field="path")
