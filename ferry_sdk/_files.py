"""A file put in its place whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def saved(path: Path, content: bytes) -> None:
    """Write beside the place and move there, so that nobody sees half a file."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
