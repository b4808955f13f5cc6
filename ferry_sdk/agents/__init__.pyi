from ferry_sdk.agents.policy.approval import ApprovalRequest as ApprovalRequest
from ferry_sdk.agents.policy.audit import AuditRecord as AuditRecord
from ferry_sdk.agents.policy.duplicates import UnresolvedWrite as UnresolvedWrite
from ferry_sdk.agents.asgi import http_app as http_app
from ferry_sdk.agents.toolkit import AsyncToolkit as AsyncToolkit
from ferry_sdk.agents.toolkit import Toolkit as Toolkit
from ferry_sdk.agents.tools.tools import ToolDefinition as ToolDefinition

__all__ = [
    "ApprovalRequest",
    "AsyncToolkit",
    "AuditRecord",
    "ToolDefinition",
    "Toolkit",
    "UnresolvedWrite",
    "http_app",
]
