"""Hooks of schemathesis: bookings for its requests, and a check besides its own."""

from __future__ import annotations

import itertools
import os

import httpx
import schemathesis

from tests.openapi.examples import example
from tests.support.shapes import is_about_shape

IDS = {
    "bookings.confirm": ("body", "id"),
    "bookings.cancel": ("body", "booking_id"),
    "bookings.cancel_fee": ("body", "id"),
    "bookings.get": ("path_parameters", "id"),
    "tickets.cancel": ("body", "ticket_id"),
    "tickets.get": ("path_parameters", "id"),
    "tickets.pdf": ("path_parameters", "id"),
    "tickets.mark_paid": ("path_parameters", "id"),
}
"""By operation: where its id is."""
PROOFS = ("booking_reference", "ticket_number")
HEADERS = {
    "authorization": f"Bearer {os.environ['FERRY_ORGANISATION_TOKEN']}",
    "accept": "application/json",
}

http = httpx.Client(base_url=os.environ["FERRY_BASE_URL"], headers=HEADERS, timeout=60)
turns = itertools.cycle([True, False])


def new_id(operation: str) -> str:
    """Return the id of a new booking, or of its ticket."""
    booking = http.post("/api/booking", json=example("/api/booking")).json()["booking_id"]
    if operation.startswith("bookings."):
        return booking
    return http.get(f"/api/booking/{booking}").json()["tickets"][0]["id"]


@schemathesis.hook
def before_call(_context, case, _kwargs) -> None:
    """Give every second valid request the id of a new booking, so that it can succeed."""
    operation = case.operation.definition.raw["operationId"]
    where, name = IDS.get(operation, (None, None))
    if where is None or not case.meta.generation.mode.is_positive or not next(turns):
        return
    holder = getattr(case, where)
    if isinstance(holder, dict) and name in holder:
        holder[name] = new_id(operation)
        for proof in PROOFS:
            holder.pop(proof, None)


@schemathesis.check
def schema_agrees_with_the_service(_context, response, case) -> None:
    """Fail if a request that the schema allows is refused because of its shape."""
    if response.status_code != 422 or not case.meta.generation.mode.is_positive:
        return
    error = response.json()
    messages = [each["message"] for each in error.get("errors", [])] or [error["message"]]
    wrong = [message for message in messages if is_about_shape(message)]
    assert not wrong, f"the schema allows it, the service does not: {wrong}"
