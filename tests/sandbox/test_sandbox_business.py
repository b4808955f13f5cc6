"""What goes wrong in business: refusals, lost places, late failures, changes by the company."""

from datetime import datetime, timedelta

import pytest
from offline_service import GUEST, ONE_TICKET, TWO_TICKETS, departure, rpc, run

from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.service import ServiceError

TAKEN = (409, "BOOKING_CREATE_ERROR", "availabilities[0].place_id")


@pytest.fixture(scope="module")
def running_limited():
    """Return a service of the module where bookings take places."""
    with run(inventory=True) as running:
        yield running


@pytest.fixture
def limited(running_limited):
    """Return a service where bookings take places, after a reset."""
    running_limited.sandbox.reset()
    return running_limited


# Refusals


@pytest.mark.parametrize(
    ("operation", "details", "status", "code"),
    [
        ("bookings.create", {}, 409, "BOOKING_CREATE_ERROR"),
        ("bookings.confirm", {"status": 422}, 422, "BOOKING_CONFIRM_ERROR"),
        ("bookings.cancel", {"status": 402}, 402, "PAYMENT_REQUIRED"),
        ("bookings.cancel_fee", {"status": 410, "code": "GONE_FOREVER"}, 410, "GONE_FOREVER"),
        ("tickets.get", {"status": 404}, 404, "TICKET_NOT_FOUND"),
        ("tickets.mark_paid", {"status": 403}, 403, "FORBIDDEN"),
    ],
    ids=str,
)
def test_any_operation_can_be_refused(service, operation, details, status, code):
    created = service.create()
    (ticket,) = service.tickets(created)
    arguments = {
        "bookings.create": {"availabilities": service.select(), "passengers": [GUEST]},
        "bookings.confirm": {"id": created["booking_id"]},
        "bookings.cancel": {"booking_id": created["booking_id"]},
        "bookings.cancel_fee": {"id": created["booking_id"]},
        "tickets.get": {"id": ticket["id"]},
        "tickets.mark_paid": {"id": ticket["id"], "external_payment_ref": "P-1"},
    }
    effects = service.sandbox.counters.effects
    service.faults.add("refused", operation, **details)
    error = service.error_of(
        operation, arguments[operation], access=Access.ORGANISATION, language="fr"
    )
    assert (error.status, error.code) == (status, code)
    assert error.message == "Le service refuse cette demande."
    assert service.sandbox.counters.effects == effects
    assert service.faults.pending == ()


def test_search_can_be_refused(service):
    service.faults.add("refused", "availability.search")
    with pytest.raises(ServiceError, match="refuses") as caught:
        service.search()
    assert (caught.value.status, caught.value.code) == (409, "AVAILABILITY_ERROR")
    assert service.faults.pending == ()


def test_invalid_request_uses_no_refusal_up(service):
    fault = service.faults.add("refused", "bookings.create")
    service.error_of("bookings.create", {"availabilities": []})
    assert service.faults.pending == (fault,)


def test_tool_that_writes_can_be_refused(service):
    body = {"passengers": [{**GUEST, "type": "ADT"}], "availabilities": service.select()}
    service.faults.add("refused", "mcp.create_booking", message="No more of that", code="NOT_TODAY")
    error = service.error_of("mcp.create_booking", body)
    assert (error.code, error.message) == ("NOT_TODAY", "No more of that")


def test_tool_that_reads_can_be_refused(service):
    (ticket,) = service.tickets(service.issue())
    service.faults.add("refused", "mcp.view_ticket", message="No more of that", code="NOT_TODAY")
    error = service.error_of("mcp.view_ticket", {"id": ticket["id"]})
    assert (error.code, error.message) == ("NOT_TODAY", "No more of that")


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("mcp.initialize", rpc("initialize")),
        ("mcp.ports", rpc("resources/read", uri="resource://service/ports")),
    ],
    ids=["initialize", "resource"],
)
def test_other_requests_of_mcp_can_be_refused(service, operation, message):
    service.faults.add("refused", operation, code="NOT_TODAY")
    reply = service.http.post("/mcp", json=message).json()
    assert reply["error"]["data"]["code"] == "NOT_TODAY"


@pytest.mark.slow
def test_voucher_can_be_refused(service):
    (ticket,) = service.tickets(service.issue())
    service.faults.add("refused", "voucher.file", status=410)
    refused = service.http.get(ticket["pdf_url"])
    assert (refused.status_code, refused.json()["code"]) == (410, "GONE")
    assert service.http.get(ticket["pdf_url"]).status_code == 200


# Places that are taken


