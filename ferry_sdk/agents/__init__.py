"""Tools for agents, made from the operations themselves: a safe toolkit over a client."""

from .approving import ApprovalRequest
from .auditing import AuditRecord
from .definitions import ToolDefinition
from .repeats import UnresolvedWrite
from .toolkit import AsyncToolkit, Toolkit

__all__ = [
    "ApprovalRequest",
    "AsyncToolkit",
    "AuditRecord",
    "ToolDefinition",
    "Toolkit",
    "UnresolvedWrite",
]
