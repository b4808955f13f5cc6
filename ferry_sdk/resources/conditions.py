"""Conditions that `wait` methods poll for, and the dates at which a record may change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from ferry_sdk._engine.operation import Wait
from ferry_sdk._runtime.values import is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.tickets import Voucher

Until = Stage | str | Sequence[Stage | str] | Callable[[Booking], bool]

_FINAL: Final = frozenset({Stage.VOIDED, Stage.LAPSED})
"""Stages that a booking never leaves."""


def booking_until(
    until: Until,
    seconds: float,
    on_progress: Callable[[Booking], Awaitable[None] | None] | None,
) -> Wait:
    """Return a wait for a stage, for one of several stages, or for a predicate."""
    _check_callback(on_progress)
    if callable(until):
        return Wait(seconds, until, due_times=_dates_of, on_progress=on_progress)
    return Wait(
        seconds,
        until=partial(_is_at, _stages_of(until)),
        is_final=partial(_is_at, _FINAL),
        due_times=_dates_of,
        on_progress=on_progress,
    )


def _stages_of(until: object) -> list[object]:
    """Return the stages of a condition, which may be one stage."""
    stages: list[object] = []
    if isinstance(until, str):
        stages = [until]
    elif is_iterable(until):
        stages = [*until]
    if not stages or not all(isinstance(stage, str) for stage in stages):
        raise InvalidInputError("expected a stage, a list of stages, or a function", field="until")
    return stages


def _is_at(stages: Collection[object], booking: Booking) -> bool:
    return booking.stage in stages


def voucher_available(
    seconds: float, on_progress: Callable[[Voucher], Awaitable[None] | None] | None
) -> Wait:
    """Return a wait until a voucher has an address."""
    _check_callback(on_progress)
    return Wait(seconds, lambda voucher: voucher.url is not None, on_progress=on_progress)


def _check_callback(on_progress: object) -> None:
    if on_progress is not None and not callable(on_progress):
        raise InvalidInputError("expected a function", field="on_progress")


def _dates_of(booking: Booking) -> Iterable[datetime]:
    """Return the deadlines of the booking and of its possible actions."""
    deadlines = [booking.expire_at]
    deadlines += [action.time_limit for action in booking.possible_actions.values()]
    return [deadline for deadline in deadlines if isinstance(deadline, datetime)]
