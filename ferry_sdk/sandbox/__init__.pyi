# scripts/api-map writes this file from the table in `__init__.py`.

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.faults.mcp_options import McpSwitches
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.request_log import LoggedRequest
from ferry_sdk.sandbox.request_log import RequestLog
from ferry_sdk.sandbox.requests.errors import InvalidOrderError
from ferry_sdk.sandbox.server import AsyncSandbox
from ferry_sdk.sandbox.server import Sandbox
from ferry_sdk.sandbox.server import serve

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
