"""Plain values used by errors, results, hooks and journals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, Protocol

Outcome = Literal["not_sent", "rejected", "unknown"]
EntryState = Literal["open", "unknown", "done", "rejected", "not_sent"]
EndState = Literal["unknown", "done", "rejected", "not_sent"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a call.

    Attributes:
        sent: Whether anything may have reached the service.
        status_code: The HTTP status; None without a reply.
        request_id: The service's id of the request; None without one.
        problem: The name of the error; None if the attempt succeeded.
        waited: Seconds waited before the next attempt.
        operation: The operation: the call itself, or a read that belongs to it.
    """

    sent: bool
    status_code: int | None = None
    request_id: str | None = None
    problem: str | None = None
    waited: float = 0.0
    operation: str = ""


@dataclass(frozen=True, slots=True)
class RequestDigest:
    """What identifies a request, without its content.

    Attributes:
        method: HTTP method.
        path: Path below the base URL; for an MCP tool or resource with its name.
        digest: A keyed hash of the content, equal for equal content within one process.
    """

    method: str
    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A recorded write.

    Attributes:
        id: The entry's own id.
        operation: The operation, such as ``bookings.create``.
        method: HTTP method of the request.
        path: Path below the base URL; for an MCP tool with its name.
        subject: The ids of what the write changes; empty if it creates something.
        correlation_id: The id sent with the request.
        fingerprint: A keyed hash of the content, equal for equal content.
        state: ``open``: the outcome is not recorded yet. ``unknown``: it may have happened.
            ``done``: it happened. ``rejected``: the service refused it. ``not_sent``: nothing
            reached the service.
        began_at: When it was recorded, just before it was sent, UTC.
        ended_at: When its outcome was recorded, UTC; None while the outcome is not known.
        created_at: The same as `began_at`.
        changed_at: When its state last changed, UTC.
        damaged: Names of fields that cannot be read. Such a text or subject is empty, such a
            state ``unknown``, such a time 1 January of year 1, any other None.
        booking_id: The booking that it changes or created; None if that is not known.
        ticket_ids: The tickets that it changes or issued; None if that is not known. The reply to
            a confirmation names one ticket; with `expect_total`, or read back, all are known.
        status_code: The HTTP status of a rejection; None without one.
        code: The service's error code of a rejection; None without one.
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
    booking_id: str | None = None
    ticket_ids: tuple[str, ...] | None = None
    status_code: int | None = None
    code: str | None = None

    @property
    def is_unresolved(self) -> bool:
        """Whether it may have happened and the outcome is not known."""
        return self.state in {"open", "unknown"}

    @property
    def began_at(self) -> datetime:
        """When it was recorded, just before it was sent, UTC."""
        return self.created_at

    @property
    def ended_at(self) -> datetime | None:
        """When its outcome was recorded, UTC; None while the outcome is not known."""
        if self.is_unresolved or "changed_at" in self.damaged:
            return None
        return self.changed_at


@dataclass(frozen=True, slots=True)
class OutcomeDetails:
    """What an outcome named, without travellers' data.

    Attributes:
        booking_id: The booking; None if it named none.
        ticket_ids: The tickets; None if it named none.
        status_code: The HTTP status of a rejection.
        code: The service's error code of a rejection, if it cannot be a name.
    """

    booking_id: str | None = None
    ticket_ids: tuple[str, ...] | None = None
    status_code: int | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key under which a booking is made once, and what it was used for.

    Attributes:
        text: The caller's key.
        booking: Equal for equal bookings. It contains travellers' data: never store it.
    """

    text: str = field(repr=False)
    booking: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Intent:
    """A write that is about to be sent.

    Attributes:
        operation: The operation's public name.
        effect: What it does, by the same name in both protocols.
        method: HTTP method of the request.
        path: Path below the base URL; for an MCP tool with its name.
        subject: The ids of what the write changes; empty if it creates something.
        identity: Equal for two equal writes. It contains travellers' data: never store it.
        correlation_id: The id sent with the request.
        address: The service's address, as `base_url` has it.
        idempotency_key: The key of a booking; None without one.
    """

    operation: str
    effect: str
    method: str
    path: str
    subject: Mapping[str, str]
    identity: bytes = field(repr=False)
    correlation_id: str
    address: str = ""
    idempotency_key: IdempotencyKey | None = None


@dataclass(frozen=True, slots=True)
class OrderRecord:
    """An order as a journal stores it: several bookings as one, with what is intended.

    Attributes:
        id: Its id.
        kind: ``hold`` or ``change``.
        content: What `ferry_sdk.orders` has recorded, as JSON; no traveller's data.
        entry_id: The entry of the last write that was begun for it; None if its outcome is part
            of `content`.
        is_finished: Whether nothing that was begun is left to do.
        frees_key: Whether its idempotency key may be used for another order.
        revision: How often it was saved: only the program that read the last revision can save
            the next one.
        created_at: When it was recorded, UTC.
        entry: The entry of `entry_id`; None if the journal does not have it.
    """

    id: str
    kind: str
    content: str = field(repr=False)
    entry_id: str | None = None
    is_finished: bool = False
    revision: int = 0
    created_at: datetime | None = None
    entry: JournalEntry | None = None
    frees_key: bool = False


@dataclass(frozen=True, slots=True)
class WishRecord:
    """A wish as a journal stores it.

    Attributes:
        key: The caller's key.
        content: What `ferry_sdk.offers` has recorded, as JSON; no traveller's data.
        last_day: The last day of departure.
        is_looked_up: Whether its searches have been looked up, as the wish is now.
    """

    key: str
    content: str = field(repr=False)
    last_day: date
    is_looked_up: bool = False


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """A search of wishes as a journal stores it.

    Attributes:
        id: Its id, equal for equal searches.
        content: The search, as JSON; of travellers only type, gender and age.
        day: The day of departure.
    """

    id: str
    content: str = field(repr=False)
    day: date


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """Which searches of wishes a program may claim.

    Attributes:
        now: The present moment, UTC.
        first_day: The first day that is not past.
        every: How long after a claim a search may be claimed again.
        most_an_hour: The most calls of all programs in an hour.
        most: The most searches to claim.
        keys: The wishes whose searches to claim; None: all.
    """

    now: datetime
    first_day: date
    every: timedelta
    most_an_hour: int
    most: int
    keys: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class SearchClaim:
    """The searches that a program may make now.

    Attributes:
        searches: The searches, the one that was asked longest ago first.
        next_at: When there may be others, UTC; None if no wish needs a search.
    """

    searches: tuple[SearchRecord, ...]
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class WishState:
    """A wish that needs a search, with the state of its rules.

    Attributes:
        key: The key of the wish.
        wish: The wish, as JSON.
        states: The states of its rules for the search, as JSON; None before the first answer.
    """

    key: str
    wish: str = field(repr=False)
    states: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class OfferEventRecord:
    """An event of a wish as a journal stores it, until it was given.

    Attributes:
        id: Its id.
        key: The key of the wish.
        content: The event, as JSON.
        seen_at: When the answer was seen, UTC.
    """

    id: str
    key: str
    content: str = field(repr=False)
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """What a search has answered, as a journal stores it.

    Attributes:
        depart_code: The code of the port of departure.
        arrive_code: The code of the port of arrival.
        seen_at: When it was seen, UTC.
        content: The search and its sailings, as JSON.
    """

    depart_code: str
    arrive_code: str
    seen_at: datetime
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an answer means for the wishes that need its search.

    Attributes:
        answer: The answer, for the history.
        states: The new states of the rules, by the key of the wish.
        events: The events.
    """

    answer: AnswerRecord
    states: Mapping[str, str]
    events: tuple[OfferEventRecord, ...]


