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
from tests.support.tables import each
from tests.support.tiers import examples

CHILD = {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8}
YOUNG_GUEST = {"type": "Child", "first_name": "Tom", "last_name": "Byron"}
REFUSED_CONFIRM = (409, "BOOKING_CONFIRM_ERROR")
REFUSED_CANCEL = (409, "TICKET_CANCEL_ERROR")


def tickets_in(states):
    """Return tickets of which only the status and the payment are known."""
    return [SimpleNamespace(status=status, paid=paid) for status, paid in states]


def tickets_of(words):
    """Return tickets in the states that the words name; a paid one has a plus sign."""
    return tickets_in(
        (TicketStatus(one.removesuffix("+")), one[-1] == "+") for one in words.split()
    )


def test_stage_payment_and_status_follow_from_the_tickets():
    for stage, tickets in {
        "payment_due": ["Blocked", "Init", "Blocked+ Blocked"],
        "issuance_due": ["Blocked+", "Blocked+ Canceled+"],
        "in_progress": ["Pending+", "Pending+ Issued+", "Pending+ Failed"],
        "ticketed": ["Issued+"],
        "partially_ticketed": ["Issued+ Failed", "Issued+ Expired", "Issued+ Canceled+ Expired"],
        "partially_voided": ["Issued+ Canceled+"],
        "voided": ["Canceled+", "Canceled+ Expired"],
        "lapsed": ["Expired Expired+"],
        "rejected": ["Failed", "Failed Canceled+"],
    }.items():
        for words in tickets:
            states = tickets_of(words)
            assert stage_of(states) == stage_of(states[::-1]) == Stage(stage), words
    states = tickets_in(product(TicketStatus, [False, True]))
    assert {stage_of([one, other]) for one, other in product(states, states)} == set(Stage)
    for status, tickets in {
        "Blocked": {
            "Blocked": "unpaid",
            "Blocked+ Blocked": "partially_paid",
            "Blocked+ Issued+": "paid",
        },
        "Issued": {"Issued+ Canceled": "paid"},
        "Failed": {"Issued+ Failed": "partially_paid"},
        "Canceled": {"Canceled+ Canceled+": "paid"},
        "Expired": {"Expired": "unpaid"},
    }.items():
        for words, payment in tickets.items():
            states = tickets_of(words)
            found = (words, payment_of(states), status_of(states).value)
            assert found == (words, payment, status)


def test_a_new_booking_awaits_payment_until_its_deadline_and_then_stays_expired(offline):
    contact = {"name": "Ada Byron", "email": "ada@example.org"}
    created = offline.create(more={"contact": contact, "reservation_type": None})
    fields = "booking_id booking_reference stage possible_actions status total_price currency"
    assert set(created) == set(fields.split())
    assert (created["stage"], created["status"]) == ("payment_due", "Blocked")
    pay, cancel = created["possible_actions"]["Pay"], created["possible_actions"]["Cancel"]
    deadline = (NOW + timedelta(hours=1)).isoformat()
    assert pay == {"type": "mandatory", "timeLimit": deadline, "requestedItems": {}}
    assert cancel["type"] == "optional"
    booking = offline.booking(created)
    assert {name: booking[name] for name in created} == created
    assert booking["expire_at"] == deadline
    assert (booking["payment_status"], booking["all_tickets_paid"]) == ("unpaid", False)
    (ticket,) = booking["tickets"]
    assert (ticket["status"], ticket["ticket_number"], ticket["pdf_url"]) == ("Blocked", None, None)
    offline.clock.advance(3599)
    assert offline.booking(created)["stage"] == "payment_due"
    offline.clock.advance(1)
    booking = offline.booking(created)
    assert (booking["stage"], booking["status"]) == ("lapsed", "Expired")
    assert (booking["possible_actions"], booking["expire_at"]) == ({}, None)
    offline.clock.travel_to(NOW)
    assert offline.booking(created)["stage"] == "lapsed"
    assert offline.refusal("bookings.confirm", id=created["booking_id"]) == REFUSED_CONFIRM
    assert offline.refusal("bookings.cancel", booking_id=created["booking_id"])[0] == 409
    assert offline.refusal("tickets.cancel", ticket_id=ticket["id"]) == REFUSED_CANCEL
    assert [effect.operation for effect in offline.counters.effects] == ["bookings.create"]


