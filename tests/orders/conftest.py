"""Fixtures: a service, a client of either kind, a journal, and sailings to choose from."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from ferry_sdk import Ferry, orders
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.journal.conftest import postgres, sqlite_url, url
from tests.support.trip import PASSENGERS, selected

__all__ = ["postgres", "sqlite_url", "url"]


class Desk(NamedTuple):
    ferry: Ferry
    journal: Journal
    sandbox: Sandbox
    run: Callable

    def selections(self, count=2):
        return [[selected(self.ferry, place)] for place in range(count)]

    def hold(self, count=2):
        return self.run(orders.hold, self.selections(count), passengers=PASSENGERS)

    def confirm(self, order, **more):
        return self.run(orders.confirm, order, **{"expect_totals": order.totals, **more})

    def booking(self, order, index=0):
        return self.ferry.bookings.get(order.parts[index].booking_id)


@pytest.fixture
def desk(clients, ferry_sandbox, url):
    settings = {"base_url": ferry_sandbox.base_url, "deadline": 20.0}
    client = clients(ferry_sandbox.token, **settings)
    with Journal(url) as journal, Ferry(ferry_sandbox.token, **settings) as ferry:

        def run(call, *args, **kwargs):
            return clients.run(call, client, *args, journal=journal, **kwargs)

        yield Desk(ferry, journal, ferry_sandbox, run)
