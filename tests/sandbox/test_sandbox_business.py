"""What goes wrong in business: refusals, lost places, late failures, changes by the company."""

from datetime import datetime, timedelta

import httpx
import pytest
from offline_service import GUEST, NOW, ONE_TICKET, TWO_TICKETS, ServiceOverHttp, departure

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.requests.access import Access
from tests.support.tables import each
from tests.support.wire import TLS


@pytest.fixture(scope="module")
def running():
    """Return two services at a fixed time: as usual, and with an inventory."""
    with (
        Sandbox(now=NOW, frozen=True) as usual,
        Sandbox(now=NOW, frozen=True, inventory=True) as limited,
        httpx.Client(verify=TLS, headers={"accept": "application/json"}, timeout=60) as http,
    ):
        yield usual, limited, http


def over_http(sandbox, http):
    sandbox.reset()
    http.base_url = sandbox.base_url
    return ServiceOverHttp(sandbox, http)


@pytest.fixture
def service(running):
    """Return a service where bookings take no places."""
    return over_http(running[0], running[2])


@pytest.fixture
def limited(running):
    """Return a service where bookings take places."""
    return over_http(running[1], running[2])


def wait(service, **duration):
    service.clock.advance(timedelta(**duration))


REFUSALS = [
    ("availability.search", {}, 409, "AVAILABILITY_ERROR"),
    ("bookings.create", {}, 409, "BOOKING_CREATE_ERROR"),
    ("bookings.confirm", {"status": 422}, 422, "BOOKING_CONFIRM_ERROR"),
    ("bookings.get", {}, 409, "CONFLICT"),
    ("bookings.cancel", {"status": 402}, 402, "PAYMENT_REQUIRED"),
    ("bookings.cancel_fee", {"status": 410, "code": "GONE_FOREVER"}, 410, "GONE_FOREVER"),
    ("tickets.get", {"status": 404}, 404, "TICKET_NOT_FOUND"),
    ("tickets.cancel", {}, 409, "TICKET_CANCEL_ERROR"),
    ("tickets.pdf", {"status": 400}, 400, "BAD_REQUEST"),
    ("tickets.mark_paid", {"status": 403}, 403, "FORBIDDEN"),
    ("catalogue.departures", {"status": 422}, 422, "VALIDATION_ERROR"),
]


@each(("operation", "details", "status", "code"), REFUSALS)
def test_any_operation_can_be_refused_with_any_code(service, operation, details, status, code):
    created = service.create()
    ticket = service.booking(created)["tickets"][0]["id"]
    arguments = {
        "availability.search": None,
        "bookings.create": {"availabilities": service.select(), "passengers": [GUEST]},
        "bookings.cancel": {"booking_id": created["booking_id"]},
        "tickets.get": {"id": ticket},
        "tickets.cancel": {"ticket_id": ticket},
        "tickets.pdf": {"id": ticket},
        "tickets.mark_paid": {"id": ticket, "external_payment_ref": "P-1"},
        "catalogue.departures": {"provider_id": "GNV"},
    }.get(operation, {"id": created["booking_id"]})
    effects = service.sandbox.counters.effects
    service.faults.add("refused", operation, **details)
    if operation == "availability.search":
        with pytest.raises(Exception, match="refuses") as caught:
            service.search()
        error = caught.value
    else:
        access = Access.ORGANISATION
        error = service.error_of(operation, arguments, access=access, language="fr")
        assert error.message == "Le service refuse cette demande."
    assert (error.status, error.code) == (status, code)
    assert service.sandbox.counters.effects == effects
    assert service.faults.pending == ()


@each("operation", ["mcp.create_booking", "mcp.view_ticket"])
def test_a_tool_can_be_refused(service, operation):
    service.faults.add("refused", operation, message="No more of that", code="TICKET_VIEW_ERROR")
    body = {"passengers": [{**GUEST, "type": "ADT"}], "availabilities": service.select()}
    ticket = service.booking(service.create())["tickets"][0]["id"]
    body = {"id": ticket} if operation == "mcp.view_ticket" else body
    error = service.error_of(operation, body)
    assert (error.code, error.message) == ("TICKET_VIEW_ERROR", "No more of that")


@each(
    ("method", "params", "operation"),
    [
        ("initialize", {}, "mcp.initialize"),
        ("resources/read", {"uri": "resource://service/ports"}, "mcp.ports"),
    ],
)
def test_a_method_without_arguments_can_be_refused(service, running, method, params, operation):
    service.faults.add("refused", operation, code="NOT_TODAY")
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    headers = {"authorization": f"Bearer {service.sandbox.token}"}
    reply = running[2].post("/mcp", json=message, headers=headers).json()
    assert reply["error"]["data"]["code"] == "NOT_TODAY"


