"""Records in a notebook: cards and tables, data frames, charts.

The cards and tables need nothing more than the library itself. Frames need pandas and charts need
matplotlib, which the extra ``notebook`` brings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.notebook.fares import fares_by_day
    from ferry_sdk.notebook.network import network_map

_ROOMS = {"fares_by_day": "fares", "network_map": "network"}

__all__ = ["fares_by_day", "network_map"]


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
