"""An audit file that only its owner can read."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.private_files import find_exposure
from ferry_sdk.agents.policy.audit import AuditRecord
from ferry_sdk.errors import ConfigurationError


class AuditFile:
    """Append the record of each call to a private file, as a line of JSON.

    If the file was removed, replaced or moved, as programs that rotate logs do, the next record
    goes to a new file in its place.

    Raises:
        ConfigurationError: The file cannot be written, or others can use it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._descriptor = _open_private(path)

    def __call__(self, record: AuditRecord) -> None:
        """Write one record."""
        if not self._is_in_place():
            # The old one is closed last, so that `_descriptor` is open at any time.
            old_descriptor = self._descriptor
            self._descriptor = _open_private(self._path)
            os.close(old_descriptor)

        line = f"{json.dumps(to_jsonable_python(record))}\n".encode()
        while line:
            line = line[os.write(self._descriptor, line) :]

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except OSError:
            return False


def _open_private(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    # A pipe without a reader would block for ever. A link may lead to another file of the user.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"audit: {path} cannot be written") from error

    problem = find_exposure(os.fstat(descriptor), path)
    if problem is not None:
        os.close(descriptor)
        raise ConfigurationError(f"audit: {problem}")
    return descriptor
