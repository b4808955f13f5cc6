"""The steps of an order: in which order its bookings are made, confirmed and cancelled.

Every step is a flow without I/O. It can go on where another program stopped, because it looks at
the states of the parts and not at what it did before. For example, a confirmation of two parts
stops after the first. `resume` reads both bookings and finds ``confirmed`` and ``held``; then
`confirm_rest`, which is also the second half of `confirm`, confirms what is held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, assert_never

from ferry_sdk._engine.effects import Flow, RunBlocking
from ferry_sdk._engine.operation import Operation
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.errors import (
    FerryError,
    InvalidInputError,
    OrderError,
    PenaltyExceededError,
    PriceChangedError,
    RequestTimeoutError,
    UnresolvedWriteError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.sums import exact_difference, exact_sum
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.orders.order import Fee, Order, OrderPart, OrderPlan, OrderState, Price, sums
from ferry_sdk.orders.progress import Progress, is_refusal, load
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.types import EndState, JournalEntry, OrderRecord, OutcomeDetails

_ISSUE_TIME: Final = 30.0
"""Seconds to wait until a new booking is issued, before the old one is cancelled."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_ZERO: Final = Decimal(0)

_NEW, _OLD = 0, 1
"""The parts of a change."""


def hold(progress: Progress, creations: Sequence[Operation[Any]]) -> Flow[Order]:
    """Make the bookings one after the other; if one is refused, cancel those before it."""
    if not progress.is_keyed:
        yield from progress.save()
    for index, creation in enumerate(creations):
        error = yield from progress.write(index, "create", creation)
        if error is not None:
            if progress.revision == 0:
                return (yield from _resume_order_of_key(progress, error))
            if progress.parts[index].state != "unknown":
                yield from _cancel_held(progress)
            yield from progress.fail(error)
    return (yield from progress.finish())


def _resume_order_of_key(progress: Progress, error: FerryError) -> Flow[Order]:
    """Return the order that a key has, after `error` has kept a new one from being recorded.

    The error is raised if it has another reason, or if the step of that order has not ended.
    """
    order_id = error.order_id if isinstance(error, UnresolvedWriteError) else None
    if order_id is None:
        raise error
    read = partial(load, progress.journal, order_id)
    order_of_key, record = yield from RunBlocking(read, progress.until)
    if not record.is_finished:
        raise error
    order_of_key.until = progress.until
    return (yield from resume(order_of_key, record))


def confirm(
    progress: Progress, totals: Mapping[str, Decimal], agreed: Sequence[OrderPart]
) -> Flow[Order]:
    """Check the price and stage of every part, then confirm them.

    Args:
        progress: The order.
        totals: The expected sum in each currency.
        agreed: The parts with the prices that the customer has seen.
    """
    yield from progress.read_parts()

    for index, (part, before) in enumerate(zip(progress.parts, agreed, strict=True)):
        if part.state not in {"held", "confirmed"}:
            # The price is the same, and the booking that it was agreed for does not stand.
            error = _price_changed(part, part)
            error.args = (f"booking {part.booking_id} is {part.state}; nothing was confirmed",)
            raise error
        if (part.total, part.currency) != (before.total, before.currency):
            raise _price_changed(before, part)
        progress.plan.agreed[index] = Price(before.currency or "", before.total or _ZERO)

    _check_totals(totals, progress.order.totals)
    return (yield from confirm_rest(progress))


def _check_totals(expected: Mapping[str, Decimal], totals: Mapping[str, Decimal]) -> None:
    """Raise PriceChangedError if the sum of a currency is another one; a missing one is 0."""
    for currency in {**totals, **expected}:
        total = totals.get(currency, _ZERO)
        expected_total = expected.get(currency, _ZERO)
        if expected_total != total:
            raise PriceChangedError(expected=expected_total, found=total, currency=currency)


def confirm_rest(progress: Progress) -> Flow[Order]:
    """Confirm what is held, the part that lapses first first; after a refusal, cancel."""
    error: FerryError | None = None
    if not progress.plan.is_undone:
        error = yield from _confirm_held(progress)
        if error is None:
            return (yield from _end(progress, "confirmed"))
        progress.plan.is_undone = True

    yield from _cancel_held(progress)
    can_go_on = progress.order.state != "unknown" and not progress.is_interrupted
    if progress.plan.cancels_all and can_go_on:
        yield from _cancel_within_limits(progress, _indices(progress, "confirmed"))
    return (yield from progress.fail(error or _cause_on_record(progress)))


