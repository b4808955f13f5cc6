"""An order under way: the calls that its steps make, and what is on record before each of them.

`Progress` is the recorder of its writes, instead of the client's journal. A hold of two bookings
goes like this:

1. `save` puts the order on record, with the step "hold" and two parts without a booking.
2. `write` sets `plan.doing` to the create of part 0. The engine calls `begin` before it sends the
   request: one transaction adds the entry of the write and saves the order, so no write leaves
   without its place in an order.
3. The engine calls `end` with the outcome. `write` sets part 0 to ``held`` and `plan.doing` to
   None. That is in memory until the next `begin` or `save`.
4. Part 1 goes the same way. `finish` saves the order without a step.

With an idempotency key, step 1 is left out: the first `begin` adds the order and the key in the
transaction of the entry. So there is no order whose key another order has. The `save` that ends a
hold of which nothing stands frees the key.

If the process ends in between, `load` gives the order as it was before the last write, with the
entry of that write. `settle` takes the outcome from the entry. If the entry does not say it, the
part is ``unknown``, and `steps.resume` reads the booking.

Each save names the revision that it was made of. If two programs go on with one order, the second
to save fails with a `JournalError` and stops.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, NoReturn
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
from ferry_sdk.orders.order import (
    Action,
    Fee,
    Order,
    OrderKind,
    OrderPart,
    OrderPlan,
    OrderState,
    PendingWrite,
)
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.types import EndState, Intent, JournalEntry, OrderRecord, OutcomeDetails

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

logger: logging.Logger = logging.getLogger("ferry_sdk")

_EFFECTS: Final[Mapping[Action, OrderState]] = {
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
"""The states of a part by the stage of its booking; the other stages say nothing."""


def is_refusal(error: FerryError) -> bool:
    """Return whether the same call would be refused again, so that the step cannot go on."""
    # The same call succeeds with another token, or a little later.
    passing = AuthenticationError | PermissionDeniedError | RateLimitError
    if error.outcome == "unknown" or isinstance(error, passing):
        return False

    guards = PriceChangedError | PenaltyExceededError | InvalidInputError | UnresolvedWriteError
    return error.outcome == "rejected" or isinstance(error, guards)


class _Rejection(NamedTuple):
    """A write whose refusal was read from the journal.

    Attributes:
        part_index: The index of its part.
        action: What it would have done.
        problem: The refusal, for people.
    """

    part_index: int
    action: Action
    problem: str


@dataclass(slots=True)
class Progress:
    """An order under way.

    Attributes:
        journal: Where it is recorded.
        kind: Its kind.
        plan: What is intended, and how far it got.
        id: Its id.
        revision: The revision that is on record; 0 before the first.
        entry_id: The entry of the write that was begun last.
        until: When the call ends, on the monotonic clock; None: no limit.
        is_interrupted: Whether a call failed that may succeed later, so that `resume` can go on.
        rejection: The write that was begun last, if the journal says that it was refused.
        is_keyed: Whether its first create claims an idempotency key.
        accepts_keys: That a recorder of writes may be given an idempotency key.
    """

    accepts_keys: ClassVar[bool] = True

    journal: Journal
    kind: OrderKind
    plan: OrderPlan
    id: str = field(default_factory=lambda: uuid4().hex)
    revision: int = 0
    entry_id: str | None = None
    until: float | None = None
    is_interrupted: bool = False
    rejection: _Rejection | None = None
    is_keyed: bool = False

    @property
    def parts(self) -> list[OrderPart]:
        """The bookings."""
        return self.plan.parts

    @property
    def order(self) -> Order:
        """The order as it stands."""
        return Order(self.id, self.kind, tuple(self.parts))

    def record(self, *, is_finished: bool = False, frees_key: bool = False) -> OrderRecord:
        """Return what is to be on record."""
        return OrderRecord(
            id=self.id,
            kind=self.kind,
            content=self.plan.to_text(),
            entry_id=self.entry_id,
            is_finished=is_finished,
            revision=self.revision,
            frees_key=frees_key,
        )

    def save(self, *, is_finished: bool = False, frees_key: bool = False) -> Flow[None]:
        """Put the order on record: before its step begins or goes on, and after it."""
        record = self.record(is_finished=is_finished, frees_key=frees_key)
        yield from RunBlocking(partial(self.journal.save_order, record), self.until)
        self.revision += 1

    def finish(self) -> Flow[Order]:
        """Record that the step has ended, and return the order.

        If that fails, the order stays unfinished on record. That is safe: `resume` reads it back.
        """
        frees_key = self._is_undone_hold
        self.plan.step = None
        self.plan.is_undone = False
        self.plan.problem = None
        yield from self._save_end(is_finished=True, frees_key=frees_key)
        return self.order

    def fail(self, error: FerryError) -> Flow[NoReturn]:
        """Record why the step failed, and whether anything is left to do."""
        is_known = self.order.state != "unknown"
        is_finished = is_known and not self.is_interrupted
        frees_key = is_finished and self._is_undone_hold
        if is_known:
            self.plan.problem = _describe(error)
        if is_finished:
            self.plan.step = None
            self.plan.is_undone = False

        yield from self._save_end(is_finished=is_finished, frees_key=frees_key)
        raise OrderError(self.order, error) from error.with_traceback(None)

    @property
    def _is_undone_hold(self) -> bool:
        """Whether nothing stands of a hold that ends now."""
        return self.plan.step == "hold" and self.order.state == "cancelled"

    def _save_end(self, *, is_finished: bool, frees_key: bool) -> Flow[None]:
        try:
            yield from self.save(is_finished=is_finished, frees_key=frees_key)
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
                    # Users ask about the write that needs this read: it was not sent.
                    answer.error.outcome = "not_sent"
                raise answer.error
            results[answer.key] = answer.value
        return results

    def write(
        self, index: int, action: Action, operation: Operation[Any]
    ) -> Flow[FerryError | None]:
        """Make a write for a part; return why it failed, or None."""
        self.plan.doing = PendingWrite(index, action, self.parts[index].state)
        batch: Batch[int, Any] = Batch(1)
        batch.add(index, operation, journal=self, **self._deadline())
        (answer,) = yield from all_answers(batch)

        error = answer.error
        if error is None or isinstance(error, AlreadyDoneError):
            self._note_success(index, action, answer.value)
            self._forget_write()
            return None

        self._note_failure(index, action, error)
        if error.outcome != "unknown":
            self._forget_write()  # an unknown write stays begun, for `resume`
        return error

    def _note_success(self, index: int, action: Action, result: object) -> None:
        self._set(index, state=_EFFECTS[action], error=None, expires_at=None)
        if isinstance(result, BookingCreated):
            self.see(index, result)

    def _note_failure(self, index: int, action: Action, error: FerryError) -> None:
        """Note why a write failed, and what that means for its part and for the order.

        - The write may have happened: the part is unknown, until `resume` reads its booking.
        - The write was refused for good: the part keeps its state.
        - The write may succeed later, such as with another token: the part keeps its state, and
          `resume` goes on with the order. A create is not repeated, because no travellers are
          stored.
        """
        self._set(index, error=error)
        if isinstance(error, OutcomeUnknownError) and error.booking_id is not None:
            self._set(index, booking_id=error.booking_id)

        if isinstance(error, UnresolvedWriteError) and action != "create":
            # This write was not sent, because an earlier program began the same one and its outcome
            # is open. To confirm or cancel a booking twice has one effect, so the entry of the
            # earlier write says what became of the part.
            self.entry_id = error.entry.id
            error.outcome = "unknown"

        if error.outcome == "unknown":
            self._set(index, state="unknown")
        elif action != "create" and not is_refusal(error):
            self.is_interrupted = True

    def _forget_write(self) -> None:
        """Note that the outcome of the write that was begun last is part of the plan."""
        self.entry_id = None
        self.plan.doing = None

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
        guards: dict[str, Any] = {"max_penalty": 0, "min_refund": None, "currency": None}
        if fee is not None:
            guards = {
                "max_penalty": fee.penalty,
                "min_refund": fee.refund,
                "currency": fee.currency,
            }
        operation = BookingsGroup.cancel(None, str(self.parts[index].booking_id), **guards)
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
        if indices is None:
            indices = [*range(len(self.parts))]

        reads: dict[int, Operation[Any]] = {}
        for index in indices:
            booking_id = self.parts[index].booking_id
            if booking_id:
                reads[index] = BookingsGroup.get(None, booking_id)

        bookings: dict[int, Booking] = yield from self.read(reads)
        for index, booking in bookings.items():
            self.see(index, booking)
        return bookings

    def read_doubtful(self) -> Flow[dict[int, Booking]]:
        """Read the booking that the failed reply of a create named, and note what it shows.

        The service may not have it, because it was not made, or not yet. Then its part stays
        unknown.
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
        pending = self.plan.doing
        if pending is None or pending.action != "create":
            return None
        return pending.part_index

    def see(self, index: int, booking: Booking | BookingCreated) -> None:
        """Note what a booking shows; an unknown outcome stays so unless it is seen."""
        part = self.parts[index]
        state = part.state
        if isinstance(booking, Booking):
            state = _state_seen(booking, part.state)
        if part.state == "unknown" and not self._is_proved_by(state):
            state = "unknown"

        snapshot = BookingSnapshot.of(booking)
        self._set(
            index,
            booking_id=booking.booking_id,
            state=state,
            total=snapshot.total_price,
            currency=snapshot.currency,
            expires_at=snapshot.lapses_at,
        )

    def _is_proved_by(self, state: OrderState) -> bool:
        """Return whether the state of a booking shows what became of the write begun last."""
        action: Action | None = None
        if self.plan.doing is not None:
            action = self.plan.doing.action

        if action == "create":
            return True  # the booking that the failed reply named is there
        if action == "cancel":
            return state == "cancelled"
        return state != "held"

    def settle(self, entry: JournalEntry | None) -> None:
        """Note the outcome of the write that was begun last, by its entry in the journal."""
        pending = self.plan.doing
        if pending is None:
            return

        self._set(pending.part_index, state="unknown")
        if entry is None:
            return
        booking_id = self.parts[pending.part_index].booking_id or entry.booking_id
        if entry.is_unresolved:
            self._set(pending.part_index, booking_id=booking_id)
            return

        if entry.state != "done":
            self._note_no_effect(pending, entry)
        elif booking_id is not None:
            self._set(pending.part_index, booking_id=booking_id, state=_EFFECTS[pending.action])
        else:
            return  # a booking was made, and nobody has said which
        self._forget_write()

    def _note_no_effect(self, pending: PendingWrite, entry: JournalEntry) -> None:
        """Note that a write has not happened."""
        self._set(pending.part_index, state=pending.state_before)
        if pending.action == "create":
            # The reply may have named a booking, but none was made.
            self._set(pending.part_index, booking_id=None)

        if entry.state == "rejected":
            problem = f"{entry.operation} has not happened"  # somebody has settled it so
            if entry.status_code:
                reply = f"HTTP {entry.status_code}, {entry.code}"
                problem = f"{entry.operation} was refused ({reply})"
            self.rejection = _Rejection(pending.part_index, pending.action, problem)

    def note_refusal(self) -> None:
        """Undo the step if a write was refused and the part shows that it has no effect."""
        rejection = self.rejection
        if rejection is None:
            return
        if self.parts[rejection.part_index].state == _EFFECTS[rejection.action]:
            return

        self.plan.problem = rejection.problem
        if rejection.action == "confirm":
            self.plan.is_undone = True

    def _set(self, index: int, **changes: Any) -> None:  # noqa: ANN401 -- the attributes of a part
        self.parts[index] = replace(self.parts[index], **changes)

    def _deadline(self) -> dict[str, float]:
        if self.until is None:
            return {}
        return {"deadline": max(0.0, self.until - monotonic())}


