"""Bookings and their tickets, from creation to cancellation, and the fee of that."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    PENDING,
    TWO_TICKETS,
    OfflineService,
    departure,
    selection,
)

from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.sandbox.bookings.bookings import payment_of, stage_of, status_of
from ferry_sdk.sandbox.bookings.fees import cancellation_fee
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.requests.access import Access
from tests.support.tiers import examples

CHILD = {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8}
YOUNG_GUEST = {"type": "Child", "first_name": "Tom", "last_name": "Byron"}
REFUSED_CONFIRM = (409, "BOOKING_CONFIRM_ERROR")
REFUSED_CANCEL = (409, "TICKET_CANCEL_ERROR")


# The stage, the payment and the status of a booking


def tickets_in(states):
    """Return tickets of which only the status and the payment are known."""
    return [SimpleNamespace(status=status, paid=paid) for status, paid in states]


def tickets_of(words):
    """Return tickets in the states that the words name; a paid one has a plus sign."""
    return tickets_in(
        (TicketStatus(word.removesuffix("+")), word[-1] == "+") for word in words.split()
    )


@pytest.mark.parametrize(
    ("tickets", "stage"),
    [
        ("Blocked", "payment_due"),
        ("Init", "payment_due"),
        ("Blocked+ Blocked", "payment_due"),
        ("Blocked+", "issuance_due"),
        ("Blocked+ Canceled+", "issuance_due"),
        ("Pending+", "in_progress"),
        ("Pending+ Issued+", "in_progress"),
        ("Pending+ Failed", "in_progress"),
        ("Issued+", "ticketed"),
        ("Issued+ Failed", "partially_ticketed"),
        ("Issued+ Expired", "partially_ticketed"),
        ("Issued+ Canceled+ Expired", "partially_ticketed"),
        ("Issued+ Canceled+", "partially_voided"),
        ("Canceled+", "voided"),
        ("Canceled+ Expired", "voided"),
        ("Expired Expired+", "lapsed"),
        ("Failed", "rejected"),
        ("Failed Canceled+", "rejected"),
    ],
)
def test_stage_follows_from_the_tickets(tickets, stage):
    states = tickets_of(tickets)
    assert stage_of(states) == stage_of(states[::-1]) == Stage(stage)


def test_any_two_tickets_have_a_stage():
    states = tickets_in(product(TicketStatus, [False, True]))
    assert {stage_of([one, other]) for one, other in product(states, states)} == set(Stage)


@pytest.mark.parametrize(
    ("tickets", "status", "payment"),
    [
        ("Blocked", "Blocked", "unpaid"),
        ("Blocked+ Blocked", "Blocked", "partially_paid"),
        ("Blocked+ Issued+", "Blocked", "paid"),
        ("Issued+ Canceled", "Issued", "paid"),
        ("Issued+ Failed", "Failed", "partially_paid"),
        ("Canceled+ Canceled+", "Canceled", "paid"),
        ("Expired", "Expired", "unpaid"),
    ],
)
def test_status_with_payment_follows_from_the_tickets(tickets, status, payment):
    states = tickets_of(tickets)
    assert (status_of(states).value, payment_of(states)) == (status, payment)


# A new booking


def test_new_booking_has_its_fields(offline):
    contact = {"name": "Ada Byron", "email": "ada@example.org"}
    created = offline.create(more={"contact": contact, "reservation_type": None})
    assert set(created) == {
        "booking_id",
        "booking_reference",
        "stage",
        "possible_actions",
        "status",
        "total_price",
        "currency",
    }
    booking = offline.booking(created)
    assert {name: booking[name] for name in created} == created


def test_new_booking_awaits_payment(offline):
    created = offline.create()
    booking = offline.booking(created)
    deadline = (NOW + timedelta(hours=1)).isoformat()
    assert (created["stage"], created["status"]) == ("payment_due", "Blocked")
    pay = {"type": "mandatory", "timeLimit": deadline, "requestedItems": {}}
    assert created["possible_actions"]["Pay"] == pay
    assert created["possible_actions"]["Cancel"]["type"] == "optional"
    assert booking["expire_at"] == deadline
    assert (booking["payment_status"], booking["all_tickets_paid"]) == ("unpaid", False)


def test_new_ticket_has_neither_number_nor_voucher(offline):
    (ticket,) = offline.tickets(offline.create())
    assert (ticket["status"], ticket["ticket_number"], ticket["pdf_url"]) == ("Blocked", None, None)


def test_booking_lapses_at_its_deadline(offline):
    created = offline.create()
    offline.clock.advance(3599)
    assert offline.booking(created)["stage"] == "payment_due"
    offline.clock.advance(1)
    booking = offline.booking(created)
    assert (booking["stage"], booking["status"]) == ("lapsed", "Expired")
    assert (booking["possible_actions"], booking["expire_at"]) == ({}, None)


@pytest.fixture
def lapsed(offline):
    """Return a booking that has lapsed, at the time of its creation."""
    created = offline.create()
    offline.clock.advance(3600)
    offline.booking(created)
    offline.clock.travel_to(NOW)
    return created


def test_lapsed_booking_stays_lapsed(offline, lapsed):
    assert offline.booking(lapsed)["stage"] == "lapsed"


def test_lapsed_booking_can_no_longer_change(offline, lapsed):
    (ticket,) = offline.tickets(lapsed)
    assert offline.refusal("bookings.confirm", id=lapsed["booking_id"]) == REFUSED_CONFIRM
    assert offline.refusal("bookings.cancel", booking_id=lapsed["booking_id"])[0] == 409
    assert offline.refusal("tickets.cancel", ticket_id=ticket["id"]) == REFUSED_CANCEL
    assert [effect.operation for effect in offline.counters.effects] == ["bookings.create"]


# Confirming


def test_confirmation_issues_the_ticket(offline):
    created = offline.create()
    answer = offline.confirm(created)
    booking = offline.booking(created)
    (ticket,) = booking["tickets"]
    assert answer == {
        "booking_id": created["booking_id"],
        "status": "confirmed",
        "ticket_id": ticket["id"],
        "ticket_number": ticket["ticket_number"],
    }
    assert (booking["stage"], booking["status"]) == ("ticketed", "Issued")
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    assert (booking["payment_status"], booking["expire_at"]) == ("paid", None)
    assert set(ticket["availability"]["outward"]) == {"journey"}


def test_booking_is_confirmed_once(offline):
    created = offline.issue()
    assert offline.refusal("bookings.confirm", id=created["booking_id"]) == REFUSED_CONFIRM
    assert len(offline.counters.effects_of("bookings.confirm")) == 1


@pytest.fixture
def pending(offline):
    """Return a booking whose company issues some seconds after the confirmation."""
    return offline.issue(PENDING)


def test_some_companies_issue_later(offline):
    created = offline.create(PENDING)
    number = offline.confirm(created)["ticket_number"]
    booking = offline.booking(created)
    assert (booking["stage"], booking["possible_actions"]) == ("in_progress", {})
    assert offline.statuses(created) == ["Pending"]
    assert booking["tickets"][0]["ticket_number"] is None
    offline.clock.advance(3)
    assert offline.booking(created)["stage"] == "ticketed"
    assert offline.tickets(created)[0]["ticket_number"] == number


def test_pending_booking_cannot_change(offline, pending):
    assert offline.refusal("bookings.confirm", id=pending["booking_id"]) == REFUSED_CONFIRM
    assert offline.refusal("bookings.cancel", booking_id=pending["booking_id"])[0] == 409


@pytest.mark.parametrize("names_number", [False, True])
def test_pending_ticket_cannot_be_cancelled(offline, names_number):
    answer = offline.confirm(offline.create(PENDING))
    arguments = {"ticket_id": answer["ticket_id"]}
    if names_number:
        arguments["ticket_number"] = answer["ticket_number"]
    refused = offline.error_of("tickets.cancel", arguments)
    assert (refused.status, refused.code) == REFUSED_CANCEL
    assert refused.message.startswith("The ticket is being issued")


def test_wrong_number_of_a_pending_ticket_is_named(offline, pending):
    (ticket,) = offline.tickets(pending)
    wrong = offline.error_of("tickets.cancel", ticket_id=ticket["id"], ticket_number="WRONG1")
    assert (wrong.status, wrong.field) == (422, "ticket_number")


def test_number_of_a_pending_ticket_cancels_it_later(offline):
    answer = offline.confirm(offline.create(PENDING))
    offline.clock.advance(3)
    names = {name: answer[name] for name in ("ticket_id", "ticket_number")}
    assert offline.perform("tickets.cancel", names)


@pytest.fixture
def partly_failed(offline):
    """Return a booking of two tickets, the second of which has failed, and the confirmation."""
    created = offline.create(TWO_TICKETS, back=7)
    offline.faults.add("ticket_fails", "bookings.confirm")
    return created, offline.confirm(created)


def test_one_ticket_can_fail(offline, partly_failed):
    created, answer = partly_failed
    booking = offline.booking(created)
    assert offline.statuses(created) == ["Issued", "Failed"]
    assert answer["ticket_id"] == booking["tickets"][0]["id"]
    assert (booking["stage"], booking["payment_status"]) == ("partially_ticketed", "partially_paid")
    assert booking["possible_actions"]["Retry"]["type"] == "mandatory"


def test_second_confirmation_issues_the_failed_ticket_only(offline, partly_failed):
    created, answer = partly_failed
    retry = offline.confirm(created)
    booking = offline.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("ticketed", "paid")
    assert retry["ticket_id"] == booking["tickets"][1]["id"]
    numbers = {ticket["ticket_number"] for ticket in booking["tickets"]}
    assert numbers == {answer["ticket_number"], retry["ticket_number"]}


def test_failed_ticket_is_not_issued_after_departure(offline):
    created = offline.create(TWO_TICKETS, back=7)
    offline.faults.add("ticket_fails", index=0)
    offline.confirm(created)
    offline.clock.travel_to(departure(offline.booking(created)))
    booking = offline.booking(created)
    assert booking["stage"] == "partially_ticketed"
    assert set(booking["possible_actions"]) == {"Download"}
    assert offline.refusal("bookings.confirm", id=created["booking_id"]) == REFUSED_CONFIRM


def test_booking_with_a_pending_ticket_is_not_cancelled(offline):
    created = offline.create(PENDING, back=7)
    offline.faults.add("ticket_fails", index=0)
    offline.confirm(created)
    before = offline.booking(created)
    assert offline.statuses(created) == ["Failed", "Pending"]
    assert offline.refusal("bookings.cancel", booking_id=created["booking_id"])[0] == 409
    assert offline.booking(created) == before


def test_booking_whose_only_ticket_fails_is_rejected(offline):
    created = offline.create()
    offline.faults.add("ticket_fails")
    assert offline.refusal("bookings.confirm", id=created["booking_id"]) == REFUSED_CONFIRM
    booking = offline.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")
    assert offline.counters.effects_of("bookings.confirm") == ()


def test_rejected_booking_is_confirmed_again(offline):
    created = offline.create()
    offline.faults.add("ticket_fails")
    offline.refusal("bookings.confirm", id=created["booking_id"])
    offline.confirm(created)
    assert offline.booking(created)["stage"] == "ticketed"


@pytest.mark.parametrize(
    ("kind", "status", "raw"), [("OPTION", "Blocked", "Blocked"), ("PRESALE", "pending", "Init")]
)
def test_booking_without_a_ticket_expires_with_its_tariff(offline, kind, status, raw):
    (availability, *_) = offline.search()
    selected = selection(availability, kind)
    (tariff,) = (each for each in availability["tariffs"] if each["id"] == selected["tariff_id"])
    body = {"availabilities": [selected], "passengers": [GUEST], "reservation_type": kind}
    created = offline.perform("bookings.create", body)
    booking = offline.booking(created)
    assert (created["status"], booking["tickets"][0]["status"]) == (status, raw)
    expires = datetime.fromisoformat(booking["expire_at"])
    assert expires.timestamp() == pytest.approx(tariff["expiration_date"], abs=1)
    offline.clock.travel_to(expires)
    assert offline.booking(created)["stage"] == "lapsed"


# Round trips


@pytest.mark.parametrize(
    ("line", "directions"),
    [(ONE_TICKET, ["OUTWARD+RETURN"]), (TWO_TICKETS, ["OUTWARD", "RETURN"])],
    ids=["one-ticket", "two-tickets"],
)
def test_round_trip_is_one_ticket_or_two(offline, line, directions):
    by_direction = {each["direction"]: each for each in reversed(offline.search(line, back=7))}
    way_out = selection(by_direction["Outward"])
    way_back = selection(by_direction["Return"])
    # The order in which the two are given does not matter.
    body = {"availabilities": [way_back, way_out], "passengers": [GUEST]}
    booking = offline.booking(offline.perform("bookings.create", body))

    assert [ticket["direction"] for ticket in booking["tickets"]] == directions
    assert booking["ticket_count"] == len(directions)
    crossings = [way for ticket in booking["tickets"] for way in ticket["availability"]]
    assert crossings == list(booking["journey_details"]) == ["outward", "return"]
    departs = by_direction["Outward"]["depart_at"]
    assert departure(booking) == datetime.fromisoformat(departs)


@pytest.mark.parametrize("line", [ONE_TICKET, TWO_TICKETS], ids=["one-ticket", "two-tickets"])
def test_price_of_a_round_trip_counts_once(offline, line):
    selections = offline.select(line, back=7)
    prices = []
    for each in selections:
        offer = offline.service.offers.find(each["availability_id"])
        tariff = offer.tariff(each["tariff_id"])
        prices.append(offer.price(tariff, offer.place(each["place_id"])))
    body = {"availabilities": selections, "passengers": [GUEST]}
    created = offline.perform("bookings.create", body)
    assert offline.booking(created)["total_price"] == float(sum(prices))


@pytest.fixture
def crossings(offline):
    """Return a way out and back with a company, and a later way back with another."""
    there = {each["direction"]: each for each in offline.search(("CTN", "ITGOA", "TNLGN"), back=7)}
    other = offline.search(("GNV", "ITGOA", "TNLGN"), back=14)
    (other_back, *_) = [each for each in other if each["direction"] == "Return"]
    return there["Outward"], there["Return"], other_back


def test_two_companies_can_sail_a_round_trip(offline, crossings):
    out, _, other_back = crossings
    selections = [selection(out), selection(other_back)]
    created = offline.perform("bookings.create", availabilities=selections, passengers=[GUEST])
    assert offline.booking(created)["ticket_count"] == 2


def test_round_trip_fare_requires_the_same_company(offline, crossings):
    out, _, other_back = crossings
    selections = [selection(out, "ROUNDTRIP"), selection(other_back)]
    refused = offline.error_of("bookings.create", availabilities=selections, passengers=[GUEST])
    assert (refused.status, refused.field) == (422, "availabilities[0].tariff_id")
    assert "same company" in refused.message


def test_round_trip_fare_requires_the_other_direction(offline, crossings):
    out, _, _ = crossings
    body = {"availabilities": [selection(out, "ROUNDTRIP")], "passengers": [GUEST]}
    refused = offline.error_of("bookings.create", body)
    assert (refused.status, refused.field) == (422, "availabilities[0].tariff_id")


def test_round_trip_fare_is_booked_with_both_directions(offline, crossings):
    out, back, _ = crossings
    body = {
        "availabilities": [selection(out, "ROUNDTRIP"), selection(back)],
        "passengers": [GUEST],
    }
    assert offline.attempt("bookings.create", body) is None


# Open tickets

YEAR_END = NOW + timedelta(days=365)


@pytest.fixture
def open_booking(offline):
    """Return the booking of an open ticket."""
    return offline.create(name="FLEX", out_is_open=True)


def sailed_at(offline, created):
    """Return a time after the sailing of a booking."""
    return departure(offline.booking(created)) + timedelta(days=2)


def test_open_ticket_is_valid_for_a_year(offline, open_booking):
    booking = offline.booking(open_booking)
    ticket_id = offline.confirm(open_booking)["ticket_id"]
    ticket = offline.perform("tickets.get", id=ticket_id)
    assert booking["possible_actions"]["Cancel"]["timeLimit"] == YEAR_END.isoformat()
    for crossing in (ticket["availability"]["outward"], booking["journey_details"]["outward"]):
        assert (crossing["is_open"], crossing["valid_until"]) == (True, YEAR_END.isoformat())


def test_paid_open_ticket_is_issued_after_its_sailing(offline, open_booking):
    offline.mark_paid(*offline.tickets(open_booking))
    assert offline.booking(open_booking)["expire_at"] == YEAR_END.isoformat()
    offline.clock.travel_to(sailed_at(offline, open_booking))
    assert offline.booking(open_booking)["stage"] == "issuance_due"
    assert offline.confirm(open_booking)


def test_fee_of_an_open_ticket_follows_its_year(offline, open_booking):
    ticket_id = offline.confirm(open_booking)["ticket_id"]
    offline.clock.travel_to(sailed_at(offline, open_booking))
    assert offline.fee(ticket_id)["penalty_amount"] == 0
    offline.clock.travel_to(YEAR_END - timedelta(hours=12))
    penalty = offline.fee(ticket_id)["penalty_amount"]
    assert penalty == pytest.approx(open_booking["total_price"] * 0.2, abs=0.01)
    assert offline.perform("tickets.cancel", ticket_id=ticket_id)


def test_open_ticket_ends_after_its_year(offline, open_booking):
    ticket_id = offline.confirm(open_booking)["ticket_id"]
    offline.clock.travel_to(YEAR_END)
    assert offline.refusal("tickets.cancel", ticket_id=ticket_id) == REFUSED_CANCEL
    assert "Cancel" not in offline.booking(open_booking)["possible_actions"]


# External payments


@pytest.fixture
def partly_paid(offline):
    """Return a booking of two tickets, the first of which is paid."""
    created = offline.create(TWO_TICKETS, back=7)
    first, _ = offline.tickets(created)
    offline.mark_paid(first)
    return created


@pytest.fixture
def paid(offline, partly_paid):
    """Return a booking of two paid tickets."""
    _, second = offline.tickets(partly_paid)
    offline.mark_paid(second, "pay-2", psp="bank", paid_at="2026-05-01T11:00:00Z")
    return partly_paid


def test_repeated_payment_changes_nothing(offline):
    (ticket,) = offline.tickets(offline.create())
    answer = {"ticket_id": ticket["id"], "payment_status": "paid"}
    assert [offline.mark_paid(ticket), offline.mark_paid(ticket)] == [answer, answer]
    assert len(offline.counters.effects_of("tickets.mark_paid")) == 1


def test_second_payment_of_a_ticket_is_refused(offline, partly_paid):
    first, _ = offline.tickets(partly_paid)
    other = {"id": first["id"], "external_payment_ref": "other"}
    refused = offline.refusal("tickets.mark_paid", other, access=Access.ORGANISATION)
    assert refused == (409, "CONFLICT")


def test_partly_paid_booking_awaits_the_rest(offline, partly_paid):
    booking = offline.booking(partly_paid)
    assert (booking["stage"], booking["payment_status"]) == ("payment_due", "partially_paid")


def test_paid_booking_awaits_its_issue(offline, paid):
    booking = offline.booking(paid)
    assert (booking["stage"], booking["payment_status"]) == ("issuance_due", "paid")
    assert set(booking["possible_actions"]) == {"Issue", "Cancel"}


def test_paid_booking_does_not_lapse(offline, paid):
    offline.clock.advance(timedelta(days=2))
    offline.confirm(paid)
    assert offline.booking(paid)["stage"] == "ticketed"


def test_paid_booking_is_cancelled_after_its_issue(offline, paid):
    offline.confirm(paid)
    offline.cancel(paid)
    assert offline.statuses(paid) == ["Canceled", "Canceled"]
    assert len(offline.counters.effects_of("bookings.cancel")) == 1


@pytest.mark.parametrize("end", ["Canceled", "Expired"])
def test_paid_ticket_without_issue_is_refunded_in_full(offline, end):
    created = offline.create(name="SAVER")
    (ticket,) = offline.tickets(created)
    offline.mark_paid(ticket)
    if end == "Canceled":
        offline.perform("tickets.cancel", ticket_id=ticket["id"])
    else:
        offline.clock.travel_to(departure(offline.booking(created)))
    fee = offline.fee(ticket["id"])
    assert (fee["penalty_amount"], fee["refund_amount"]) == (0, created["total_price"])
    assert fee["ticket_status"] == end
    body = {"id": ticket["id"], "external_payment_ref": "other"}
    assert offline.refusal("tickets.mark_paid", body, access=Access.ORGANISATION)[0] == 409


# Cancelling


@pytest.fixture
def issued(offline):
    """Return a booking whose only ticket is issued."""
    return offline.issue()


@pytest.fixture
def two_issued(offline):
    """Return a booking whose two tickets are issued."""
    return offline.issue(TWO_TICKETS, back=7)


def test_cancellation_preview_adds_up_to_the_price(offline, issued):
    preview = offline.fee(issued["booking_id"])
    assert (preview["ticket_status"], preview["currency"]) == ("Issued", "EUR")
    assert round(preview["penalty_amount"] + preview["refund_amount"], 2) == issued["total_price"]
    assert 0 < preview["penalty_amount"] < issued["total_price"]


def test_preview_changes_nothing(offline, issued):
    booking = offline.booking(issued)
    effects = offline.counters.effects
    preview = offline.fee(issued["booking_id"])
    assert preview == offline.fee(booking["tickets"][0]["id"])
    assert (offline.booking(issued), offline.counters.effects) == (booking, effects)


def test_wrong_reference_is_named(offline, issued):
    body = {"booking_id": issued["booking_id"], "booking_reference": "NOTTHIS"}
    wrong = offline.error_of("bookings.cancel", body)
    assert (wrong.status, wrong.field) == (422, "booking_reference")


def test_cancellation_refunds_as_its_preview_says(offline, issued):
    preview = offline.fee(issued["booking_id"])
    answer = offline.cancel(issued, booking_reference=issued["booking_reference"])
    assert answer == {
        "booking_id": issued["booking_id"],
        "status": "cancelled",
        "refund_amount": preview["refund_amount"],
    }


def test_cancelled_booking_is_void(offline, issued):
    offline.cancel(issued)
    booking = offline.booking(issued)
    assert (booking["stage"], booking["status"]) == ("voided", "Canceled")
    assert booking["possible_actions"] == {}


def test_cancelled_booking_can_no_longer_change(offline, issued):
    offline.cancel(issued)
    booking_id = issued["booking_id"]
    assert offline.refusal("bookings.cancel", booking_id=booking_id) == (409, "CONFLICT")
    assert offline.refusal("bookings.confirm", id=booking_id) == REFUSED_CONFIRM
    assert len(offline.counters.effects_of("bookings.cancel")) == 1


def test_number_of_another_ticket_is_refused(offline, two_issued):
    first, second = offline.tickets(two_issued)
    wrong = {"ticket_id": first["id"], "ticket_number": second["ticket_number"]}
    assert offline.error_of("tickets.cancel", wrong).field == "ticket_number"


def test_one_ticket_of_two_is_cancelled(offline, two_issued):
    first, _ = offline.tickets(two_issued)
    names = {"ticket_id": first["id"], "ticket_number": first["ticket_number"]}
    answer = offline.perform("tickets.cancel", names)
    assert answer == {"ticket_id": first["id"], "status": "cancelled"}
    booking = offline.booking(two_issued)
    assert booking["stage"] == "partially_voided"
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    assert offline.refusal("tickets.cancel", names) == REFUSED_CANCEL


def test_preview_of_a_cancelled_ticket_keeps_its_amounts(offline, two_issued):
    first, _ = offline.tickets(two_issued)
    before = offline.fee(first["id"])
    offline.perform("tickets.cancel", ticket_id=first["id"])
    assert offline.fee(first["id"]) == {**before, "ticket_status": "Canceled"}


def test_rest_of_a_booking_is_cancelled(offline, two_issued):
    first, second = offline.tickets(two_issued)
    preview = offline.fee(second["id"])["refund_amount"]
    offline.perform("tickets.cancel", ticket_id=first["id"])
    rest = offline.fee(two_issued["booking_id"])["refund_amount"]
    assert rest == preview == offline.cancel(two_issued)["refund_amount"]
    assert offline.booking(two_issued)["stage"] == "voided"


@pytest.mark.parametrize(
    ("access", "role"),
    [(Access.READ_WRITE, "agency"), (Access.ORGANISATION, "organisation")],
    ids=["agency", "organisation"],
)
def test_pricing_after_a_cancellation_adds_up(offline, two_issued, access, role):
    first, _ = offline.tickets(two_issued)
    offline.perform("tickets.cancel", ticket_id=first["id"])
    total = two_issued["total_price"]
    pricing = offline.booking(two_issued, access=access)["pricing"]
    assert pricing["viewer_role"] == role
    received = pricing["received"]["amount"]
    kept = pricing["kept"]
    assert 0 < received < total
    assert round(kept["total"] + pricing["reverse"]["amount"], 2) == received
    assert sum(line["amount"] for line in kept["lines"]) == kept["total"] > 0
    assert pricing["balance"] == {"mutated": True, "before": total, "after": 0}


def test_nothing_is_cancelled_after_departure(offline, two_issued):
    first, _ = offline.tickets(two_issued)
    offline.clock.travel_to(departure(offline.booking(two_issued)))
    assert "Cancel" not in offline.booking(two_issued)["possible_actions"]
    assert offline.refusal("tickets.cancel", ticket_id=first["id"]) == REFUSED_CANCEL
    assert offline.refusal("bookings.cancel", booking_id=two_issued["booking_id"])[0] == 409
    assert offline.statuses(two_issued) == ["Issued", "Issued"]


def test_way_back_is_cancelled_after_the_way_out(offline, two_issued):
    _, second = offline.tickets(two_issued)
    offline.clock.travel_to(departure(offline.booking(two_issued)))
    assert offline.perform("tickets.cancel", ticket_id=second["id"])["status"] == "cancelled"


# Prices that change, options that end


def test_fault_changes_the_price_of_one_booking(offline):
    plain = offline.create()
    offline.faults.add("price_change", "bookings.create", factor=1.5, amount=2.25)
    changed = offline.create()
    assert changed["total_price"] == pytest.approx(plain["total_price"] * 1.5 + 2.25, abs=0.01)
    assert offline.create()["total_price"] == plain["total_price"]


def test_fault_ends_an_option(offline):
    option = offline.create(name="OPTION", more={"reservation_type": "OPTION"})
    offline.faults.add("option_expired")
    assert offline.refusal("bookings.confirm", id=option["booking_id"]) == REFUSED_CONFIRM
    assert offline.booking(option)["stage"] == "lapsed"


@pytest.mark.parametrize(
    ("days_younger", "is_dearer"), [(0, True), (1, False)], ids=["birthday", "day-before"]
)
def test_fare_follows_the_age_on_the_day(offline, days_younger, is_dearer):
    limit = Network.load().companies[ONE_TICKET[0]].child_below
    party = (ADULT, {**CHILD, "age": limit - 1})
    day = datetime.fromisoformat(offline.search(party=party)[0]["depart_at"]).date()
    birth = day.replace(year=day.year - limit) + timedelta(days=days_younger)
    guest = {**YOUNG_GUEST, "birth_date": birth.isoformat(), "age": limit - 1}

    as_searched = offline.create(passengers=[GUEST, YOUNG_GUEST], party=party)
    created = offline.create(passengers=[GUEST, guest], party=party)
    assert (created["total_price"] > as_searched["total_price"]) == is_dearer
    assert is_dearer or created["total_price"] == as_searched["total_price"]


# Any operations in any order


class BookingLife(RuleBasedStateMachine):
    """Any operations on a booking, in any order, keep its invariants."""

    @initialize(back=st.sampled_from([None, 7]), name=st.sampled_from(["FLEX", "OPTION"]))
    def book(self, back, name):
        self.offline = OfflineService()
        more = {"reservation_type": "OPTION" if name == "OPTION" else "TICKET"}
        how = {"back": back, "name": name, "more": more, "from_day": 20}
        self.created = self.offline.create(TWO_TICKETS, **how)
        self.id = self.created["booking_id"]
        self.tickets = [ticket["id"] for ticket in self.offline.tickets(self.created)]
        self.fees = {}

    def attempt(self, operation, **named):
        before = self.offline.counters.effects
        booking = self.offline.booking(self.created)
        previews = self.previews()
        refused = self.offline.attempt(operation, named, access=Access.ORGANISATION)
        if refused is not None:
            assert refused.status == 409
            assert self.offline.counters.effects == before
            if "ticket_fails" not in {fault.kind.value for fault in self.offline.faults.taken}:
                assert self.offline.booking(self.created) == booking
        for ticket, fee in self.previews().items():
            if fee["ticket_status"] == "Canceled" != previews[ticket]["ticket_status"]:
                assert fee == {**previews[ticket], "ticket_status": "Canceled"}

    def previews(self):
        return {ticket: self.offline.fee(ticket) for ticket in self.tickets}

    @rule(hours=st.sampled_from([0.1, 1, 25, 200]))
    def wait(self, hours):
        self.offline.clock.advance(timedelta(hours=hours))

    @rule(failing=st.sampled_from([None, 0, -1]))
    def confirm(self, failing):
        if failing is not None:
            self.offline.faults.add("ticket_fails", index=failing)
        self.attempt("bookings.confirm", id=self.id)
        self.offline.faults.clear()

    @rule(index=st.sampled_from([0, -1]), reference=st.sampled_from("ab"))
    def pay(self, index, reference):
        ticket = self.tickets[index]
        self.attempt("tickets.mark_paid", id=ticket, external_payment_ref=reference)

    @rule(index=st.sampled_from([0, -1]))
    def cancel_ticket(self, index):
        self.attempt("tickets.cancel", ticket_id=self.tickets[index])

    @rule()
    def cancel(self):
        self.attempt("bookings.cancel", booking_id=self.id)

    @invariant()
    def money_is_neither_lost_nor_invented(self):
        booking = self.offline.booking(self.created, access=Access.ORGANISATION)
        assert booking["total_price"] == self.created["total_price"]
        balance = booking["pricing"]["balance"]
        total = 0
        for ticket, fee in self.previews().items():
            total += fee["penalty_amount"] + fee["refund_amount"]
            assert fee["penalty_amount"] >= 0 <= fee["refund_amount"]
            if fee["ticket_status"] in {"Canceled", "Expired"}:
                assert self.fees.setdefault(ticket, fee) == fee
        assert total == pytest.approx(balance["before"] - balance["after"], abs=0.001)


BookingLife.TestCase.settings = examples(60, stateful_step_count=12)
TestBookingLife = BookingLife.TestCase


# The fee of a cancellation

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("family", "notice", "left", "kept"),
    [
        ("flex", 0.5, 30 * HOUR, 0),
        ("flex", 1, 30 * HOUR, 0),
        ("flex", 1, DAY, 0),
        ("flex", 1, DAY - SECOND, 20),
        ("flex", 1, 2 * HOUR, 20),
        ("flex", 1, HOUR, 50),
        ("flex", 1, -SECOND, 100),
        ("flex", 2, 30 * HOUR, 20),
        ("standard", 1, 7 * DAY, 20),
        ("standard", 1, 2 * DAY, 50),
        ("standard", 1, 47 * HOUR, 100),
        ("saver", 1, 300 * DAY, 100),
    ],
    ids=str,
)
def test_penalty_follows_the_fare_family(family, notice, left, kept):
    fee = cancellation_fee(Decimal("100.00"), family=family, notice=notice, left=left)
    assert (str(fee.penalty), fee.refund) == (f"{kept}.00", 100 - kept)


def test_unpaid_booking_has_no_fee(offline):
    unpaid = offline.create(name="SAVER")
    fee = offline.fee(unpaid["booking_id"])
    assert (fee["penalty_amount"], fee["refund_amount"], fee["ticket_status"]) == (0, 0, "Blocked")
    assert offline.cancel(unpaid)["refund_amount"] == 0


@pytest.mark.parametrize(
    ("left", "part"),
    [(25 * HOUR, 0), (23 * HOUR, 0.2), (HOUR, 0.5), (-HOUR, 1)],
    ids=str,
)
def test_fee_rises_as_departure_approaches(offline, left, part):
    created = offline.issue(name="FLEX")
    booking = offline.booking(created)
    offline.clock.travel_to(departure(booking) - left)
    penalty = offline.fee(booking["tickets"][0]["id"])["penalty_amount"]
    assert penalty == pytest.approx(part * created["total_price"], abs=0.02)