def test_a_voucher_can_be_refused(service, running):
    created = service.create()
    service.confirm(created)
    url = service.booking(created)["tickets"][0]["pdf_url"]
    service.faults.add("refused", "voucher.file", status=410)
    gone = running[2].get(url)
    assert (gone.status_code, gone.json()["code"]) == (410, "GONE")
    assert running[2].get(url).status_code == 200


def test_an_invalid_request_uses_no_refusal_up(service):
    service.faults.add("refused", "bookings.get")
    service.error_of("bookings.create", {"availabilities": []})
    assert len(service.faults.pending) == 1


def test_a_selected_place_is_taken_and_gone_from_later_searches(service):
    first, *_ = service.search(TWO_TICKETS)
    chosen = service.select(TWO_TICKETS)
    service.faults.add("place_taken")
    error = service.error_of("bookings.create", availabilities=chosen, passengers=[GUEST])
    assert (error.status, error.code) == (409, "BOOKING_CREATE_ERROR")
    assert error.field == "availabilities[0].place_id"
    (again,) = (each for each in service.search(TWO_TICKETS) if each["id"] == first["id"])
    codes = [place["code"] for place in first["places"]]
    assert [place["code"] for place in again["places"]] == codes[1:]
    assert service.sandbox.counters.effects == ()
    assert service.create(TWO_TICKETS)["stage"] == "payment_due"


def test_the_place_of_the_way_back_can_be_taken(service):
    chosen = service.select(TWO_TICKETS, back=7)
    service.faults.add("place_taken", index=1, sold_out=False)
    body = {"availabilities": chosen[::-1], "passengers": [GUEST]}
    assert service.error_of("bookings.create", body).field == "availabilities[0].place_id"
    assert service.attempt("bookings.create", body) is None


def suites(service, **how):
    """Return the suites on the first sailing, as an index and a count; no count if none is left."""
    found = service.search(TWO_TICKETS, **how)[0]
    return next(
        (
            (index, place["count"])
            for index, place in enumerate(found["places"])
            if place["code"] == "SUITE_2"
        ),
        None,
    )


def test_places_run_out_and_come_back(limited):
    index, count = suites(limited)
    created = []
    for left in reversed(range(count)):
        created.append(limited.create(TWO_TICKETS, place=index))
        assert suites(limited) == ((index, left) if left else None)
    limited.confirm(created[0])
    limited.perform("bookings.cancel", booking_id=created[0]["booking_id"])
    assert suites(limited) == (index, 1)
    wait(limited, hours=1)
    assert suites(limited) == (index, count)


def test_two_buyers_of_the_last_place_have_one_booking(limited):
    index, count = suites(limited)
    chosen = limited.select(TWO_TICKETS, place=index)
    for _ in range(count - 1):
        limited.create(TWO_TICKETS, place=index)
    body = {"availabilities": chosen, "passengers": [GUEST]}
    assert limited.attempt("bookings.create", body) is None
    error = limited.error_of("bookings.create", body)
    assert (error.status, error.code) == (409, "BOOKING_CREATE_ERROR")
    assert error.field == "availabilities[0].place_id"


def test_a_presale_takes_its_place_when_it_is_confirmed(limited):
    index, count = suites(limited)
    presale = {"name": "PRESALE", "more": {"reservation_type": "PRESALE"}}
    waiting = limited.create(TWO_TICKETS, place=index, **presale)
    assert suites(limited) == (index, count)
    for _ in range(count):
        limited.create(TWO_TICKETS, place=index)
    error = limited.error_of("bookings.confirm", id=waiting["booking_id"])
    assert (error.status, error.code) == (409, "BOOKING_CONFIRM_ERROR")
    wait(limited, hours=1)
    assert limited.confirm(waiting)["status"] == "confirmed"
    assert suites(limited) == (index, count - 1)


def test_without_an_inventory_the_counts_stay(service):
    before = suites(service)
    service.create(TWO_TICKETS, place=before[0])
    assert suites(service) == before


def test_the_inventory_survives_a_restart(tmp_path):
    settings = {"now": NOW, "frozen": True, "inventory": True, "state": tmp_path / "state"}
    with httpx.Client(verify=TLS, headers={"accept": "application/json"}, timeout=60) as http:
        with Sandbox(**settings) as sandbox:
            http.base_url = sandbox.base_url
            service = ServiceOverHttp(sandbox, http)
            index, count = suites(service)
            service.create(TWO_TICKETS, place=index)
        with Sandbox(**settings) as sandbox:
            http.base_url = sandbox.base_url
            assert suites(ServiceOverHttp(sandbox, http)) == (index, count - 1)


