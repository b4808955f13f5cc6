"""A service in memory and a driver that lets each call of an order end in any way.

A course says how the calls to the service end, in their order. The driver runs the flow of an
order, such as `orders.hold`, like this:

1. `World.run` performs each effect that the flow yields, and gives the flow its result or error.
2. Each read and each write takes its end from the course. After the last end of the course, all
   calls end as `End.DONE`. `World.options` keeps the ends that each call could have had.
3. A write goes as the engine makes it: guard, entry in the journal, request, outcome in the
   journal.
4. Each of these is a moment of its own. With `die_at`, the process dies after so many moments.
5. An effect that comes late waits in `World.late_effects` until a test applies it.

For example, an order holds two bookings, and the reply to the second create is lost:

    world.course = (End.DONE, End.LOST)
    error = world.run(flow)  # an OrderError whose outcome is "unknown"
    [*world.bookings]  # ["b0", "b1"]: the service made both
    world.journal.unresolved  # the entry of the second create
    world.options[1]  # every end that the second create could have had

`courses` finds all courses in this way: it plays the course without a failure, and then, for each
call, the courses in which this call has another of its ends.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from functools import partial

from ferry_sdk import errors
from ferry_sdk._engine.batch import BatchAnswer, NextAnswer, StopBatch
from ferry_sdk._engine.effects import RunBlocking
from ferry_sdk.errors import FerryError, OrderError, OutcomeUnknownError
from ferry_sdk.models import Booking, BookingCreated, CancellationFee
from ferry_sdk.models.bookings import BookingCancellation, BookingConfirmation
from ferry_sdk.orders import Order
from ferry_sdk.orders.progress import Progress
from ferry_sdk.types import Intent, OutcomeDetails, RequestDigest
from tests.orders.memory_journal import NOW, MemoryJournal
from tests.support import samples


class End(Enum):
    """How a call ends. A read knows `DONE`, `NOT_SENT` and, if it waits, `LATE`."""

    DONE = "done"
    """The call does what it says."""
    REFUSED = "refused"
    """The service refuses the write."""
    NOT_SENT = "not_sent"
    """The request does not leave."""
    LOST = "lost"
    """The service performs the write, and its reply is lost."""
    NOTHING_LOST = "nothing_lost"
    """The service does not perform the write, and its reply is lost."""
    LATE = "late"
    """The reply is lost, and the service performs the write later. A read runs out of time."""
    INTERRUPTED = "interrupted"
    """The service performs the write, and Ctrl-C ends the call."""
    GUARD = "guard"
    """Price and fee of the booking rise before the write. If its guard allows that, as `LOST`."""
    OPEN = "open"
    """Another program has begun the same write, and the service does not perform that one."""
    OPEN_DONE = "open_done"
    """Another program has begun the same write, and the service performs that one."""
    OPEN_LATE = "open_late"
    """Another program has begun the same write, and the service performs that one later."""
    LAPSED = "lapsed"
    """The booking lapses before the write."""
    LESS = "less"
    """The refund of each booking falls before the write."""
    NAMED = "named"
    """The reply to a create fails, but names the booking, which the service has."""
    NAMED_NONE = "named_none"
    """The reply to a create fails, but names a booking, which the service does not have."""


FAILURES = [end for end in End if end is not End.DONE]

ENDS_OF_ANOTHER_PROGRAM = {End.OPEN, End.OPEN_DONE, End.OPEN_LATE}
ENDS_OF_A_CREATE = {End.NAMED, End.NAMED_NONE}


class Killed(BaseException):
    """The process is dead."""


class Stopped(BaseException):
    """Ctrl-C."""


@dataclass
class ServiceBooking:
    """A booking of the service. All amounts are euros.

    Attributes:
        id: Its id; ``old`` for the booking that a change replaces.
        total: Its price.
        stage: Its stage, as in a reply.
        fee: The fee of a cancellation once it is ticketed.
        held_fee: The fee of a cancellation before that.
        confirmations: How often it was confirmed.
        cancellations: How often it was cancelled.
        paid: The price at which it was confirmed; None before.
        charged_fee: The fee of its cancellation.
        refund: What a cancellation pays back once it is ticketed.
        refund_read: The refund that the last read of the fee gave.
        refund_paid: What its cancellation paid back; None if it was not ticketed.
    """

    id: str
    total: Decimal = Decimal(100)
    stage: str = "payment_due"
    fee: Decimal = Decimal(10)
    held_fee: Decimal = Decimal(0)
    confirmations: int = 0
    cancellations: int = 0
    paid: Decimal | None = None
    charged_fee: Decimal = Decimal(0)
    refund: Decimal = Decimal(90)
    refund_read: Decimal = Decimal(0)
    refund_paid: Decimal | None = None

    @property
    def fee_now(self):
        """The fee of a cancellation at its stage."""
        match self.stage:
            case "ticketed":
                return self.fee
            case "payment_due":
                return self.held_fee
        return Decimal(0)

    @property
    def refund_now(self):
        """The refund of a cancellation at its stage."""
        return self.refund if self.stage == "ticketed" else Decimal(0)

    @property
    def state(self):
        """The state of an order's part that has this booking."""
        match self.stage:
            case "ticketed":
                return "confirmed"
            case "payment_due":
                return "held"
        return "cancelled"

    def allows(self, operation):
        """Whether the service performs a write for it."""
        if operation == "bookings.cancel":
            return self.stage in {"payment_due", "ticketed"}
        return self.stage == "payment_due"

    def confirm(self):
        """Take the payment."""
        self.stage = "ticketed"
        self.paid = self.total
        self.confirmations += 1

    def cancel(self):
        """Charge the fee, and pay the rest back if it is ticketed."""
        self.charged_fee = self.fee_now
        if self.stage == "ticketed":
            self.refund_paid = self.refund
        self.stage = "voided"
        self.cancellations += 1

    def record(self, number):
        """Return it as in a reply; `number` makes its expiration date differ from the others'."""
        content = {
            "booking_id": self.id,
            "stage": self.stage,
            "total_price": str(self.total),
            "possible_actions": {},
            "expire_at": (NOW - timedelta(hours=number)).isoformat(),
            "pricing": None,
            "tickets": [],
        }
        return Booking.model_validate(samples.BOOKING | content)

    def fee_record(self):
        """Return the fee of its cancellation as in a reply."""
        content = {"penalty_amount": str(self.fee_now), "refund_amount": str(self.refund_now)}
        return CancellationFee.model_validate(samples.CANCELLATION_FEE | content)


