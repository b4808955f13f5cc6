"""Hooks of schemathesis: bookings for its requests, and a check besides its own."""

from __future__ import annotations

import itertools
import os

import httpx
import schemathesis

from tests.openapi.run_schemathesis import example
from tests.support.shapes import is_about_shape

IDS = {
    **{f"bookings.{name}": ("body", "id") for name in ("confirm", "cancel_fee")},
    **{f"tickets.{name}": ("path_parameters", "id") for name in ("get", "pdf", "mark_paid")},
    "bookings.get": ("path_parameters", "id"),
    "bookings.cancel": ("body", "booking_id"),
    "tickets.cancel": ("body", "ticket_id"),
}
"""By operation: where its id is."""
PROOFS = ("booking_reference", "ticket_number")
TOKEN = os.environ["FERRY_ORGANISATION_TOKEN"]
HEADERS = {"authorization": f"Bearer {TOKEN}", "accept": "application/json"}

http = httpx.Client(base_url=os.environ["FERRY_BASE_URL"], headers=HEADERS, timeout=60)
turns = itertools.cycle([True, False])


def new_id(operation: str) -> str:
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
