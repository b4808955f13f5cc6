"""Calls with a deadline, what they may end in, and when."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import FerryError, OutcomeUnknownError, RequestTimeoutError
from tests.backend.gathering import UnderWay, eventually
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import Ferry

DEADLINE = 0.3
LATE = 0.3
TRIES = 4
"""How often a call may be late where the machine is to blame."""


def in_time(
    call: Callable[[], object], deadline: float = DEADLINE, *, is_sent: bool = False
) -> FerryError:
    """Return the error of a call that ends by its deadline.

    Args:
        call: The call.
        deadline: Its deadline, in seconds.
        is_sent: Whether a call that a busy machine left no time to send is made again.
    """
    for _ in range(TRIES):
        outcome = UnderWay(call).outcome()
        assert isinstance(outcome.error, FerryError), outcome
        is_late = outcome.seconds > deadline + LATE
        if not is_late and not (is_sent and outcome.error.outcome == "not_sent"):
            return outcome.error
    raise AssertionError(f"{outcome.seconds:.2f} s, {outcome.error!r}, in each of {TRIES} tries")


def read(ferry: Ferry) -> object:
    return ferry.catalogue.vehicle_types()


def confirm(ferry: Ferry) -> object:
    return ferry.bookings.confirm("b-1")


def create(ferry: Ferry) -> object:
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    return ferry.bookings.create(
        availabilities=[selection],
        passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    )


every_call = pytest.mark.parametrize("call", mostly_long([confirm, read, create]))


def is_right(call: Callable[..., object], error: FerryError, outcome: str) -> None:
    """Check that the error is of the class that the outcome has for such a call."""
    is_doubt = call is not read and outcome == "unknown"
    assert type(error) is (OutcomeUnknownError if is_doubt else RequestTimeoutError), error
    assert error.outcome == outcome
    assert error.correlation_id


def threads_end() -> None:
    """Wait until no call is left behind in a thread."""
    eventually(
        lambda: not [one for one in threading.enumerate() if one.name == "ferry_sdk call"], 5
    )
