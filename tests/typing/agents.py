"""What the toolkits take and give, as both type checkers see it; nothing here is run."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_type

from ferry_sdk import agents
from ferry_sdk.agents import ApprovalRequest, AsyncToolkit, AuditRecord, Toolkit

if TYPE_CHECKING:
    from ferry_sdk import AsyncFerry, Ferry


def agree(request: ApprovalRequest) -> bool:
    assert_type(request.amount, Decimal)
    return request.tool != "bookings_cancel"


async def agree_later(request: ApprovalRequest) -> bool:
    return agree(request)


def keep(record: AuditRecord) -> None:
    assert_type(record.amount, Decimal | None)


def sync(ferry: Ferry) -> None:
    toolkit = Toolkit(
        ferry,
        writes=True,
        approve=agree,
        spend_limit={"EUR": Decimal(500), "GBP": "50.00"},
        penalty_limit={"EUR": 5},
        per_booking={"EUR": 200},
        until=datetime(2050, 1, 1, tzinfo=UTC),
        audit=keep,
    )
    assert_type(toolkit.definitions(), tuple[agents.ToolDefinition[dict[str, Any]], ...])
    assert_type(toolkit.definitions()[0].call({}), dict[str, Any])
    assert_type(toolkit.openai("chat"), list[dict[str, Any]])
    assert_type(toolkit.call("catalogue_ports"), dict[str, Any])
    assert_type(toolkit.preview("bookings_cancel", {}), ApprovalRequest | dict[str, Any])
    assert_type(toolkit.unresolved, tuple[agents.UnresolvedWrite, ...])
    toolkit.perform("bookings_cancel", {}, approve="digest")
    toolkit.forget_refusals()
    toolkit.settle("c-1", happened=True)
    AsyncToolkit(ferry)  # type: ignore[arg-type]  # the other client


async def later(ferry: AsyncFerry) -> None:
    toolkit = AsyncToolkit(ferry, writes=True, approve=agree_later, audit=keep)
    assert_type(await toolkit.call("catalogue_ports", "{}"), dict[str, Any])
    assert_type(await toolkit.definitions()[0].call("{}"), dict[str, Any])
    assert_type(await toolkit.perform("bookings_cancel", {}, approve=agree), dict[str, Any])
    assert_type(await toolkit.perform("bookings_cancel", {}, approve="digest"), dict[str, Any])