def test_selected_place_is_taken(service):
    selections = service.select(TWO_TICKETS)
    service.faults.add("place_taken")
    error = service.error_of("bookings.create", availabilities=selections, passengers=[GUEST])
    assert (error.status, error.code, error.field) == TAKEN
    assert service.sandbox.counters.effects == ()


def test_taken_place_is_gone_from_later_searches(service):
    first, *_ = service.search(TWO_TICKETS)
    body = {"availabilities": service.select(TWO_TICKETS), "passengers": [GUEST]}
    service.faults.add("place_taken")
    service.error_of("bookings.create", body)
    (again,) = (each for each in service.search(TWO_TICKETS) if each["id"] == first["id"])
    codes = [place["code"] for place in first["places"]]
    assert [place["code"] for place in again["places"]] == codes[1:]
    assert service.create(TWO_TICKETS)["stage"] == "payment_due"


def test_place_of_the_way_back_is_taken(service):
    way_out, way_back = service.select(TWO_TICKETS, back=7)
    body = {"availabilities": [way_back, way_out], "passengers": [GUEST]}
    service.faults.add("place_taken", index=1, sold_out=False)
    assert service.error_of("bookings.create", body).field == "availabilities[0].place_id"
    assert service.attempt("bookings.create", body) is None


def suites(service):
    """Return the suites on the first sailing, as an index and a count; no count if none is left."""
    for index, place in enumerate(service.search(TWO_TICKETS)[0]["places"]):
        if place["code"] == "SUITE_2":
            return index, place["count"]
    return None


@pytest.fixture
def sold_out(limited):
    """Return the bookings that take every suite, with the index of the suites."""
    index, count = suites(limited)
    return index, [limited.create(TWO_TICKETS, place=index) for _ in range(count)]


def test_each_booking_takes_a_place(limited):
    index, count = suites(limited)
    for left in range(count - 1, 0, -1):
        limited.create(TWO_TICKETS, place=index)
        assert suites(limited) == (index, left)
    limited.create(TWO_TICKETS, place=index)
    assert suites(limited) is None


def test_last_place_is_sold_once(limited):
    index, count = suites(limited)
    body = {"availabilities": limited.select(TWO_TICKETS, place=index), "passengers": [GUEST]}
    for _ in range(count):
        limited.create(TWO_TICKETS, place=index)
    error = limited.error_of("bookings.create", body)
    assert (error.status, error.code, error.field) == TAKEN


def test_place_of_a_cancelled_booking_comes_back(limited, sold_out):
    index, bookings = sold_out
    limited.confirm(bookings[0])
    limited.cancel(bookings[0])
    assert suites(limited) == (index, 1)


def test_places_of_expired_bookings_come_back(limited, sold_out):
    index, bookings = sold_out
    limited.clock.advance(3600)
    assert suites(limited) == (index, len(bookings))


def test_without_inventory_the_counts_stay(service):
    before = suites(service)
    index, _ = before
    service.create(TWO_TICKETS, place=index)
    assert suites(service) == before


@pytest.fixture
def presale(limited):
    """Return a booking of a presale, with the index and the count of the suites."""
    index, count = suites(limited)
    more = {"reservation_type": "PRESALE"}
    return limited.create(TWO_TICKETS, place=index, name="PRESALE", more=more), index, count


def test_presale_takes_no_place_yet(limited, presale):
    _, index, count = presale
    assert suites(limited) == (index, count)


def test_presale_needs_a_place_when_it_is_confirmed(limited, presale):
    created, index, count = presale
    for _ in range(count):
        limited.create(TWO_TICKETS, place=index)
    error = limited.error_of("bookings.confirm", id=created["booking_id"])
    assert (error.status, error.code) == (409, "BOOKING_CONFIRM_ERROR")

    limited.clock.advance(3600)
    assert limited.confirm(created)["status"] == "confirmed"
    assert suites(limited) == (index, count - 1)


@pytest.fixture(scope="module")
def restarted(tmp_path_factory):
    """Return a restarted service, and what it was before."""
    options = {"inventory": True, "state": tmp_path_factory.mktemp("restarted") / "state"}
    with run(**options) as service:
        index, count = suites(service)
        service.create(TWO_TICKETS, place=index)
        created = service.create(TWO_TICKETS, back=7)
        service.faults.add("fails_later", index=1)
        service.confirm(created)
        service.faults.add("departure_moved")
        before = {"suites": (index, count), "booking": service.booking(created)}
    with run(**options) as service:
        yield service, before


def test_taken_places_survive_a_restart(restarted):
    service, before = restarted
    index, count = before["suites"]
    assert suites(service) == (index, count - 1)


