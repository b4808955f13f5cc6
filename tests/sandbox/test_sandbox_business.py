"""What goes wrong in business: refusals, lost places, late failures, changes by the company."""

from datetime import datetime, timedelta

import pytest
from offline_service import GUEST, ONE_TICKET, TWO_TICKETS, departure, rpc, run

from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.service import ServiceError
from tests.support.tables import each

TAKEN = (409, "BOOKING_CREATE_ERROR", "availabilities[0].place_id")


@pytest.fixture
def limited():
    """Return a service where bookings take places."""
    with run(inventory=True) as running:
        yield running


@each(
    ("operation", "details", "status", "code"),
    [
        ("bookings.create", {}, 409, "BOOKING_CREATE_ERROR"),
        ("bookings.confirm", {"status": 422}, 422, "BOOKING_CONFIRM_ERROR"),
        ("bookings.cancel", {"status": 402}, 402, "PAYMENT_REQUIRED"),
        ("bookings.cancel_fee", {"status": 410, "code": "GONE_FOREVER"}, 410, "GONE_FOREVER"),
        ("tickets.get", {"status": 404}, 404, "TICKET_NOT_FOUND"),
        ("tickets.mark_paid", {"status": 403}, 403, "FORBIDDEN"),
        ("availability.search", {}, 409, "AVAILABILITY_ERROR"),
    ],
)
def test_any_operation_can_be_refused_with_any_code(service, operation, details, status, code):
    created = service.create()
    ticket = service.tickets(created)[0]["id"]
    arguments = {
        "bookings.create": {"availabilities": service.select(), "passengers": [GUEST]},
        "bookings.cancel": {"booking_id": created["booking_id"]},
        "tickets.mark_paid": {"id": ticket, "external_payment_ref": "P-1"},
        "tickets.get": {"id": ticket},
    }.get(operation, {"id": created["booking_id"]})
    effects = service.sandbox.counters.effects
    service.faults.add("refused", operation, **details)
    service.error_of("bookings.create", {"availabilities": []})  # it uses no refusal up
    if operation == "availability.search":
        with pytest.raises(ServiceError, match="refuses") as caught:
            service.search()
        error = caught.value
    else:
        error = service.error_of(operation, arguments, access=Access.ORGANISATION, language="fr")
        assert error.message == "Le service refuse cette demande."
    assert (error.status, error.code) == (status, code)
    assert service.sandbox.counters.effects == effects
    assert service.faults.pending == ()


def test_tools_and_methods_of_mcp_and_a_voucher_can_be_refused(service):
    (ticket,) = service.tickets(service.issue())
    booking = {"passengers": [{**GUEST, "type": "ADT"}], "availabilities": service.select()}
    for name, body in (("mcp.create_booking", booking), ("mcp.view_ticket", {"id": ticket["id"]})):
        service.faults.add("refused", name, message="No more of that", code="TICKET_VIEW_ERROR")
        error = service.error_of(name, body)
        assert (error.code, error.message) == ("TICKET_VIEW_ERROR", "No more of that")
    ports = rpc("resources/read", uri="resource://service/ports")
    for name, message in (("mcp.initialize", rpc("initialize")), ("mcp.ports", ports)):
        service.faults.add("refused", name, code="NOT_TODAY")
        reply = service.http.post("/mcp", json=message).json()
        assert reply["error"]["data"]["code"] == "NOT_TODAY"
    service.faults.add("refused", "voucher.file", status=410)
    gone = service.http.get(ticket["pdf_url"])
    assert (gone.status_code, gone.json()["code"]) == (410, "GONE")
    assert service.http.get(ticket["pdf_url"]).status_code == 200


def test_a_selected_place_is_taken_and_gone_from_later_searches(service):
    first, *_ = service.search(TWO_TICKETS)
    chosen = service.select(TWO_TICKETS)
    service.faults.add("place_taken")
    error = service.error_of("bookings.create", availabilities=chosen, passengers=[GUEST])
    assert (error.status, error.code, error.field) == TAKEN
    (again,) = (each for each in service.search(TWO_TICKETS) if each["id"] == first["id"])
    codes = [place["code"] for place in first["places"]]
    assert [place["code"] for place in again["places"]] == codes[1:]
    assert service.sandbox.counters.effects == ()
    assert service.create(TWO_TICKETS)["stage"] == "payment_due"
    # The place of the way back can be taken.
    body = {"availabilities": service.select(TWO_TICKETS, back=7)[::-1], "passengers": [GUEST]}
    service.faults.add("place_taken", index=1, sold_out=False)
    assert service.error_of("bookings.create", body).field == TAKEN[2]
    assert service.attempt("bookings.create", body) is None


def suites(service):
    """Return the suites on the first sailing, as an index and a count; no count if none is left."""
    places = enumerate(service.search(TWO_TICKETS)[0]["places"])
    return next(((x, place["count"]) for x, place in places if place["code"] == "SUITE_2"), None)