class RateLimiter(Protocol):
    """Says when a request may leave; safe to share between threads, tasks and clients.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox


        class _Announcer:
            def acquire(self, operation: str) -> None:
                print("now leaves", operation)
                # > now leaves catalogue.ports


        with (
            Sandbox() as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url, limiter=_Announcer()) as ferry,
        ):
            ferry.catalogue.ports()
        ```
    """

    def acquire(self, operation: str) -> object:
        """Return when a request may leave. If it raises, nothing is sent.

        For `AsyncFerry` it may be async; a plain function is called in a thread.

        Args:
            operation: What the request belongs to, such as ``availability.search``; for a request
                that another call needs, the read itself (``bookings.get`` for a guard).
        """


class Recorder(Protocol):
    """Records writes; safe to share between threads, processes and clients.

    If `end` has a parameter ``details``, as in `DetailedRecorder`, it is also given what the
    outcome named. If it has an attribute ``accepts_keys`` that is True, as a `Journal` has, it is
    also given writes with an `Intent.idempotency_key`, which its `begin` accepts once.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox, crossing
        from ferry_sdk.types import EndState, Intent


        class _States:
            def __init__(self) -> None:
                self.states: dict[str, str] = {}

            def begin(self, intent: Intent) -> str:
                self.states[intent.correlation_id] = "open"
                return intent.correlation_id

            def end(self, entry_id: str, state: EndState) -> None:
                self.states[entry_id] = state


        recorder = _States()
        with (
            Sandbox() as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url, journal=recorder) as ferry,
        ):
            ferry.bookings.create(**crossing(ferry))
        print([*recorder.states.values()])
        # > ['done']
        ```
    """

    def begin(self, intent: Intent) -> str:
        """Commit the intent as ``open`` and return the id of the entry.

        Raises:
            IdempotencyError: The idempotency key was used for another booking.
            UnresolvedWriteError: The same write is recorded and unresolved, or the key was used for
                the same booking; then the entry may be ``done``.
            JournalError: The intent cannot be committed.
        """
        ...

    def end(self, entry_id: str, state: EndState) -> None:
        """Commit the outcome.

        Raises:
            JournalError: The outcome cannot be committed.
        """


class DetailedRecorder(Recorder, Protocol):
    """A recorder that also records what an outcome named.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing
        from ferry_sdk.types import EndState, Intent, OutcomeDetails


        class _Printer:
            def __init__(self, journal: Journal) -> None:
                self.journal = journal

            def begin(self, intent: Intent) -> str:
                return self.journal.begin(intent)

            def end(
                self, entry_id: str, state: EndState, details: OutcomeDetails | None = None
            ) -> None:
                self.journal.end(entry_id, state, details)
                print(state, bool(details and details.booking_id))
                # > done True


        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url, journal=_Printer(journal)) as ferry,
        ):
            ferry.bookings.create(**crossing(ferry))
        ```
    """

    def end(self, entry_id: str, state: EndState, details: OutcomeDetails | None = None) -> None:
        """Commit the outcome.

        Raises:
            JournalError: The outcome cannot be committed.
        """