def test_confirming_pays_and_issues_what_cancelling_refunds_as_its_preview_says(offline):
    created = offline.create()
    number = created["booking_id"]
    answer = offline.confirm(created)
    booking = offline.booking(created)
    (ticket,) = booking["tickets"]
    names = {"ticket_id": ticket["id"], "ticket_number": ticket["ticket_number"]}
    assert answer == {"booking_id": number, "status": "confirmed", **names}
    assert (booking["stage"], booking["status"]) == ("ticketed", "Issued")
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    assert (booking["payment_status"], booking["expire_at"]) == ("paid", None)
    assert set(ticket["availability"]["outward"]) == {"journey"}
    assert offline.refusal("bookings.confirm", id=number) == REFUSED_CONFIRM
    assert len(offline.counters.effects_of("bookings.confirm")) == 1
    effects = offline.counters.effects
    preview = offline.fee(number)
    assert preview == offline.fee(ticket["id"])
    assert (offline.booking(created), offline.counters.effects) == (booking, effects)
    assert (preview["ticket_status"], preview["currency"]) == ("Issued", "EUR")
    assert round(preview["penalty_amount"] + preview["refund_amount"], 2) == created["total_price"]
    assert 0 < preview["penalty_amount"] < created["total_price"]
    wrong = offline.error_of("bookings.cancel", booking_id=number, booking_reference="NOTTHIS")
    assert (wrong.status, wrong.field) == (422, "booking_reference")
    answer = offline.cancel(created, booking_reference=created["booking_reference"])
    assert (answer["booking_id"], answer["status"]) == (number, "cancelled")
    assert answer["refund_amount"] == preview["refund_amount"]
    booking = offline.booking(created)
    assert (booking["stage"], booking["status"]) == ("voided", "Canceled")
    assert booking["possible_actions"] == {}
    assert offline.refusal("bookings.cancel", booking_id=number) == (409, "CONFLICT")
    assert offline.refusal("bookings.confirm", id=number) == REFUSED_CONFIRM
    assert len(offline.counters.effects_of("bookings.cancel")) == 1


def test_some_companies_issue_after_some_seconds(offline):
    created = offline.create(PENDING)
    answer = offline.confirm(created)
    ticket, number = answer["ticket_id"], answer["ticket_number"]
    booking = offline.booking(created)
    assert (booking["stage"], booking["possible_actions"]) == ("in_progress", {})
    assert offline.statuses(created) == ["Pending"]
    assert booking["tickets"][0]["ticket_number"] is None
    assert offline.refusal("bookings.confirm", id=created["booking_id"]) == REFUSED_CONFIRM
    assert offline.refusal("bookings.cancel", booking_id=created["booking_id"])[0] == 409
    for named in ({}, {"ticket_number": number}):
        refused = offline.error_of("tickets.cancel", ticket_id=ticket, **named)
        assert (refused.status, refused.code) == REFUSED_CANCEL
        assert refused.message.startswith("The ticket is being issued")
    wrong = offline.error_of("tickets.cancel", ticket_id=ticket, ticket_number="WRONG1")
    assert (wrong.status, wrong.field) == (422, "ticket_number")
    offline.clock.advance(3)
    assert offline.booking(created)["stage"] == "ticketed"
    assert offline.tickets(created)[0]["ticket_number"] == number
    assert offline.perform("tickets.cancel", ticket_id=ticket, ticket_number=number)


@each(("kind", "status", "raw"), [("OPTION", "Blocked", "Blocked"), ("PRESALE", "pending", "Init")])
def test_options_and_presales_expire_with_their_tariff(kind, status, raw):
    offline = OfflineService()
    (availability, *_) = offline.search()
    chosen = selection(availability, kind)
    tariff = next(one for one in availability["tariffs"] if one["id"] == chosen["tariff_id"])
    body = {"availabilities": [chosen], "passengers": [GUEST], "reservation_type": kind}
    created = offline.perform("bookings.create", body)
    booking = offline.booking(created)
    assert (created["status"], booking["tickets"][0]["status"]) == (status, raw)
    expires = datetime.fromisoformat(booking["expire_at"])
    assert expires.timestamp() == pytest.approx(tariff["expiration_date"], abs=1)
    offline.clock.travel_to(expires)
    assert offline.booking(created)["stage"] == "lapsed"