def _state_seen(booking: Booking, before: OrderState) -> OrderState:
    """Return the state of a part whose booking was read, and which had a state before."""
    (proof,) = SAFETY["bookings.confirm"].confirmed_by
    is_confirmed = proof.is_confirmed_by(booking)

    state = before
    if booking.stage in _STAGES:
        state = _STAGES[booking.stage]
    elif state == "held" and not is_confirmed:
        state = "partial"  # such as while the tickets that are paid are being issued

    if booking.stage == Stage.REJECTED and booking.payment_status != PaymentStatus.UNPAID:
        state = "partial"

    if state not in {"partial", "cancelled"} and is_confirmed:
        state = "confirmed"
    if before == "confirmed" and state == "held":
        state = "confirmed"  # the service has said so, and its reads may be late
    return state


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
        if record.kind == "change":
            _, old = of_record(journal, record).parts
            if old.booking_id == booking_id:
                return record.id
    return ""


def find_replacements(journal: Journal) -> dict[str, str]:
    """Return the bookings that a change has cancelled, each with the id of the new booking."""
    replacements: dict[str, str] = {}
    for record in journal.load_orders():
        order = order_of_record(journal, record)
        if order.kind == "change" and order.state == "confirmed":
            new, old = order.parts
            if new.booking_id is not None and old.booking_id is not None:
                replacements[old.booking_id] = new.booking_id
    return replacements


