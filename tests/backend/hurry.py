"""Calls with a deadline, what they may end in, and when."""

import threading

import pytest

from ferry_sdk import FerryError, OutcomeUnknownError, RequestTimeoutError
from tests.backend.gathering import UnderWay, eventually
from tests.support.tiers import mostly_long

DEADLINE = 0.3
LATE = 0.3
TRIES = 4
"""How often a call may be late where the machine is to blame."""


def in_time(call, deadline=DEADLINE, *, outcome=None):
    """Return the error of a call that ends by its deadline.

    Args:
        call: The call.
        deadline: Its deadline, in seconds.
        outcome: The outcome of a call that comes as far as the test wants it to. A busy machine may
            end it earlier: before it is sent, or in the pool of a caller's own client, which does
            not tell whether it is sent. Then it is made again.
    """
    for _ in range(TRIES):
        ended = UnderWay(call).outcome()
        assert isinstance(ended.error, FerryError), ended
        is_late = ended.seconds > deadline + LATE
        if not is_late and outcome in {None, ended.error.outcome}:
            return ended.error
    raise AssertionError(f"{ended.seconds:.2f} s, {ended.error!r}, in each of {TRIES} tries")


def read(ferry):
    return ferry.catalogue.vehicle_types()


def confirm(ferry):
    return ferry.bookings.confirm("b-1")


def create(ferry):
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    return ferry.bookings.create(
        availabilities=[selection],
        passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    )


every_call = pytest.mark.parametrize("call", mostly_long([confirm, read, create]))


def is_right(call, error, outcome):
    """Check that the error is of the class that the outcome has for such a call."""
    is_doubt = call is not read and outcome == "unknown"
    assert type(error) is (OutcomeUnknownError if is_doubt else RequestTimeoutError), error
    assert error.outcome == outcome
    assert error.correlation_id


def threads_end():
    """Wait until no call is left behind in a thread."""
    eventually(
        lambda: not [one for one in threading.enumerate() if one.name == "ferry_sdk call"], 5
    )
