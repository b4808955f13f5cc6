from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import settings
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

from ferry_sdk.sandbox.bookings.bookings import Stage, payment_of, stage_of, status_of
from ferry_sdk.sandbox.bookings.tickets import TicketStatus
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.requests.access import Access

CHILD = {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8}
YOUNG_GUEST = {"type": "Child", "first_name": "Tom", "last_name": "Byron"}


@pytest.fixture
def desk():
    return OfflineService()


def mark_paid(desk, ticket, reference="pay-1", **how):
    how = {"access": Access.ORGANISATION, **how}
    return desk.ask("tickets.mark_paid", id=ticket, external_payment_ref=reference, **how)


def ticket_ids(desk, created):
    return [ticket["id"] for ticket in desk.booking(created)["tickets"]]


N, B, P, S, C, F, E = (
    TicketStatus.INIT,
    TicketStatus.BLOCKED,
    TicketStatus.PENDING,
    TicketStatus.ISSUED,
    TicketStatus.CANCELED,
    TicketStatus.FAILED,
    TicketStatus.EXPIRED,
)


def tickets_in(states):
    """Return tickets with a status and a payment only."""
    return [SimpleNamespace(status=status, paid=paid) for status, paid in states]


@pytest.mark.parametrize(
    ("tickets", "stage"),
    [
        ([(B, False)], "payment_due"),
        ([(N, False)], "payment_due"),
        ([(B, True)], "issuance_due"),
        ([(B, True), (B, False)], "payment_due"),
        ([(B, True), (C, True)], "issuance_due"),
        ([(P, True)], "in_progress"),
        ([(P, True), (S, True)], "in_progress"),
        ([(P, True), (F, False)], "in_progress"),
        ([(S, True)], "ticketed"),
        ([(S, True), (F, False)], "partially_ticketed"),
        ([(S, True), (E, False)], "partially_ticketed"),
        ([(S, True), (C, True)], "partially_voided"),
        ([(S, True), (C, True), (E, False)], "partially_ticketed"),
        ([(C, True)], "voided"),
        ([(C, True), (E, False)], "voided"),
        ([(E, False), (E, True)], "lapsed"),
        ([(F, False)], "rejected"),
        ([(F, False), (C, True)], "rejected"),
    ],
)
def test_the_stage_follows_from_the_tickets(tickets, stage):
    states = tickets_in(tickets)
    assert stage_of(states).value == stage
    assert stage_of(states[::-1]).value == stage


def test_every_pair_of_tickets_has_a_stage_and_every_stage_occurs():
    states = tickets_in(product(TicketStatus, [False, True]))
    stages = {stage_of([one, other]) for one, other in product(states, states)}
    assert stages == set(Stage)


@pytest.mark.parametrize(
    ("tickets", "payment", "status"),
    [
        ([(B, False)], "unpaid", "Blocked"),
        ([(B, True), (B, False)], "partially_paid", "Blocked"),
        ([(B, True), (S, True)], "paid", "Blocked"),
        ([(S, True), (C, False)], "paid", "Issued"),
        ([(S, True), (F, False)], "partially_paid", "Failed"),
        ([(C, True), (C, True)], "paid", "Canceled"),
        ([(E, False)], "unpaid", "Expired"),
    ],
)
def test_payment_and_status_follow_from_the_tickets(tickets, payment, status):
    states = tickets_in(tickets)
    assert (payment_of(states), status_of(states).value) == (payment, status)


def test_a_new_booking_waits_to_be_paid(desk):
    created = desk.created(more={"contact": {"name": "Ada Byron", "email": "ada@example.org"}})
    assert set(created) == {
        "booking_id",
        "booking_reference",
        "stage",
        "possible_actions",
        "status",
        "total_price",
        "currency",
    }
    assert (created["stage"], created["status"]) == ("payment_due", "Blocked")
    pay, cancel = created["possible_actions"]["Pay"], created["possible_actions"]["Cancel"]
    deadline = (NOW + timedelta(hours=1)).isoformat()
    assert pay == {"type": "mandatory", "timeLimit": deadline, "requestedItems": {}}
    assert cancel["type"] == "optional"
    booking = desk.booking(created)
    assert {name: booking[name] for name in created} == created
    assert booking["expire_at"] == deadline
    assert (booking["payment_status"], booking["all_tickets_paid"]) == ("unpaid", False)
    assert booking["tickets"][0]["ticket_number"] is None
    assert booking["tickets"][0]["pdf_url"] is None


