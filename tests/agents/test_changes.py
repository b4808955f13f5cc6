"""An agent changes a booking, and books a journey of two crossings."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest

from ferry_sdk import Ticket, TicketPassenger, Traveller, orders
from ferry_sdk.agents.policy.changes import _party
from tests.agents.agent import PASSENGERS, TRAVELLERS, error, result_of, runner_of
from tests.support.effects import effects
from tests.support.hold import Hold
from tests.support.tiers import LONG
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


@pytest.fixture
def change(changing, asked):
    """A change of a sailing by a toolkit with limits: what was asked, and what came of it."""
    toolkit = changing(spend_limit={"EUR": 500}, penalty_limit={"EUR": 50})
    old = ticketed(toolkit)
    fee = toolkit.do("bookings_cancel_fee", id=old)
    asked.clear()
    offer = offers(toolkit)[0]
    wanted = {"booking_id": old, "offer": offer["offer"]}
    changed = toolkit.do("bookings_change", **wanted)
    return SimpleNamespace(toolkit=toolkit, fee=fee, offer=offer, wanted=wanted, changed=changed)


def test_a_sailing_is_changed_in_three_calls(change, ferry, ferry_sandbox, journal):
    old = change.wanted["booking_id"]
    assert (change.changed["state"], change.changed["replaced"]) == ("confirmed", old)
    assert change.changed["total_price"] == change.offer["price"]
    shown = change.toolkit.do("bookings_get", booking_id=change.changed["booking_id"])
    assert shown["stage"] == "ticketed"
    journey = shown["tickets"][0]["availability"]["outward"]["journey"]
    assert journey["depart_at"].startswith(LATER.isoformat())
    assert stage_of(change.toolkit, old) == "voided"
    assert effects(ferry_sandbox)[-3:] == STEPS
    assert orders.unfinished(journal=journal) == ()
    (ada,) = ferry.bookings.get(change.changed["booking_id"]).tickets[0].passengers
    assert (ada.doc_number, str(ada.birth_date)) == ("XK447", ADA["birth_date"])


def test_a_person_is_asked_about_both_prices(change, asked):
    (request,) = asked
    assert (request.amount, request.currency) == (Decimal(change.offer["price"]), "EUR")
    assert f"Book for {change.offer['price']} EUR" in request.summary
    assert f"{change.fee['penalty_amount']} EUR is kept" in request.summary
    assert f"{change.fee['refund_amount']} EUR is paid back" in request.summary
    assert request.travellers == ('"Marguerite Okonkwo"',)


def test_a_change_is_not_made_twice(change, asked):
    asked.clear()
    again = change.toolkit.fail("bookings_change", "already_done", **change.wanted)
    assert again["result"] == change.changed
    booking = {"offer": change.offer["offer"], "passengers": [ADA]}
    again = change.toolkit.fail("bookings_create", "already_done", **booking)
    assert again["result"] == change.changed
    assert asked == []


@pytest.fixture
def refuse_change(changing, asked, sending_nothing):
    """Call for a change that is refused without a question; return the error."""
    toolkit = changing(spend_limit={"EUR": 40})

    def call(code, **wanted):
        asked.clear()
        with sending_nothing():
            refused = toolkit.fail("bookings_change", code, **wanted)
        assert asked == []
        return refused

    call.toolkit = toolkit
    return call


@pytest.fixture
def held(refuse_change):
    """The id of a booking that is not paid."""
    first = offers(refuse_change.toolkit, on=DAY.isoformat())[0]["offer"]
    booking = refuse_change.toolkit.do("bookings_create", offer=first, passengers=[ADA])
    return booking["booking_id"]


@pytest.fixture
def paid(refuse_change, held):
    """The id of a booking that is paid and issued."""
    return issued(refuse_change.toolkit, held)


def test_an_unpaid_booking_is_not_changed(refuse_change, held):
    offer = offers(refuse_change.toolkit)[0]["offer"]
    refuse_change("not_changeable", booking_id=held, offer=offer)


def test_an_unpaid_booking_is_not_waited_for(refuse_change, held):
    offer = offers(refuse_change.toolkit)[0]["offer"]
    assert "retry_after" not in refuse_change("not_changeable", booking_id=held, offer=offer)


def test_a_booking_being_issued_is_waited_for(refuse_change, held, ferry_sandbox):
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=60)
    refuse_change.toolkit.do("bookings_confirm", booking_id=held)
    offer = offers(refuse_change.toolkit)[0]["offer"]
    refused = refuse_change("not_changeable", booking_id=held, offer=offer)
    assert refused["retry_after"] == 20
    assert "bookings_get and `wait` 20" in refused["next_step"]


def test_an_unknown_booking_is_not_changed(refuse_change):
    offer = offers(refuse_change.toolkit)[0]["offer"]
    assert refuse_change("unseen_id", booking_id="b-1", offer=offer)["field"] == "booking_id"


def test_a_change_that_does_not_fit_is_refused(refuse_change, paid):
    toolkit = refuse_change.toolkit
    two_travellers = offers(toolkit, passengers=TRAVELLERS * 2)[0]["offer"]
    with_vehicle = offers(toolkit, vehicle="Fiat 500")[0]["offer"]
    offer = offers(toolkit)[0]["offer"]
    refuse_change("party_changed", booking_id=paid, offer=two_travellers)
    refuse_change("party_changed", booking_id=paid, offer=with_vehicle)
    refuse_change("spend_limit", booking_id=paid, offer=offer, expect_total="30.00")
    refuse_change("unseen_id", booking_id=paid, offer="xyz9")


def test_a_cancelled_booking_is_not_changed(refuse_change, paid):
    offer = offers(refuse_change.toolkit)[0]["offer"]
    refuse_change.toolkit.do("bookings_cancel", booking_id=paid)
    refuse_change("already_cancelled", booking_id=paid, offer=offer)


def test_a_fee_that_rises_meanwhile_changes_nothing(toolkit, sending_nothing, ferry_sandbox):
    def slowly(_):
        days = (DAY - ferry_sandbox.clock.now().date()).days
        ferry_sandbox.clock.advance(timedelta(days=days, hours=-9))
        return True

    wanted = wish(toolkit)
    runner_of(toolkit).approve = slowly
    with sending_nothing():
        assert toolkit.fail("bookings_change", "penalty_exceeded", **wanted)["next_step"]


@pytest.mark.parametrize(
    ("reads", "code"),
    [
        pytest.param(1, "penalty_exceeded", id="1 read"),
        pytest.param(2, "penalty_exceeded", id="2 reads", marks=LONG),
        pytest.param(3, "change_incomplete", id="3 reads"),
        pytest.param(4, "change_incomplete", id="4 reads", marks=LONG),
    ],
)
def test_a_refund_that_falls_keeps_the_old_booking(toolkit, ferry_sandbox, reads, code):
    def agree(_):
        low = {"field": "refund_amount", "value": "0.01"}
        ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", after=reads, times=9, **low)
        return True

    wanted = wish(toolkit)
    runner_of(toolkit).approve = agree
    refused = toolkit.fail("bookings_change", code, "failed", **wanted)
    assert Decimal(refused["min_refund"]) > Decimal(refused["refund"]) == Decimal("0.01")
    assert stage_of(toolkit, wanted["booking_id"]) == "ticketed"


def test_a_dearer_place_costs_the_named_price(toolkit, asked):
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


def test_both_bookings_are_named_if_both_stay(toolkit, ferry_sandbox):
    wanted = wish(toolkit)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    half = toolkit.fail("bookings_change", "change_incomplete", "failed", **wanted)["result"]
    assert (half["state"], half["replaced"]) == ("partial", wanted["booking_id"])
    assert stage_of(toolkit, half["booking_id"]) == "ticketed"
    toolkit.do("bookings_cancel", booking_id=wanted["booking_id"])
    again = toolkit.fail("bookings_change", "already_done", **wanted)
    assert again["result"]["booking_id"] == half["booking_id"]


@pytest.mark.parametrize(
    ("writes", "code"),
    [
        pytest.param(True, "journal_needed", id="writing"),
        pytest.param(False, "writes_disabled", id="reading"),
    ],
)
def test_without_a_journal_no_booking_is_changed(changing, sending_nothing, writes, code):
    toolkit = changing(client={"deadline": 30}, writes=writes)
    assert "bookings_change" not in {tool.name for tool in toolkit.definitions()}
    with sending_nothing():
        toolkit.fail("bookings_change", code, booking_id="b", offer="o")


TWO_CROSSINGS = {
    "origin": "Barcelona",
    "destination": "Tunis",
    "on": "2050-06-06",
    "passengers": TRAVELLERS,
    "limit": 3,
}


def test_a_search_without_a_company_suggests_changes(toolkit):
    assert "`changes`" in toolkit.call("trips_find", TWO_CROSSINGS)["notes"][0]


def test_two_crossings_are_separate_tickets(toolkit):
    answer = toolkit.call("trips_find", {**TWO_CROSSINGS, "changes": 1})
    assert any("separate tickets" in note for note in answer["notes"])
    found = result_of(answer)
    assert len(found["connections"]) <= 3
    assert found["destination"].startswith("TNLGN")


def test_a_connection_costs_both_of_its_offers(toolkit):
    found = toolkit.do("trips_find", **TWO_CROSSINGS, changes=1)
    connection = found["connections"][0]
    prices = {offer["offer"]: Decimal(offer["price"]) for offer in found["offers"]}
    assert Decimal(connection["price"]) == sum(prices[offer] for offer in connection["offers"])


def test_two_crossings_are_booked_one_by_one(toolkit):
    found = toolkit.do("trips_find", **TWO_CROSSINGS, changes=1)
    held = [
        toolkit.do("bookings_create", offer=offer, passengers=PASSENGERS)
        for offer in found["connections"][0]["offers"]
    ]
    bookings = []
    for booking in held:
        named = {"booking_id": booking["booking_id"]}
        toolkit.do("bookings_confirm", **named, expect_total=booking["total_price"])
        bookings.append(toolkit.do("bookings_get", **named))
    assert [booking["payment_status"] for booking in bookings] == ["paid", "paid"]
    first, second = (
        booking["tickets"][0]["availability"]["outward"]["journey"] for booking in bookings
    )
    assert first["arrive_port_name"] == second["depart_port_name"] != first["depart_port_name"]
    assert first["arrive_at"] < second["depart_at"]


@pytest.mark.parametrize(
    ("name", "value"), [("back", "2050-06-09"), ("flexible", 2)], ids=["back", "flexible"]
)
def test_changes_go_with_no_way_back(toolkit, name, value):
    wrong = {**TWO_CROSSINGS, "changes": 1, name: value}
    assert toolkit.fail("trips_find", "invalid_arguments", **wrong)["field"] == name


def test_a_booking_of_handles_is_changed_without_them(changing):
    ada = Traveller(first_name="Ada", last_name="Reyes", gender="Female", age=34)
    toolkit = changing(travellers={"t1": ada})
    party = {"travellers": ["t1"]}
    offer = offers(toolkit, **party)[0]["offer"]
    changed = toolkit.do("bookings_change", booking_id=ticketed(toolkit, **party), offer=offer)
    assert changed["state"] == "confirmed"


def test_unknown_data_of_a_traveller_is_left_out():
    ada = TicketPassenger(first_name="Ada", last_name="Reyes", birth_date="1990-04-02", card="gold")
    (same,) = _party(Ticket.model_construct(passengers=(ada,)), ["Adult"])
    assert (same.last_name, same.type) == ("Reyes", "Adult")


def test_a_change_of_unknown_outcome_is_not_repeated(
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
def test_a_change_with_a_lost_reply_goes_on(changing, asked, ferry_sandbox, lost):
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
def test_a_change_that_failed_may_be_repeated(changing, ferry_sandbox, journal):
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


@pytest.mark.usefixtures("look_once")
def test_change_not_made_settles_no_other_write(changing, ferry_sandbox, journal):
    client = {"journal": journal, "deadline": 5, "correlation_id": "agent-7"}
    toolkit = changing(client=client)
    wanted, booking = wish(toolkit), another_booking(toolkit)
    for name in ("bookings.confirm", "bookings.create"):
        ferry_sandbox.faults.add("cut_before", name)
    toolkit.fail("bookings_create", *UNKNOWN, **booking)
    toolkit.fail("bookings_change", *UNKNOWN, **wanted)
    (entry,) = journal.entries(state="unknown", operation="bookings.confirm")
    journal.settle(entry, happened=False)
    toolkit.fail("bookings_change", "not_changed", **wanted)
    assert [write.tool for write in toolkit.unresolved] == ["bookings_create"]
    toolkit.fail("bookings_create", "outcome_unknown", **booking)


def test_half_change_that_is_not_recorded_is_unknown(changing, ferry_sandbox, tmp_path):
    state = tmp_path / "state.db"
    toolkit = changing(state=state)
    wanted = wish(toolkit)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    hold = Hold(ferry_sandbox, "bookings.cancel", replies=True)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(toolkit.call, "bookings_change", wanted)
        while not hold.held:
            time.sleep(0.01)
        state.chmod(0o644)  # the file is not used while others can read it
        hold.release()
        assert (answer.result()["status"], effects(ferry_sandbox)[-1]) == (
            "unknown",
            "bookings.confirm",
        )


@pytest.fixture
def spending(changing, tmp_path):
    """A toolkit that may spend the price of two bookings, and an offer for its first one."""
    limits = {"spend_limit": {"EUR": 40}, "penalty_limit": {"EUR": 50}}
    toolkit = changing(**limits, state=tmp_path / "state.db")
    wanted = {"booking_id": ticketed(toolkit), "offer": offers(toolkit)[0]["offer"]}
    price = Decimal(offers(toolkit)[0]["price"])
    assert price * 3 > 40 > price * 2
    return toolkit, wanted


def another_booking(toolkit):
    trip = {"on": (LATER + timedelta(days=1)).isoformat()}
    return {"offer": offers(toolkit, **trip)[0]["offer"], "passengers": PASSENGERS}


def test_a_declined_change_is_not_spent(spending):
    toolkit, wanted = spending
    runner_of(toolkit).approve = lambda _: False
    toolkit.fail("bookings_change", "declined", **wanted)
    runner_of(toolkit).approve = lambda _: True
    toolkit.do("bookings_create", **another_booking(toolkit))


def test_a_change_is_spent_even_if_cancelled(spending):
    toolkit, wanted = spending
    changed = toolkit.do("bookings_change", **wanted)
    toolkit.fail("bookings_create", "spend_limit", **another_booking(toolkit))
    toolkit.do("bookings_cancel", booking_id=changed["booking_id"])
    again = {"offer": wanted["offer"], "passengers": [ADA]}
    refused = toolkit.fail("bookings_create", "spend_limit", **again)
    assert Decimal(refused["spent"]) > Decimal(changed["total_price"]), "with the first booking"


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
