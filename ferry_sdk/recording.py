"""What a flow knows of a journal: an intent goes in before a write leaves, its outcome after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

EndState = Literal["unknown", "done", "rejected", "not_sent"]


@dataclass(frozen=True, slots=True)
class Intent:
    """A write that is about to leave.

    Attributes:
        operation: The operation's public name.
        effect: What it does, by the same name in both protocols.
        method: HTTP method of the request.
        path: Path below the base address; for an MCP tool with its name.
        subject: The ids of what is to be changed; empty where it is to be made.
        identity: What makes two writes the same. It holds travellers' data: never at rest.
        correlation_id: The id that the request carries.
    """

    operation: str
    effect: str
    method: str
    path: str
    subject: Mapping[str, str]
    identity: bytes = field(repr=False)
    correlation_id: str


class Recorder(Protocol):
    """Keeps writes on record; safe to share between threads, processes and clients."""

    def begin(self, intent: Intent) -> str:
        """Commit the intent as ``open`` and give the entry's id.

        Raises:
            UnresolvedWriteError: The same write is on record and unresolved.
            JournalError: It cannot be committed.
        """
        ...

    def end(self, entry_id: str, state: EndState) -> None:
        """Commit the outcome.

        Raises:
            JournalError: It cannot be committed.
        """
        ...