def test_a_pending_ticket_fails_later(service):
    created = service.create(TWO_TICKETS, back=7)
    service.faults.add("fails_later", index=0, seconds=60)
    confirmed = service.confirm(created)
    pending = service.booking(created)
    assert pending["stage"] == "in_progress"
    assert [ticket["status"] for ticket in pending["tickets"]] == ["Pending", "Issued"]
    wait(service, seconds=60)
    failed = service.booking(created)
    assert failed["stage"] == "partially_ticketed"
    assert [ticket["status"] for ticket in failed["tickets"]] == ["Failed", "Issued"]
    assert failed["tickets"][0]["ticket_number"] is None
    assert failed["payment_status"] == "partially_paid"
    assert "Retry" in failed["possible_actions"]
    again = service.confirm(created)
    assert again["ticket_id"] == confirmed["ticket_id"]
    assert again["ticket_number"] != confirmed["ticket_number"]
    assert service.booking(created)["stage"] == "ticketed"


def test_the_only_ticket_of_a_booking_fails_later(service):
    created = service.create(ONE_TICKET)
    service.faults.add("fails_later")
    service.confirm(created)
    wait(service, seconds=3)
    booking = service.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")


def test_a_cancelled_sailing_shows_when_the_booking_is_read_again(service):
    created = service.create(TWO_TICKETS, back=7)
    service.confirm(created)
    service.faults.add("sailing_cancelled", index=1)
    booking = service.booking(created)
    assert [ticket["status"] for ticket in booking["tickets"]] == ["Issued", "Canceled"]
    assert booking["stage"] == "partially_voided"
    lost = booking["tickets"][1]["id"]
    fee = service.perform("bookings.cancel_fee", id=lost)
    assert fee["penalty_amount"] == 0
    assert 0 < fee["refund_amount"] < created["total_price"]
    assert service.error_of("tickets.cancel", ticket_id=lost).status == 409


def test_a_departure_moves_with_its_deadlines(service):
    created = service.create(TWO_TICKETS)
    service.confirm(created)
    before = service.booking(created)
    service.faults.add("departure_moved", "tickets.get", minutes=-90, times=None)
    ticket = service.perform("tickets.get", id=before["tickets"][0]["id"])
    after = service.booking(created)
    assert departure(after) == departure(before) - timedelta(minutes=90)
    for name in ("depart_at", "arrive_at"):
        assert (
            ticket["availability"]["outward"]["journey"][name]
            == (after["journey_details"]["outward"][name])
        )
    limits = [
        datetime.fromisoformat(one["possible_actions"]["Cancel"]["timeLimit"])
        for one in (before, after)
    ]
    assert limits[1] == limits[0] - timedelta(minutes=90)
    service.perform("tickets.get", id=ticket["id"])
    assert departure(service.booking(created)) == departure(after)


def test_a_change_can_wait_until_the_ticket_is_issued(service):
    created = service.create(TWO_TICKETS)
    service.faults.add("sailing_cancelled", only_issued=True)
    assert service.booking(created)["stage"] == "payment_due"
    assert service.confirm(created)["status"] == "confirmed"
    assert service.booking(created)["stage"] == "voided"


def test_a_change_of_a_crossing_that_does_not_exist_stays_pending(service):
    created = service.create(TWO_TICKETS)
    service.faults.add("departure_moved", index=1)
    service.faults.add("sailing_cancelled", index=1)
    service.booking(created)
    assert len(service.faults.pending) == 2


def test_changes_survive_a_restart(tmp_path):
    settings = {"now": NOW, "frozen": True, "state": tmp_path / "state"}
    with httpx.Client(verify=TLS, headers={"accept": "application/json"}, timeout=60) as http:
        with Sandbox(**settings) as sandbox:
            http.base_url = sandbox.base_url
            service = ServiceOverHttp(sandbox, http)
            created = service.create(TWO_TICKETS, back=7)
            sandbox.faults.add("fails_later", index=1)
            service.confirm(created)
            sandbox.faults.add("departure_moved")
            before = service.booking(created)
        with Sandbox(**settings) as sandbox:
            http.base_url = sandbox.base_url
            service = ServiceOverHttp(sandbox, http)
            assert departure(service.booking(created)) == departure(before)
            sandbox.clock.advance(3)
            statuses = [one["status"] for one in service.booking(created)["tickets"]]
            assert statuses == ["Issued", "Failed"]
