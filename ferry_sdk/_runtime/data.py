"""Read the files that stand beside a module."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def data_beside(module_file: str, name: str | None = None) -> Any:  # noqa: ANN401 -- any JSON
    """Return the data of a JSON file beside a module.

    Args:
        module_file: The file of the module.
        name: The file's name; by default that of the module, such as `schemas.json` of `schemas`.
    """
    module = Path(module_file)
    path = module.with_suffix(".json") if name is None else module.parent / name
    return json.loads(read_data(path))


def read_data(path: Path) -> bytes:
    """Return a file of the package, which may be in a zip file."""
    package: Any = sys.modules["ferry_sdk"]
    content: bytes = package.__spec__.loader.get_data(str(path))
    return content
