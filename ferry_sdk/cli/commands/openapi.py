"""`ferry openapi`: the OpenAPI document of the service."""

from __future__ import annotations

import sys
from importlib import import_module


def openapi() -> None:
    """Print the OpenAPI 3.1 document of the service. Other languages make clients of it."""
    # `load` names the extra if it is not installed. No stub declares it, so it is imported by name.
    sandbox = import_module("ferry_sdk.sandbox")
    pages = sandbox.load("ferry_sdk.sandbox.api.openapi.pages")
    sys.stdout.write(pages.document().decode())