def order_of_record(journal: Journal, record: OrderRecord) -> Order:
    """Return an order of a list.

    An order whose record is damaged has one part, whose state is unknown and which has the error.
    So it keeps no other order from being listed.
    """
    try:
        OrderPlan.of(record.id, record.content)
    except JournalError as error:
        part = OrderPart(state="unknown", error=error)
        return Order(record.id, _kind_of(record), parts=(part,))
    return of_record(journal, record).order


def _kind_of(record: OrderRecord) -> OrderKind:
    return "change" if record.kind == "change" else "hold"


def of_record(journal: Journal, record: OrderRecord) -> Progress:
    """Return an order as it is on record."""
    progress = Progress(
        journal,
        _kind_of(record),
        OrderPlan.of(record.id, record.content),
        id=record.id,
        revision=record.revision,
        entry_id=record.entry_id,
    )
    progress.settle(record.entry)
    return progress


def _describe(error: FerryError) -> str:
    """Return why a step failed, without the service's words, which may name a traveller.

    The library's own words, such as those of a guard with its amounts, are kept.
    """
    name = type(error).__name__
    if isinstance(error, APIError):
        description = f"{name}, HTTP {error.status_code}"
        code = code_of(error)
        return description if code is None else f"{description}, {code}"
    if isinstance(error, UnexpectedResponseError | OutcomeUnknownError):
        return name  # its message quotes the reply
    return str(error)