def test_confirming_pays_and_issues(desk):
    created = desk.created()
    answer = desk.confirm(created)
    booking = desk.booking(created)
    (ticket,) = booking["tickets"]
    assert answer == {
        "booking_id": created["booking_id"],
        "status": "confirmed",
        "ticket_id": ticket["id"],
        "ticket_number": ticket["ticket_number"],
    }
    assert (booking["stage"], booking["status"], ticket["status"]) == (
        "ticketed",
        "Issued",
        "Issued",
    )
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    assert (booking["payment_status"], booking["expire_at"]) == ("paid", None)
    refused = desk.refused("bookings.confirm", id=created["booking_id"])
    assert (refused.status, refused.code) == (409, "BOOKING_CONFIRM_ERROR")
    assert len(desk.counters.effects_of("bookings.confirm")) == 1


def test_some_companies_take_a_moment_to_issue(desk):
    created = desk.created(PENDING)
    answer = desk.confirm(created)
    booking = desk.booking(created)
    assert (booking["stage"], booking["possible_actions"]) == ("in_progress", {})
    assert booking["tickets"][0]["status"] == "Pending"
    assert booking["tickets"][0]["ticket_number"] is None
    for operation, named in (
        ("bookings.confirm", {"id": created["booking_id"]}),
        ("bookings.cancel", {"booking_id": created["booking_id"]}),
        ("tickets.cancel", {"ticket_id": answer["ticket_id"]}),
    ):
        assert desk.refused(operation, named).status == 409
    desk.clock.advance(3)
    booking = desk.booking(created)
    assert booking["stage"] == "ticketed"
    assert booking["tickets"][0]["ticket_number"] == answer["ticket_number"]


def test_a_ticket_not_paid_in_time_expires_for_good(desk):
    created = desk.created()
    desk.clock.advance(3599)
    assert desk.booking(created)["stage"] == "payment_due"
    desk.clock.advance(1)
    booking = desk.booking(created)
    assert (booking["stage"], booking["status"]) == ("lapsed", "Expired")
    assert (booking["possible_actions"], booking["expire_at"]) == ({}, None)
    desk.clock.travel_to(NOW)
    assert desk.booking(created)["stage"] == "lapsed"
    (ticket,) = ticket_ids(desk, created)
    assert desk.refused("bookings.confirm", id=created["booking_id"]).status == 409
    assert desk.refused("bookings.cancel", booking_id=created["booking_id"]).status == 409
    assert desk.refused("tickets.cancel", ticket_id=ticket).status == 409
    assert [effect.operation for effect in desk.counters.effects] == ["bookings.create"]


@pytest.mark.parametrize(
    ("name", "kind", "status", "raw"),
    [("OPTION", "OPTION", "Blocked", "Blocked"), ("PRESALE", "PRESALE", "pending", "Init")],
)
def test_options_and_presales_hold_until_their_tariff_expires(desk, name, kind, status, raw):
    (availability, *_) = desk.search()
    chosen = selection(availability, name)
    tariff = next(one for one in availability["tariffs"] if one["id"] == chosen["tariff_id"])
    body = {"availabilities": [chosen], "passengers": [GUEST], "reservation_type": kind}
    created = desk.ask("bookings.create", body)
    booking = desk.booking(created)
    assert (created["status"], booking["tickets"][0]["status"]) == (status, raw)
    expires = datetime.fromisoformat(booking["expire_at"])
    assert expires.timestamp() == pytest.approx(tariff["expiration_date"], abs=1)
    desk.clock.travel_to(expires)
    assert desk.booking(created)["stage"] == "lapsed"


@pytest.mark.parametrize(("name", "kind"), [("OPTION", "OPTION"), ("PRESALE", "PRESALE")])
def test_options_and_presales_are_confirmed_into_tickets(desk, name, kind):
    created = desk.created(name=name, more={"reservation_type": kind})
    desk.confirm(created)
    assert desk.booking(created)["stage"] == "ticketed"


