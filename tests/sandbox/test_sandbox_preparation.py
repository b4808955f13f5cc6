"""Bookings to test with: in each stage, without a request."""

import threading
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from ferry_sdk import Ferry
from ferry_sdk.models import Stage
from ferry_sdk.sandbox import AsyncSandbox, InvalidOrderError, Profile, Sandbox
from tests.support.trip import search_arguments

PARTIAL = ("partially_ticketed", "partially_voided")
every_stage = pytest.mark.parametrize("stage", Stage, ids=str)


@pytest.fixture
def client(sandbox):
    """A client of the service of these tests."""
    with Ferry(
        sandbox.token,
        base_url=sandbox.base_url,
        organisation_token=sandbox.organisation_token,
    ) as ferry:
        yield ferry


def departure_of(booking):
    return booking.tickets[0].availability.outward.journey.depart_at


@every_stage
@pytest.mark.parametrize("tickets", [1, 2])
def test_booking_is_in_its_stage(sandbox, client, stage, tickets):
    made = sandbox.make_booking(stage, tickets=tickets)
    assert made.stage is stage
    assert client.bookings.get(made.booking_id) == made


@every_stage
@pytest.mark.parametrize("tickets", [1, 2])
def test_booking_has_its_tickets(sandbox, stage, tickets):
    made = sandbox.make_booking(stage.value, tickets=tickets)
    assert len(made.tickets) == (2 if stage in PARTIAL else tickets)


def test_booking_is_ticketed_by_default(sandbox, client):
    (ticket,) = sandbox.make_booking().tickets
    assert client.tickets.read_pdf(ticket.id).startswith(b"%PDF-")


def test_two_tickets_are_a_round_trip(sandbox):
    first, second = sandbox.make_booking(tickets=2).tickets
    assert (first.direction, second.direction) == ("OUTWARD", "RETURN")


@every_stage
def test_made_booking_leaves_no_trace(sandbox, stage):
    sandbox.faults.add("price_change", "bookings.create", amount=50)
    sandbox.faults.add("ticket_fails", "bookings.confirm")
    before = sandbox.clock.now()
    sandbox.make_booking(stage)

    assert not sandbox.counters.requests
    assert not sandbox.counters.effects
    assert not sandbox.faults.taken
    assert not sandbox.request_log.entries()
    assert sandbox.clock.now() - before < timedelta(seconds=5)


def test_made_booking_goes_on_as_any_other(sandbox, client):
    made = sandbox.make_booking("payment_due")
    client.bookings.confirm(made.booking_id, expect_total=made.total_price)
    fee = client.bookings.cancel_fee(made.booking_id)
    client.bookings.cancel(made.booking_id, max_penalty=fee.penalty_amount)
    assert client.bookings.get(made.booking_id).stage == "voided"


def test_paid_booking_can_be_issued(sandbox, client):
    made = sandbox.make_booking("issuance_due", tickets=2)
    assert made.payment_status == "paid"
    client.bookings.confirm(made.booking_id)
    assert client.bookings.get(made.booking_id).stage == "ticketed"


def test_booking_in_progress_is_issued_later(sandbox, client):
    sandbox.clock.freeze()
    made = sandbox.make_booking("in_progress", company="GNV")
    sandbox.clock.advance(9)
    assert client.bookings.get(made.booking_id).stage == "in_progress"
    sandbox.clock.advance(1)
    assert client.bookings.get(made.booking_id).stage == "ticketed"


def test_voided_booking_was_paid_before(sandbox, client):
    made = sandbox.make_booking("voided")
    fee = client.bookings.cancel_fee(made.booking_id)
    assert fee.penalty_amount + fee.refund_amount == made.total_price


@pytest.mark.parametrize("days", [0, 1, 30, 365])
@pytest.mark.parametrize("company", [None, "GNV", "CORSICALINEA"])
def test_booking_departs_after_the_time(sandbox, company, days):
    earliest = sandbox.clock.now() + timedelta(days=days)
    made = sandbox.make_booking(company=company, departs_in=timedelta(days=days))
    assert departure_of(made) >= earliest


def test_booking_is_of_the_company(sandbox):
    for company in sandbox.network.companies.values():
        made = sandbox.make_booking(company=company.code)
        assert made.journey_details["outward"]["company"] == company.name


