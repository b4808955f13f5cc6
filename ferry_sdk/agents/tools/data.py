"""Read the tables that stand in a JSON file beside a module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def data_beside(module_file: str) -> Any:  # noqa: ANN401 -- any JSON
    """Return the data of the JSON file with a module's name, such as `views.json` of `views`."""
    return json.loads(Path(module_file).with_suffix(".json").read_text(encoding="utf-8"))
