"""Plain values that errors, results, hooks and journals carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Outcome = Literal["not_sent", "rejected", "unknown"]
EntryState = Literal["open", "unknown", "done", "rejected", "not_sent"]
EndState = Literal["unknown", "done", "rejected", "not_sent"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call.

    Attributes:
        sent: Whether anything of it may have reached the service.
        status_code: The HTTP status of the answer; None where none came.
        request_id: The service's id of the exchange; None where none came.
        problem: The name of the error it ended in; None where it ended well.
        waited: Seconds waited after it, before the next.
        operation: What was tried: the call itself, or a read that belongs to it.
    """

    sent: bool
    status_code: int | None = None
    request_id: str | None = None
    problem: str | None = None
    waited: float = 0.0
    operation: str = ""


@dataclass(frozen=True, slots=True)
class RequestDigest:
    """Which request an error speaks of, without its content.

    Attributes:
        method: HTTP method.
        path: Path below the base address; for an MCP tool or resource with its name.
        digest: A keyed fingerprint of the content, equal for equal content within one process.
    """

    method: str
    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A write on record.

    Attributes:
        id: The entry's own id.
        operation: The operation, such as ``bookings.create``.
        method: HTTP method of the request.
        path: Path below the base address; for an MCP tool with its name.
        subject: The ids of what was to be changed; empty where it was to be made.
        correlation_id: The id that the request carried.
        fingerprint: A keyed fingerprint of the content, equal for equal content.
        state: ``open`` until its outcome is known or known to be unknown.
        created_at: When it was about to leave, UTC.
        changed_at: When its state last changed, UTC.
        damaged: Names of the fields that cannot be read any more. Such a text or subject is
            empty here, such a state ``unknown``, such a time the first of the first year.
    """

    id: str
    operation: str
    method: str
    path: str
    subject: Mapping[str, str] = field(hash=False)
    correlation_id: str
    fingerprint: str
    state: EntryState
    created_at: datetime
    changed_at: datetime
    damaged: tuple[str, ...] = ()

    @property
    def is_unresolved(self) -> bool:
        """Whether it may have happened and nobody knows."""
        return self.state in {"open", "unknown"}


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
