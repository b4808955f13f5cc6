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

    Raises:
        ConfigurationError: The file cannot be written, or others can use it.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        # A pipe without a reader would block for ever. A link may lead to another file of the user.
        flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._descriptor = os.open(path, flags, 0o600)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"audit: {path} cannot be written") from error
        if (problem := find_exposure(os.fstat(self._descriptor), path)) is not None:
            os.close(self._descriptor)
            raise ConfigurationError(f"audit: {problem}")

    def __call__(self, record: AuditRecord) -> None:
        """Write one record."""
        line = f"{json.dumps(to_jsonable_python(record))}\n".encode()
        while line:
            line = line[os.write(self._descriptor, line) :]
