"""A local ferry ticketing service for development and tests.

The public names are those of the import block; each is loaded on first use. `scripts/api-map`
writes `__all__` from the block.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.clock import Clock
    from ferry_sdk.sandbox.counters import Counters, Effect
    from ferry_sdk.sandbox.faults.fault import Fault
    from ferry_sdk.sandbox.faults.faults import Faults
    from ferry_sdk.sandbox.faults.kinds import FaultKind
    from ferry_sdk.sandbox.faults.mcp_options import McpOptions, McpSwitches
    from ferry_sdk.sandbox.profile import Profile
    from ferry_sdk.sandbox.request_log import LoggedRequest, RequestLog
    from ferry_sdk.sandbox.requests.errors import InvalidOrderError
    from ferry_sdk.sandbox.server import AsyncSandbox, Sandbox, serve

__all__ = [
    "AsyncSandbox",
    "Clock",
    "Counters",
    "Effect",
    "Fault",
    "FaultKind",
    "Faults",
    "InvalidOrderError",
    "LoggedRequest",
    "McpOptions",
    "McpSwitches",
    "Profile",
    "RequestLog",
    "Sandbox",
    "serve",
]

_MODULES = (
    "clock",
    "counters",
    "request_log",
    "profile",
    "requests.errors",
    "faults.kinds",
    "faults.mcp_options",
    "faults.faults",
    "server",
)
"""Searched in this order: only the last two need the extra."""
_EXTRA = ("starlette", "uvicorn", "segno", "fpdf")


def load(name: str) -> ModuleType:
    """Return a module of this package.

    Raises:
        ModuleNotFoundError: It needs the extra, which is not installed.
    """
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        raise ModuleNotFoundError(
            f'the local service requires an extra: pip install "ferry-sdk[sandbox]" '
            f"({error.name} is not installed)",
            name=error.name,
        ) from error


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in map(load, _MODULES):
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
