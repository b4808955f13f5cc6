"""Confirm at the displayed price, lose replies, and find out the outcome of each booking."""

from __future__ import annotations

import pickle
from datetime import date, timedelta
from decimal import Decimal
from queue import Queue

from ferry_sdk import Ferry, OutcomeUnknownError, PriceChangedError
from ferry_sdk.sandbox import Sandbox


def book(ferry: Ferry) -> tuple[str, Decimal]:
    """Book Tarifa to Tangier. Return the booking's id and the price that the customer saw."""
    trips = ferry.trips.search(
        "Tarifa",
        "Tangier (city)",
        on=date.today() + timedelta(days=30),
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
    )
    booking = ferry.bookings.create(
        availabilities=trips[0].select(),
        passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    )
    return booking.booking_id, trips[0].price


def confirm(ferry: Ferry, booking_id: str, price: Decimal, later: Queue[bytes]) -> str:
    """Confirm. If the outcome is unknown, keep the error for later."""
    try:
        confirmation = ferry.bookings.confirm(booking_id, expect_total=price)
    except PriceChangedError as error:
        return f"not confirmed: {error.found} {error.currency} instead of {error.expected}"
    except OutcomeUnknownError as error:
        later.put(pickle.dumps(error))
        return f"unknown, to be recovered: {error.correlation_id}"
    how = "read back" if confirmation.read_back else "by the reply"
    return f"confirmed, {how}: ticket {confirmation.ticket_number}"


def recover(ferry: Ferry, later: Queue[bytes]) -> None:
    """Recover the errors that were kept, as another process could."""
    for _ in range(later.qsize()):
        error = pickle.loads(later.get())  # noqa: S301 -- from a queue of our own
        try:
            ferry.recover(error)
        except OutcomeUnknownError as still:
            later.put(pickle.dumps(still))
            print("still unknown:", still.correlation_id)
        else:
            print("recovered:", error.operation, error.subject)


def main(sandbox: Sandbox, ferry: Ferry) -> None:
    """Cause three failures."""
    later: Queue[bytes] = Queue()

    sandbox.faults.add("lose_reply", "bookings.confirm")
    print(confirm(ferry, *book(ferry), later))

    sandbox.faults.add("price_change", "bookings.create")
    print(confirm(ferry, *book(ferry), later))

    # The service takes longer than the client's deadline.
    sandbox.faults.add("delay_before", "bookings.confirm", seconds=3)
    booking_id, price = book(ferry)
    print(confirm(ferry.with_options(deadline=2), booking_id, price, later))
    ferry.bookings.wait(booking_id, until="ticketed", deadline=30)
    recover(ferry, later)


if __name__ == "__main__":
    with Sandbox() as service, Ferry(service.token, base_url=service.base_url) as client:
        main(service, client)