@each(("line", "count"), [(ONE_TICKET, 1), (TWO_TICKETS, 2)])
def test_a_round_trip_is_one_ticket_or_two_and_its_price_counts_once(offline, line, count):
    found = {one["direction"]: one for one in reversed(offline.search(line, back=7))}
    chosen = [selection(found["Outward"]), selection(found["Return"])]
    prices = [
        offer.price(offer.tariff(one["tariff_id"]), offer.place(one["place_id"]))
        for one in chosen
        for offer in [offline.service.offers.find(one["availability_id"])]
    ]
    # The order in which the two are given does not matter.
    body = {"availabilities": chosen[::-1], "passengers": [GUEST]}
    booking = offline.booking(offline.perform("bookings.create", body))
    assert booking["ticket_count"] == len(booking["tickets"]) == count
    assert booking["total_price"] == float(sum(prices))
    ways = [ticket["direction"] for ticket in booking["tickets"]]
    assert ways == (["OUTWARD+RETURN"] if count == 1 else ["OUTWARD", "RETURN"])
    covered = [way for ticket in booking["tickets"] for way in ticket["availability"]]
    assert covered == list(booking["journey_details"]) == ["outward", "return"]
    assert departure(booking) == datetime.fromisoformat(found["Outward"]["depart_at"])


def test_a_round_trip_fare_requires_the_other_direction_with_the_same_company(offline):
    line, other = ("CTN", "ITGOA", "TNLGN"), ("GNV", "ITGOA", "TNLGN")
    found = {one["direction"]: one for one in offline.search(line, back=7)}
    back = next(one for one in offline.search(other, back=14) if one["direction"] == "Return")
    two_companies = [selection(found["Outward"]), selection(back)]
    created = offline.perform("bookings.create", availabilities=two_companies, passengers=[GUEST])
    assert offline.booking(created)["ticket_count"] == 2
    locked = selection(found["Outward"], "ROUNDTRIP")
    for chosen, words in (([locked, selection(back)], "same company"), ([locked], "")):
        refused = offline.error_of("bookings.create", availabilities=chosen, passengers=[GUEST])
        assert (refused.status, refused.field) == (422, "availabilities[0].tariff_id")
        assert words in refused.message
    body = {"availabilities": [locked, selection(found["Return"])], "passengers": [GUEST]}
    assert offline.attempt("bookings.create", body) is None


def test_an_open_ticket_is_valid_for_a_year_after_its_sailing_too(offline):
    booked = [offline.create(name="FLEX", out_is_open=True) for _ in range(3)]
    booking = offline.booking(booked[0])
    year = NOW + timedelta(days=365)
    assert booking["possible_actions"]["Cancel"]["timeLimit"] == year.isoformat()
    first, second = (offline.confirm(created)["ticket_id"] for created in booked[:2])
    offline.mark_paid(*offline.tickets(booked[2]))
    assert offline.booking(booked[2])["expire_at"] == year.isoformat()
    outward = offline.perform("tickets.get", id=first)["availability"]["outward"]
    details = offline.booking(booked[0])["journey_details"]["outward"]
    for way in (outward, details):
        assert (way["is_open"], way["valid_until"]) == (True, year.isoformat())
    sailed = departure(booking) + timedelta(days=2)
    for moment, part in ((sailed, 0), (year - timedelta(hours=12), 0.2)):
        offline.clock.travel_to(moment)
        penalty = offline.fee(first)["penalty_amount"]
        assert penalty == pytest.approx(booking["total_price"] * part, abs=0.01)
        if moment == sailed:
            assert offline.booking(booked[2])["stage"] == "issuance_due"
            assert offline.confirm(booked[2])
    assert offline.perform("tickets.cancel", ticket_id=first)
    offline.clock.travel_to(year)
    assert offline.refusal("tickets.cancel", ticket_id=second) == REFUSED_CANCEL
    assert "Cancel" not in offline.booking(booked[1])["possible_actions"]


def test_a_booking_paid_externally_can_be_issued_and_cancelled(offline):
    created = offline.create(TWO_TICKETS, back=7)
    first, second = offline.tickets(created)
    for _ in range(2):  # repeating a payment changes nothing
        assert offline.mark_paid(first) == {"ticket_id": first["id"], "payment_status": "paid"}
    assert len(offline.counters.effects_of("tickets.mark_paid")) == 1
    other = {"id": first["id"], "external_payment_ref": "other"}
    refused = offline.refusal("tickets.mark_paid", other, access=Access.ORGANISATION)
    assert refused == (409, "CONFLICT")
    booking = offline.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("payment_due", "partially_paid")
    offline.mark_paid(second, "pay-2", psp="bank", paid_at="2026-05-01T11:00:00Z")
    booking = offline.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("issuance_due", "paid")
    assert set(booking["possible_actions"]) == {"Issue", "Cancel"}
    offline.clock.advance(timedelta(days=2))  # what is paid no longer lapses
    offline.confirm(created)
    assert offline.booking(created)["stage"] == "ticketed"
    offline.cancel(created)
    assert offline.statuses(created) == ["Canceled", "Canceled"]
    assert len(offline.counters.effects_of("bookings.cancel")) == 1


