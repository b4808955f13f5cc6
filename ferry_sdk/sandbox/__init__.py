"""A local ferry ticketing service for development and tests. Modules are loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.clock import Clock
    from ferry_sdk.sandbox.counters import Counters, Effect
    from ferry_sdk.sandbox.faults.faults import Fault, Faults
    from ferry_sdk.sandbox.faults.kinds import FaultKind
    from ferry_sdk.sandbox.faults.mcp_options import McpOptions, McpSwitches
    from ferry_sdk.sandbox.requests.validation import InvalidOrderError
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
    "McpOptions",
    "McpSwitches",
    "Sandbox",
    "serve",
]

_MODULES = {
    "AsyncSandbox": "server",
    "Clock": "clock",
    "Counters": "counters",
    "Effect": "counters",
    "Fault": "faults.faults",
    "FaultKind": "faults.kinds",
    "Faults": "faults.faults",
    "InvalidOrderError": "requests.validation",
    "McpOptions": "faults.mcp_options",
    "McpSwitches": "faults.mcp_options",
    "Sandbox": "server",
    "serve": "server",
}
_EXTRA = ("starlette", "uvicorn", "segno", "fpdf")


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        raise ModuleNotFoundError(
            f'the local service requires an extra: pip install "ferry-sdk[sandbox]" '
            f"({error.name} is not installed)",
            name=error.name,
        ) from error
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
