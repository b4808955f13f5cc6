"""The steps of an order: in which order its bookings are made, confirmed and cancelled.

Every step is a flow without I/O, and can go on where another program stopped: it looks at the
states of the parts, not at what it did before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from typing import Any, Final

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
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.orders.order import Fee, Intended, Order, OrderPart, sums
from ferry_sdk.orders.progress import Progress, is_refusal
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.types import EndState, OrderRecord, OutcomeDetails

_ISSUE_TIME: Final = 30.0
"""Seconds to wait until a new booking is issued, before the old one is cancelled."""
_NEVER: Final = datetime.max.replace(tzinfo=timezone.utc)
_ZERO: Final = Decimal(0)


def hold(progress: Progress, creations: Sequence[Operation[Any]]) -> Flow[Order]:
    """Make the bookings one after the other; if one is refused, cancel those before it."""
    yield from progress.save()
    for index, creation in enumerate(creations):
        error = yield from progress.write(index, "create", creation)
        if error is not None:
            if progress.parts[index].state != "unknown":
                yield from _cancel_held(progress)
            yield from progress.fail(error)
    return (yield from progress.finish())


def confirm(
    progress: Progress, totals: Mapping[str, Decimal], agreed: Sequence[OrderPart]
) -> Flow[Order]:
    """Check the price and stage of every part, then confirm them."""
    yield from progress.read_parts()
    for index, (part, before) in enumerate(zip(progress.parts, agreed, strict=True)):
        if part.state not in {"held", "confirmed"}:
            error = _price_changed(part, part)
            error.args = (f"booking {part.booking_id} is {part.state}; nothing was confirmed",)
            raise error
        if (part.total, part.currency) != (before.total, before.currency):
            raise _price_changed(before, part)
        progress.plan.agreed[index] = before.currency or "", before.total or _ZERO
    now = progress.order.totals
    for currency in {**now, **totals}:
        expected, total = totals.get(currency, _ZERO), now.get(currency, _ZERO)
        if expected != total:
            raise PriceChangedError(expected=expected, found=total, currency=currency)
    return (yield from confirm_rest(progress))


def confirm_rest(progress: Progress) -> Flow[Order]:
    """Confirm what is held, the part that lapses first first; after a refusal, cancel."""
    plan, parts = progress.plan, progress.parts
    error: FerryError | None = None
    held = [index for index, part in enumerate(parts) if part.state == "held"]
    if not plan.is_undone:
        is_first = all(part.state != "confirmed" for part in parts)
        for index in sorted(held, key=lambda index: parts[index].expires_at or _NEVER):
            error = yield from progress.write(index, "confirm", _confirmation(progress, index))
            if error is None:
                is_first = False
                continue
            if not is_refusal(error):
                yield from progress.fail(error)
            if is_first and isinstance(error, PriceChangedError):
                yield from progress.finish()
                raise error
            plan.is_undone = True
            break
        else:
            return (yield from _end(progress, "confirmed"))
    yield from _cancel_held(progress)
    if plan.cancels_all and progress.order.state != "unknown" and not progress.is_interrupted:
        confirmed = [index for index, part in enumerate(parts) if part.state == "confirmed"]
        yield from _cancel_within_limits(progress, confirmed)
    return (yield from progress.fail(error or _cause_on_record(progress)))


def cancel(progress: Progress) -> Flow[Order]:
    """Cancel every part, if the fees are within the limits."""
    yield from progress.read_parts()
    return (yield from _cancel_rest(progress, progress.revision))


def _cancel_rest(progress: Progress, revision: int | None = None) -> Flow[Order]:
    standing = [index for index, part in enumerate(progress.parts) if part.state != "cancelled"]
    error = yield from _cancel_within_limits(progress, standing)
    if error is not None and error.outcome != "unknown" and progress.revision == revision:
        raise error  # nothing was begun
    return (yield from _end(progress, "cancelled", error))


def change(progress: Progress, creation: Operation[Any]) -> Flow[Order]:
    """Make a booking in place of another one, confirm it, and cancel the other one."""
    yield from progress.read_parts()
    if progress.parts[1].state not in {"held", "confirmed"}:
        raise InvalidInputError("it does not stand, or not whole", field="booking_id")
    error = yield from _find_fees(progress, [1])
    if error is not None:
        raise error
    currency, penalty, refund = progress.plan.fees[1]
    most = progress.plan.limits.get(currency, _ZERO)
    progress.plan.min_refund = progress.plan.min_refund or {currency: refund + penalty - most}
    yield from progress.save()
    error = yield from progress.write(0, "create", creation)
    if error is not None:
        yield from progress.fail(error)
    return (yield from change_rest(progress))


def change_rest(progress: Progress) -> Flow[Order]:
    """Go on with a change whose new booking is made."""
    new, old = progress.parts
    plan = progress.plan
    error: FerryError | None = None
    if new.state == "held" and not plan.is_undone:
        error = yield from _confirm_new(progress)
        if error is not None and not is_refusal(error):
            progress.is_interrupted = True
            yield from progress.fail(error)
    if progress.parts[0].state != "confirmed":
        plan.is_undone = True
        yield from _cancel_held(progress)
        yield from progress.fail(error or _cause_on_record(progress))
    if old.state != "cancelled":
        error = yield from _cancel_old(progress)
    return (yield from _end(progress, "confirmed", error))


def resume(progress: Progress, record: OrderRecord) -> Flow[Order]:
    """Read every part back, and go on with what was begun."""
    plan = progress.plan
    certain = [index for index in range(len(progress.parts)) if index != progress.doubtful]
    bookings = yield from progress.read_parts(certain)
    bookings |= yield from progress.read_doubtful()
    booking = None if plan.doing is None else bookings.get(plan.doing[0])
    if progress.order.state == "unknown":
        may_be = f"a write may have happened: look, and settle journal entry {progress.entry_id}"
        if booking is not None and booking.stage == Stage.IN_PROGRESS:
            may_be = "tickets are being issued: resume the order again when they are"
        raise OrderError(progress.order, FerryError(may_be, outcome="unknown"))
    if booking is not None and record.entry is not None:  # its effect is seen now
        # What has lapsed was made, but neither confirmed nor cancelled before.
        is_made = progress.doubtful is not None
        outcome: EndState = "done" if is_made or booking.stage != Stage.LAPSED else "rejected"
        details = OutcomeDetails(booking.booking_id)
        end = partial(progress.journal.end, record.entry.id, outcome, details)
        yield from RunBlocking(end, progress.until)
    progress.entry_id = plan.doing = None
    progress.note_refusal()
    if plan.step is None:
        if plan.problem is not None and progress.order.state != "confirmed":
            raise OrderError(progress.order, _cause_on_record(progress))
        return progress.order
    yield from progress.save()  # from now on, no other program can go on with the order
    rest = {"confirm": confirm_rest, "cancel": _cancel_rest, "change": change_rest}
    return (yield from rest.get(plan.step, _hold_rest)(progress))


def _hold_rest(progress: Progress) -> Flow[Order]:
    """End a hold: complete, or without what was made, because no travellers are stored."""
    if all(part.state != "cancelled" for part in progress.parts):
        return (yield from progress.finish())
    yield from _cancel_held(progress)
    if progress.plan.problem is None and progress.order.state == "cancelled":
        return (yield from progress.finish())
    return (yield from progress.fail(_cause_on_record(progress)))


def _end(progress: Progress, state: str, error: FerryError | None = None) -> Flow[Order]:
    """End a step with its error; without one too if something else has come between."""
    stands = progress.order.state
    if error is None and stands == state:
        return (yield from progress.finish())
    unlike = FerryError(f"it is {stands} and not {state}", outcome="rejected")
    return (yield from progress.fail(error or unlike))


def _cancel_held(progress: Progress) -> Flow[None]:
    """Cancel what is held and not paid, while that is free; an unknown outcome stops that."""
    for index, part in enumerate(progress.parts):
        if part.role == "new" and part.state == "held":
            yield from progress.cancel(index)
            if progress.parts[index].state == "unknown":
                return


def _find_fees(progress: Progress, indices: list[int]) -> Flow[FerryError | None]:
    """Read fees; return why they, with those of this step so far, are not within the limits."""
    plan, parts = progress.plan, progress.parts
    reads = {
        index: BookingsGroup.cancel_fee(None, str(parts[index].booking_id)) for index in indices
    }
    try:
        fees: dict[int, CancellationFee] = yield from progress.read(reads)
    except FerryError as error:
        return error
    spent = [fee for index, fee in plan.fees.items() if parts[index].state == "cancelled"]
    for index, fee in fees.items():
        plan.fees[index] = fee.currency, fee.penalty_amount, fee.refund_amount
    return _too_much([*spent, *(plan.fees[index] for index in fees)], plan)


def _cancel_within_limits(progress: Progress, indices: list[int]) -> Flow[FerryError | None]:
    """Cancel parts, if the sum of their fees is within the limits; return why one still stands."""
    error = yield from _find_fees(progress, indices)
    if error is not None:
        progress.is_interrupted = not is_refusal(error)
        return error
    for index in indices:
        failure = yield from progress.cancel(index, progress.plan.fees[index])
        error = error or failure
        if progress.parts[index].state == "unknown" or progress.is_interrupted:
            return failure
    return error


def _confirm_new(progress: Progress) -> Flow[FerryError | None]:
    """Confirm the new booking if it costs what was agreed and the old one may be cancelled."""
    new, (currency, total) = progress.parts[0], progress.plan.agreed[0]
    if (new.total, new.currency) != (total, currency):
        return _price_changed(OrderPart(total=total, currency=currency), new)
    error = yield from _find_fees(progress, [1])
    return error or (yield from progress.write(0, "confirm", _confirmation(progress, 0)))


def _cancel_old(progress: Progress) -> Flow[FerryError | None]:
    """Cancel the old booking once the new one is issued."""
    timeout = _ISSUE_TIME if progress.until is None else progress.until - monotonic()
    timeout, booking_id = max(0.001, min(timeout, _ISSUE_TIME)), str(progress.parts[0].booking_id)
    issued = BookingsGroup.wait(None, booking_id, until=Stage.TICKETED, deadline=timeout)
    try:
        progress.see(0, (yield from progress.read({0: issued}))[0])
    except FerryError as error:
        if isinstance(error, RequestTimeoutError) and isinstance(error.last_seen, Booking):
            progress.see(0, error.last_seen)
        progress.is_interrupted = progress.parts[0].state == "confirmed"
        return error
    return (yield from _cancel_within_limits(progress, [1]))


def _confirmation(progress: Progress, index: int) -> Operation[Any]:
    booking_id, (currency, total) = progress.parts[index].booking_id, progress.plan.agreed[index]
    return BookingsGroup.confirm(None, str(booking_id), expect_total=total, currency=currency)


def _too_much(fees: Sequence[Fee], plan: Intended) -> PenaltyExceededError | None:
    """Return the error of fees whose sum in a currency is more, or pays back less, than allowed."""
    penalties = sums((currency, penalty) for currency, penalty, _ in fees)
    refunds = sums((currency, refund) for currency, _, refund in fees)
    for currency in {**penalties, **plan.min_refund}:
        limit, penalty = plan.limits.get(currency, _ZERO), penalties.get(currency, _ZERO)
        least, refund = plan.min_refund.get(currency), refunds.get(currency, _ZERO)
        fails = partial(PenaltyExceededError, penalty=penalty, refund=refund, currency=currency)
        if penalty > limit and plan.limits and currency not in plan.limits:
            ((other, limit), *_) = plan.limits.items()
            return fails(limit=limit, expected_currency=other)
        if penalty > limit or (least is not None and refund < least):
            return fails(limit=limit, min_refund=least)
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
