"""The examples of the document."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text("utf-8"))


def example(path: str) -> object:
    """Return the example of the body of a POST request."""
    body = DOCUMENT["paths"][path]["post"]["requestBody"]
    return body["content"]["application/json"]["example"]
