"""An order under way: the calls that its steps make, and what is on record before each of them.

`Progress` is the recorder of its writes, instead of the client's journal. It saves the order in the
transaction that adds the entry of a write, so that no write leaves without its place in an order.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import uuid4

from ferry_sdk._engine.batch import Batch, all_answers
from ferry_sdk._engine.effects import Flow, RunBlocking
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.outcomes import code_of
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.aftersales.events import BookingSnapshot
from ferry_sdk.errors import (
    AlreadyDoneError,
    APIError,
    AuthenticationError,
    FerryError,
    InvalidInputError,
    JournalError,
    NotFoundError,
    OrderError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    UnexpectedResponseError,
    UnresolvedWriteError,
)
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import PaymentStatus, Stage
from ferry_sdk.orders.order import Fee, Intended, Order, OrderKind, OrderPart, OrderState
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.types import EndState, Intent, JournalEntry, OrderRecord, OutcomeDetails

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

logger: logging.Logger = logging.getLogger("ferry_sdk")

_EFFECTS: Final[Mapping[str, OrderState]] = {
    "create": "held",
    "confirm": "confirmed",
    "cancel": "cancelled",
}
"""The state of a part after each action."""
_STAGES: Final[Mapping[str, OrderState]] = {
    Stage.PAYMENT_DUE: "held",
    Stage.ISSUANCE_DUE: "held",
    Stage.TICKETED: "confirmed",
    Stage.PARTIALLY_TICKETED: "partial",
    Stage.PARTIALLY_VOIDED: "partial",
    Stage.VOIDED: "cancelled",
    Stage.LAPSED: "cancelled",
    Stage.REJECTED: "cancelled",
}
"""What a stage says of a part; the others say nothing."""


def is_refusal(error: FerryError) -> bool:
    """Return whether the same call would be refused again, so that the step cannot go on."""
    passing = AuthenticationError | PermissionDeniedError | RateLimitError
    if error.outcome == "unknown" or isinstance(error, passing):
        return False
    guards = PriceChangedError | PenaltyExceededError | InvalidInputError | UnresolvedWriteError
    return error.outcome == "rejected" or isinstance(error, guards)


@dataclass(slots=True)
class Progress:
    """An order under way.

    Attributes:
        journal: Where it is recorded.
        id: Its id.
        kind: Its kind.
        plan: What is intended, and how far it got.
        revision: The revision that is on record; 0 before the first.
        entry_id: The entry of the write that was begun last.
        until: When the call ends, on the monotonic clock; None: no limit.
        is_interrupted: Whether a call failed that may succeed later, so that `resume` can go on.
        rejection: The part, the action and the answer of a write whose refusal was read from the
            journal.
    """

    journal: Journal
    kind: OrderKind
    plan: Intended
    id: str = field(default_factory=lambda: uuid4().hex)
    revision: int = 0
    entry_id: str | None = None
    until: float | None = None
    is_interrupted: bool = False
    rejection: tuple[int, str, str] | None = None

    @property
    def parts(self) -> list[OrderPart]:
        """The bookings."""
        return self.plan.parts

    @property
    def order(self) -> Order:
        """The order as it stands."""
        return Order(self.id, self.kind, tuple(self.parts))

    def record(self, *, is_finished: bool = False) -> OrderRecord:
        """Return what is to be on record."""
        content = self.plan.to_text()
        return OrderRecord(self.id, self.kind, content, self.entry_id, is_finished, self.revision)

    def save(self, *, is_finished: bool = False) -> Flow[None]:
        """Put the order on record: before its step begins or goes on, and after it."""
        record = self.record(is_finished=is_finished)
        yield from RunBlocking(partial(self.journal.save_order, record), self.until)
        self.revision += 1

    def finish(self) -> Flow[Order]:
        """Record that the step has ended, and return the order.

        If that fails the order stays unfinished on record, which is safe: `resume` reads it back.
        """
        self.plan.step, self.plan.is_undone, self.plan.problem = None, False, None
        yield from self._save_end(is_finished=True)
        return self.order

    def fail(self, error: FerryError) -> Flow[NoReturn]:
        """Record why the step failed, and whether anything is left to do."""
        is_known = self.order.state != "unknown"
        is_finished = is_known and not self.is_interrupted
        self.plan.problem = _describe(error) if is_known else self.plan.problem
        if is_finished:
            self.plan.step, self.plan.is_undone = None, False
        yield from self._save_end(is_finished=is_finished)
        raise OrderError(self.order, error) from error.with_traceback(None)

    def _save_end(self, *, is_finished: bool) -> Flow[None]:
        try:
            yield from self.save(is_finished=is_finished)
        except FerryError as error:
            logger.error("order %s is not known to be as it is: %s", self.id, error)  # noqa: TRY400 -- as for a write

    def read(self, operations: Mapping[int, Operation[Any]]) -> Flow[dict[int, Any]]:
        """Make reads at once, and return their results by the index of the part.

        Raises:
            FerryError: One failed, so nothing more was done.
        """
        batch: Batch[int, Any] = Batch()
        for index, operation in operations.items():
            batch.add(index, operation, **self._deadline())
        results: dict[int, Any] = {}
        for answer in (yield from all_answers(batch)):
            if answer.error is not None:
                if answer.error.outcome == "unknown":
                    answer.error.outcome = "not_sent"  # that of the write which needs this read
                raise answer.error
            results[answer.key] = answer.value
        return results

    def write(self, index: int, action: str, operation: Operation[Any]) -> Flow[FerryError | None]:
        """Make a write for a part; return why it failed, or None."""
        batch: Batch[int, Any] = Batch(1)
        self.plan.doing = index, action, self.parts[index].state
        batch.add(index, operation, journal=self, **self._deadline())
        (answer,) = yield from all_answers(batch)
        error = None if isinstance(answer.error, AlreadyDoneError) else answer.error
        if error is None:
            self._set(index, state=_EFFECTS[action], error=None, expires_at=None)
            if isinstance(answer.value, BookingCreated):
                self.see(index, answer.value)
        else:
            self._set(index, error=error)
            if isinstance(error, OutcomeUnknownError) and error.booking_id is not None:
                self._set(index, booking_id=error.booking_id)
            if isinstance(error, UnresolvedWriteError) and action != "create":
                self.entry_id, error.outcome = error.entry.id, "unknown"
            if error.outcome == "unknown":
                self._set(index, state="unknown")
                return error
            if action != "create" and not is_refusal(error):
                self.is_interrupted = True
        self.entry_id = self.plan.doing = None
        return error

    def begin(self, intent: Intent) -> str:
        """Record a write of the order, as its recorder."""
        self.entry_id = self.journal.begin(intent, self.record())
        self.revision += 1
        return self.entry_id

    def end(self, entry_id: str, state: EndState, details: OutcomeDetails | None = None) -> None:
        """Record the outcome of a write of the order."""
        self.journal.end(entry_id, state, details)

    def cancel(self, index: int, fee: Fee | None = None) -> Flow[FerryError | None]:
        """Cancel a part at a fee, or if that is free; return why it still stands, or None."""
        booking_id = str(self.parts[index].booking_id)
        currency, penalty, refund = fee or (None, 0, None)
        guards: dict[str, Any] = {"max_penalty": penalty, "min_refund": refund}
        operation = BookingsGroup.cancel(None, booking_id, **guards, currency=currency)
        error = yield from self.write(index, "cancel", operation)
        if error is not None and error.outcome == "rejected":
            # A booking that has lapsed cannot be cancelled, and need not be.
            with suppress(FerryError):
                yield from self.read_parts([index])
            if self.parts[index].state == "cancelled":
                return None
        return error

    def read_parts(self, indices: list[int] | None = None) -> Flow[dict[int, Booking]]:
        """Read bookings, all by default, and note what they show."""
        wanted = range(len(self.parts)) if indices is None else indices
        ids = {index: self.parts[index].booking_id for index in wanted}
        reads = {index: BookingsGroup.get(None, id_) for index, id_ in ids.items() if id_}
        bookings: dict[int, Booking] = yield from self.read(reads)
        for index, booking in bookings.items():
            self.see(index, booking)
        return bookings

    def read_doubtful(self) -> Flow[dict[int, Booking]]:
        """Read the booking that the failed reply of a create named, and note what it shows.

        It may not be there, because it was not made, or not yet; then its part stays unknown.
        """
        if self.doubtful is None:
            return {}
        try:
            return (yield from self.read_parts([self.doubtful]))
        except NotFoundError:
            return {}

    @property
    def doubtful(self) -> int | None:
        """The part whose create has an unknown outcome; None without one."""
        if self.plan.doing is None or self.plan.doing[1] != "create":
            return None
        return self.plan.doing[0]

    def see(self, index: int, booking: Booking | BookingCreated) -> None:
        """Note what a booking shows; an unknown outcome stays so unless it is seen."""
        seen, part = BookingSnapshot.of(booking), self.parts[index]
        state: OrderState = part.state
        if isinstance(booking, Booking):
            if seen.stage in _STAGES:
                state = _STAGES[seen.stage]
            elif state == "held":
                state = "partial"
            if seen.stage == Stage.REJECTED and booking.payment_status != PaymentStatus.UNPAID:
                state = "partial"
            (proof,) = SAFETY["bookings.confirm"].confirmed_by
            if state not in {"partial", "cancelled"} and proof.is_confirmed_by(booking):
                state = "confirmed"
            if part.state == "confirmed" and state == "held":
                state = "confirmed"  # the service has said so, and its reads may be late
        if part.state == "unknown" and not self._is_proved_by(state):
            state = "unknown"
        facts = {"total": seen.total_price, "currency": seen.currency, "expires_at": seen.lapses_at}
        self._set(index, booking_id=booking.booking_id, state=state, **facts)

    def _is_proved_by(self, state: OrderState) -> bool:
        """Return whether the state of a booking shows what became of the write begun last."""
        action = None if self.plan.doing is None else self.plan.doing[1]
        if action == "create":  # the booking that its reply named is there
            return True
        if action == "cancel":
            return state == "cancelled"
        return state != "held"

    def settle(self, entry: JournalEntry | None) -> None:
        """Note the outcome of the write that was begun last, by its entry in the journal."""
        if self.plan.doing is None:
            return
        index, action, before = self.plan.doing
        self._set(index, state="unknown")
        if entry is None:
            return
        booking_id = self.parts[index].booking_id or entry.booking_id
        if entry.is_unresolved:
            self._set(index, booking_id=booking_id)
            return
        if entry.state != "done":
            # What has not happened made no booking, whatever the reply named.
            made_none = {"booking_id": None} if action == "create" else {}
            self._set(index, state=before, **made_none)
        elif booking_id is None:
            return
        else:
            self._set(index, booking_id=booking_id, state=_EFFECTS[action])
        if entry.state == "rejected":
            reason = f"was refused (HTTP {entry.status_code}, {entry.code})"
            what = reason if entry.status_code else "has not happened"
            self.rejection = index, action, f"{entry.operation} {what}"
        self.entry_id = self.plan.doing = None

    def note_refusal(self) -> None:
        """Undo the step if a write was refused and the part shows that it has no effect."""
        index, action, problem = self.rejection or (0, "", "")
        if action and self.parts[index].state != _EFFECTS[action]:
            self.plan.problem = problem
            self.plan.is_undone = self.plan.is_undone or action == "confirm"

    def _set(self, index: int, **changes: Any) -> None:  # noqa: ANN401 -- the attributes of a part
        self.parts[index] = replace(self.parts[index], **changes)

    def _deadline(self) -> dict[str, float]:
        return {} if self.until is None else {"deadline": max(0.0, self.until - monotonic())}


def load(journal: Journal, order_id: str) -> tuple[Progress, OrderRecord]:
    """Return an order as it is on record.

    Raises:
        InvalidInputError: The journal has no such order.
    """
    for record in journal.load_orders(order_id):
        return of_record(journal, record), record
    raise InvalidInputError("the journal has no such order", field="order_id")


def find_change(journal: Journal, booking_id: str) -> str:
    """Return the id of the last order that changes a booking; empty without one."""
    for record in reversed(journal.load_orders()):
        if record.kind == "change" and of_record(journal, record).parts[1].booking_id == booking_id:
            return record.id
    return ""


def order_of_record(journal: Journal, record: OrderRecord) -> Order:
    """Return an order of a list. One whose record is damaged takes no other with it.

    It has one part whose state is not known, with the reason.
    """
    try:
        Intended.of(record.id, record.content)
    except JournalError as error:
        return Order(record.id, _kind_of(record), parts=(OrderPart(state="unknown", error=error),))
    return of_record(journal, record).order


def _kind_of(record: OrderRecord) -> OrderKind:
    return "change" if record.kind == "change" else "hold"


def of_record(journal: Journal, record: OrderRecord) -> Progress:
    """Return an order as it is on record."""
    kind = _kind_of(record)
    plan = Intended.of(record.id, record.content)
    progress = Progress(journal, kind, plan, record.id, record.revision, record.entry_id)
    progress.settle(record.entry)
    return progress


def _describe(error: FerryError) -> str:
    """Return why a step failed, without the service's words, which may name a traveller.

    The library's own words, such as those of a guard with its amounts, are kept.
    """
    name = type(error).__name__
    if isinstance(error, APIError):
        facts = [name, f"HTTP {error.status_code}", code_of(error)]
        return ", ".join(fact for fact in facts if fact is not None)
    if isinstance(error, UnexpectedResponseError | OutcomeUnknownError):
        return name  # they quote the reply
    return str(error)