@pytest.mark.parametrize(("line", "count"), [(ONE_TICKET, 1), (TWO_TICKETS, 2)])
def test_a_round_trip_is_one_ticket_or_two_and_counted_once(desk, line, count):
    found = desk.search(line, back=7)
    out = next(one for one in found if one["direction"] == "Outward")
    back = next(one for one in found if one["direction"] == "Return")
    chosen = [selection(out), selection(back)]
    prices = [
        offer.price(offer.tariff(one["tariff_id"]), offer.place(one["place_id"]))
        for one in chosen
        for offer in [desk.service.offers.find(one["availability_id"])]
    ]
    # The order in which the two are given does not matter.
    body = {"availabilities": chosen[::-1], "passengers": [GUEST]}
    booking = desk.booking(desk.ask("bookings.create", body))
    assert booking["ticket_count"] == len(booking["tickets"]) == count
    assert booking["total_price"] == float(sum(prices))
    ways = [ticket["direction"] for ticket in booking["tickets"]]
    assert ways == (["OUTWARD+RETURN"] if count == 1 else ["OUTWARD", "RETURN"])
    covered = [way for ticket in booking["tickets"] for way in ticket["availability"]]
    assert covered == list(booking["journey_details"]) == ["outward", "return"]
    assert departure(booking) == datetime.fromisoformat(out["depart_at"])


def test_two_companies_issue_two_tickets(desk):
    line = ("CTN", "ITGOA", "TNLGN")
    other = ("GNV", "ITGOA", "TNLGN")
    out = next(one for one in desk.search(line, back=7) if one["direction"] == "Outward")
    back = next(one for one in desk.search(other, back=14) if one["direction"] == "Return")
    body = {"availabilities": [selection(out), selection(back)], "passengers": [GUEST]}
    booking = desk.booking(desk.ask("bookings.create", body))
    assert booking["ticket_count"] == 2
    locked = [selection(out, "ROUNDTRIP"), selection(back)]
    refused = desk.refused("bookings.create", availabilities=locked, passengers=[GUEST])
    assert (refused.status, refused.field) == (422, "availabilities[0].tariff_id")
    assert "same company" in refused.message


def test_paid_elsewhere_then_issued(desk):
    created = desk.created(TWO_TICKETS, back=7)
    first, second = ticket_ids(desk, created)
    assert mark_paid(desk, first) == {"ticket_id": first, "payment_status": "paid"}
    booking = desk.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("payment_due", "partially_paid")
    mark_paid(desk, second, "pay-2", arguments={"psp": "bank", "paid_at": "2026-05-01T11:00:00Z"})
    booking = desk.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("issuance_due", "paid")
    assert set(booking["possible_actions"]) == {"Issue", "Cancel"}
    desk.clock.advance(timedelta(days=2))  # what is paid no longer lapses
    desk.confirm(created)
    assert desk.booking(created)["stage"] == "ticketed"


def test_the_same_payment_twice_is_one_payment(desk):
    created = desk.created()
    (ticket,) = ticket_ids(desk, created)
    answers = [mark_paid(desk, ticket), mark_paid(desk, ticket)]
    assert answers[0] == answers[1]
    assert len(desk.counters.effects_of("tickets.mark_paid")) == 1
    refused = desk.refused(
        "tickets.mark_paid", id=ticket, external_payment_ref="other", access=Access.ORGANISATION
    )
    assert (refused.status, refused.code) == (409, "CONFLICT")


@pytest.mark.parametrize("access", [Access.READ_ONLY, Access.READ_WRITE])
def test_only_the_organisation_records_payments(desk, access):
    created = desk.created()
    (ticket,) = ticket_ids(desk, created)
    refused = desk.refused("tickets.mark_paid", id=ticket, external_payment_ref="x", access=access)
    assert (refused.status, refused.code) == (403, "FORBIDDEN")
    assert desk.booking(created)["payment_status"] == "unpaid"


def test_a_cancelled_ticket_is_not_paid(desk):
    created = desk.created()
    (ticket,) = ticket_ids(desk, created)
    desk.ask("tickets.cancel", ticket_id=ticket)
    body = {"id": ticket, "external_payment_ref": "x"}
    assert desk.refused("tickets.mark_paid", body, access=Access.ORGANISATION).status == 409


