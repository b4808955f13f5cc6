"""A service and a journal in memory, and a driver that fails, stops or dies wherever it is told.

The driver performs the effects of an order's flow. A write goes as the engine makes it: guard,
entry in the journal, request, outcome in the journal. Each of these is a moment of its own.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import partial

from ferry_sdk import errors
from ferry_sdk._engine.batch import BatchAnswer, NextAnswer, StopBatch
from ferry_sdk._engine.effects import RunBlocking
from ferry_sdk.errors import FerryError, JournalError, OrderError, OutcomeUnknownError
from ferry_sdk.models import Booking, BookingCreated, CancellationFee
from ferry_sdk.models.bookings import BookingCancellation, BookingConfirmation
from ferry_sdk.orders import Order
from ferry_sdk.types import Intent, JournalEntry, OutcomeDetails, RequestDigest
from tests.support import samples

NOW = datetime(2050, 5, 3, tzinfo=timezone.utc)
ANY = ("done", "refused", "not_sent", "lost", "nothing_lost", "late", "interrupted")
"""How any write may end. ``lost``: done, and the reply is lost; ``late``: done after the call."""
OPEN = ("open", "open_done", "open_late")
"""Another program has begun the same write: without an effect, with one, with a late one."""
NAMED = ("named", "named_none")
"""A failed reply to a create names a booking, which the service has, or has not."""
ENDS = (*ANY, "guard", *OPEN, "lapsed", "less", *NAMED)
"""How a write for a booking may end. ``guard``: price and fee rise before it; ``lapsed``: the
booking lapses before it; ``less``: what is paid back for any booking falls before it."""


class Killed(BaseException):
    """The process is dead."""


class Stopped(BaseException):
    """Ctrl-C."""


@dataclass
class Sold:
    id: str
    total: Decimal = Decimal(100)
    stage: str = "payment_due"
    fee: Decimal = Decimal(10)
    held_fee: Decimal = Decimal(0)
    confirmed: int = 0
    cancelled: int = 0
    paid_at: Decimal | None = None
    kept: Decimal = Decimal(0)
    refund: Decimal = Decimal(90)
    refund_read: Decimal = Decimal(0)
    paid_back: Decimal | None = None

    @property
    def fee_now(self):
        return {"ticketed": self.fee, "payment_due": self.held_fee}.get(self.stage, Decimal(0))

    @property
    def state(self):
        return {"payment_due": "held", "ticketed": "confirmed"}.get(self.stage, "cancelled")

    def record(self, number):
        expiry = (NOW - timedelta(hours=number)).isoformat()
        known = {"booking_id": self.id, "stage": self.stage, "total_price": str(self.total)}
        known |= {"possible_actions": {}, "expire_at": expiry, "pricing": None, "tickets": []}
        return Booking.model_validate(samples.BOOKING | known)


class Records:
    """A journal in memory, with the two rules that orders rely on."""

    def __init__(self, tick):
        self.entries, self.orders, self.tick = {}, {}, tick

    def load_orders(self, order_id=None, *, only_unfinished=False):
        found = [one for one in self.orders.values() if order_id in {None, one.id}]
        left = [one for one in found if not (only_unfinished and one.is_finished)]
        return tuple(replace(one, entry=self.entries.get(one.entry_id or "")) for one in left)

    def save_order(self, order):
        self.tick()
        self._save(order, order.entry_id)
        self.tick()

    def begin(self, intent, order):
        self.tick()
        for entry in self.entries.values():
            same = (entry.operation, entry.subject) == (intent.operation, dict(intent.subject))
            if entry.is_unresolved and same and intent.subject:
                raise errors.UnresolvedWriteError(entry)
        self._save(order, f"e{len(self.entries)}")
        entry_id = self.add(intent)
        self.tick()
        return entry_id

    def end(self, entry_id, state, details=None):
        self.tick()
        booking_id = (details or OutcomeDetails()).booking_id or self.entries[entry_id].booking_id
        self.entries[entry_id] = replace(self.entries[entry_id], state=state, booking_id=booking_id)
        self.tick()

    def add(self, intent, state="open"):
        entry_id, booking_id = f"e{len(self.entries)}", intent.subject.get("booking_id")
        known = (entry_id, intent.operation, "", "", dict(intent.subject), "", "", state, NOW, NOW)
        self.entries[entry_id] = JournalEntry(*known, booking_id=booking_id)
        return entry_id

    @property
    def unresolved(self):
        return [one for one in self.entries.values() if one.is_unresolved]

    def settle(self, entry_id, booking_id, *, happened):
        changed = replace(self.entries[entry_id], state="done" if happened else "rejected")
        self.entries[entry_id] = replace(changed, booking_id=booking_id or changed.booking_id)

    def _save(self, order, entry_id):
        before = self.orders.get(order.id)
        if (before.revision if before else 0) != order.revision:
            raise JournalError("another program")
        self.orders[order.id] = replace(order, revision=order.revision + 1, entry_id=entry_id)


class World:
    def __init__(self):
        self.course = ()  # how the writes and reads end, in order; those after are done
        self.asked = []  # what could have been chosen at each
        self.moments, self.die_at = 0, None  # the moment at which the process dies
        self.sold, self.journal = {}, Records(self.tick)
        self.is_in_doubt = False  # an outcome of this run is unknown
        self.writes_in_doubt = 0  # those sent although an outcome was unknown
        self.late = []  # effects that are still to come
        self.old_went_first = False  # the old booking was cancelled before the new was confirmed
        self.refused, self.not_cancelled = set(), set()  # the bookings whose writes were refused
        self.asked_again = 0  # confirmations that were sent although they had been refused
        self.lost_reads = 0
        self.made = {}  # the bookings by the entries of the writes that made them

    def tick(self):
        self.moments += 1
        if self.die_at is not None and self.moments > self.die_at:
            raise Killed

    def calm(self):
        self.course, self.die_at, self.is_in_doubt = (), None, False

    def come(self):
        for effect in self.late:
            effect()
        self.late.clear()

    def run(self, flow):
        self.is_in_doubt = False
        result = failure = None
        try:
            while True:
                effect = flow.send(result) if failure is None else flow.throw(failure)
                result, failure = None, None
                try:
                    result = self._perform(effect)
                except Killed:
                    raise
                except BaseException as error:  # noqa: BLE001 -- the flow handles it
                    failure = error
        except StopIteration as end:
            return end.value
        except FerryError as error:
            return error
        except (Killed, Stopped) as end:
            return type(end).__name__
        finally:
            flow.close()

    def _perform(self, effect):
        match effect:
            case RunBlocking():
                return effect.function()
            case StopBatch():
                effect.batch.waiting.clear()
                return None
            case NextAnswer():
                begun, failure, value = effect.batch.waiting.popleft(), None, None
                try:
                    value = self._call(begun.call, begun.changes.get("journal"))
                except FerryError as error:
                    failure = error
                return BatchAnswer(begun.key, value, failure, 0.0)
        raise NotImplementedError(effect)

    def _choose(self, options):
        number = len(self.asked)
        self.asked.append(options)
        return self.course[number] if number < len(self.course) else "done"

    def _call(self, operation, recorder):
        name = operation.name
        if operation.write is None:
            self.tick()
            late = ("late",) if name == "bookings.wait" else ()
            end = self._choose(("done", "not_sent", *late))
            if end == "not_sent":
                self.lost_reads += 1
                raise errors.ConnectionFailedError("down")
            record = self._read(name, operation)
            if end == "late":
                seen = record.model_copy(update={"stage": "in_progress"})
                raise errors.RequestTimeoutError("late", last_seen=seen)
            return record
        return self._write(name, operation, recorder)

    def _read(self, name, operation):
        path = operation.call.digest().path
        body = getattr(operation.call, "body", None) or {}
        booking_id = body.get("id") or path.rpartition("/")[2]
        sold = self.sold.get(booking_id)
        if sold is None:
            raise errors.NotFoundError("no such booking", status_code=404)
        if name == "bookings.cancel_fee":
            sold.refund_read = sold.refund
            return self._fee(sold)
        return sold.record([*self.sold].index(booking_id))

    def _fee(self, sold):
        refund = str(sold.refund if sold.stage == "ticketed" else 0)
        known = {"penalty_amount": str(sold.fee_now), "refund_amount": refund}
        return CancellationFee.model_validate(samples.CANCELLATION_FEE | known)

    def _write(self, name, operation, recorder):
        self.tick()
        write = operation.write
        sold = self.sold.get(write.subject.get("booking_id", ""))
        intent = Intent(name, name, "", "", dict(write.subject), b"", "")
        end = self._choose(self._ends(sold))
        self._change(end, sold)
        if write.guard is not None and sold is not None:
            is_fee = name == "bookings.cancel"
            if sold.stage == ("voided" if is_fee else "ticketed"):
                raise errors.AlreadyDoneError("before", result=self._result(name, sold))
            write.guard.judge(self._fee(sold) if is_fee else sold.record(0))
        self.writes_in_doubt += self.is_in_doubt
        if name == "bookings.confirm" and sold is not None:
            self.asked_again += sold.id in self.refused
        if end in OPEN:  # another program begins the same write
            other = partial(self._late_effect, name, sold, self.journal.add(intent))
            if end == "open_done":
                other()
            elif end == "open_late":
                self.late.append(other)
        try:
            entry_id = recorder.begin(intent)
        except errors.UnresolvedWriteError as error:
            # The engine reads the effect of the other write; without one, it fails.
            if error.entry.id not in self.made:
                self.is_in_doubt = True
                raise
            recorder.end(error.entry.id, "done")
            return self._result(name, sold)
        try:
            return self._send(end, name, sold, entry_id, recorder)
        except Stopped:
            recorder.end(entry_id, "unknown")
            raise

    def _send(self, end, name, sold, entry_id, recorder):
        if end == "not_sent":
            recorder.end(entry_id, "not_sent")
            raise errors.ConnectionFailedError("down")
        if end == "refused" or (sold is not None and not self._may(name, sold)):
            self.tick()
            if sold is not None:
                (self.refused if name == "bookings.confirm" else self.not_cancelled).add(sold.id)
            recorder.end(entry_id, "rejected")
            raise errors.ConflictError("no", status_code=409)
        if end == "late":
            self.late.append(partial(self._late_effect, name, sold, entry_id))
        elif end not in {"nothing_lost", "named_none"}:
            sold = self._effect(name, sold)
            self.made[entry_id] = sold.id
            self.tick()
        if end == "interrupted":
            raise Stopped
        if end not in {"done", "less"}:
            self.is_in_doubt = True
            named = {"named": sold and sold.id, "named_none": "b-none"}.get(end)
            recorder.end(entry_id, "unknown", OutcomeDetails(named))
            known = {"entry_id": entry_id, "booking_id": named}
            digest = RequestDigest("POST", name, "")
            raise OutcomeUnknownError("may have happened", request=digest, **known)
        recorder.end(entry_id, "done", OutcomeDetails(sold.id))
        return self._result(name, sold)

    def _ends(self, sold):
        left_out = {*NAMED} if sold is not None else {"guard", *OPEN}
        if sold is None or sold.stage != "payment_due":
            left_out.add("lapsed")
        if all(one.stage != "ticketed" for one in self.sold.values()):
            left_out.add("less")
        return tuple(one for one in ENDS if one not in left_out)

    def _change(self, end, sold):
        for one in self.sold.values():
            one.refund -= end == "less"
        if sold is not None and end == "guard":
            sold.total, sold.fee, sold.held_fee = sold.total + 1, sold.fee + 1, sold.held_fee + 1
        elif sold is not None and end == "lapsed":
            sold.stage = "lapsed"

    def _late_effect(self, name, sold, entry_id):
        if sold is None or self._may(name, sold):
            self.made[entry_id] = self._effect(name, sold).id

    def _may(self, name, sold):
        return sold.stage in {"payment_due", "ticketed" if name == "bookings.cancel" else ""}

    def _effect(self, name, sold):
        if sold is None:
            sold = Sold(f"b{len(self.sold)}")
            self.sold[sold.id] = sold
        elif name == "bookings.confirm":
            sold.stage, sold.paid_at = "ticketed", sold.total
            sold.confirmed += 1
        else:
            sold.kept = sold.fee_now
            sold.paid_back = sold.refund if sold.stage == "ticketed" else None
            sold.stage = "voided"
            sold.cancelled += 1
            if sold.id == "old" and not any(one.stage == "ticketed" for one in self.sold.values()):
                self.old_went_first = True
        return sold

    def _result(self, name, sold):
        if name == "bookings.create":
            known = {"booking_id": sold.id, "booking_reference": sold.id, "possible_actions": {}}
            known |= {"total_price": str(sold.total), "currency": "EUR"}
            return BookingCreated.model_validate(samples.BOOKING_CREATED | known)
        if name == "bookings.confirm":
            known = samples.BOOKING_CONFIRMATION | {"booking_id": sold.id, "ticket_number": None}
            return BookingConfirmation.model_validate(known)
        return BookingCancellation(booking_id=sold.id, status="cancelled", refund_amount=Decimal(0))


def courses(run, most):
    """Run every course with so many failures at most, each of every kind, at every call."""
    waiting = [()]
    while waiting:
        course = waiting.pop()
        world = run(course)
        yield world
        if sum(one != "done" for one in course) < most:
            for number in range(len(course), len(world.asked)):
                done = course + ("done",) * (number - len(course))
                waiting += [(*done, one) for one in world.asked[number] if one != "done"]


def stands(outcome):
    """Return the order that an end tells of."""
    if isinstance(outcome, Order):
        return outcome
    return outcome.order if isinstance(outcome, OrderError) else None
