"""The folder of a scan: its manifest, its lock, and files that are written whole."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NotRequired

from pydantic import JsonValue, TypeAdapter
from typing_extensions import TypedDict

from ferry_sdk._runtime.files import TEMPORARY, read_file, write_file
from ferry_sdk.errors import InvalidInputError

FORMAT: Final = 2
"""The format of the manifest and of the parts."""
_MANIFEST: Final = "scan.json"
_locked: set[Path] = set()


def unusable(problem: str) -> InvalidInputError:
    """Return the error of a folder that a scan cannot use."""
    return InvalidInputError(f"{problem}; use another folder", field="folder")


def part_path(folder: Path, number: int) -> Path:
    """Return the file of a part."""
    return folder / f"part-{number:05}.parquet"


class ManifestHead(TypedDict):
    """The members of a manifest of any format."""

    format: int
    library: str


class Manifest(ManifestHead):
    """The content of the manifest.

    Attributes:
        scan: The id of the scan, which is in every part too.
        created_at: When the first run began.
        service: The address of the service.
        asked: The arguments of the scan.
        size: The number of searches.
        part_count: The number of parts.
        company_routes: The ports, the journey and the company of each route.
        runs: The last runs: the report of each, its error, and when it began and ended.
        unreadable: How many records of each catalogue could not be read when the routes were
            looked up; left out if all could be.
    """

    scan: str
    created_at: str
    service: str
    asked: dict[str, JsonValue]
    size: int
    part_count: int
    company_routes: list[tuple[str, str, str, str]]
    runs: list[dict[str, JsonValue]]
    unreadable: NotRequired[dict[str, int]]


_HEAD: Final = TypeAdapter(ManifestHead)
_WHOLE: Final = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; None if there is none.

    Raises:
        InvalidInputError: It cannot be read, or has another format.
    """
    try:
        content = read_file(folder / _MANIFEST)
        head = _HEAD.validate_json(content, strict=True)
        if head["format"] == FORMAT:
            return _WHOLE.validate_json(content, strict=True)
        problem = f"was written by ferry_sdk {head['library']} in another format"
    except FileNotFoundError:
        return None
    except (IsADirectoryError, TimeoutError, ValueError):
        # It is a folder or a pipe, it is not JSON or has other members, or the path is invalid.
        problem = "cannot be read"
    raise unusable(f"{_MANIFEST} {problem}")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest.

    Raises:
        InvalidInputError: The folder has parts, but no manifest yet.
    """
    if not (folder / _MANIFEST).exists() and any(folder.glob("part-*.parquet")):
        raise unusable(f"there are parts, but no {_MANIFEST}")
    content = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    write_file(folder / _MANIFEST, content.encode())


@contextmanager
def lock(folder: Path) -> Generator[None, None, None]:
    """Make the folder, and keep other scans out of it for the block.

    Raises:
        InvalidInputError: Another process, or another thread, scans into the folder; or its
            ``.lock`` is not a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    if folder in _locked:
        raise InvalidInputError("another thread scans into this folder", field="folder")

    _locked.add(folder)
    try:
        lock_file = folder / ".lock"
        if lock_file.exists() and not lock_file.is_file():  # to open a pipe would block
            raise unusable(".lock is not a file")
        with lock_file.open("ab") as file:
            _lock_file(file.fileno())
            for temporary in folder.glob(f"{TEMPORARY}*"):  # of a process that was killed
                temporary.unlink(missing_ok=True)
            yield
    finally:
        _locked.discard(folder)


def _lock_file(descriptor: int) -> None:
    """Lock a file until it is closed, or the process ends.

    On POSIX, the lock is one of `lockf`, which belongs to one process. One of `flock` would stay
    with the workers of a process that was killed.
    """
    try:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 -- not on Windows

            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt: Any = import_module("msvcrt")  # only on Windows
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        raise InvalidInputError(
            f"another process scans into this folder ({error.strerror})", field="folder"
        ) from None
