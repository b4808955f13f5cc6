"""An agent changes a booking, and books a journey of two crossings."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest

from ferry_sdk import Ferry, Ticket, TicketPassenger, Traveller, orders
from ferry_sdk.agents.policy.changes import _party
from tests.agents.agent import PASSENGERS, TRAVELLERS, error, result_of, runner_of
from tests.support.trip import DAY

pytestmark = pytest.mark.usefixtures("known_routes")
DOCUMENT = {"doc_type": "Passport", "doc_number": "XK447", "doc_expiration": "2059-01-31"}
ADA = {**PASSENGERS[0], "birth_date": "2015-04-02", **DOCUMENT}
LATER = DAY + timedelta(days=3)


@pytest.fixture
def settings(journal, agree):
    """Return the settings of a toolkit that can change bookings."""
    client = {"journal": journal, "deadline": 30}
    return {"client": client, "writes": True, "tools": "journey", "approve": agree}


@pytest.fixture
def toolkit(toolkit_of, settings):
    """Return a toolkit that can change bookings."""
    return toolkit_of(**settings)


def offers(toolkit, **changes):
    # The other company takes seconds to issue a ticket.
    trip = {"origin": "Tarifa", "destination": "MATNG", "on": f"{LATER}", "companies": ["BALEARIA"]}
    answer = toolkit.call("trips_find", {**trip, "passengers": TRAVELLERS, **changes})
    return result_of(answer)["offers"]


def ticketed(toolkit):
    """Return the id of a booking that is paid and issued."""
    offer = offers(toolkit, on=DAY.isoformat())[0]["offer"]
    wanted = {"offer": offer, "passengers": [ADA]}
    booking = result_of(toolkit.call("bookings_create", wanted))
    named = {"booking_id": booking["booking_id"]}
    result_of(toolkit.call("bookings_confirm", named))
    wait_until_issued(toolkit, named)
    return str(named["booking_id"])


def wait_until_issued(toolkit, named):
    """Wait until the tickets of a booking are issued."""
    while result_of(toolkit.call("bookings_get", named))["stage"] == "in_progress":
        time.sleep(0.05)


def test_a_sailing_is_changed_in_three_calls(toolkit_of, settings, asked, ferry_sandbox, journal):
    toolkit = toolkit_of(**settings, spend_limit={"EUR": 500}, penalty_limit={"EUR": 50})
    old = ticketed(toolkit)
    fee = result_of(toolkit.call("bookings_cancel_fee", {"id": old}))
    asked.clear()
    offer = offers(toolkit)[0]
    answer = toolkit.call("bookings_change", {"booking_id": old, "offer": offer["offer"]})
    changed = result_of(answer)
    (request,) = asked
    assert (request.amount, request.currency) == (Decimal(offer["price"]), "EUR")
    assert f"Book for {offer['price']} EUR" in request.summary
    assert f"{fee['penalty_amount']} EUR is kept" in request.summary
    assert f"{fee['refund_amount']} EUR is paid back" in request.summary
    assert request.travellers == ('"Marguerite Okonkwo"',)
    assert (changed["state"], changed["replaced"]) == ("confirmed", old)
    assert changed["total_price"] == offer["price"]
    new = {"booking_id": changed["booking_id"]}
    shown = result_of(toolkit.call("bookings_get", new))
    assert shown["stage"] == "ticketed"
    assert shown["tickets"][0]["availability"]["outward"]["journey"]["depart_at"].startswith(
        LATER.isoformat()
    )
    assert result_of(toolkit.call("bookings_get", {"booking_id": old}))["stage"] == "voided"
    assert [one.operation.split(".")[1] for one in ferry_sandbox.counters.effects][-3:] == [
        "create",
        "confirm",
        "cancel",
    ]
    assert orders.unfinished(journal=journal) == ()
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        (ada,) = ferry.bookings.get(new["booking_id"]).tickets[0].passengers
    assert (ada.doc_number, str(ada.birth_date)) == ("XK447", ADA["birth_date"])
    asked.clear()
    again = toolkit.call("bookings_change", {"booking_id": old, "offer": offer["offer"]})
    assert error(again, "already_done")["result"] == changed
    wanted = {"offer": offer["offer"], "passengers": [ADA]}
    assert error(toolkit.call("bookings_create", wanted), "already_done")["result"] == changed
    assert asked == []


def test_a_change_in_vain_asks_nobody(toolkit_of, settings, asked, sending_nothing):
    toolkit = toolkit_of(**settings, spend_limit={"EUR": 40})
    first = offers(toolkit, on=DAY.isoformat())[0]["offer"]
    held = result_of(toolkit.call("bookings_create", {"offer": first, "passengers": [ADA]}))
    named = {"booking_id": held["booking_id"]}
    offer = {"offer": offers(toolkit)[0]["offer"]}
    two = {"offer": offers(toolkit, passengers=TRAVELLERS * 2)[0]["offer"]}
    car = {"offer": offers(toolkit, vehicle="Fiat 500")[0]["offer"]}
    asked.clear()
    with sending_nothing():
        error(toolkit.call("bookings_change", {**named, **offer}), "not_changeable")
        unseen = toolkit.call("bookings_change", {"booking_id": "b-1", **offer})
        assert error(unseen, "unseen_id")["field"] == "booking_id"
    result_of(toolkit.call("bookings_confirm", named))
    wait_until_issued(toolkit, named)
    asked.clear()
    with sending_nothing():
        error(toolkit.call("bookings_change", {**named, **two}), "party_changed")
        error(toolkit.call("bookings_change", {**named, **car}), "party_changed")
        dear = {**named, **offer, "expect_total": "30.00"}
        error(toolkit.call("bookings_change", dear), "spend_limit")
        error(toolkit.call("bookings_change", {**named, "offer": "xyz9"}), "unseen_id")
    result_of(toolkit.call("bookings_cancel", named))
    asked.clear()
    with sending_nothing():
        error(toolkit.call("bookings_change", {**named, **offer}), "already_cancelled")
    assert asked == []


def test_a_fee_that_rises_while_a_person_decides_changes_nothing(
    toolkit, sending_nothing, ferry_sandbox
):
    def slowly(_):
        days = (DAY - ferry_sandbox.clock.now().date()).days
        ferry_sandbox.clock.advance(timedelta(days=days, hours=-9))
        return True

    named = {"booking_id": ticketed(toolkit)}
    offer = offers(toolkit)[0]["offer"]
    runner_of(toolkit).approve = slowly
    with sending_nothing():
        answer = toolkit.call("bookings_change", {**named, "offer": offer})
        assert error(answer, "penalty_exceeded")["next_step"]


@pytest.mark.parametrize("reads", range(1, 5))
def test_a_refund_that_falls_after_the_question_keeps_the_old_booking(
    toolkit, ferry_sandbox, reads
):
    def agree(_):
        low = {"field": "refund_amount", "value": "0.01"}
        ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", after=reads, times=9, **low)
        return True

    named = {"booking_id": ticketed(toolkit)}
    offer = offers(toolkit)[0]["offer"]
    runner_of(toolkit).approve = agree
    answer = toolkit.call("bookings_change", {**named, "offer": offer})
    code = "penalty_exceeded" if reads < 3 else "change_incomplete"
    refused = error(answer, code, status="failed")
    assert Decimal(refused["min_refund"]) > Decimal(refused["refund"]) == Decimal("0.01")
    assert result_of(toolkit.call("bookings_get", named))["stage"] == "ticketed"


def test_a_dearer_place_is_paid_only_at_the_price_that_was_named(toolkit, asked):
    named = {"booking_id": ticketed(toolkit)}
    trip = {"origin": "Genoa", "destination": "Tunis", "on": "2050-06-06"}
    found = result_of(toolkit.call("trips_find", {**trip, "passengers": TRAVELLERS}))
    cabin = next(key for key, name in found["places"].items() if "Inside cabin" in name)
    wanted = {**named, "offer": found["offers"][0]["offer"], "places": [cabin]}
    refused = error(toolkit.call("bookings_change", wanted), "price_changed", status="failed")
    assert Decimal(refused["found"]) > Decimal(refused["expected"])
    assert result_of(toolkit.call("bookings_get", named))["stage"] == "ticketed"
    asked.clear()
    changed = result_of(
        toolkit.call("bookings_change", {**wanted, "expect_total": refused["found"]})
    )
    assert [str(one.amount) for one in asked] == [refused["found"]]
    assert changed["total_price"] == refused["found"]


def test_both_bookings_are_named_if_the_old_one_stays(toolkit, ferry_sandbox):
    old = ticketed(toolkit)
    offer = offers(toolkit)[0]["offer"]
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    answer = toolkit.call("bookings_change", {"booking_id": old, "offer": offer})
    half = error(answer, "change_incomplete", status="failed")
    assert (half["result"]["state"], half["result"]["replaced"]) == ("partial", old)
    new = half["result"]["booking_id"]
    assert result_of(toolkit.call("bookings_get", {"booking_id": new}))["stage"] == "ticketed"
    result_of(toolkit.call("bookings_cancel", {"booking_id": old}))
    again = toolkit.call("bookings_change", {"booking_id": old, "offer": offer})
    assert error(again, "already_done")["result"]["booking_id"] == new


def test_without_a_journal_no_booking_is_changed(toolkit_of, settings, sending_nothing):
    for writes, code in ((True, "journal_needed"), (False, "writes_disabled")):
        changed = {"client": {"deadline": 30}, "writes": writes}
        toolkit = toolkit_of(**{**settings, **changed})
        assert "bookings_change" not in {one.name for one in toolkit.definitions()}
        with sending_nothing():
            error(toolkit.call("bookings_change", {"booking_id": "b", "offer": "o"}), code)


def test_two_crossings_are_booked_one_by_one(toolkit):
    trip = {"origin": "Barcelona", "destination": "Tunis", "on": "2050-06-06"}
    query = {**trip, "passengers": TRAVELLERS, "limit": 3}
    direct = toolkit.call("trips_find", query)
    assert "`changes`" in direct["notes"][0]
    answer = toolkit.call("trips_find", {**query, "changes": 1})
    found = result_of(answer)
    assert any("separate tickets" in note for note in answer["notes"])
    connection = found["connections"][0]
    assert len(found["connections"]) <= 3
    prices = {one["offer"]: Decimal(one["price"]) for one in found["offers"]}
    assert Decimal(connection["price"]) == sum(prices[one] for one in connection["offers"])
    assert found["destination"].startswith("TNLGN")
    wanted = [{"offer": one, "passengers": PASSENGERS} for one in connection["offers"]]
    held = [result_of(toolkit.call("bookings_create", one)) for one in wanted]
    paid = [{"booking_id": one["booking_id"], "expect_total": one["total_price"]} for one in held]
    for one in paid:
        assert result_of(toolkit.call("bookings_confirm", one))["status"] == "confirmed"
    legs = [
        result_of(toolkit.call("bookings_get", {"booking_id": one["booking_id"]})) for one in paid
    ]
    assert [one["payment_status"] for one in legs] == ["paid", "paid"]
    first, second = (one["tickets"][0]["availability"]["outward"]["journey"] for one in legs)
    assert first["arrive_port_name"] == second["depart_port_name"] != first["depart_port_name"]
    assert first["arrive_at"] < second["depart_at"]
    for name, value in (("back", "2050-06-09"), ("flexible", 2)):
        refused = toolkit.call("trips_find", {**query, "changes": 1, name: value})
        assert error(refused, "invalid_arguments")["field"] == name


def test_a_booking_of_handles_is_changed_without_them(toolkit_of, settings):
    ada = Traveller(first_name="Ada", last_name="Reyes", gender="Female", age=34)
    toolkit = toolkit_of(**settings, travellers={"t1": ada})
    trip = {"origin": "Tarifa", "destination": "MATNG", "companies": ["BALEARIA"]}
    first, second = (
        result_of(toolkit.call("trips_find", {**trip, "on": f"{day}", "travellers": ["t1"]}))[
            "offers"
        ][0]
        for day in (DAY, LATER)
    )
    wanted = {"offer": first["offer"], "travellers": ["t1"]}
    named = {"booking_id": result_of(toolkit.call("bookings_create", wanted))["booking_id"]}
    result_of(toolkit.call("bookings_confirm", named))
    wait_until_issued(toolkit, named)
    answer = toolkit.call("bookings_change", {**named, "offer": second["offer"]})
    assert result_of(answer)["state"] == "confirmed"


def test_what_is_not_known_of_a_traveller_is_left_out():
    ada = TicketPassenger(first_name="Ada", last_name="Reyes", birth_date="1990-04-02", card="gold")
    (same,) = _party(Ticket.model_construct(passengers=(ada,)), ["Adult"])
    assert (same.last_name, same.type) == ("Reyes", "Adult")


def test_a_change_of_unknown_outcome_is_not_made_again(
    toolkit, ferry_sandbox, sending_nothing, journal
):
    wanted = {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    error(toolkit.call("bookings_change", wanted), "outcome_unknown", status="unknown")
    with sending_nothing():
        error(toolkit.call("bookings_change", wanted), "outcome_unknown")
    (write,) = toolkit.unresolved
    assert (write.tool, write.subject["booking_id"]) == ("bookings_change", wanted["booking_id"])
    (order,) = orders.unfinished(journal=journal)
    assert order.state == "unknown"


@pytest.mark.usefixtures("look_once")
@pytest.mark.parametrize("lost", ["bookings.confirm", "bookings.cancel"])
def test_a_change_whose_reply_was_lost_goes_on_when_it_is_repeated(
    toolkit_of, settings, asked, ferry_sandbox, lost
):
    client = {**settings["client"], "deadline": 5}
    toolkit = toolkit_of(**{**settings, "client": client}, spend_limit={"EUR": 100})
    wanted = {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}
    faults, before = ferry_sandbox.faults, len(ferry_sandbox.counters.effects)
    faults.add("lose_reply", lost)
    # The old booking, the guard, and the wait until the new one is issued are read before.
    faults.add("server_error", "bookings.get", after=3 + (lost == "bookings.cancel"), times=None)
    error(toolkit.call("bookings_change", wanted), "outcome_unknown", status="unknown")
    error(toolkit.call("bookings_change", wanted), "outcome_unknown")
    faults.clear()
    asked.clear()
    changed = result_of(toolkit.call("bookings_change", wanted))
    assert (changed["state"], changed["replaced"]) == ("confirmed", wanted["booking_id"])
    assert asked == []
    made = [one.operation for one in ferry_sandbox.counters.effects[before:]]
    assert made == ["bookings.create", "bookings.confirm", "bookings.cancel"]
    assert toolkit.unresolved == ()
    assert error(toolkit.call("bookings_change", wanted), "already_done")["result"] == changed
    named = {"booking_id": changed["booking_id"]}
    assert result_of(toolkit.call("bookings_get", named))["stage"] == "ticketed"
    result_of(toolkit.call("bookings_cancel", named))


@pytest.mark.usefixtures("look_once")
def test_a_change_that_did_not_happen_may_be_made_again(
    toolkit_of, settings, ferry_sandbox, journal
):
    client = {**settings["client"], "deadline": 5}
    toolkit = toolkit_of(**{**settings, "client": client})
    wanted = {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}
    ferry_sandbox.faults.add("cut_before", "bookings.confirm")
    error(toolkit.call("bookings_change", wanted), "outcome_unknown", status="unknown")
    error(toolkit.call("bookings_change", wanted), "outcome_unknown")
    (entry,) = journal.entries(state="unknown")
    journal.settle(entry, happened=False)
    error(toolkit.call("bookings_change", wanted), "not_changed")
    assert toolkit.unresolved == ()
    assert result_of(toolkit.call("bookings_change", wanted))["state"] == "confirmed"


@pytest.mark.parametrize("answer", [False, True])
def test_a_refused_change_counts_neither_as_spent_nor_as_a_penalty(
    toolkit_of, settings, tmp_path, answer
):
    limits = {"spend_limit": {"EUR": 40}, "penalty_limit": {"EUR": 50}}
    toolkit = toolkit_of(**settings, **limits, state=tmp_path / "state.db")
    named = {"booking_id": ticketed(toolkit)}
    offer = offers(toolkit)[0]
    assert Decimal(offer["price"]) * 3 > 40 > Decimal(offer["price"]) * 2
    runner_of(toolkit).approve = lambda _: answer
    changed = toolkit.call("bookings_change", {**named, "offer": offer["offer"]})
    assert changed["status"] == ("done" if answer else "refused")
    runner_of(toolkit).approve = lambda _: True
    trip = {"on": (LATER + timedelta(days=1)).isoformat()}
    wanted = {"offer": offers(toolkit, **trip)[0]["offer"], "passengers": PASSENGERS}
    made = toolkit.call("bookings_create", wanted)
    assert made.get("error", {}).get("code") == ("spend_limit" if answer else None)


def test_the_new_booking_of_a_change_counts_as_spent_after_it_is_cancelled(toolkit_of, settings):
    toolkit = toolkit_of(**settings, spend_limit={"EUR": 40})
    named = {"booking_id": ticketed(toolkit)}
    offer = offers(toolkit)[0]
    changed = result_of(toolkit.call("bookings_change", {**named, "offer": offer["offer"]}))
    result_of(toolkit.call("bookings_cancel", {"booking_id": changed["booking_id"]}))
    wanted = {"offer": offer["offer"], "passengers": [ADA]}
    refused = error(toolkit.call("bookings_create", wanted), "spend_limit")
    assert Decimal(refused["spent"]) > Decimal(offer["price"]), "with the first booking"


def test_a_change_is_approved_by_a_code(toolkit):
    wanted = {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}
    runner_of(toolkit).approve = None
    asked = toolkit.toolkit.call("bookings_change", wanted)
    code = asked["approval"]["confirmation_code"]
    assert "is paid back" in asked["approval"]["summary"]
    other = {**wanted, "expect_total": "13.00", "confirmation_code": code}
    error(toolkit.toolkit.call("bookings_change", other), "code_invalid")
    code = toolkit.toolkit.call("bookings_change", wanted)["approval"]["confirmation_code"]
    changed = toolkit.toolkit.call("bookings_change", {**wanted, "confirmation_code": code})
    assert result_of(changed)["state"] == "confirmed"
