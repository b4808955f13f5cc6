"""The safety table: a row an operation, and what each allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from ferry_sdk import SAFETY, Safety
from ferry_sdk.safety import safety_of_tool
from tests.support import operations
from tests.support.operations import GROUPS, OPERATIONS, UNCOVERED, described
from tests.support.tables import each

ONCE = {"not_sent", "rate_limited", "unauthorised"}
WRITES = {
    "bookings.create": ("bookings.create", []),
    "bookings.confirm": ("bookings.confirm", ["bookings.get"]),
    "bookings.cancel": ("bookings.cancel", ["bookings.get"]),
    "tickets.cancel": ("tickets.cancel", ["tickets.get"]),
    "tickets.mark_paid": ("tickets.mark_paid", ["bookings.get", "tickets.get"]),
    "mcp.create_booking": ("bookings.create", []),
    "mcp.confirm_booking": ("bookings.confirm", ["bookings.get"]),
    "mcp.cancel_ticket": ("tickets.cancel", ["mcp.view_ticket"]),
    "mcp.call_tool": ("mcp.call_tool", []),
}
"""Of each write: what it does, and the reads that show it, the best first."""


def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    assert not UNCOVERED
    assert SAFETY.keys() == {*OPERATIONS}
    for name in OPERATIONS:
        assert SAFETY[name].operation == described(name).name == name
        assert described(name).safety is SAFETY[name]


def test_an_operation_without_a_row_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    group = GROUPS["bookings"]
    monkeypatch.setattr(group, "paint", vars(group)["get"], raising=False)
    assert "bookings.paint" in operations.listed()
    assert "bookings.paint" not in SAFETY


def test_the_writes_are_those_of_the_contract() -> None:
    written = {name for name, row in SAFETY.items() if not row.is_read}
    assert written == WRITES.keys()
    assert {row.kind for row in SAFETY.values()} == {"read", "write"}


@each("name", OPERATIONS)
def test_a_read_may_always_be_sent_again_and_a_write_only_where_nothing_was_done(
    name: str,
) -> None:
    row = SAFETY[name]
    assert (described(name).write is not None) == (name in WRITES)
    if name in WRITES:
        assert row.retry_on == ONCE
        assert row.effect == WRITES[name][0]
        assert [proof.read for proof in row.confirmed_by] == WRITES[name][1]
    else:
        assert row.retry_on == {*ONCE, "lost"}
        assert (row.effect, row.confirmed_by) == (None, ())


@each("name", OPERATIONS)
def test_what_shows_an_effect_is_a_read_that_takes_an_id_of_the_write(name: str) -> None:
    for proof in SAFETY[name].confirmed_by:
        assert SAFETY[proof.read].is_read
        assert proof.stages or proof.tickets or proof.payment
        named = described(name, booking_id="b-1") if "booking" in proof.read else described(name)
        write = named.write
        assert write is not None
        assert proof.subject in write.subject


def test_the_table_cannot_be_changed() -> None:
    table: Any = SAFETY
    assert isinstance(table, Mapping)
    with pytest.raises(TypeError):
        table["bookings.create"] = Safety("bookings.create", "read", None, frozenset())
    with pytest.raises(FrozenInstanceError):
        table["bookings.create"].kind = "read"
    for row in table.values():
        assert isinstance(row.retry_on, frozenset)
        assert isinstance(row.confirmed_by, tuple)
        for proof in row.confirmed_by:
            assert isinstance(proof.stages, frozenset)
            with pytest.raises(FrozenInstanceError):
                proof.tickets = None


@each(
    ("tool", "row"),
    [
        ("search_availability", "mcp.search_availability"),
        ("view_ticket", "mcp.view_ticket"),
        ("create_booking", "mcp.create_booking"),
        ("confirm_booking", "mcp.confirm_booking"),
        ("cancel_ticket", "mcp.cancel_ticket"),
        ("paint_ship", "mcp.call_tool"),
        ("ports", "mcp.call_tool"),
        ("list_tools", "mcp.call_tool"),
        ("View_Ticket", "mcp.call_tool"),
    ],
)
def test_a_tool_has_its_row_and_an_unknown_one_is_a_write(tool: str, row: str) -> None:
    assert safety_of_tool(tool) is SAFETY[row]
    operation = described("mcp.call_tool", name=tool, arguments={})
    assert operation.safety is SAFETY[row]
    assert (operation.write is None) == SAFETY[row].is_read
