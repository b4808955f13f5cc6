"""The service, the proxy before it, and what a call needs to have been done beforehand."""

from contextlib import ExitStack
from functools import cached_property

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from tests.support import summer
from tests.support.cutting import CuttingProxy

from .calling import CALLS, Subject


class World:
    """A service at a moment of May, and a proxy before it, for `with` blocks."""

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
        return [
            {
                "availability_id": one.availability_id,
                "tariff_id": one.tariff_id,
                "place_id": one.place_id,
            }
            for one in chosen
        ]

    def calm(self):
        """No faults, no harms, no requests on their way."""
        self.sandbox.faults.clear()
        self.proxy.clear()

    def prepare(self, operation, *, is_repeated=False):
        """What the operation is done to, fresh, or done already; nothing of it is counted."""
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
