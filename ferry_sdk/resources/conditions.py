"""What the waits wait for, and when what they look at is due to change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, cast

from ferry_sdk._engine.operation import Wait
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.tickets import Voucher

Until = Stage | str | Sequence[Stage | str] | Callable[[Booking], bool]

_FINAL: Final = frozenset({Stage.VOIDED, Stage.LAPSED})
"""Stages that nothing leads out of."""


def booking_until(
    until: Until,
    seconds: float,
    on_progress: Callable[[Booking], Awaitable[None] | None] | None,
) -> Wait:
    """Wait until a booking is of a stage, of one of several, or as a predicate says."""
    _check(on_progress)
    if callable(until):
        return Wait(seconds, until, _never, _dates_of, on_progress)
    given = cast("object", (until,) if isinstance(until, str) else until)
    stages = [*cast("Iterable[object]", given)] if isinstance(given, Iterable) else []
    names = frozenset(stage for stage in stages if isinstance(stage, str))
    if not stages or not all(isinstance(stage, str) for stage in stages):
        raise InvalidInputError("a stage, several, or a function is expected", field="until")
    return Wait(seconds, partial(_is_of, names), _is_final, _dates_of, on_progress)


def voucher_there(
    seconds: float, on_progress: Callable[[Voucher], Awaitable[None] | None] | None
) -> Wait:
    """Wait until a voucher has an address."""
    _check(on_progress)
    return Wait(seconds, _has_address, _never, _no_dates, on_progress)


def _check(on_progress: object) -> None:
    if on_progress is not None and not callable(on_progress):
        raise InvalidInputError("a function is expected", field="on_progress")


def _is_of(stages: frozenset[str], booking: Booking) -> bool:
    return booking.stage in stages


def _is_final(booking: Booking) -> bool:
    return booking.stage in _FINAL


def _dates_of(booking: Booking) -> Iterable[datetime]:
    """The booking's deadline and those of what may be done with it."""
    limits = (action.time_limit for action in booking.possible_actions.values())
    return [moment for moment in (booking.expire_at, *limits) if isinstance(moment, datetime)]


def _has_address(voucher: Voucher) -> bool:
    return voucher.url is not None


def _never(_: object) -> bool:
    return False


def _no_dates(_: object) -> Iterable[datetime]:
    return ()
