"""A local ferry ticketing service for development and tests.

The public names are those of the stub beside this module; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ferry_sdk._runtime.extras import needs_extra
from ferry_sdk._runtime.lazy import lazy_names

_EXTRA = ("starlette", "uvicorn", "segno", "fpdf")


def load(name: str) -> ModuleType:
    """Return a module of this package.

    Raises:
        ModuleNotFoundError: It needs the extra, which is not installed.
    """
    with needs_extra("the local service requires", "sandbox", _EXTRA):
        return import_module(name)


__all__, __getattr__, __dir__ = lazy_names(__name__, __file__, load)
