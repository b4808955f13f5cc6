"""Files of route graphs: one for each account, service and language, in the folder `route_cache`.

A file is the JSON of a graph whose first member is a digest of the others, so that a file that was
changed is not used: ``{"digest":"9f86…","ports":{…},"routes":[…],…}``.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import time
from contextlib import suppress
from functools import lru_cache
from hashlib import pbkdf2_hmac, sha256
from pathlib import Path

from ferry_sdk._runtime.files import open_at_once
from ferry_sdk.planning.routes import GRAPH, RouteGraph

logger: logging.Logger = logging.getLogger("ferry_sdk")

_ROUNDS = 100_000
"""So many rounds of hashing make it expensive to find a token by guessing names of files."""
_NAME = re.compile(r"routes-[\w.+]+-[0-9a-f]{32}\.json")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@lru_cache(maxsize=1024)
def account_name(token: str, service: str) -> str:
    """Return a name for what an account has of a service, from which nobody finds the token."""
    digest = pbkdf2_hmac("sha256", token.encode(), service.encode(), iterations=_ROUNDS, dklen=16)
    return digest.hex()


def remove_old(folder: Path, seconds: float) -> None:
    """Remove files that are too old to be used. Each token that changes leaves one behind."""
    for path in folder.iterdir():
        with suppress(OSError):
            if _NAME.fullmatch(path.name) and time.time() - path.stat().st_mtime > seconds:
                path.unlink()


def content_of(graph: RouteGraph) -> bytes:
    """Return the content of a graph's file."""
    members = GRAPH.dump_json(graph)[1:]  # without the brace, which is before the digest
    return _digest(members) + members


def read_graph(path: Path) -> RouteGraph | None:
    """Return the graph in a file; None if there is none, or if it is not to be used.

    A file that cannot be trusted is removed, so that the next graph can be saved there.
    """
    try:
        graph = GRAPH.validate_json(b"{" + _read_members(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        logger.warning("%s cannot be used, and is made again: %s", path, type(error).__name__)
        with suppress(OSError):
            path.unlink()
        return None
    return graph if graph.is_fresh else None


def _read_members(path: Path) -> bytes:
    """Return the members of a file behind their digest.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a regular file that this user alone can write, or it was changed.
    """
    with open(path, "rb", opener=open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        if os.name == "posix":
            is_own = status.st_uid == os.geteuid()
            if not is_own or status.st_mode & _WRITABLE_BY_OTHERS:
                raise ValueError("another user can write it")
        content = file.read()

    members = content[len(_digest(b"")) :]
    if content != _digest(members) + members:
        raise ValueError("the content was changed")
    return members


def _digest(members: bytes) -> bytes:
    """Return the beginning of a file: its brace, and the digest of its other members."""
    return b'{"digest":"%b",' % sha256(members).hexdigest().encode()
