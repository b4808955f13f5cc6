"""The writes that are tools."""

from __future__ import annotations

from dataclasses import dataclass

from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.changes import Cancel, Confirm, Replace
from ferry_sdk.agents.policy.creation import Create
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan
from ferry_sdk.agents.tools.tools import Arguments, Tool

AnyWrite = Create | Confirm | Cancel | Replace


@dataclass(frozen=True, slots=True)
class Prepared:
    """A registered write, with its price read and counted; nothing has been sent."""

    tool: Tool
    arguments: Arguments
    write: AnyWrite
    identity: Identity
    plan: WritePlan
    request: ApprovalRequest
    until: float


def all_writes(state: ToolkitState) -> dict[str, AnyWrite]:
    """Return the writes that are tools, by operation."""
    return {
        "bookings.create": Create(state),
        "bookings.confirm": Confirm(state, "booking_id"),
        "bookings.cancel": Cancel(state, "booking_id"),
        "tickets.cancel": Cancel(state, "ticket_id"),
        "orders.change": Replace(state),
    }
