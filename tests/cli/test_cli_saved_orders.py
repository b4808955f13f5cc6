"""`ferry orders`: list, show and resume what is on record."""

import json

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk import OrderError, orders
from ferry_sdk.journal import Journal
from tests.cli.commands import interrupt
from tests.support.effects import effects
from tests.support.tiers import mostly_long
from tests.support.trip import DAY, PASSENGERS, found

pytestmark = pytest.mark.usefixtures("look_once")


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
    (entry,) = journal.unresolved()
    assert f"run `ferry journal settle {entry.id}`" in resumed.err

    journal.settle(entry, happened=False)
    assert "cancelled" in cli("orders", "resume", order.id, "--journal", url, code=4).out
    assert ferry.bookings.get(order.parts[0].booking_id).stage == "voided"
    assert cli("orders", "list", "--journal", url).out == ""
    cli("orders", "show", "none", "--journal", url, code=3)


def test_a_booking_is_changed_after_one_question(cli, ferry, ferry_sandbox, url, tmp_path):
    words = ["Tarifa", "MATNG", "--on", f"{DAY}", "--adult", "34F", "--company", "BALEARIA"]
    trips = cli("search", *words, "--json").document["trips"]
    traveller = {"type": "Adult", "first_name": "Zoë", "last_name": "Ngũgĩ", "gender": "Female"}

    def wish(trip):
        fare = next(one for one in trip["fares"] if one["reservation_type"] == "TICKET")
        return {"availabilities": fare["availabilities"], "passengers": [traveller]}

    old = ferry.bookings.create(**wish(trips[0])).booking_id
    ferry.bookings.confirm(old)
    file = tmp_path / "wish.json"
    file.write_text(json.dumps(wish(trips[-1])), encoding="utf-8")
    command = ["change", old, "--from", str(file), "--journal", url, "--yes"]

    without_price = wish(trips[-1])
    del without_price["availabilities"][0]["amount"]
    stripped = tmp_path / "stripped.json"
    stripped.write_text(json.dumps(without_price), encoding="utf-8")
    refused = cli("change", old, "--from", str(stripped), "--journal", url, "--yes", code=3)
    assert "availabilities" in refused.err
    assert "pass --yes" in cli(*command[:-1], code=2).err

    ended = cli(*command, "--json")
    for said in ("kept of it", "given back", "new booking"):
        assert said in ended.err
    new, part = ended.document["order"]["parts"]
    assert (part["booking_id"], part["state"]) == (old, "cancelled")
    assert ferry.bookings.get(new["booking_id"]).stage == "ticketed"
    assert ferry.bookings.get(old).stage == "voided"

    command[1] = new["booking_id"]
    ferry_sandbox.faults.add("refused", "bookings.confirm", status=409, code="CONFLICT")
    failed = cli(*command, code=4)
    assert ferry.bookings.get(new["booking_id"]).stage == "ticketed"
    assert "CONFLICT" in failed.err


@pytest.mark.parametrize("write", mostly_long(["create", "confirm", "cancel"]))
def test_an_interrupted_change_names_its_order(
    cli, ferry, ferry_sandbox, booked, order, journal, url, tmp_path, write
):
    ferry.bookings.confirm(booked)
    before = len(ferry_sandbox.counters.effects)
    ferry_sandbox.faults.add("delay_after", f"bookings.{write}", seconds=30)
    words = ("change", booked, "--from", str(order), "--yes", "--journal", url)

    def written():
        return f"bookings.{write}" in effects(ferry_sandbox)[before:]

    output = interrupt(ferry_sandbox, tmp_path, *words, when=written)
    (left,) = orders.unfinished(journal=journal)
    assert f"interrupted; the change is order {left.id}" in output
    assert f"run `ferry orders resume {left.id}`" in output

    seen = write != "create"
    resumed = cli("orders", "resume", left.id, "--journal", url, code=0 if seen else 5)
    assert ("confirmed" if seen else "unknown") in resumed.out
    assert [one.operation for one in journal.unresolved()] == ([] if seen else ["bookings.create"])
