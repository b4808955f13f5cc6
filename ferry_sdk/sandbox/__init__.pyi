from ferry_sdk.sandbox.clock import Clock as Clock
from ferry_sdk.sandbox.counters import Counters as Counters
from ferry_sdk.sandbox.counters import Effect as Effect
from ferry_sdk.sandbox.crossings import acrossing as acrossing
from ferry_sdk.sandbox.crossings import crossing as crossing
from ferry_sdk.sandbox.faults.fault import Fault as Fault
from ferry_sdk.sandbox.faults.faults import Faults as Faults
from ferry_sdk.sandbox.faults.kinds import FaultKind as FaultKind
from ferry_sdk.sandbox.faults.mcp_options import McpOptions as McpOptions
from ferry_sdk.sandbox.faults.mcp_options import McpSwitches as McpSwitches
from ferry_sdk.sandbox.profile import Profile as Profile
from ferry_sdk.sandbox.request_log import LoggedRequest as LoggedRequest
from ferry_sdk.sandbox.request_log import RequestLog as RequestLog
from ferry_sdk.sandbox.requests.access import Account as Account
from ferry_sdk.sandbox.requests.errors import InvalidOrderError as InvalidOrderError
from ferry_sdk.sandbox.server import AsyncSandbox as AsyncSandbox
from ferry_sdk.sandbox.server import Sandbox as Sandbox
from ferry_sdk.sandbox.server import serve as serve

__all__ = [
    "Account",
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
    "acrossing",
    "crossing",
    "serve",
]
