"""Fixtures: a service, a client of either kind, a journal, and sailings to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ferry_sdk import Ferry, orders
from ferry_sdk.journal import Journal
from tests.journal.conftest import postgres, sqlite_url, url
from tests.support.trip import PASSENGERS, found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferry_sdk import Booking, Selection
    from ferry_sdk.orders import Order
    from ferry_sdk.sandbox import Sandbox

__all__ = ["postgres", "sqlite_url", "url"]


class Desk(NamedTuple):
    """What sells: a client, a journal, and the service behind it."""

    ferry: Ferry
    journal: Journal
    sandbox: Sandbox
    run: Callable[..., Any]
    """Makes a call of `orders` with the client of the test, sync or async."""

    def selections(self, count: int = 2) -> list[list[Selection]]:
        """A selection for each booking: another berth on one sailing."""
        sailing = found(self.ferry)
        tariff = next(one for one in sailing.tariffs if one.type == "Ticket")
        return [[sailing.select(tariff=tariff, place=sailing.places[one])] for one in range(count)]

    def hold(self, count: int = 2) -> Order:
        selections = self.selections(count)
        order: Order = self.run(orders.hold, selections, passengers=PASSENGERS)
        return order

    def confirmed(self, count: int = 2) -> Order:
        order = self.hold(count)
        confirmed: Order = self.run(orders.confirm, order, expect_totals=order.totals)
        return confirmed

    def booking(self, order: Order, index: int = 0) -> Booking:
        return self.ferry.bookings.get(str(order.parts[index].booking_id))


@pytest.fixture
def desk(clients, ferry_sandbox, url) -> Iterator[Desk]:
    settings = {"base_url": ferry_sandbox.base_url, "deadline": 20.0}
    client = clients(ferry_sandbox.token, **settings)
    with Journal(url) as journal, Ferry(ferry_sandbox.token, **settings) as ferry:

        def run(call: Any, *args: Any, **kwargs: Any) -> Any:
            return clients.run(call, client, *args, journal=journal, **kwargs)

        yield Desk(ferry, journal, ferry_sandbox, run)