def test_booking_can_be_made_in_any_year(sandbox):
    for year in (1970, 2000, 2198):
        sandbox.clock.travel_to(datetime(year, 6, 1, tzinfo=UTC))
        assert sandbox.make_booking(tickets=2).stage == "ticketed"


def test_sold_out_sailings_are_left_out(sandbox, client):
    sandbox.clock.freeze()
    first = departure_of(sandbox.make_booking())
    trip = search_arguments(company="BALEARIA", depart="ESTRF", arrive="MATNG")
    sailings = client.availability.search(**trip | {"out_at": first.date()})
    sold_out = next(sailing for sailing in sailings if sailing.depart_at == first)
    for place in sold_out.places:
        sandbox.service.offers.inventory.sell_out(sold_out.sailing_id, place.code)
    assert departure_of(sandbox.make_booking()) > first


INVALID = [
    pytest.param({"stage": "moored"}, "stage", id="unknown stage"),
    pytest.param({"stage": 5}, "stage", id="stage is a number"),
    pytest.param({"tickets": 3}, "tickets", id="three tickets"),
    pytest.param({"company": "NOBODY"}, "company", id="unknown company"),
    pytest.param({"company": "GRIMALDI", "tickets": 2}, "company", id="one ticket for both ways"),
    pytest.param(
        {"company": "GRIMALDI", "stage": "partially_voided"}, "company", id="part of one ticket"
    ),
    pytest.param({"departs_in": timedelta(days=-1)}, "departs_in", id="in the past"),
    pytest.param({"departs_in": timedelta(days=9999)}, "departs_in", id="too far"),
    pytest.param({"departs_in": "soon"}, "departs_in", id="no duration"),
]


@pytest.mark.parametrize(("arguments", "field"), INVALID)
def test_invalid_argument_is_named(sandbox, arguments, field):
    with pytest.raises(InvalidOrderError) as caught:
        sandbox.make_booking(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(("arguments", "field"), INVALID)
def test_invalid_field_is_named_over_http(http, arguments, field):
    fields = dict(arguments)
    if isinstance(fields.get("departs_in"), timedelta):
        fields["departs_in"] = fields["departs_in"].total_seconds()
    reply = http.post("/_sandbox/bookings", json=fields)
    assert (reply.status_code, reply.json()["field"]) == (422, field)


def test_company_without_sailings_is_an_error(sandbox):
    sandbox.clock.travel_to(datetime(2199, 12, 30, tzinfo=UTC))
    with pytest.raises(InvalidOrderError, match="no sailing"):
        sandbox.make_booking()


@every_stage
def test_booking_is_made_over_http(sandbox, http, stage):
    made = http.post("/_sandbox/bookings", json={"stage": stage.value, "tickets": 2}).json()
    read = http.get(f"/api/booking/{made['booking_id']}").json()
    assert made == read
    assert made["stage"] == stage


def test_all_fields_are_optional_over_http(http):
    assert http.post("/_sandbox/bookings").json()["stage"] == "ticketed"


def test_departure_is_in_seconds_over_http(sandbox, http):
    made = http.post("/_sandbox/bookings", json={"departs_in": 86400, "company": "GNV"}).json()
    depart_at = made["journey_details"]["outward"]["depart_at"]
    assert datetime.fromisoformat(depart_at) >= sandbox.clock.now() + timedelta(days=1)


def test_booking_is_made_for_an_async_sandbox():
    async def make():
        async with AsyncSandbox() as sandbox:
            return sandbox.make_booking("rejected")

    assert anyio.run(make).stage == "rejected"


def test_booking_needs_an_address():
    with pytest.raises(RuntimeError, match="no address"):
        Sandbox().make_booking()


def test_booking_is_shown_as_the_profile_has_it():
    with Sandbox(profile=Profile(qr_code="absent")) as sandbox:
        assert sandbox.make_booking().tickets[0].qr_code == ""


def test_made_booking_survives_a_restart(tmp_path):
    with Sandbox(state=tmp_path / "state") as sandbox:
        made = sandbox.make_booking("issuance_due")
        sandbox.stop()
        sandbox.start()
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            assert ferry.bookings.get(made.booking_id) == made


def test_threads_make_bookings_of_their_own(sandbox):
    ids = []
    threads = [
        threading.Thread(target=lambda: ids.append(sandbox.make_booking().booking_id))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 8
