"""Bookings as the state file keeps them: complete, in JSON.

Nothing is computed again when a booking is read back, so its prices and times stay what they were,
whatever the seed and the release of the service. Only companies and journeys are read from the
network, by their keys.
"""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter

from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.network.network import Network


@cache
def _adapter() -> TypeAdapter[Booking]:
    return TypeAdapter(Booking)


def dump_booking(booking: Booking) -> str:
    """Return a booking as JSON."""
    return _adapter().dump_json(booking).decode()


def load_booking(text: str, network: Network) -> Booking:
    """Return the booking of a JSON text.

    Raises:
        OSError: The record is damaged, or of another release.
    """
    try:
        return _adapter().validate_json(text, context=network)
    except (LookupError, ValueError) as error:
        # The cause may have a traveller's data in its message.
        name = type(error).__name__
        raise OSError(f"the state file has a booking that cannot be read ({name})") from None
