"""Read the tables that stand in JSON files beside a module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def data_beside(module_file: str, name: str | None = None) -> Any:  # noqa: ANN401 -- any JSON
    """Return the data of a JSON file beside a module.

    Args:
        module_file: The file of the module.
        name: The file's name; by default that of the module, such as `views.json` of `views`.
    """
    module = Path(module_file)
    path = module.with_suffix(".json") if name is None else module.parent / name
    return json.loads(path.read_text(encoding="utf-8"))
