"""Files that only their owner can read."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
from pathlib import Path

from pydantic_core import to_jsonable_python

from ferry_sdk.agents.policy.audit import AuditRecord
from ferry_sdk.errors import ConfigurationError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_private(found: os.stat_result, path: Path, setting: str) -> None:
    """Raise ConfigurationError unless the file is a regular one that only its owner can use."""
    if not stat.S_ISREG(found.st_mode):
        raise ConfigurationError(f"{setting}: {path} is not a file")
    if os.name == "posix" and found.st_uid != os.geteuid():
        raise ConfigurationError(f"{setting}: {path} belongs to another user")
    if os.name == "posix" and found.st_mode & _OTHERS:
        raise ConfigurationError(f"{setting}: other users can use {path}; run: chmod 600 {path}")


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
        try:
            check_private(os.fstat(self._descriptor), path, "audit")
        except ConfigurationError:
            self.close()
            raise

    def __call__(self, record: AuditRecord) -> None:
        """Write one record."""
        fields = {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}
        line = f"{json.dumps(to_jsonable_python(fields))}\n".encode()
        while line:
            line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
