"""Operations on bookings and tickets, over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import ADULT, GUEST, NOW, ONE_TICKET, PENDING, TWO_TICKETS, selection

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.requests.requests import Payment
from ferry_sdk.sandbox.requests.validation import read
from tests.support.wire import TLS


class Client:
    """A client that may do everything."""

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
        """The first availability of each way on the first day from which there is one."""
        company, depart, arrive = line
        for number in range(14):
            out = NOW.date() + timedelta(days=day + number)
            request = {
                "company": company,
                "depart_code": depart,
                "arrive_code": arrive,
                "out_journey_id": journey_id(depart, arrive),
                "out_at": str(out),
                "out_time": "00:00",
                **more,
            }
            if back:
                request["ret_journey_id"] = journey_id(arrive, depart)
                request["ret_at"] = str(out + timedelta(days=7))
                request["ret_time"] = "00:00"
            reply = self.post("availability", request=request, passengers=[ADULT])
            if reply.status_code == 404:
                continue
            found = {one["direction"]: one for one in reversed(reply.json())}
            if len(found) == 1 + back:
                return [found[way] for way in ("Outward", "Return") if way in found]
        raise AssertionError("nothing sails for a fortnight")

    def book(self, *chosen, **more):
        return self.post("booking", availabilities=chosen, passengers=[GUEST], **more)

    def booked(self, *chosen, **more):
        reply = self.book(*chosen, **more)
        assert reply.status_code == 201, reply.text
        return self.get(f"booking/{reply.json()['booking_id']}")

    def again(self, booking):
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


def test_a_pending_ticket_knows_the_number_that_confirm_gave(sandbox, client):
    (one,) = client.search(PENDING)
    booking = client.booked(selection(one))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    ticket = {"ticket_id": issued["ticket_id"]}
    assert client.again(booking)["tickets"][0]["status"] == "Pending"
    for number in ({}, {"ticket_number": issued["ticket_number"]}):
        refused = client.post("ticket/cancel", **ticket, **number)
        assert (refused.status_code, refused.json()["code"]) == (409, "TICKET_CANCEL_ERROR")
        assert refused.json()["message"].startswith("The ticket is being issued")
    wrong = client.post("ticket/cancel", **ticket, ticket_number="WRONG1")
    assert (wrong.status_code, wrong.json()["field"]) == (422, "ticket_number")
    sandbox.clock.advance(3)
    done = client.post("ticket/cancel", **ticket, ticket_number=issued["ticket_number"])
    assert done.status_code == 201


def test_a_reservation_type_of_null_is_as_left_out(client):
    (one,) = client.search()
    booking = client.booked(selection(one), reservation_type=None)
    assert booking["tickets"][0]["status"] == "Blocked"
    assert booking["expire_at"] == (NOW + timedelta(hours=1)).isoformat()


def sailed(availability):
    """Two days after the departure that an open ticket was found with."""
    return datetime.fromisoformat(availability["depart_at"]) + timedelta(days=2)


def test_an_open_ticket_is_good_for_a_year_whatever_has_sailed(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.booked(selection(one, "FLEX"))
    year = (NOW + timedelta(days=365)).isoformat()
    assert booking["possible_actions"]["Cancel"]["timeLimit"] == year
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    outward = client.get(f"ticket/{issued['ticket_id']}")["availability"]["outward"]
    assert (outward["is_open"], outward["valid_until"]) == (True, year)
    assert outward["journey"]["depart_at"] == one["depart_at"]
    details = client.again(booking)["journey_details"]["outward"]
    assert (details["is_open"], details["valid_until"]) == (True, year)

    sandbox.clock.travel_to(sailed(one))
    paid = booking["total_price"]
    fee = client.post("booking/cancel-fee", id=issued["ticket_id"]).json()
    assert (fee["penalty_amount"], fee["refund_amount"]) == (0, paid)
    sandbox.clock.travel_to(NOW + timedelta(days=364, hours=12))
    fee = client.post("booking/cancel-fee", id=issued["ticket_id"]).json()
    assert fee["penalty_amount"] == pytest.approx(paid * 0.2, abs=0.01)
    assert client.post("ticket/cancel", ticket_id=issued["ticket_id"]).status_code == 201


def test_an_open_ticket_ends_after_a_year(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.booked(selection(one, "FLEX"))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    sandbox.clock.travel_to(NOW + timedelta(days=365))
    late = client.post("ticket/cancel", ticket_id=issued["ticket_id"])
    assert (late.status_code, late.json()["code"]) == (409, "TICKET_CANCEL_ERROR")
    assert "Cancel" not in client.again(booking)["possible_actions"]


def test_an_open_ticket_that_is_paid_can_be_issued_for_a_year(sandbox, client):
    (one,) = client.search(out_is_open=True)
    booking = client.booked(selection(one, "FLEX"))
    (ticket,) = booking["tickets"]
    client.post(f"ticket/{ticket['id']}/mark-paid", external_payment_ref="P1")
    assert client.again(booking)["expire_at"] == (NOW + timedelta(days=365)).isoformat()
    sandbox.clock.travel_to(sailed(one))
    assert client.again(booking)["stage"] == "issuance_due"
    assert client.post("booking/confirm", id=booking["booking_id"]).status_code == 201


def test_a_fixed_ticket_ends_with_its_ship_and_says_nothing_of_being_open(sandbox, client):
    (one,) = client.search()
    booking = client.booked(selection(one, "FLEX"))
    issued = client.post("booking/confirm", id=booking["booking_id"]).json()
    assert set(client.again(booking)["tickets"][0]["availability"]["outward"]) == {"journey"}
    sandbox.clock.travel_to(sailed(one))
    assert client.post("ticket/cancel", ticket_id=issued["ticket_id"]).status_code == 409


def test_with_an_open_way_out_the_fixed_way_back_is_the_end(sandbox, client):
    out, back = client.search(back=True, out_is_open=True)
    booking = client.booked(selection(out, "FLEX"), selection(back, "FLEX"))
    limit = booking["possible_actions"]["Cancel"]["timeLimit"]
    assert datetime.fromisoformat(limit) == datetime.fromisoformat(back["depart_at"])
    client.post("booking/confirm", id=booking["booking_id"])
    sandbox.clock.travel_to(datetime.fromisoformat(back["depart_at"]) - timedelta(minutes=1))
    cancelled = client.post("booking/cancel", booking_id=booking["booking_id"])
    assert cancelled.status_code == 201


def made(**options):
    """All that names something in two bookings of a new service."""
    names = []
    with Sandbox(now=NOW, frozen=True, **options) as sandbox:
        client = Client(sandbox)
        with client.http:
            for line in (ONE_TICKET, TWO_TICKETS):
                booking = client.booked(*map(selection, client.search(line, back=True)))
                client.post("booking/confirm", id=booking["booking_id"])
                booking = client.again(booking)
                names += [booking["booking_id"], booking["booking_reference"]]
                for ticket in booking["tickets"]:
                    names += [ticket["id"], ticket["ticket_number"]]
                    names += (ticket["pdf_url"] or "").split("/")[5:]
    return names


def test_with_a_seed_the_names_of_bookings_follow_from_it():
    first = made(seed=7)
    assert first == made(seed=7)
    assert len(set(first)) == len(first) == 11
    assert set(first).isdisjoint(made(seed=8))


def test_without_a_seed_no_two_services_name_anything_alike():
    first, second = made(), made()
    assert len(first) == len(second)
    assert set(first).isdisjoint(second)


def test_reset_begins_the_names_of_a_seed_again_and_random_ones_anew():
    for seed, is_same in ((7, True), (None, False)):
        with Sandbox(seed=seed, now=NOW, frozen=True) as sandbox:
            client = Client(sandbox)
            with client.http:
                names = []
                for _ in range(2):
                    names.append(client.booked(selection(*client.search()))["booking_id"])
                    sandbox.reset()
        assert (names[0] == names[1]) == is_same


def test_a_round_trip_fare_needs_the_same_company_and_no_more(client):
    out, back = client.search(back=True)
    both = client.book(selection(out, "ROUNDTRIP"), selection(back, "STANDARD"))
    assert both.status_code == 201
    alone = client.book(selection(out, "ROUNDTRIP"))
    assert (alone.status_code, alone.json()["field"]) == (422, "availabilities[0].tariff_id")


def test_no_journeys_named_are_all_journeys(client):
    everything = client.post("departure", provider_id="CTN").json()["departures"]
    assert len(everything) > 1
    for nothing in ([], None):
        named = {"provider_id": "CTN", "__journey_id": nothing}
        assert client.post("departure", **named).json()["departures"] == everything
    first = everything[0]["journey_id"]
    named = {"provider_id": "CTN", "__journey_id": [first]}
    assert client.post("departure", **named).json()["departures"] == everything[:1]


READ = [
    "2027-03-20T10:00:00Z",
    "2027-03-20t10:00:00z",
    "2027-03-20T10:00Z",
    "2027-03-20T10:00:00.1Z",
    "2027-03-20T10:00:00,123456789Z",
    "2027-03-20T10:00:00+01:00",
    "2027-03-20T10:00:00-0330",
    "2027-03-20T10:00:00+01",
    "20270320T100000Z",
    "20270320T100000.25+0100",
    "20270320T1000Z",
    "2028-02-29T23:59:59-00:00",
]
UNREAD = [
    "2027-03-20T10:00:00",
    "2027-03-20",
    "2027-03-20 10:00:00Z",
    "2027-02-29T10:00:00Z",
    "2027-13-01T10:00:00Z",
    "2027-03-20T24:00:00Z",
    "2027-03-20T10:60:00Z",
    "2027-03-20T23:59:60Z",
    "2027-03-20T10Z",
    "2027-0320T10:00:00Z",
    "2027-03-20T10:0000Z",
    "2027-03-20T10:00:00.Z",
    "2027-03-20T10:00.5Z",
    "2027-03-20T10:00:00+24:00",
    "2027-03-20T10:00:00+01:60",
    "2027-03-20T10:00:00+1",
    "2027-W11-6T10:00:00Z",
    "2027-079T10:00:00Z",
    "0000-03-20T10:00:00Z",
    "2027-03-20T10:00:00Z\n",
    "\uff12\uff10\uff12\uff17-03-20T10:00:00Z",
    "",
    5,
    True,
]


@pytest.mark.parametrize("moment", READ)
def test_a_payment_is_recorded_with_its_moment(client, moment):
    (one,) = client.search()
    (ticket,) = client.booked(selection(one))["tickets"]
    paid = client.post(f"ticket/{ticket['id']}/mark-paid", external_payment_ref="P", paid_at=moment)
    assert (paid.status_code, paid.json()["payment_status"]) == (200, "paid")


@pytest.mark.parametrize("moment", UNREAD)
def test_a_payment_with_an_uncertain_moment_is_refused(client, moment):
    refused = client.post("ticket/T/mark-paid", external_payment_ref="P", paid_at=moment)
    assert (refused.status_code, refused.json()["field"]) == (422, "paid_at")


OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda each: timedelta(minutes=each))


@given(st.datetimes(timezones=OFFSETS.map(timezone)), st.booleans(), st.integers(0, 6))
def test_every_moment_is_read_in_every_way_to_write_it(moment, is_basic, digits):
    day, hour = ("%Y%m%d", "%H%M%S") if is_basic else ("%Y-%m-%d", "%H:%M:%S")
    fraction = f".{moment.microsecond:06}"[: digits + 1] if digits else ""
    offset = moment.isoformat()[-6:].replace(":", "" if is_basic else ":")
    written = f"{moment.year:04}{moment.strftime(f'{day[2:]}T{hour}')}{fraction}{offset}"
    kept = moment.replace(microsecond=int(f"{fraction[1:]:0<6}"))
    payment = read(Payment, {"id": "T", "external_payment_ref": "P", "paid_at": written})
    assert payment.paid_at == kept
    assert payment.paid_at.utcoffset() == kept.utcoffset()
