"""Amounts of money as text, for the charts and the agents' tools."""

from __future__ import annotations

from ferry_sdk._runtime.money import format_amount, money

__all__ = ["format_amount", "money"]
