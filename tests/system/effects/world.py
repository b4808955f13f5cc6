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
    """What a call is about; None where the call needs no booking.

    Attributes:
        selection: The sailing to book.
        booking_id: The booking.
        ticket_id: A ticket of the booking.
        total: The price of the booking.
        traveller: Who travels.
    """

    selection: list[Any]
    booking_id: Any = None
    ticket_id: Any = None
    total: Any = None
    traveller: Any = field(default_factory=lambda: summer.TRAVELLER)

    @property
    def sailing(self):
        """The arguments that create a booking."""
        return {"availabilities": self.selection, "passengers": [self.traveller]}


CALLS = {
    "bookings.create": lambda ferry, subject: ferry.bookings.create(**subject.sailing),
    "bookings.confirm": lambda ferry, subject: ferry.bookings.confirm(subject.booking_id),
    "bookings.cancel": lambda ferry, subject: ferry.bookings.cancel(subject.booking_id),
    "tickets.cancel": lambda ferry, subject: ferry.tickets.cancel(subject.ticket_id),
    "tickets.mark_paid": lambda ferry, subject: ferry.tickets.mark_paid(
        subject.ticket_id, external_payment_ref="pay-1"
    ),
    "mcp.create_booking": lambda ferry, subject: ferry.mcp.create_booking(**subject.sailing),
    "mcp.confirm_booking": lambda ferry, subject: ferry.mcp.confirm_booking(subject.booking_id),
    "mcp.cancel_ticket": lambda ferry, subject: ferry.mcp.cancel_ticket(subject.ticket_id),
    "availability.search": lambda ferry, _: ferry.availability.search(**summer.search()),
    "bookings.get": lambda ferry, subject: ferry.bookings.get(subject.booking_id),
    "tickets.get": lambda ferry, subject: ferry.tickets.get(subject.ticket_id),
    "tickets.pdf": lambda ferry, subject: ferry.tickets.pdf(subject.ticket_id),
    "catalogue.ports": lambda ferry, _: ferry.catalogue.ports(),
    "mcp.view_ticket": lambda ferry, subject: ferry.mcp.view_ticket(subject.ticket_id),
    "mcp.ports": lambda ferry, _: ferry.mcp.ports(),
}
"""The calls, by their public names; made by a client, or begun by an async one."""

GUARDED = {
    **CALLS,
    "bookings.confirm": lambda ferry, subject: ferry.bookings.confirm(
        subject.booking_id, expect_total=subject.total, currency="EUR"
    ),
    "bookings.cancel": lambda ferry, subject: ferry.bookings.cancel(subject.booking_id, **_LIMITS),
    "tickets.cancel": lambda ferry, subject: ferry.tickets.cancel(subject.ticket_id, **_LIMITS),
    "tickets.mark_paid": lambda ferry, subject: ferry.tickets.mark_paid(
        subject.ticket_id, external_payment_ref="pay-1", booking_id=subject.booking_id
    ),
}
"""The same; where they can, they look before they act, or name what can be looked at after."""


class World:
    """The service, the proxy and a client that speaks to the service directly.

    Attributes:
        sandbox: The local service.
        proxy: The proxy before it, which cuts, delays and drops.
        direct: A client without the proxy, for what calls need.
    """

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
        """A selected sailing, without the end of its tariff: the client's date is another one."""
        selections = summer.chosen(self.direct.availability.search(**summer.search()))
        names = {"availability_id", "tariff_id", "place_id"}
        return [selection.model_dump(include=names) for selection in selections]

    def calm(self):
        """End all faults and all harm."""
        self.sandbox.faults.clear()
        self.proxy.clear()

    def prepare(self, operation, *, is_repeated=False):
        """Make what a call needs, count from now on, and return it.

        With `is_repeated`, the call itself was made before.
        """
        self.calm()
        subject = Subject(self.selection)
        if operation not in {"bookings.create", "mcp.create_booking"}:
            subject = self._book(operation)
            if is_repeated:
                CALLS[operation](self.direct, subject)

        self.sandbox.counters.reset()
        self.proxy.forget()
        return subject

    def _book(self, operation):
        """Make a booking; it is confirmed unless the call itself confirms or pays."""
        bookings = self.direct.bookings
        created = bookings.create(availabilities=self.selection, passengers=[summer.TRAVELLER])
        if "confirm" not in operation and operation != "tickets.mark_paid":
            bookings.confirm(created.booking_id)

        booking = bookings.get(created.booking_id)
        return Subject(
            self.selection,
            booking_id=booking.booking_id,
            ticket_id=booking.tickets[0].id,
            total=booking.total_price,
        )