def _confirm_held(progress: Progress) -> Flow[FerryError | None]:
    """Confirm what is held, until one is refused; return why, or None.

    Raises:
        PriceChangedError: The price of the first one changed, so nothing is confirmed.
        OrderError: A confirmation failed that may succeed later.
    """
    nothing_is_confirmed = all(part.state != "confirmed" for part in progress.parts)

    def lapses_at(index: int) -> datetime:
        return progress.parts[index].expires_at or _NEVER

    for index in sorted(_indices(progress, "held"), key=lapses_at):
        error = yield from progress.write(index, "confirm", _confirmation(progress, index))
        if error is None:
            nothing_is_confirmed = False
            continue

        if not is_refusal(error):
            yield from progress.fail(error)
        if nothing_is_confirmed and isinstance(error, PriceChangedError):
            yield from progress.finish()
            raise error
        return error
    return None


def cancel(progress: Progress) -> Flow[Order]:
    """Cancel every part, if the fees are within the limits.

    If that fails before the first cancellation begins, such as because the fees are too high, the
    order is as it was: the error is raised itself, and nothing is recorded.
    """
    yield from progress.read_parts()

    revision_before = progress.revision
    error = yield from _cancel_standing(progress)
    # Each cancellation that begins saves the order, which then has another revision.
    has_begun = progress.revision != revision_before
    if error is not None and error.outcome != "unknown" and not has_begun:
        raise error

    return (yield from _end(progress, "cancelled", error))


def _cancel_rest(progress: Progress) -> Flow[Order]:
    """Go on with a cancellation."""
    error = yield from _cancel_standing(progress)
    return (yield from _end(progress, "cancelled", error))


def _cancel_standing(progress: Progress) -> Flow[FerryError | None]:
    """Cancel every part that stands; return why one still does, or None."""
    standing = [index for index, part in enumerate(progress.parts) if part.state != "cancelled"]
    return (yield from _cancel_within_limits(progress, standing))


def change(progress: Progress, creation: Operation[Any]) -> Flow[Order]:
    """Make a booking in place of another one, confirm it, and cancel the other one."""
    plan = progress.plan
    bookings = yield from progress.read_parts()
    if progress.parts[_OLD].state not in {"held", "confirmed"}:
        raise InvalidInputError("it does not stand, or not whole", field="booking_id")
    if bookings[_OLD].stage == Stage.IN_PROGRESS:
        # Its fee is another one as soon as the tickets are there.
        problem = "its tickets are being issued: wait for them, then change it"
        raise InvalidInputError(problem, field="booking_id")

    error = yield from _read_fees(progress, [_OLD])
    if error is not None:
        raise error

    fee = plan.fees[_OLD]
    if not plan.min_refund:
        # What is paid back now, less what the limit allows beyond the fee of now.
        limit = plan.limits.get(fee.currency, _ZERO)
        paid = exact_sum([fee.refund, fee.penalty])
        plan.min_refund = {fee.currency: exact_difference(paid, limit)}

    yield from progress.save()
    error = yield from progress.write(_NEW, "create", creation)
    if error is not None:
        yield from progress.fail(error)
    return (yield from change_rest(progress))


def change_rest(progress: Progress) -> Flow[Order]:
    """Go on with a change whose new booking is made."""
    plan = progress.plan
    error: FerryError | None = None
    if progress.parts[_NEW].state == "held" and not plan.is_undone:
        error = yield from _confirm_new(progress)
        if error is not None and not is_refusal(error):
            progress.is_interrupted = True
            yield from progress.fail(error)

    if progress.parts[_NEW].state != "confirmed":
        plan.is_undone = True
        yield from _cancel_held(progress)
        yield from progress.fail(error or _cause_on_record(progress))

    if progress.parts[_OLD].state != "cancelled":
        error = yield from _cancel_old(progress)
    return (yield from _end(progress, "confirmed", error))