def test_moved_departure_survives_a_restart(restarted):
    service, before = restarted
    assert departure(service.booking(before["booking"])) == departure(before["booking"])


def test_later_failure_survives_a_restart(restarted):
    service, before = restarted
    service.clock.advance(3)
    assert service.statuses(before["booking"]) == ["Issued", "Failed"]


# Tickets that fail later


@pytest.fixture
def failing(service):
    """Return a booking of two tickets, the first of which fails in a minute, and its answer."""
    created = service.create(TWO_TICKETS, back=7)
    service.faults.add("fails_later", index=0, seconds=60)
    return created, service.confirm(created)


def test_ticket_is_pending_before_it_fails(service, failing):
    created, _ = failing
    assert service.booking(created)["stage"] == "in_progress"
    assert service.statuses(created) == ["Pending", "Issued"]


def test_pending_ticket_fails_later(service, failing):
    created, _ = failing
    service.clock.advance(60)
    booking = service.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("partially_ticketed", "partially_paid")
    assert service.statuses(created) == ["Failed", "Issued"]
    assert booking["tickets"][0]["ticket_number"] is None
    assert "Retry" in booking["possible_actions"]


def test_failed_ticket_is_issued_with_another_number(service, failing):
    created, confirmed = failing
    service.clock.advance(60)
    again = service.confirm(created)
    assert again["ticket_id"] == confirmed["ticket_id"]
    assert again["ticket_number"] != confirmed["ticket_number"]
    assert service.booking(created)["stage"] == "ticketed"


def test_booking_whose_only_ticket_fails_later_is_rejected(service):
    created = service.create(ONE_TICKET)
    service.faults.add("fails_later")
    service.confirm(created)
    service.clock.advance(3)
    booking = service.booking(created)
    assert (booking["stage"], booking["payment_status"]) == ("rejected", "unpaid")


# Changes by the company


@pytest.fixture
def half_cancelled(service):
    """Return a booking of two tickets, the sailing of the second of which is cancelled."""
    created = service.issue(TWO_TICKETS, back=7)
    service.faults.add("sailing_cancelled", index=1)
    service.booking(created)
    return created


def test_cancelled_sailing_shows_in_the_booking(service, half_cancelled):
    assert service.booking(half_cancelled)["stage"] == "partially_voided"
    assert service.statuses(half_cancelled) == ["Issued", "Canceled"]


def test_cancelled_sailing_is_refunded_in_full(service, half_cancelled):
    _, lost = service.tickets(half_cancelled)
    fee = service.fee(lost["id"])
    assert fee["penalty_amount"] == 0 < fee["refund_amount"] < half_cancelled["total_price"]
    assert service.error_of("tickets.cancel", ticket_id=lost["id"]).status == 409


def test_cancellation_can_wait_for_the_issue(service):
    created = service.create(TWO_TICKETS)
    service.faults.add("sailing_cancelled", only_issued=True)
    assert service.booking(created)["stage"] == "payment_due"
    assert service.confirm(created)["status"] == "confirmed"
    assert service.booking(created)["stage"] == "voided"
    assert service.faults.pending == ()


@pytest.mark.parametrize("kind", ["departure_moved", "sailing_cancelled"])
def test_change_waits_for_a_second_crossing(service, kind):
    created = service.create(TWO_TICKETS)
    fault = service.faults.add(kind, index=1)
    service.booking(created)
    assert service.faults.pending == (fault,)


@pytest.fixture
def moved(service):
    """Return a booking before and after its departure has moved, and its ticket."""
    created = service.issue(TWO_TICKETS)
    before = service.booking(created)
    service.faults.add("departure_moved", "tickets.get", minutes=-90, times=None)
    ticket = service.perform("tickets.get", id=before["tickets"][0]["id"])
    return before, service.booking(created), ticket


def test_departure_moves(moved):
    before, after, _ = moved
    assert departure(after) == departure(before) - timedelta(minutes=90)


@pytest.mark.parametrize("name", ["depart_at", "arrive_at"])
def test_moved_times_are_the_same_everywhere(moved, name):
    _, after, ticket = moved
    journey = ticket["availability"]["outward"]["journey"]
    assert journey[name] == after["journey_details"]["outward"][name]


def test_deadline_moves_with_the_departure(moved):
    before, after, _ = moved
    earlier, later = (
        datetime.fromisoformat(booking["possible_actions"]["Cancel"]["timeLimit"])
        for booking in (after, before)
    )
    assert earlier == later - timedelta(minutes=90)


def test_departure_moves_once(service, moved):
    _, after, ticket = moved
    service.perform("tickets.get", id=ticket["id"])
    assert departure(service.booking(after)) == departure(after)
