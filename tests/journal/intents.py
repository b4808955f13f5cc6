"""Writes to put on record."""

from ferry_sdk.types import Intent

TRAVELLER = b"Okonkwo-4711"


def intent(identity=TRAVELLER, **more):
    fields = {
        "operation": "bookings.create",
        "effect": "bookings.create",
        "method": "POST",
        "path": "booking",
        "subject": {},
        "correlation_id": "c-1",
    }
    return Intent(identity=identity, **fields | more)


def confirmation(booking_id="b1", **more):
    return intent(
        booking_id.encode(),
        **{
            "operation": "bookings.confirm",
            "effect": "bookings.confirm",
            "path": "booking/confirm",
            "subject": {"booking_id": booking_id},
        }
        | more,
    )
