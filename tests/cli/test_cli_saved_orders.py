"""`ferry orders`: list, show and resume what is on record."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk import OrderError, orders
from ferry_sdk.journal import Journal
from tests.support.trip import PASSENGERS, found

pytestmark = pytest.mark.usefixtures("look_once")


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'ferry.db'}"


@pytest.fixture
def journal(url):
    with Journal(url) as made:
        yield made


def test_orders_are_listed_shown_and_resumed(cli, ferry, ferry_sandbox, journal, url):
    sailing = found(ferry)
    selection = [sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])]
    held = orders.hold(ferry, [selection], passengers=PASSENGERS, journal=journal)
    assert cli("orders", "list", "--journal", url).out == ""
    shown = json.loads(cli("orders", "show", held.id, "--journal", url, "--json").out)["order"]
    (part,) = shown["parts"]
    assert (shown["state"], part["booking_id"]) == ("held", held.parts[0].booking_id)
    assert part["total"] == str(held.parts[0].total)

    ferry_sandbox.faults.add("lose_reply", "bookings.create", after=1)
    with pytest.raises(OrderError) as raised:
        orders.hold(ferry, [selection, selection], passengers=PASSENGERS, journal=journal)
    order = raised.value.order
    listed = cli("orders", "list", "--journal", url).out
    assert order.id in listed
    assert held.id not in listed
    resumed = cli("orders", "resume", order.id, "--journal", url, code=5)
    assert "unknown" in resumed.out
    assert "settle journal entry" in resumed.err

    (entry,) = journal.unresolved()
    journal.settle(entry, happened=False)
    assert "cancelled" in cli("orders", "resume", order.id, "--journal", url, code=4).out
    assert ferry.bookings.get(order.parts[0].booking_id).stage == "voided"
    assert cli("orders", "list", "--journal", url).out == ""
    cli("orders", "show", "none", "--journal", url, code=3)