def test_places_run_out_and_come_back(limited, service):
    index, count = suites(limited)
    last = {"availabilities": limited.select(TWO_TICKETS, place=index), "passengers": [GUEST]}
    created = []
    for left in reversed(range(count)):
        created.append(limited.create(TWO_TICKETS, place=index))
        assert suites(limited) == ((index, left) if left else None)
    error = limited.error_of("bookings.create", last)
    assert (error.status, error.code, error.field) == TAKEN
    limited.confirm(created[0])
    limited.cancel(created[0])
    assert suites(limited) == (index, 1)
    limited.clock.advance(3600)
    assert suites(limited) == (index, count)
    # Without an inventory, the counts stay.
    before = suites(service)
    service.create(TWO_TICKETS, place=before[0])
    assert suites(service) == before


def test_a_presale_takes_its_place_when_it_is_confirmed(limited):
    index, count = suites(limited)
    presale = {"name": "PRESALE", "more": {"reservation_type": "PRESALE"}}
    waiting = limited.create(TWO_TICKETS, place=index, **presale)
    assert suites(limited) == (index, count)
    for _ in range(count):
        limited.create(TWO_TICKETS, place=index)
    error = limited.error_of("bookings.confirm", id=waiting["booking_id"])
    assert (error.status, error.code) == (409, "BOOKING_CONFIRM_ERROR")
    limited.clock.advance(3600)
    assert limited.confirm(waiting)["status"] == "confirmed"
    assert suites(limited) == (index, count - 1)


def test_inventory_and_changes_survive_a_restart(tmp_path):
    options = {"inventory": True, "state": tmp_path / "state"}
    with run(**options) as service:
        index, count = suites(service)
        service.create(TWO_TICKETS, place=index)
        created = service.create(TWO_TICKETS, back=7)
        service.faults.add("fails_later", index=1)
        service.confirm(created)
        service.faults.add("departure_moved")
        before = service.booking(created)
    with run(**options) as service:
        assert suites(service) == (index, count - 1)
        assert departure(service.booking(created)) == departure(before)
        service.clock.advance(3)
        assert service.statuses(created) == ["Issued", "Failed"]


def test_a_pending_ticket_fails_later(service):
    created = service.create(TWO_TICKETS, back=7)
    service.faults.add("fails_later", index=0, seconds=60)
    confirmed = service.confirm(created)
    assert service.booking(created)["stage"] == "in_progress"
    assert service.statuses(created) == ["Pending", "Issued"]
    service.clock.advance(60)
    failed = service.booking(created)
    assert (failed["stage"], failed["payment_status"]) == ("partially_ticketed", "partially_paid")
    assert service.statuses(created) == ["Failed", "Issued"]
    assert failed["tickets"][0]["ticket_number"] is None
    assert "Retry" in failed["possible_actions"]
    again = service.confirm(created)
    assert again["ticket_id"] == confirmed["ticket_id"]
    assert again["ticket_number"] != confirmed["ticket_number"]
    assert service.booking(created)["stage"] == "ticketed"
    alone = service.create(ONE_TICKET)
    service.faults.add("fails_later")
    service.confirm(alone)
    service.clock.advance(3)
    booking = service.booking(alone)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")


def test_a_cancelled_sailing_shows_when_the_booking_is_read_again(service):
    created = service.issue(TWO_TICKETS, back=7)
    service.faults.add("sailing_cancelled", index=1)
    booking = service.booking(created)
    assert service.statuses(created) == ["Issued", "Canceled"]
    assert booking["stage"] == "partially_voided"
    lost = booking["tickets"][1]["id"]
    fee = service.fee(lost)
    assert fee["penalty_amount"] == 0 < fee["refund_amount"] < created["total_price"]
    assert service.error_of("tickets.cancel", ticket_id=lost).status == 409
    # A change can wait until the ticket is issued, or until it fits.
    created = service.create(TWO_TICKETS)
    service.faults.add("sailing_cancelled", only_issued=True)
    assert service.booking(created)["stage"] == "payment_due"
    assert service.confirm(created)["status"] == "confirmed"
    assert service.booking(created)["stage"] == "voided"
    assert service.faults.pending == ()
    service.faults.add("departure_moved", index=1)
    service.faults.add("sailing_cancelled", index=1)
    service.booking(created)
    assert len(service.faults.pending) == 2  # the booking has no second crossing


def test_a_departure_moves_with_its_deadlines(service):
    created = service.issue(TWO_TICKETS)
    before = service.booking(created)
    service.faults.add("departure_moved", "tickets.get", minutes=-90, times=None)
    ticket = service.perform("tickets.get", id=before["tickets"][0]["id"])
    after = service.booking(created)
    assert departure(after) == departure(before) - timedelta(minutes=90)
    journey, details = ticket["availability"]["outward"]["journey"], after["journey_details"]
    for name in ("depart_at", "arrive_at"):
        assert journey[name] == details["outward"][name]
    earlier, later = (
        datetime.fromisoformat(one["possible_actions"]["Cancel"]["timeLimit"])
        for one in (after, before)
    )
    assert earlier == later - timedelta(minutes=90)
    service.perform("tickets.get", id=ticket["id"])
    assert departure(service.booking(created)) == departure(after)
