"""Examples of requests and responses: one journey, performed by the service itself.

The clock is frozen and the ids have a seed, so the examples are the same on every machine. The
year is far ahead, so that the example of a search can be sent to a running service.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.network.seeded_random import Ids, SeededRandom
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.operations import ENDPOINTS
from ferry_sdk.sandbox.requests.access import Access, Caller, Protocol
from ferry_sdk.sandbox.responses.fields import Error
from ferry_sdk.sandbox.service import Service, ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

NOW = datetime(2030, 5, 6, 9, tzinfo=UTC)
_UNKNOWN = "00000000-0000-4000-8000-000000000000"
_BASE_URL = "http://127.0.0.1:8080"
_LONGEST_IMAGE, _LONGEST_LIST = 60, 2


@dataclass(frozen=True, slots=True)
class Example:
    """A call of an operation.

    Attributes:
        arguments: Its arguments.
        answer: Its answer, with long lists and images shortened.
        errors: What it answers to other arguments, by HTTP status.
    """

    arguments: Mapping[str, Any]
    answer: Any
    errors: dict[int, Error] = field(default_factory=dict[int, Error])


def examples() -> dict[str, Example]:
    """Return an example of every REST operation, and of the tool that views a ticket."""
    requests = data_beside(__file__)
    journey = _Journey()
    availabilities = journey.perform("availability.search", requests["search"])
    selection = {
        "availability_id": availabilities[0]["id"],
        "tariff_id": availabilities[0]["tariffs"][0]["id"],
        "place_id": availabilities[0]["places"][0]["id"],
    }
    booking = {"availabilities": [selection], **requests["booking"]}
    created = {"id": journey.perform("bookings.create", booking)["booking_id"]}
    read = journey.perform("bookings.get", created)
    ticket = {"id": read["tickets"][0]["id"]}
    payment = {"external_payment_ref": "pi_3NqX", "psp": "stripe", "paid_at": NOW.isoformat()}
    journey.perform("tickets.mark_paid", {**ticket, **payment})
    journey.perform("bookings.confirm", created)
    for operation in ("bookings.get", "bookings.cancel_fee"):
        journey.perform(operation, created)
    for operation in ("tickets.get", "tickets.pdf", "mcp.view_ticket"):
        journey.perform(operation, ticket)
    journey.perform("tickets.cancel", {"ticket_id": ticket["id"]})
    other = journey.answer("bookings.create", booking)["booking_id"]
    journey.perform("bookings.cancel", {"booking_id": other})
    for row in ENDPOINTS:
        if row.name not in journey.examples:
            journey.perform(row.name, row.example)
    for operation, example in journey.examples.items():
        # What changes when the call is made again, so that it is refused.
        journey.add_errors(operation, example, requests["other_arguments"].get(operation, {}))
    return journey.examples


class _Journey:
    """A service of its own, which remembers the last call of each operation."""

    def __init__(self) -> None:
        clock = Clock(NOW, frozen=True)
        self.examples: dict[str, Example] = {}
        self._service = Service(
            clock=clock,
            offers=Offers(clock, 1),
            faults=Faults(),
            counters=Counters(clock),
            ids=Ids(SeededRandom(1)),
        )

    def perform(self, operation: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON
        answer = self.answer(operation, arguments)
        self.examples[operation] = Example(arguments, _shorten(answer))
        return answer

    def add_errors(self, operation: str, example: Example, changes: Mapping[str, Any]) -> None:
        """Make the call again, with unknown ids and with invalid fields, and note the errors."""
        again = {**example.arguments, **changes}
        ids = [name for name in again if name.endswith("id")]
        for arguments in (
            again,
            {**again, **dict.fromkeys(ids, _UNKNOWN)},
            {**dict.fromkeys(ids, ""), "colour": "red"},
        ):
            try:
                self.answer(operation, arguments)
            except ServiceError as error:
                example.errors.setdefault(error.status, error.to_wire())

    def answer(self, operation: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON
        protocol: Protocol = "mcp" if operation.startswith("mcp.") else "rest"
        caller = Caller(Access.ORGANISATION, "en", protocol, _BASE_URL)
        return self._service.perform(operation, arguments, caller)


def _shorten(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item) for item in value[:_LONGEST_LIST]]
    if isinstance(value, str) and value.startswith("data:"):
        return f"{value[:_LONGEST_IMAGE]}…"
    return value
