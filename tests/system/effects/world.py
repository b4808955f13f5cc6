"""The calls that schedules make, the service, the proxy before it, and what calls need."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from tests.support import summer
from tests.support.cutting import CuttingProxy

_LIMITS = {"max_penalty": 9999, "min_refund": 0, "currency": "EUR"}


@dataclass(frozen=True, slots=True)
class Subject:
    selection: list[Any]
    booking_id: Any = None
    ticket_id: Any = None
    total: Any = None
    traveller: Any = field(default_factory=lambda: summer.TRAVELLER)

    @property
    def sailing(self):
        return {"availabilities": self.selection, "passengers": [self.traveller]}


CALLS = {
    "bookings.create": lambda ferry, it: ferry.bookings.create(**it.sailing),
    "bookings.confirm": lambda ferry, it: ferry.bookings.confirm(it.booking_id),
    "bookings.cancel": lambda ferry, it: ferry.bookings.cancel(it.booking_id),
    "tickets.cancel": lambda ferry, it: ferry.tickets.cancel(it.ticket_id),
    "tickets.mark_paid": lambda ferry, it: ferry.tickets.mark_paid(
        it.ticket_id, external_payment_ref="pay-1"
    ),
    "mcp.create_booking": lambda ferry, it: ferry.mcp.create_booking(**it.sailing),
    "mcp.confirm_booking": lambda ferry, it: ferry.mcp.confirm_booking(it.booking_id),
    "mcp.cancel_ticket": lambda ferry, it: ferry.mcp.cancel_ticket(it.ticket_id),
    "availability.search": lambda ferry, _: ferry.availability.search(**summer.search()),
    "bookings.get": lambda ferry, it: ferry.bookings.get(it.booking_id),
    "tickets.get": lambda ferry, it: ferry.tickets.get(it.ticket_id),
    "tickets.pdf": lambda ferry, it: ferry.tickets.pdf(it.ticket_id),
    "catalogue.ports": lambda ferry, _: ferry.catalogue.ports(),
    "mcp.view_ticket": lambda ferry, it: ferry.mcp.view_ticket(it.ticket_id),
    "mcp.ports": lambda ferry, _: ferry.mcp.ports(),
}
"""The calls, by their public names; made by a client, or begun by an async one."""

GUARDED = {
    **CALLS,
    "bookings.confirm": lambda ferry, it: ferry.bookings.confirm(
        it.booking_id, expect_total=it.total, currency="EUR"
    ),
    "bookings.cancel": lambda ferry, it: ferry.bookings.cancel(it.booking_id, **_LIMITS),
    "tickets.cancel": lambda ferry, it: ferry.tickets.cancel(it.ticket_id, **_LIMITS),
    "tickets.mark_paid": lambda ferry, it: ferry.tickets.mark_paid(
        it.ticket_id, external_payment_ref="pay-1", booking_id=it.booking_id
    ),
}
"""The same; where they can, they look before they act, or name what can be looked at after."""


class World:
    def __init__(self):
        self.sandbox = Sandbox()

    def __enter__(self):
        with ExitStack() as stack:
            summer.stopped(stack.enter_context(self.sandbox))
            port = int(self.sandbox.base_url.rpartition(":")[2])
            self.proxy = stack.enter_context(CuttingProxy(port))
            self.direct = stack.enter_context(
                Ferry(
                    self.sandbox.token,
                    base_url=self.sandbox.base_url,
                    organisation_token=self.sandbox.organisation_token,
                )
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    @cached_property
    def selection(self):
        """A sailing, chosen; its tariff's end is not told, as this summer is not the client's."""
        chosen = summer.chosen(self.direct.availability.search(**summer.search()))
        names = {"availability_id", "tariff_id", "place_id"}
        return [one.model_dump(include=names) for one in chosen]

    def calm(self):
        self.sandbox.faults.clear()
        self.proxy.clear()

    def prepare(self, operation, *, is_repeated=False):
        self.calm()
        subject = Subject(self.selection)
        if operation not in {"bookings.create", "mcp.create_booking"}:
            created = self.direct.bookings.create(
                availabilities=self.selection, passengers=[summer.TRAVELLER]
            )
            if "confirm" not in operation and operation != "tickets.mark_paid":
                self.direct.bookings.confirm(created.booking_id)
            booking = self.direct.bookings.get(created.booking_id)
            subject = Subject(
                self.selection, booking.booking_id, booking.tickets[0].id, booking.total_price
            )
            if is_repeated:
                CALLS[operation](self.direct, subject)
        self.sandbox.counters.reset()
        self.proxy.forget()
        return subject