@dataclass(frozen=True)
class Write:
    """A write under way.

    Attributes:
        operation: Its operation, such as ``bookings.create``.
        booking: The booking that it is for; None for a create.
        end: How it ends.
        recorder: Where its entry is recorded: the order's progress.
        entry_id: Its entry; empty before it begins.
    """

    operation: str
    booking: ServiceBooking | None
    end: End
    recorder: Progress
    entry_id: str = ""


@dataclass
class World:
    """The service, the journal and the driver, and what the driver saw.

    Attributes:
        course: How the calls end, in their order.
        options: The ends that each call could have had.
        die_at: After how many moments the process dies; None: never.
        moments: How many moments there were.
        bookings: The service's bookings by their ids.
        booking_ids: The ids of the bookings that writes changed, by the entries of the writes.
        late_effects: The effects that are still to come.
        is_in_doubt: Whether an outcome of this run is unknown.
        writes_in_doubt: How many writes were sent although an outcome was unknown.
        refused_confirmations: The bookings whose confirmation was refused.
        refused_cancellations: The bookings whose cancellation was refused.
        repeated_confirmations: How many confirmations were sent although they had been refused.
        failed_reads: How many reads failed.
        old_went_first: Whether the old booking was cancelled before the new one was confirmed.
        journal: The journal, whose moments count as well.
        outcome: How the order's own call ended; set by the test.
    """

    course: tuple[End, ...] = ()
    options: list[tuple[End, ...]] = field(default_factory=list)
    die_at: int | None = None
    moments: int = 0
    bookings: dict[str, ServiceBooking] = field(default_factory=dict)
    booking_ids: dict[str, str] = field(default_factory=dict)
    late_effects: list[Callable[[], None]] = field(default_factory=list)
    is_in_doubt: bool = False
    writes_in_doubt: int = 0
    refused_confirmations: set[str] = field(default_factory=set)
    refused_cancellations: set[str] = field(default_factory=set)
    repeated_confirmations: int = 0
    failed_reads: int = 0
    old_went_first: bool = False
    outcome: Order | FerryError | str | None = None

    def __post_init__(self):
        self.journal = MemoryJournal(self.tick)

    def tick(self):
        """Count a moment, or die at it."""
        self.moments += 1
        if self.die_at is not None and self.moments > self.die_at:
            raise Killed

    def calm(self):
        """Let all later calls be done."""
        self.course = ()
        self.die_at = None
        self.is_in_doubt = False

    def apply_late_effects(self):
        """Perform the writes that the service performs late."""
        for effect in self.late_effects:
            effect()
        self.late_effects.clear()

    def run(self, flow):
        """Run a flow; return its result, its error, or the name of what ended the process."""
        self.is_in_doubt = False
        try:
            return self._drive(flow)
        except FerryError as error:
            return error
        except (Killed, Stopped) as end:
            return type(end).__name__
        finally:
            flow.close()

    def _drive(self, flow):
        resume = partial(flow.send, None)
        while True:
            try:
                effect = resume()
            except StopIteration as end:
                return end.value

            try:
                resume = partial(flow.send, self._perform(effect))
            except Killed:
                raise
            except BaseException as error:  # noqa: BLE001 -- the flow handles it
                resume = partial(flow.throw, error)

    def _perform(self, effect):
        match effect:
            case RunBlocking():
                return effect.function()
            case StopBatch():
                effect.batch.waiting.clear()
                return None
            case NextAnswer():
                return self._answer(effect.batch.waiting.popleft())
        raise NotImplementedError(effect)

    def _answer(self, batch_call):
        value = None
        failure = None
        try:
            value = self._call(batch_call.call, batch_call.changes.get("journal"))
        except FerryError as error:
            failure = error
        return BatchAnswer(batch_call.key, value, failure, began_at=0.0)

    def _call(self, operation, recorder):
        self.tick()
        if operation.write is None:
            return self._read(operation)
        return self._write(operation, recorder)

    def _choose(self, options):
        number = len(self.options)
        self.options.append(options)
        return self.course[number] if number < len(self.course) else End.DONE

    def _read(self, operation):
        options = [End.DONE, End.NOT_SENT]
        if operation.name == "bookings.wait":
            options.append(End.LATE)
        end = self._choose(tuple(options))

        if end is End.NOT_SENT:
            self.failed_reads += 1
            raise errors.ConnectionFailedError("down")

        record = self._record(operation)
        if end is End.LATE:
            last_seen = record.model_copy(update={"stage": "in_progress"})
            raise errors.RequestTimeoutError("late", last_seen=last_seen)
        return record

    def _record(self, operation):
        path = operation.call.digest().path
        body = getattr(operation.call, "body", None) or {}
        booking_id = body.get("id") or path.rpartition("/")[2]
        booking = self.bookings.get(booking_id)
        if booking is None:
            raise errors.NotFoundError("no such booking", status_code=404)

        if operation.name == "bookings.cancel_fee":
            booking.refund_read = booking.refund
            return booking.fee_record()
        return booking.record([*self.bookings].index(booking_id))

    def _write(self, operation, recorder):
        """Take the steps of a write: guard, entry, request, outcome."""
        subject = operation.write.subject
        booking = self.bookings.get(subject.get("booking_id", ""))
        end = self._choose(self._ends_of_write(booking))
        write = Write(operation.name, booking, end, recorder)

        self._change_before(write)
        if operation.write.guard is not None and booking is not None:
            self._judge(write, operation.write.guard)
        self._count_mistakes(write)

        intent = self._intent_of(operation)
        if end in ENDS_OF_ANOTHER_PROGRAM:
            self._let_another_program_begin(write, intent)
        try:
            entry_id = recorder.begin(intent)
        except errors.UnresolvedWriteError as error:
            return self._read_back(write, error)
        return self._send(replace(write, entry_id=entry_id))

    def _intent_of(self, operation):
        """Return the intent of a write; each create makes another booking."""
        subject = operation.write.subject
        identity = subject.get("booking_id", f"create {self.moments}")
        return Intent(
            operation=operation.name,
            effect=operation.name,
            method="",
            path="",
            subject=dict(subject),
            identity=identity.encode(),
            correlation_id="",
            idempotency_key=operation.write.idempotency_key,
        )

    def _ends_of_write(self, booking):
        """Return how a write may end; `booking` is None for a create."""
        impossible = set()
        if booking is None:
            impossible |= {End.GUARD} | ENDS_OF_ANOTHER_PROGRAM
        else:
            impossible |= ENDS_OF_A_CREATE
        if booking is None or booking.stage != "payment_due":
            impossible.add(End.LAPSED)
        if not self._has_ticketed_booking():
            impossible.add(End.LESS)

        return tuple(end for end in End if end not in impossible)

    def _has_ticketed_booking(self):
        return any(booking.stage == "ticketed" for booking in self.bookings.values())

    def _change_before(self, write):
        """Change the bookings as the end of a write says."""
        match write.end:
            case End.LESS:
                for booking in self.bookings.values():
                    booking.refund -= 1
            case End.GUARD:
                write.booking.total += 1
                write.booking.fee += 1
                write.booking.held_fee += 1
            case End.LAPSED:
                write.booking.stage = "lapsed"

    def _judge(self, write, guard):
        booking = write.booking
        is_cancellation = write.operation == "bookings.cancel"
        stage_after = "voided" if is_cancellation else "ticketed"
        if booking.stage == stage_after:
            raise errors.AlreadyDoneError("before", result=self._result(write.operation, booking))

        guard.judge(booking.fee_record() if is_cancellation else booking.record(0))

    def _count_mistakes(self, write):
        """Count what no order may do, just before a write is recorded."""
        if self.is_in_doubt:
            self.writes_in_doubt += 1
        is_confirmation = write.operation == "bookings.confirm" and write.booking is not None
        if is_confirmation and write.booking.id in self.refused_confirmations:
            self.repeated_confirmations += 1

    def _let_another_program_begin(self, write, intent):
        others = replace(write, entry_id=self.journal.add(intent))
        match write.end:
            case End.OPEN_DONE:
                self._apply_late(others)
            case End.OPEN_LATE:
                self.late_effects.append(partial(self._apply_late, others))

    def _read_back(self, write, error):
        """Return the result of another program's write.

        It fails if that write has no effect, or if the key of the create has an order.
        """
        if error.order_id is not None:
            self.is_in_doubt = False
            raise error
        if error.entry.id not in self.booking_ids:
            self.is_in_doubt = True
            raise error
        write.recorder.end(error.entry.id, "done")
        return self._result(write.operation, write.booking)

    def _send(self, write):
        """Send a write and record its outcome."""
        if write.end is End.NOT_SENT:
            write.recorder.end(write.entry_id, "not_sent")
            raise errors.ConnectionFailedError("down")

        is_allowed = write.booking is None or write.booking.allows(write.operation)
        if write.end is End.REFUSED or not is_allowed:
            raise self._refuse(write)

        booking = write.booking
        match write.end:
            case End.LATE:
                self.late_effects.append(partial(self._apply_late, write))
            case End.NOTHING_LOST | End.NAMED_NONE:
                pass
            case _:
                booking = self._apply(write)
                self.tick()

        match write.end:
            case End.DONE | End.LESS:
                write.recorder.end(write.entry_id, "done", OutcomeDetails(booking.id))
                return self._result(write.operation, booking)
            case End.INTERRUPTED:
                write.recorder.end(write.entry_id, "unknown")
                raise Stopped
            case End.NAMED:
                raise self._lose_reply(write, booking.id)
            case End.NAMED_NONE:
                raise self._lose_reply(write, "b-none")
        raise self._lose_reply(write)

    def _refuse(self, write):
        """Record that the service refuses a write, and return the error."""
        self.tick()
        if write.booking is not None:
            refused = self.refused_cancellations
            if write.operation == "bookings.confirm":
                refused = self.refused_confirmations
            refused.add(write.booking.id)

        write.recorder.end(write.entry_id, "rejected")
        return errors.ConflictError("no", status_code=409)

    def _lose_reply(self, write, booking_id=None):
        """Record that the outcome of a write is unknown, and return the error.

        `booking_id` is the booking that a failed reply to a create names.
        """
        self.is_in_doubt = True
        write.recorder.end(write.entry_id, "unknown", OutcomeDetails(booking_id))
        return OutcomeUnknownError(
            "may have happened",
            request=RequestDigest("POST", write.operation, ""),
            entry_id=write.entry_id,
            booking_id=booking_id,
        )

    def _apply_late(self, write):
        """Perform a write later, unless the booking does not allow it any more."""
        if write.booking is None or write.booking.allows(write.operation):
            self._apply(write)

    def _apply(self, write):
        """Perform a write at the service; return the booking."""
        booking = write.booking
        if booking is None:
            booking = ServiceBooking(f"b{len(self.bookings)}")
            self.bookings[booking.id] = booking
        elif write.operation == "bookings.confirm":
            booking.confirm()
        else:
            booking.cancel()
            if booking.id == "old" and not self._has_ticketed_booking():
                self.old_went_first = True

        self.booking_ids[write.entry_id] = booking.id
        return booking

    def _result(self, operation, booking):
        """Return the reply to a write that the service performed."""
        match operation:
            case "bookings.create":
                content = {
                    "booking_id": booking.id,
                    "booking_reference": booking.id,
                    "possible_actions": {},
                    "total_price": str(booking.total),
                    "currency": "EUR",
                }
                return BookingCreated.model_validate(samples.BOOKING_CREATED | content)
            case "bookings.confirm":
                content = {"booking_id": booking.id, "ticket_number": None}
                return BookingConfirmation.model_validate(samples.BOOKING_CONFIRMATION | content)
            case "bookings.cancel":
                return BookingCancellation(
                    booking_id=booking.id, status="cancelled", refund_amount=Decimal(0)
                )
        raise NotImplementedError(operation)


def courses(play, most_failures):
    """Play every course with so many failures at most, and yield the world of each.

    A test may go on with the world: calls that it makes then belong to no course.
    """
    waiting = [()]
    while waiting:
        course = waiting.pop()
        world = play(course)
        failures = sum(end is not End.DONE for end in course)
        if failures < most_failures:
            waiting += longer_courses(course, world.options)
        yield world


def longer_courses(course, options):
    """Return the courses that go on from one, and in which one later call fails.

    For example, two calls with the ends `DONE` and `LOST` lead from the course ``()`` to
    ``(LOST,)`` and ``(DONE, LOST)``.
    """
    longer = []
    for number in range(len(course), len(options)):
        begun = course + (End.DONE,) * (number - len(course))
        longer += [(*begun, end) for end in options[number] if end is not End.DONE]
    return longer


def order_of(outcome):
    """Return the order of a result or of an error; None if there is none."""
    if isinstance(outcome, Order):
        return outcome
    if isinstance(outcome, OrderError):
        return outcome.order
    return None