def resume(progress: Progress, record: OrderRecord) -> Flow[Order]:
    """Read every part back, and go on with what was begun."""
    plan = progress.plan
    certain = [index for index in range(len(progress.parts)) if index != progress.doubtful]
    bookings = yield from progress.read_parts(certain)
    bookings |= yield from progress.read_doubtful()

    booking: Booking | None = None
    if plan.doing is not None:
        booking = bookings.get(plan.doing.part_index)
    if progress.order.state == "unknown":
        raise OrderError(progress.order, _unknown(progress, booking))

    if booking is not None and record.entry is not None:
        yield from _record_effect(progress, booking, record.entry)
    progress.entry_id = None
    plan.doing = None
    progress.note_refusal()

    if plan.step is None:
        if plan.problem is not None and progress.order.state != "confirmed":
            raise OrderError(progress.order, _cause_on_record(progress))
        return progress.order

    yield from progress.save()  # from now on, no other program can go on with the order
    match plan.step:
        case "hold":
            return (yield from _hold_rest(progress))
        case "confirm":
            return (yield from confirm_rest(progress))
        case "cancel":
            return (yield from _cancel_rest(progress))
        case "change":
            return (yield from change_rest(progress))
        case _:
            assert_never(plan.step)


def _unknown(progress: Progress, booking: Booking | None) -> FerryError:
    """Return why the outcome of the write that was begun last is still unknown."""
    problem = f"a write may have happened: look, and settle journal entry {progress.entry_id}"
    if booking is not None and booking.stage == Stage.IN_PROGRESS:
        problem = "tickets are being issued: resume the order again when they are"
    return FerryError(problem, outcome="unknown")


def _record_effect(progress: Progress, booking: Booking, entry: JournalEntry) -> Flow[None]:
    """Record the outcome of the write that was begun last, whose effect its booking shows."""
    outcome: EndState = "done"
    if progress.doubtful is None and booking.stage == Stage.LAPSED:
        outcome = "rejected"  # what has lapsed was neither confirmed nor cancelled before
    details = OutcomeDetails(booking.booking_id)
    end = partial(progress.journal.end, entry.id, outcome, details)
    yield from RunBlocking(end, progress.until)


def _hold_rest(progress: Progress) -> Flow[Order]:
    """End a hold: complete, or without what was made, because no travellers are stored."""
    if all(part.state != "cancelled" for part in progress.parts):
        return (yield from progress.finish())
    yield from _cancel_held(progress)
    if progress.plan.problem is None and progress.order.state == "cancelled":
        return (yield from progress.finish())
    return (yield from progress.fail(_cause_on_record(progress)))


def _end(progress: Progress, state: OrderState, error: FerryError | None = None) -> Flow[Order]:
    """End a step that was to reach a state.

    It fails with its error, or if the order has another state, because something else has come
    between.
    """
    reached = progress.order.state
    if error is None and reached == state:
        return (yield from progress.finish())
    if error is None:
        error = FerryError(f"it is {reached} and not {state}", outcome="rejected")
    return (yield from progress.fail(error))


def _indices(progress: Progress, state: OrderState) -> list[int]:
    """Return the indices of the parts that have a state."""
    return [index for index, part in enumerate(progress.parts) if part.state == state]


def _cancel_held(progress: Progress) -> Flow[None]:
    """Cancel what is held and not paid, while that is free; an unknown outcome stops that."""
    for index, part in enumerate(progress.parts):
        if part.role == "new" and part.state == "held":
            yield from progress.cancel(index)
            if progress.parts[index].state == "unknown":
                return


def _read_fees(progress: Progress, indices: list[int]) -> Flow[FerryError | None]:
    """Read the fees of parts, note them in the plan, and check them against the limits.

    The limits are for the whole step. So the fees of the parts that this step has cancelled before
    count too. For example, with a limit of 30 EUR, a part was cancelled for 20 EUR, and then the
    process was killed. `resume` reads a fee of 15 EUR for the other part: together they are 35 EUR,
    and the other part stays as it is.

    Args:
        progress: The order.
        indices: The parts.

    Returns:
        Why the fees cannot be read, or are not within the limits; None if they are.
    """
    plan = progress.plan
    reads: dict[int, Operation[Any]] = {}
    for index in indices:
        booking_id = str(progress.parts[index].booking_id)
        reads[index] = BookingsGroup.cancel_fee(None, booking_id)
    try:
        fees: dict[int, CancellationFee] = yield from progress.read(reads)
    except FerryError as error:
        return error

    for index, fee in fees.items():
        plan.fees[index] = Fee(fee.currency, fee.penalty_amount, fee.refund_amount)

    # Somebody else may have cancelled a part whose fee was just read. It counts once.
    counted: list[Fee] = []
    for index, noted_fee in plan.fees.items():
        if index in fees or progress.parts[index].state == "cancelled":
            counted.append(noted_fee)
    return _check_fees(counted, plan)


