"""Offer the methods of a client to an agent as tools, with limits, approval and an audit."""

from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.audit import AuditRecord
from ferry_sdk.agents.policy.duplicates import UnresolvedWrite
from ferry_sdk.agents.toolkit import AsyncToolkit, Toolkit
from ferry_sdk.agents.tools.tools import ToolDefinition

__all__ = [
    "ApprovalRequest",
    "AsyncToolkit",
    "AuditRecord",
    "ToolDefinition",
    "Toolkit",
    "UnresolvedWrite",
]
