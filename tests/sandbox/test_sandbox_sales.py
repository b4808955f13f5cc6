"""Operations on bookings and tickets, over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    PENDING,
    TWO_TICKETS,
    search_request,
    selection,
)

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.requests.bookings import Payment
from tests.support.tables import each
from tests.support.wire import TLS


class Client:
    """A bare HTTP client with the organisation token."""

    def __init__(self, sandbox):
        headers = {
            "authorization": f"Bearer {sandbox.organisation_token}",
            "accept": "application/json",
        }
        self.http = httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers, timeout=30)

    def post(self, path, **body):
        return self.http.post(f"/api/{path}", json=body)

    def get(self, path):
        return self.http.get(f"/api/{path}").json()

    def search(self, line=ONE_TICKET, *, back=False, day=60, **more):
        """Return the first availability of each direction, on the first day with sailings."""
        for number in range(14):
            out = NOW.date() + timedelta(days=day + number)
            request = search_request(line, out, out + timedelta(days=7) if back else None) | more
            reply = self.post("availability", request=request, passengers=[ADULT])
            if reply.status_code == 404:
                continue
            found = {one["direction"]: one for one in reversed(reply.json())}
            if len(found) == 1 + back:
                return [found[way] for way in ("Outward", "Return") if way in found]
        raise AssertionError("nothing sails for a fortnight")

    def book(self, *chosen, **more):
        return self.post("booking", availabilities=chosen, passengers=[GUEST], **more)

    def book_and_read(self, *chosen, **more):
        reply = self.book(*chosen, **more)
        assert reply.status_code == 201, reply.text
        return self.get(f"booking/{reply.json()['booking_id']}")

    def reread(self, booking):
        return self.get(f"booking/{booking['booking_id']}")


@pytest.fixture(scope="module")
def running():
    with Sandbox(now=NOW, frozen=True) as sandbox:
        client = Client(sandbox)
        with client.http:
            yield sandbox, client


@pytest.fixture
def sandbox(running):
    running[0].reset()
    return running[0]


@pytest.fixture
def client(running, sandbox):
    assert sandbox.clock.now() == NOW
    return running[1]


def test_a_pending_ticket_can_be_cancelled_by_the_number_from_confirm_once_issued(sandbox, client):
    (one,) = client.search(PENDING)
    booking = client.book_and_read(selection(one))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    ticket = {"ticket_id": issued["ticket_id"]}
    assert client.reread(booking)["tickets"][0]["status"] == "Pending"
    for number in ({}, {"ticket_number": issued["ticket_number"]}):
        refused = client.post("ticket/cancel", **ticket, **number)
        assert (refused.status_code, refused.json()["code"]) == (409, "TICKET_CANCEL_ERROR")
        assert refused.json()["message"].startswith("The ticket is being issued")
    wrong = client.post("ticket/cancel", **ticket, ticket_number="WRONG1")
    assert (wrong.status_code, wrong.json()["field"]) == (422, "ticket_number")
    sandbox.clock.advance(3)
    done = client.post("ticket/cancel", **ticket, ticket_number=issued["ticket_number"])
    assert done.status_code == 201


def test_a_null_reservation_type_means_the_default(client):
    (one,) = client.search()
    booking = client.book_and_read(selection(one), reservation_type=None)
    assert booking["tickets"][0]["status"] == "Blocked"
    assert booking["expire_at"] == (NOW + timedelta(hours=1)).isoformat()


def after_departure(availability):
    """Return the time two days after the departure of an availability."""
    return datetime.fromisoformat(availability["depart_at"]) + timedelta(days=2)


def test_an_open_ticket_is_valid_for_a_year_after_its_sailing_too(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.book_and_read(selection(one, "FLEX"))
    year = (NOW + timedelta(days=365)).isoformat()
    assert booking["possible_actions"]["Cancel"]["timeLimit"] == year
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    outward = client.get(f"ticket/{issued['ticket_id']}")["availability"]["outward"]
    assert (outward["is_open"], outward["valid_until"]) == (True, year)
    assert outward["journey"]["depart_at"] == one["depart_at"]
    details = client.reread(booking)["journey_details"]["outward"]
    assert (details["is_open"], details["valid_until"]) == (True, year)

    sandbox.clock.travel_to(after_departure(one))
    paid = booking["total_price"]
    fee = client.post("booking/cancel-fee", id=issued["ticket_id"]).json()
    assert (fee["penalty_amount"], fee["refund_amount"]) == (0, paid)
    sandbox.clock.travel_to(NOW + timedelta(days=364, hours=12))
    fee = client.post("booking/cancel-fee", id=issued["ticket_id"]).json()
    assert fee["penalty_amount"] == pytest.approx(paid * 0.2, abs=0.01)
    assert client.post("ticket/cancel", ticket_id=issued["ticket_id"]).status_code == 201


def test_an_open_ticket_ends_after_a_year(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.book_and_read(selection(one, "FLEX"))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    sandbox.clock.travel_to(NOW + timedelta(days=365))
    late = client.post("ticket/cancel", ticket_id=issued["ticket_id"])
    assert (late.status_code, late.json()["code"]) == (409, "TICKET_CANCEL_ERROR")
    assert "Cancel" not in client.reread(booking)["possible_actions"]


def test_an_open_ticket_that_is_paid_can_be_issued_for_a_year(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.book_and_read(selection(one, "FLEX"))
    (ticket,) = booking["tickets"]
    client.post(f"ticket/{ticket['id']}/mark-paid", external_payment_ref="P1")
    assert client.reread(booking)["expire_at"] == (NOW + timedelta(days=365)).isoformat()
    sandbox.clock.travel_to(after_departure(one))
    assert client.reread(booking)["stage"] == "issuance_due"
    assert client.post("booking/confirm", id=booking["booking_id"]).status_code == 201


def test_a_fixed_ticket_ends_at_departure_and_has_no_validity(sandbox, client):
    (one,) = client.search()
    booking = client.book_and_read(selection(one, "FLEX"))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    assert set(client.reread(booking)["tickets"][0]["availability"]["outward"]) == {"journey"}
    sandbox.clock.travel_to(after_departure(one))
    assert client.post("ticket/cancel", ticket_id=issued["ticket_id"]).status_code == 409


def test_an_open_outward_with_a_fixed_return_ends_at_the_return(sandbox, client):
    out, back = client.search(back=True, out_is_open=True)
    booking = client.book_and_read(selection(out, "FLEX"), selection(back, "FLEX"))
    limit = booking["possible_actions"]["Cancel"]["timeLimit"]
    assert datetime.fromisoformat(limit) == datetime.fromisoformat(back["depart_at"])
    client.post("booking/confirm", id=booking["booking_id"])
    sandbox.clock.travel_to(datetime.fromisoformat(back["depart_at"]) - timedelta(minutes=1))
    cancelled = client.post("booking/cancel", booking_id=booking["booking_id"])
    assert cancelled.status_code == 201


def names_of_bookings(**options):
    """Return every id, reference and number of two bookings of a new service."""
    names = []
    with Sandbox(now=NOW, frozen=True, **options) as sandbox:
        client = Client(sandbox)
        with client.http:
            for line in (ONE_TICKET, TWO_TICKETS):
                booking = client.book_and_read(*map(selection, client.search(line, back=True)))
                client.post("booking/confirm", id=booking["booking_id"])
                booking = client.reread(booking)
                names += [booking["booking_id"], booking["booking_reference"]]
                for ticket in booking["tickets"]:
                    names += [ticket["id"], ticket["ticket_number"]]
                    names += (ticket["pdf_url"] or "").split("/")[5:]
    return names


def test_a_seed_determines_the_ids_of_bookings():
    first = names_of_bookings(seed=7)
    assert first == names_of_bookings(seed=7)
    assert len(set(first)) == len(first) == 11
    assert set(first).isdisjoint(names_of_bookings(seed=8))


def test_without_a_seed_ids_are_random():
    first, second = names_of_bookings(), names_of_bookings()
    assert len(first) == len(second)
    assert set(first).isdisjoint(second)


def test_reset_restarts_the_ids_of_a_seed():
    for seed, is_same in ((7, True), (None, False)):
        with Sandbox(seed=seed, now=NOW, frozen=True) as sandbox:
            client = Client(sandbox)
            with client.http:
                names = []
                for _ in range(2):
                    names.append(client.book_and_read(selection(*client.search()))["booking_id"])
                    sandbox.reset()
        assert (names[0] == names[1]) == is_same


def test_a_round_trip_fare_requires_the_other_direction_with_the_same_company(client):
    out, back = client.search(back=True)
    both = client.book(selection(out, "ROUNDTRIP"), selection(back, "STANDARD"))
    assert both.status_code == 201
    alone = client.book(selection(out, "ROUNDTRIP"))
    assert (alone.status_code, alone.json()["field"]) == (422, "availabilities[0].tariff_id")


READ = [
    *("2027-03-20T10:00:00Z", "2027-03-20t10:00:00z", "2027-03-20T10:00Z"),
    *("2027-03-20T10:00:00.1Z", "2027-03-20T10:00:00,123456789Z", "2027-03-20T10:00:00+01:00"),
    *("2027-03-20T10:00:00-0330", "2027-03-20T10:00:00+01", "20270320T100000Z"),
    *("20270320T100000.25+0100", "20270320T1000Z", "2028-02-29T23:59:59-00:00"),
]
UNREAD = [
    *("2027-03-20T10:00:00", "2027-03-20", "2027-03-20 10:00:00Z", "2027-02-29T10:00:00Z"),
    *("2027-13-01T10:00:00Z", "2027-03-20T24:00:00Z", "2027-03-20T10:60:00Z"),
    *("2027-03-20T23:59:60Z", "2027-03-20T10Z", "2027-0320T10:00:00Z", "2027-03-20T10:0000Z"),
    *("2027-03-20T10:00:00.Z", "2027-03-20T10:00.5Z", "2027-03-20T10:00:00+24:00"),
    *("2027-03-20T10:00:00+01:60", "2027-03-20T10:00:00+1", "2027-W11-6T10:00:00Z"),
    *("2027-079T10:00:00Z", "0000-03-20T10:00:00Z", "2027-03-20T10:00:00Z\n"),
    *("\uff12\uff10\uff12\uff17-03-20T10:00:00Z", "", 5, True),
]


@each("moment", READ)
def test_a_payment_accepts_every_form_of_a_time_with_an_offset(client, moment):
    (one,) = client.search()
    (ticket,) = client.book_and_read(selection(one))["tickets"]
    paid = client.post(f"ticket/{ticket['id']}/mark-paid", external_payment_ref="P", paid_at=moment)
    assert (paid.status_code, paid.json()["payment_status"]) == (200, "paid")


@each("moment", UNREAD)
def test_a_payment_refuses_other_forms_of_a_time(client, moment):
    refused = client.post("ticket/T/mark-paid", external_payment_ref="P", paid_at=moment)
    assert (refused.status_code, refused.json()["field"]) == (422, "paid_at")


OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda each: timedelta(minutes=each))


@given(st.datetimes(timezones=OFFSETS.map(timezone)), st.booleans(), st.integers(0, 6))
def test_a_time_is_read_in_basic_and_extended_format_with_any_fraction(moment, is_basic, digits):
    day, hour = ("%Y%m%d", "%H%M%S") if is_basic else ("%Y-%m-%d", "%H:%M:%S")
    fraction = f".{moment.microsecond:06}"[: digits + 1] if digits else ""
    offset = moment.isoformat()[-6:].replace(":", "" if is_basic else ":")
    written = f"{moment.year:04}{moment.strftime(f'{day[2:]}T{hour}')}{fraction}{offset}"
    kept = moment.replace(microsecond=int(f"{fraction[1:]:0<6}"))
    payment = Payment.read({"id": "T", "external_payment_ref": "P", "paid_at": written})
    assert payment.paid_at == kept
    assert payment.paid_at.utcoffset() == kept.utcoffset()
