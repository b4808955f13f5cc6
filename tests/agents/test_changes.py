"""An agent changes a booking, and books a journey of two crossings."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest

from ferry_sdk import Ticket, TicketPassenger, Traveller, orders
from ferry_sdk.agents.policy.changes import _party
from tests.agents.agent import PASSENGERS, TRAVELLERS, error, result_of, runner_of
from tests.support.effects import effects
from tests.support.trip import DAY

pytestmark = pytest.mark.usefixtures("known_routes")
DOCUMENT = {"doc_type": "Passport", "doc_number": "XK447", "doc_expiration": "2059-01-31"}
ADA = {**PASSENGERS[0], "birth_date": "2015-04-02", **DOCUMENT}
LATER = DAY + timedelta(days=3)
STEPS = ["bookings.create", "bookings.confirm", "bookings.cancel"]
UNKNOWN = ("outcome_unknown", "unknown")


@pytest.fixture
def changing(toolkit_of, journal, agree):
    def make(*, deadline=30, **settings):
        client = {"journal": journal, "deadline": deadline}
        return toolkit_of(**{"client": client, "writes": True, "tools": "journey"} | settings)

    return lambda **settings: make(**{"approve": agree, **settings})


@pytest.fixture
def toolkit(changing):
    return changing()


def offers(toolkit, **changes):
    # The other company takes seconds to issue a ticket.
    trip = {"origin": "Tarifa", "destination": "MATNG", "on": f"{LATER}", "companies": ["BALEARIA"]}
    party = {} if "travellers" in changes else {"passengers": TRAVELLERS}
    return toolkit.do("trips_find", **{**trip, **party, **changes})["offers"]


def stage_of(toolkit, booking_id):
    return toolkit.do("bookings_get", booking_id=booking_id)["stage"]


def ticketed(toolkit, **party):
    """Return the id of a booking that is paid and issued."""
    searched = {name: one for name, one in party.items() if name == "travellers"}
    offer = offers(toolkit, on=DAY.isoformat(), **searched)[0]["offer"]
    booking = toolkit.do("bookings_create", offer=offer, **(party or {"passengers": [ADA]}))
    return issued(toolkit, booking["booking_id"])


def issued(toolkit, booking_id):
    """Confirm a booking, and return its id when its tickets are issued."""
    toolkit.do("bookings_confirm", booking_id=booking_id)
    while stage_of(toolkit, booking_id) == "in_progress":
        time.sleep(0.05)
    return booking_id


def wish(toolkit):
    return {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}


def test_a_sailing_is_changed_in_three_calls(changing, asked, ferry, ferry_sandbox, journal):
    toolkit = changing(spend_limit={"EUR": 500}, penalty_limit={"EUR": 50})
    old = ticketed(toolkit)
    fee = toolkit.do("bookings_cancel_fee", id=old)
    asked.clear()
    offer = offers(toolkit)[0]
    wanted = {"booking_id": old, "offer": offer["offer"]}
    changed = toolkit.do("bookings_change", **wanted)
    (request,) = asked
    assert (request.amount, request.currency) == (Decimal(offer["price"]), "EUR")
    assert f"Book for {offer['price']} EUR" in request.summary
    assert f"{fee['penalty_amount']} EUR is kept" in request.summary
    assert f"{fee['refund_amount']} EUR is paid back" in request.summary
    assert request.travellers == ('"Marguerite Okonkwo"',)
    assert (changed["state"], changed["replaced"]) == ("confirmed", old)
    assert changed["total_price"] == offer["price"]
    shown = toolkit.do("bookings_get", booking_id=changed["booking_id"])
    assert shown["stage"] == "ticketed"
    journey = shown["tickets"][0]["availability"]["outward"]["journey"]
    assert journey["depart_at"].startswith(LATER.isoformat())
    assert stage_of(toolkit, old) == "voided"
    assert effects(ferry_sandbox)[-3:] == STEPS
    assert orders.unfinished(journal=journal) == ()
    (ada,) = ferry.bookings.get(changed["booking_id"]).tickets[0].passengers
    assert (ada.doc_number, str(ada.birth_date)) == ("XK447", ADA["birth_date"])
    asked.clear()
    assert toolkit.fail("bookings_change", "already_done", **wanted)["result"] == changed
    again = toolkit.fail("bookings_create", "already_done", offer=offer["offer"], passengers=[ADA])
    assert again["result"] == changed
    assert asked == []


def test_a_change_in_vain_asks_nobody(changing, asked, sending_nothing):
    toolkit = changing(spend_limit={"EUR": 40})
    first = offers(toolkit, on=DAY.isoformat())[0]["offer"]
    held = toolkit.do("bookings_create", offer=first, passengers=[ADA])
    named = {"booking_id": held["booking_id"]}
    (offer, *_), (two, *_), (car, *_) = (
        offers(toolkit, **changes)
        for changes in ({}, {"passengers": TRAVELLERS * 2}, {"vehicle": "Fiat 500"})
    )
    wanted = {**named, "offer": offer["offer"]}

    def refused(*rows):
        asked.clear()
        with sending_nothing():
            for code, changes in rows:
                last = toolkit.fail("bookings_change", code, **{**wanted, **changes})
        assert asked == []
        return last

    last = refused(("not_changeable", {}), ("unseen_id", {"booking_id": "b-1"}))
    assert last["field"] == "booking_id"
    issued(toolkit, **named)
    refused(
        ("party_changed", {"offer": two["offer"]}),
        ("party_changed", {"offer": car["offer"]}),
        ("spend_limit", {"expect_total": "30.00"}),
        ("unseen_id", {"offer": "xyz9"}),
    )
    toolkit.do("bookings_cancel", **named)
    refused(("already_cancelled", {}))


def test_a_fee_that_rises_while_a_person_decides_changes_nothing(
    toolkit, sending_nothing, ferry_sandbox
):
    def slowly(_):
        days = (DAY - ferry_sandbox.clock.now().date()).days
        ferry_sandbox.clock.advance(timedelta(days=days, hours=-9))
        return True

    wanted = wish(toolkit)
    runner_of(toolkit).approve = slowly
    with sending_nothing():
        assert toolkit.fail("bookings_change", "penalty_exceeded", **wanted)["next_step"]


@pytest.mark.parametrize("reads", range(1, 5))
def test_a_refund_that_falls_after_the_question_keeps_the_old_booking(
    toolkit, ferry_sandbox, reads
):
    def agree(_):
        low = {"field": "refund_amount", "value": "0.01"}
        ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", after=reads, times=9, **low)
        return True

    wanted = wish(toolkit)
    runner_of(toolkit).approve = agree
    code = "penalty_exceeded" if reads < 3 else "change_incomplete"
    refused = toolkit.fail("bookings_change", code, "failed", **wanted)
    assert Decimal(refused["min_refund"]) > Decimal(refused["refund"]) == Decimal("0.01")
    assert stage_of(toolkit, wanted["booking_id"]) == "ticketed"


def test_a_dearer_place_is_paid_only_at_the_price_that_was_named(toolkit, asked):
    old = ticketed(toolkit)
    trip = {"origin": "Genoa", "destination": "Tunis", "on": "2050-06-06"}
    found = toolkit.do("trips_find", **trip, passengers=TRAVELLERS)
    cabin = next(key for key, name in found["places"].items() if "Inside cabin" in name)
    wanted = {"booking_id": old, "offer": found["offers"][0]["offer"], "places": [cabin]}
    refused = toolkit.fail("bookings_change", "price_changed", "failed", **wanted)
    assert Decimal(refused["found"]) > Decimal(refused["expected"])
    assert stage_of(toolkit, old) == "ticketed"
    asked.clear()
    changed = toolkit.do("bookings_change", **wanted, expect_total=refused["found"])
    assert [str(one.amount) for one in asked] == [refused["found"]]
    assert changed["total_price"] == refused["found"]


def test_both_bookings_are_named_if_the_old_one_stays(toolkit, ferry_sandbox):
    wanted = wish(toolkit)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    half = toolkit.fail("bookings_change", "change_incomplete", "failed", **wanted)["result"]
    assert (half["state"], half["replaced"]) == ("partial", wanted["booking_id"])
    assert stage_of(toolkit, half["booking_id"]) == "ticketed"
    toolkit.do("bookings_cancel", booking_id=wanted["booking_id"])
    again = toolkit.fail("bookings_change", "already_done", **wanted)
    assert again["result"]["booking_id"] == half["booking_id"]


def test_without_a_journal_no_booking_is_changed(changing, sending_nothing):
    for writes, code in ((True, "journal_needed"), (False, "writes_disabled")):
        toolkit = changing(client={"deadline": 30}, writes=writes)
        assert "bookings_change" not in {one.name for one in toolkit.definitions()}
        with sending_nothing():
            toolkit.fail("bookings_change", code, booking_id="b", offer="o")


def test_two_crossings_are_booked_one_by_one(toolkit):
    trip = {"origin": "Barcelona", "destination": "Tunis", "on": "2050-06-06"}
    query = {**trip, "passengers": TRAVELLERS, "limit": 3}
    assert "`changes`" in toolkit.call("trips_find", query)["notes"][0]
    answer = toolkit.call("trips_find", {**query, "changes": 1})
    found = result_of(answer)
    assert any("separate tickets" in note for note in answer["notes"])
    connection = found["connections"][0]
    assert len(found["connections"]) <= 3
    prices = {one["offer"]: Decimal(one["price"]) for one in found["offers"]}
    assert Decimal(connection["price"]) == sum(prices[one] for one in connection["offers"])
    assert found["destination"].startswith("TNLGN")
    held = [
        toolkit.do("bookings_create", offer=one, passengers=PASSENGERS)
        for one in connection["offers"]
    ]
    legs = []
    for one in held:
        named = {"booking_id": one["booking_id"]}
        paid = toolkit.do("bookings_confirm", **named, expect_total=one["total_price"])
        assert paid["status"] == "confirmed"
        legs.append(toolkit.do("bookings_get", **named))
    assert [one["payment_status"] for one in legs] == ["paid", "paid"]
    first, second = (one["tickets"][0]["availability"]["outward"]["journey"] for one in legs)
    assert first["arrive_port_name"] == second["depart_port_name"] != first["depart_port_name"]
    assert first["arrive_at"] < second["depart_at"]
    for name, value in (("back", "2050-06-09"), ("flexible", 2)):
        wrong = {**query, "changes": 1, name: value}
        assert toolkit.fail("trips_find", "invalid_arguments", **wrong)["field"] == name


def test_a_booking_of_handles_is_changed_without_them(changing):
    ada = Traveller(first_name="Ada", last_name="Reyes", gender="Female", age=34)
    toolkit = changing(travellers={"t1": ada})
    party = {"travellers": ["t1"]}
    offer = offers(toolkit, **party)[0]["offer"]
    changed = toolkit.do("bookings_change", booking_id=ticketed(toolkit, **party), offer=offer)
    assert changed["state"] == "confirmed"


def test_what_is_not_known_of_a_traveller_is_left_out():
    ada = TicketPassenger(first_name="Ada", last_name="Reyes", birth_date="1990-04-02", card="gold")
    (same,) = _party(Ticket.model_construct(passengers=(ada,)), ["Adult"])
    assert (same.last_name, same.type) == ("Reyes", "Adult")


def test_a_change_of_unknown_outcome_is_not_made_again(
    toolkit, ferry_sandbox, sending_nothing, journal
):
    wanted = wish(toolkit)
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    toolkit.fail("bookings_change", *UNKNOWN, **wanted)
    with sending_nothing():
        toolkit.fail("bookings_change", "outcome_unknown", **wanted)
    (write,) = toolkit.unresolved
    assert (write.tool, write.subject["booking_id"]) == ("bookings_change", wanted["booking_id"])
    (order,) = orders.unfinished(journal=journal)
    assert order.state == "unknown"


@pytest.mark.usefixtures("look_once")
@pytest.mark.parametrize("lost", ["bookings.confirm", "bookings.cancel"])
def test_a_change_whose_reply_was_lost_goes_on_when_it_is_repeated(
    changing, asked, ferry_sandbox, lost
):
    toolkit = changing(deadline=5, spend_limit={"EUR": 100})
    wanted = wish(toolkit)
    faults, before = ferry_sandbox.faults, len(ferry_sandbox.counters.effects)
    faults.add("lose_reply", lost)
    # The old booking, the guard, and the wait until the new one is issued are read before.
    faults.add("server_error", "bookings.get", after=3 + (lost == "bookings.cancel"), times=None)
    toolkit.fail("bookings_change", *UNKNOWN, **wanted)
    toolkit.fail("bookings_change", "outcome_unknown", **wanted)
    faults.clear()
    asked.clear()
    changed = toolkit.do("bookings_change", **wanted)
    assert (changed["state"], changed["replaced"]) == ("confirmed", wanted["booking_id"])
    assert asked == []
    assert effects(ferry_sandbox)[before:] == STEPS
    assert toolkit.unresolved == ()
    assert toolkit.fail("bookings_change", "already_done", **wanted)["result"] == changed
    assert stage_of(toolkit, changed["booking_id"]) == "ticketed"
    toolkit.do("bookings_cancel", booking_id=changed["booking_id"])


@pytest.mark.usefixtures("look_once")
def test_a_change_that_did_not_happen_may_be_made_again(changing, ferry_sandbox, journal):
    toolkit = changing(deadline=5)
    wanted = wish(toolkit)
    ferry_sandbox.faults.add("cut_before", "bookings.confirm")
    toolkit.fail("bookings_change", *UNKNOWN, **wanted)
    toolkit.fail("bookings_change", "outcome_unknown", **wanted)
    (entry,) = journal.entries(state="unknown")
    journal.settle(entry, happened=False)
    toolkit.fail("bookings_change", "not_changed", **wanted)
    assert toolkit.unresolved == ()
    assert toolkit.do("bookings_change", **wanted)["state"] == "confirmed"


@pytest.mark.parametrize("answer", [False, True])
def test_only_a_change_that_is_made_counts_as_spent_also_after_it_is_cancelled(
    changing, tmp_path, answer
):
    limits = {"spend_limit": {"EUR": 40}, "penalty_limit": {"EUR": 50}}
    toolkit = changing(**limits, state=tmp_path / "state.db")
    old, offer = ticketed(toolkit), offers(toolkit)[0]
    assert Decimal(offer["price"]) * 3 > 40 > Decimal(offer["price"]) * 2
    runner_of(toolkit).approve = lambda _: answer
    changed = toolkit.call("bookings_change", {"booking_id": old, "offer": offer["offer"]})
    assert changed["status"] == ("done" if answer else "refused")
    runner_of(toolkit).approve = lambda _: True
    trip = {"on": (LATER + timedelta(days=1)).isoformat()}
    wanted = {"offer": offers(toolkit, **trip)[0]["offer"], "passengers": PASSENGERS}
    if not answer:
        toolkit.do("bookings_create", **wanted)
        return
    toolkit.fail("bookings_create", "spend_limit", **wanted)
    toolkit.do("bookings_cancel", booking_id=result_of(changed)["booking_id"])
    wanted = {"offer": offer["offer"], "passengers": [ADA]}
    refused = toolkit.fail("bookings_create", "spend_limit", **wanted)
    assert Decimal(refused["spent"]) > Decimal(offer["price"]), "with the first booking"


def test_a_change_is_approved_by_a_code(toolkit):
    wanted = wish(toolkit)
    runner_of(toolkit).approve = None
    change = toolkit.toolkit.call
    approval = change("bookings_change", wanted)["approval"]
    assert "is paid back" in approval["summary"]
    other = {"expect_total": "13.00", "confirmation_code": approval["confirmation_code"]}
    error(change("bookings_change", wanted | other), "code_invalid")
    code = change("bookings_change", wanted)["approval"]["confirmation_code"]
    changed = change("bookings_change", {**wanted, "confirmation_code": code})
    assert result_of(changed)["state"] == "confirmed"
