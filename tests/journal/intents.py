"""Writes to put on record, and statements past the journal, as another program makes them."""

from sqlalchemy import create_engine

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


def engine_for(url, **options):
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"), **options)


def run_sql(url, statement):
    engine = engine_for(url)
    try:
        with engine.begin() as connection:
            result = connection.exec_driver_sql(statement)
            return list(result.fetchall()) if result.returns_rows else []
    finally:
        engine.dispose()
