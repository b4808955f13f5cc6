"""Recorders of writes, as both type checkers see them; nothing here is run."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, assert_type

from ferry_sdk import AsyncFerry, Ferry, JournalEntry

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal
    from ferry_sdk.types import DetailedRecorder, EndState, Intent, OutcomeDetails, Recorder


class Plain:
    """A recorder without details."""

    def begin(self, intent: Intent) -> str:
        return intent.correlation_id

    def end(self, entry_id: str, state: EndState) -> None:
        del entry_id, state


class Detailed(Plain):
    """A recorder that takes details too."""

    def end(self, entry_id: str, state: EndState, details: OutcomeDetails | None = None) -> None:
        del entry_id, state, details


def each_is_a_recorder(journal: Journal) -> None:
    recorders: list[Recorder] = [Plain(), Detailed(), journal]
    detailed: list[DetailedRecorder] = [Detailed(), journal]
    for recorder in (*recorders, *detailed):
        Ferry("token", base_url="https://ferry.example", journal=recorder)
        AsyncFerry("token", base_url="https://ferry.example", journal=recorder)


def what_entries_have(journal: Journal, since: datetime) -> None:
    page = assert_type(journal.entries(since=since, state="done"), tuple[JournalEntry, ...])
    for entry in journal.entries(since=page[-1], limit=10):
        assert_type(entry.booking_id, str | None)
        assert_type(entry.ticket_ids, tuple[str, ...] | None)
        assert_type(entry.status_code, int | None)
        assert_type(entry.code, str | None)
        assert_type(entry.began_at, datetime)
        assert_type(entry.ended_at, datetime | None)