@each("end", ["Canceled", "Expired"])
def test_a_paid_ticket_that_is_not_issued_is_refunded_in_full(end):
    offline = OfflineService()
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


def test_cancelling_one_ticket_of_two_and_nothing_after_departure(offline):
    created, kept = (offline.issue(TWO_TICKETS, back=7) for _ in "ab")
    first, second = offline.tickets(created)
    wrong = {"ticket_id": first["id"], "ticket_number": second["ticket_number"]}
    assert offline.error_of("tickets.cancel", wrong).field == "ticket_number"
    previews = [offline.fee(ticket["id"]) for ticket in (first, second)]
    right = {"ticket_id": first["id"], "ticket_number": first["ticket_number"]}
    answer = offline.perform("tickets.cancel", right)
    assert answer == {"ticket_id": first["id"], "status": "cancelled"}
    booking = offline.booking(created)
    assert booking["stage"] == "partially_voided"
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    assert offline.refusal("tickets.cancel", right) == REFUSED_CANCEL
    check_pricing(offline, created)
    # The preview of a cancelled ticket has the amounts of its cancellation.
    assert offline.fee(first["id"]) == {**previews[0], "ticket_status": "Canceled"}
    left = offline.fee(created["booking_id"])["refund_amount"]
    assert left == previews[1]["refund_amount"] == offline.cancel(created)["refund_amount"]
    assert offline.booking(created)["stage"] == "voided"
    first, second = offline.tickets(kept)
    offline.clock.travel_to(departure(offline.booking(kept)))
    assert "Cancel" not in offline.booking(kept)["possible_actions"]
    assert offline.refusal("tickets.cancel", ticket_id=first["id"]) == REFUSED_CANCEL
    assert offline.refusal("bookings.cancel", booking_id=kept["booking_id"])[0] == 409
    assert offline.statuses(kept) == ["Issued", "Issued"]
    assert offline.perform("tickets.cancel", ticket_id=second["id"])["status"] == "cancelled"


def check_pricing(offline, created):
    """Check that the amounts of a booking with a cancelled ticket add up for every role."""
    for access, role in ((Access.READ_WRITE, "agency"), (Access.ORGANISATION, "organisation")):
        pricing = offline.booking(created, access=access)["pricing"]
        assert pricing["viewer_role"] == role
        received, kept = pricing["received"]["amount"], pricing["kept"]
        assert 0 < received < created["total_price"]
        assert round(kept["total"] + pricing["reverse"]["amount"], 2) == received
        assert sum(line["amount"] for line in kept["lines"]) == kept["total"] > 0
        assert pricing["balance"] == {"mutated": True, "before": created["total_price"], "after": 0}


def test_a_second_confirm_issues_the_failed_ticket_only_and_none_after_departure(offline):
    created, late = (offline.create(TWO_TICKETS, back=7) for _ in "ab")
    offline.faults.add("ticket_fails", "bookings.confirm")
    answer = offline.confirm(created)
    booking = offline.booking(created)
    assert offline.statuses(created) == ["Issued", "Failed"]
    assert answer["ticket_id"] == booking["tickets"][0]["id"]
    assert (booking["stage"], booking["payment_status"]) == ("partially_ticketed", "partially_paid")
    assert booking["possible_actions"]["Retry"]["type"] == "mandatory"
    retry = offline.confirm(created)
    booking = offline.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("ticketed", "paid")
    assert retry["ticket_id"] == booking["tickets"][1]["id"]
    numbers = {one["ticket_number"] for one in booking["tickets"]}
    assert numbers == {answer["ticket_number"], retry["ticket_number"]}
    offline.faults.add("ticket_fails", index=0)
    offline.confirm(late)
    offline.clock.travel_to(departure(offline.booking(late)))
    booking = offline.booking(late)
    assert booking["stage"] == "partially_ticketed"
    assert set(booking["possible_actions"]) == {"Download"}
    assert offline.refusal("bookings.confirm", id=late["booking_id"]) == REFUSED_CONFIRM