def _cancel_within_limits(progress: Progress, indices: list[int]) -> Flow[FerryError | None]:
    """Cancel parts, if the sum of their fees is within the limits; return why one still stands."""
    error = yield from _read_fees(progress, indices)
    if error is not None:
        progress.is_interrupted = not is_refusal(error)
        return error

    first_failure: FerryError | None = None
    for index in indices:
        failure = yield from progress.cancel(index, progress.plan.fees[index])
        if progress.parts[index].state == "unknown" or progress.is_interrupted:
            return failure
        first_failure = first_failure or failure
    return first_failure


def _confirm_new(progress: Progress) -> Flow[FerryError | None]:
    """Confirm the new booking if it costs what was agreed and the old one may be cancelled.

    Return why it is not confirmed, or None.
    """
    new = progress.parts[_NEW]
    price = progress.plan.agreed[_NEW]
    if (new.total, new.currency) != (price.amount, price.currency):
        return _price_changed(OrderPart(total=price.amount, currency=price.currency), new)

    error = yield from _read_fees(progress, [_OLD])
    if error is not None:
        return error
    return (yield from progress.write(_NEW, "confirm", _confirmation(progress, _NEW)))


def _cancel_old(progress: Progress) -> Flow[FerryError | None]:
    """Cancel the old booking once the new one is issued; return why it still stands, or None."""
    timeout = _ISSUE_TIME
    if progress.until is not None:
        timeout = max(0.001, min(progress.until - monotonic(), _ISSUE_TIME))

    booking_id = str(progress.parts[_NEW].booking_id)
    issued = BookingsGroup.wait(None, booking_id, until=Stage.TICKETED, deadline=timeout)
    try:
        bookings = yield from progress.read({_NEW: issued})
    except FerryError as error:
        failure = error
        if isinstance(error, RequestTimeoutError) and isinstance(error.last_seen, Booking):
            progress.see(_NEW, error.last_seen)
            failure = _not_issued(error.last_seen)
        # If the new one was rejected meanwhile, there is nothing to go on with.
        progress.is_interrupted = progress.parts[_NEW].state == "confirmed"
        return failure

    progress.see(_NEW, bookings[_NEW])
    return (yield from _cancel_within_limits(progress, [_OLD]))


def _not_issued(new: Booking) -> RequestTimeoutError:
    """Return why the old booking of a change stands, given the new one that was not issued."""
    problem = f"the new booking is {new.stage}, so the old one was not cancelled"
    if new.stage == Stage.IN_PROGRESS:
        problem = (
            "the tickets of the new booking are still being issued, so the old one was not "
            "cancelled: resume the order"
        )
    return RequestTimeoutError(problem, outcome="unknown", last_seen=new)


def _confirmation(progress: Progress, index: int) -> Operation[Any]:
    """Return the write that confirms a part at the price that was agreed."""
    price = progress.plan.agreed[index]
    return BookingsGroup.confirm(
        None,
        str(progress.parts[index].booking_id),
        expect_total=price.amount,
        currency=price.currency,
    )


def _check_fees(fees: Sequence[Fee], plan: OrderPlan) -> PenaltyExceededError | None:
    """Return the error of fees whose sum in a currency is more, or pays back less, than allowed."""
    penalties = sums((fee.currency, fee.penalty) for fee in fees)
    refunds = sums((fee.currency, fee.refund) for fee in fees)
    for currency in {**penalties, **plan.min_refund}:
        penalty = penalties.get(currency, _ZERO)
        refund = refunds.get(currency, _ZERO)
        limit = plan.limits.get(currency, _ZERO)
        min_refund = plan.min_refund.get(currency)

        if penalty > limit and plan.limits and currency not in plan.limits:
            other_currency, other_limit = next(iter(plan.limits.items()))
            return PenaltyExceededError(
                limit=other_limit,
                penalty=penalty,
                currency=currency,
                expected_currency=other_currency,
                refund=refund,
            )
        if penalty > limit or (min_refund is not None and refund < min_refund):
            return PenaltyExceededError(
                limit=limit,
                penalty=penalty,
                currency=currency,
                min_refund=min_refund,
                refund=refund,
            )
    return None


def _price_changed(agreed: OrderPart, part: OrderPart) -> PriceChangedError:
    return PriceChangedError(
        expected=agreed.total or _ZERO,
        found=part.total or _ZERO,
        currency=part.currency or "",
        expected_currency=agreed.currency,
    )


def _cause_on_record(progress: Progress) -> FerryError:
    problem = progress.plan.problem or "the program stopped before it was complete"
    return FerryError(problem, outcome="rejected")