def test_a_moment_of_payment_has_an_offset(desk):
    (ticket,) = ticket_ids(desk, desk.created())
    body = {"id": ticket, "external_payment_ref": "x", "paid_at": "2026-05-01T12:00:00"}
    refused = desk.refused("tickets.mark_paid", body, access=Access.ORGANISATION)
    assert (refused.status, refused.field) == (422, "paid_at")


def test_what_is_paid_and_never_issued_is_paid_back(desk):
    for end in ("cancelled", "departed"):
        created = desk.created(name="SAVER")
        (ticket,) = ticket_ids(desk, created)
        mark_paid(desk, ticket)
        if end == "cancelled":
            desk.ask("tickets.cancel", ticket_id=ticket)
        else:
            desk.clock.travel_to(departure(desk.booking(created)))
        fee = desk.ask("bookings.cancel_fee", id=ticket)
        assert (fee["penalty_amount"], fee["refund_amount"]) == (0, created["total_price"])
        assert fee["ticket_status"] == {"cancelled": "Canceled", "departed": "Expired"}[end]


def test_cancelling_a_booking(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.confirm(created)
    number = created["booking_id"]
    wrong = desk.refused("bookings.cancel", booking_id=number, booking_reference="NOTTHIS")
    assert (wrong.status, wrong.field) == (422, "booking_reference")
    answer = desk.ask(
        "bookings.cancel", booking_id=number, booking_reference=created["booking_reference"]
    )
    assert (answer["booking_id"], answer["status"]) == (number, "cancelled")
    booking = desk.booking(created)
    assert (booking["stage"], booking["status"]) == ("voided", "Canceled")
    assert booking["possible_actions"] == {}
    again = desk.refused("bookings.cancel", booking_id=number)
    assert (again.status, again.code) == (409, "CONFLICT")
    assert desk.refused("bookings.confirm", id=number).status == 409
    assert len(desk.counters.effects_of("bookings.cancel")) == 1


def test_cancelling_one_ticket_of_two(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.confirm(created)
    first, second = desk.booking(created)["tickets"]
    wrong = {"ticket_id": first["id"], "ticket_number": second["ticket_number"]}
    assert desk.refused("tickets.cancel", wrong).field == "ticket_number"
    right = {"ticket_id": first["id"], "ticket_number": first["ticket_number"]}
    answer = desk.ask("tickets.cancel", right)
    assert answer == {"ticket_id": first["id"], "status": "cancelled"}
    booking = desk.booking(created)
    assert booking["stage"] == "partially_voided"
    assert set(booking["possible_actions"]) == {"Cancel", "Download"}
    again = desk.refused("tickets.cancel", right)
    assert (again.status, again.code) == (409, "TICKET_CANCEL_ERROR")
    desk.ask("bookings.cancel", booking_id=created["booking_id"])
    assert desk.booking(created)["stage"] == "voided"


def test_nothing_is_cancelled_after_departure(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.confirm(created)
    booking = desk.booking(created)
    first, second = ticket_ids(desk, created)
    desk.clock.travel_to(departure(booking))
    assert "Cancel" not in desk.booking(created)["possible_actions"]
    assert desk.refused("tickets.cancel", ticket_id=first).status == 409
    assert desk.refused("bookings.cancel", booking_id=created["booking_id"]).status == 409
    assert [one["status"] for one in desk.booking(created)["tickets"]] == ["Issued", "Issued"]
    assert desk.ask("tickets.cancel", ticket_id=second)["status"] == "cancelled"


def test_one_ticket_of_two_fails_and_is_tried_again(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.faults.add("ticket_fails", "bookings.confirm")
    answer = desk.confirm(created)
    booking = desk.booking(created)
    assert [one["status"] for one in booking["tickets"]] == ["Issued", "Failed"]
    assert answer["ticket_id"] == booking["tickets"][0]["id"]
    assert (booking["stage"], booking["payment_status"]) == (
        "partially_ticketed",
        "partially_paid",
    )
    assert booking["possible_actions"]["Retry"]["type"] == "mandatory"
    retry = desk.confirm(created)
    booking = desk.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("ticketed", "paid")
    assert retry["ticket_id"] == booking["tickets"][1]["id"]
    numbers = {one["ticket_number"] for one in booking["tickets"]}
    assert numbers == {answer["ticket_number"], retry["ticket_number"]}


def test_the_first_of_two_fails_where_that_is_asked(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.faults.add("ticket_fails", index=0)
    desk.confirm(created)
    statuses = [one["status"] for one in desk.booking(created)["tickets"]]
    assert statuses == ["Failed", "Issued"]


def test_nothing_is_tried_again_after_departure(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.faults.add("ticket_fails", index=0)
    desk.confirm(created)
    desk.clock.travel_to(departure(desk.booking(created)))
    booking = desk.booking(created)
    assert (booking["stage"], set(booking["possible_actions"])) == (
        "partially_ticketed",
        {"Download"},
    )
    assert desk.refused("bookings.confirm", id=created["booking_id"]).status == 409


def test_a_booking_is_cancelled_whole_or_not_at_all(desk):
    created = desk.created(PENDING, back=7)
    desk.faults.add("ticket_fails", index=0)
    desk.confirm(created)
    before = desk.booking(created)
    assert [one["status"] for one in before["tickets"]] == ["Failed", "Pending"]
    assert desk.refused("bookings.cancel", booking_id=created["booking_id"]).status == 409
    assert desk.booking(created) == before


def test_the_only_ticket_fails(desk):
    created = desk.created()
    desk.faults.add("ticket_fails")
    refused = desk.refused("bookings.confirm", id=created["booking_id"])
    assert (refused.status, refused.code) == (409, "BOOKING_CONFIRM_ERROR")
    booking = desk.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")
    assert not desk.counters.effects_of("bookings.confirm")
    desk.confirm(created)
    assert desk.booking(created)["stage"] == "ticketed"


def test_a_price_change_is_seen_in_the_total(desk):
    plain = desk.created()
    desk.faults.add("price_change", "bookings.create", factor=1.5, amount=2.25)
    changed = desk.created()
    assert changed["total_price"] == pytest.approx(plain["total_price"] * 1.5 + 2.25, abs=0.01)
    assert desk.created()["total_price"] == plain["total_price"]


def test_an_option_expires_just_before_it_is_confirmed(desk):
    created = desk.created(name="OPTION", more={"reservation_type": "OPTION"})
    desk.faults.add("option_expired")
    refused = desk.refused("bookings.confirm", id=created["booking_id"])
    assert (refused.status, refused.code) == (409, "BOOKING_CONFIRM_ERROR")
    assert desk.booking(created)["stage"] == "lapsed"


def test_ages_are_those_of_the_day_of_the_leg(desk):
    limit = Network.load().companies[ONE_TICKET[0]].child_below
    party = (ADULT, {**CHILD, "age": limit - 1})
    day = datetime.fromisoformat(desk.search(party=party)[0]["depart_at"]).date()
    birthday = day.replace(year=day.year - limit)
    guests = [GUEST, {**YOUNG_GUEST, "birth_date": birthday.isoformat(), "age": limit - 1}]
    as_searched = desk.created(passengers=[GUEST, YOUNG_GUEST], party=party)
    older = desk.created(passengers=guests, party=party)
    assert older["total_price"] > as_searched["total_price"]
    guests[1]["birth_date"] = (birthday + timedelta(days=1)).isoformat()
    younger = desk.created(passengers=guests, party=party)
    assert younger["total_price"] == as_searched["total_price"]


@pytest.mark.parametrize(
    ("access", "role"),
    [(Access.READ_WRITE, "agency"), (Access.ORGANISATION, "organisation")],
)
def test_pricing_adds_up_for_whoever_reads(desk, access, role):
    created = desk.created(TWO_TICKETS, back=7)
    desk.confirm(created)
    desk.ask("tickets.cancel", ticket_id=ticket_ids(desk, created)[0])
    pricing = desk.booking(created, access=access)["pricing"]
    assert pricing["viewer_role"] == role
    received, kept = pricing["received"]["amount"], pricing["kept"]
    assert 0 < received < created["total_price"]
    assert round(kept["total"] + pricing["reverse"]["amount"], 2) == received
    assert sum(line["amount"] for line in kept["lines"]) == kept["total"] > 0
    assert pricing["balance"] == {"mutated": True, "before": created["total_price"], "after": 0}


def test_a_reader_without_a_role_sees_no_pricing(desk):
    assert desk.booking(desk.created(), access=Access.READ_ONLY)["pricing"] is None


class BookingLife(RuleBasedStateMachine):
    """Whatever is done to a booking in whatever order, some things stay true."""

    @initialize(back=st.sampled_from([None, 7]), name=st.sampled_from(["FLEX", "OPTION"]))
    def book(self, back, name):
        self.desk = OfflineService()
        kind = "OPTION" if name == "OPTION" else "TICKET"
        more = {"reservation_type": kind}
        self.created = self.desk.created(TWO_TICKETS, back=back, name=name, more=more, from_day=20)
        self.id = self.created["booking_id"]
        self.tickets = ticket_ids(self.desk, self.created)
        self.issued = {}
        self.ended = {}
        self.fees = {}

    def attempt(self, operation, **named):
        before = self.desk.counters.effects
        booking = self.desk.booking(self.created)
        previews = self.previews()
        refused = self.desk.attempt(operation, named, access=Access.ORGANISATION)
        if refused is not None:
            assert refused.status == 409
            assert self.desk.counters.effects == before
            if "ticket_fails" not in {fault.kind.value for fault in self.desk.faults.taken}:
                assert self.desk.booking(self.created) == booking

        for ticket, fee in self.previews().items():
            if fee["ticket_status"] == "Canceled" != previews[ticket]["ticket_status"]:
                assert fee == {**previews[ticket], "ticket_status": "Canceled"}

    def previews(self):
        return {ticket: self.desk.ask("bookings.cancel_fee", id=ticket) for ticket in self.tickets}

    @rule(hours=st.sampled_from([0.1, 1, 25, 200]))
    def wait(self, hours):
        self.desk.clock.advance(timedelta(hours=hours))

    @rule()
    def confirm(self):
        self.attempt("bookings.confirm", id=self.id)

    @rule(index=st.sampled_from([0, -1]))
    def confirm_with_a_failure(self, index):
        self.desk.faults.add("ticket_fails", index=index)
        self.attempt("bookings.confirm", id=self.id)
        self.desk.faults.clear()

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
        booking = self.desk.booking(self.created, access=Access.ORGANISATION)
        assert booking["total_price"] == self.created["total_price"]
        pricing = booking["pricing"]
        paid = pricing["balance"]["before"] - pricing["balance"]["after"]
        total = 0
        for ticket in self.tickets:
            fee = self.desk.ask("bookings.cancel_fee", id=ticket)
            total += fee["penalty_amount"] + fee["refund_amount"]
            assert fee["penalty_amount"] >= 0 <= fee["refund_amount"]
            if fee["ticket_status"] in {"Canceled", "Expired"}:
                assert self.fees.setdefault(ticket, fee) == fee
        assert total == pytest.approx(paid, abs=0.001)

    @invariant()
    def the_booking_says_what_its_tickets_say(self):
        booking = self.desk.booking(self.created)
        statuses = {ticket["status"] for ticket in booking["tickets"]}
        whole = {
            frozenset({"Issued"}): "ticketed",
            frozenset({"Canceled"}): "voided",
            frozenset({"Expired"}): "lapsed",
            frozenset({"Failed"}): "rejected",
        }
        assert booking["stage"] == whole.get(frozenset(statuses), booking["stage"])
        assert (booking["stage"] == "ticketed") == (statuses == {"Issued"})
        assert ("Retry" in booking["possible_actions"]) <= ("Failed" in statuses)
        waits = statuses & {"Blocked", "Init"}
        limit = booking["expire_at"]
        assert limit is None or datetime.fromisoformat(limit) > self.desk.clock.now()
        assert (booking["expire_at"] is not None) == bool(waits)
        assert (booking["stage"] in {"payment_due", "issuance_due"}) <= bool(waits)

    @invariant()
    def what_is_issued_or_gone_stays_so(self):
        for ticket in self.desk.booking(self.created)["tickets"]:
            number, status = ticket["ticket_number"], ticket["status"]
            if number is not None:
                assert self.issued.setdefault(ticket["id"], number) == number
            assert (status == "Issued") <= (number is not None)
            assert self.ended.get(ticket["id"], status) == status
            if status in {"Canceled", "Expired"}:
                self.ended[ticket["id"]] = status
        assert len(set(self.issued.values())) == len(self.issued)


BookingLife.TestCase.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)
TestBookingLife = BookingLife.TestCase