def test_a_booking_with_a_pending_ticket_is_not_cancelled_and_a_rejected_one_is_retried(offline):
    created, alone = offline.create(PENDING, back=7), offline.create()
    offline.faults.add("ticket_fails", index=0)
    offline.confirm(created)
    before = offline.booking(created)
    assert offline.statuses(created) == ["Failed", "Pending"]
    assert offline.refusal("bookings.cancel", booking_id=created["booking_id"])[0] == 409
    assert offline.booking(created) == before
    confirmed = offline.counters.effects_of("bookings.confirm")
    offline.faults.add("ticket_fails")
    assert offline.refusal("bookings.confirm", id=alone["booking_id"]) == REFUSED_CONFIRM
    booking = offline.booking(alone)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")
    assert offline.counters.effects_of("bookings.confirm") == confirmed
    offline.confirm(alone)
    assert offline.booking(alone)["stage"] == "ticketed"


def test_faults_change_the_price_and_end_an_option_and_fares_follow_the_ages_of_the_day(offline):
    plain = offline.create()
    offline.faults.add("price_change", "bookings.create", factor=1.5, amount=2.25)
    changed = offline.create()
    assert changed["total_price"] == pytest.approx(plain["total_price"] * 1.5 + 2.25, abs=0.01)
    assert offline.create()["total_price"] == plain["total_price"]
    option = offline.create(name="OPTION", more={"reservation_type": "OPTION"})
    offline.faults.add("option_expired")
    assert offline.refusal("bookings.confirm", id=option["booking_id"]) == REFUSED_CONFIRM
    assert offline.booking(option)["stage"] == "lapsed"
    limit = Network.load().companies[ONE_TICKET[0]].child_below
    party = (ADULT, {**CHILD, "age": limit - 1})
    day = datetime.fromisoformat(offline.search(party=party)[0]["depart_at"]).date()
    birthday = day.replace(year=day.year - limit)
    guests = [GUEST, {**YOUNG_GUEST, "birth_date": birthday.isoformat(), "age": limit - 1}]
    as_searched = offline.create(passengers=[GUEST, YOUNG_GUEST], party=party)
    older = offline.create(passengers=guests, party=party)
    assert older["total_price"] > as_searched["total_price"]
    guests[1]["birth_date"] = (birthday + timedelta(days=1)).isoformat()
    younger = offline.create(passengers=guests, party=party)
    assert younger["total_price"] == as_searched["total_price"]


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


HOUR = timedelta(hours=1)


def test_the_penalty_follows_the_fare_family_and_the_company():
    second = timedelta(seconds=1)
    late, later, day = 24 * HOUR - second, HOUR, 24 * HOUR
    for family, notice, kept_after in (
        ("flex", 0.5, {30 * HOUR: 0}),
        ("flex", 1, {30 * HOUR: 0, day: 0, late: 20, 2 * HOUR: 20, later: 50, -second: 100}),
        ("flex", 2, {30 * HOUR: 20}),
        ("standard", 1, {7 * day: 20, 2 * day: 50, 47 * HOUR: 100}),
        ("saver", 1, {300 * day: 100}),
    ):
        for left, kept in kept_after.items():
            fee = cancellation_fee(Decimal("100.00"), family=family, notice=notice, left=left)
            found = (str(fee.penalty), fee.refund)
            assert found == (f"{kept}.00", 100 - kept), (family, notice, left)


def test_the_fee_rises_as_departure_approaches_and_an_unpaid_booking_has_none(offline):
    unpaid = offline.create(name="SAVER")
    fee = offline.fee(unpaid["booking_id"])
    assert (fee["penalty_amount"], fee["refund_amount"], fee["ticket_status"]) == (0, 0, "Blocked")
    assert offline.cancel(unpaid)["refund_amount"] == 0
    created = offline.issue(name="FLEX")
    booking = offline.booking(created)
    sails, total = departure(booking), created["total_price"]
    for left, part in ((25 * HOUR, 0), (23 * HOUR, 0.2), (HOUR, 0.5), (-HOUR, 1)):
        offline.clock.travel_to(sails - left)
        penalty = offline.fee(booking["tickets"][0]["id"])["penalty_amount"]
        assert penalty == pytest.approx(part * total, abs=0.02)
