"""The conventions of REST, and the operations with their access and errors."""

import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest
from offline_service import GUEST, TWO_TICKETS

from ferry_sdk.sandbox.bookings.sales import Sales
from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.operations import OPERATIONS
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.responses.operations import ANSWERS
from ferry_sdk.sandbox.service import ServiceError
from tests.support.exchanges import caught
from tests.support.tables import each


@pytest.fixture
def sandbox(service):
    return service.sandbox


def test_accept_must_allow_json_and_the_content_type_must_be_json(http, sandbox):
    usable = ("application/json", "*/*", "application/*;q=0.5")
    usable += ("text/html, application/json; charset=utf-8",)
    others = ("text/html", "", None, "application/jsonp")
    for accept in (*usable, *others):
        headers = [("authorization", f"Bearer {sandbox.token}")]
        headers += [] if accept is None else [("accept", accept)]
        request = httpx.Request("GET", f"{sandbox.base_url}/api/vehicle-brand", headers=headers)
        status = 200 if accept in usable else 406
        assert (accept, http.send(request).status_code) == (accept, status)
    usable = ("application/json", "Application/JSON; charset=utf-8")
    for kind in (*usable, "text/plain", "application/x-www-form-urlencoded", None):
        headers = {} if kind is None else {"content-type": kind}
        reply = http.post("/api/booking/confirm", content=b'{"id": "x"}', headers=headers)
        assert (kind, reply.status_code) == (kind, 404 if kind in usable else 415)


def test_unreadable_bodies_and_other_paths_and_methods_are_refused_in_json(http):
    headers = {"content-type": "application/json"}
    malformed = (b"{", b'{"id": NaN}', b'{"id": "\xff"}', b'{"id": "\\ud800"}', b"[" * 100_000)
    for status, code, bodies in (
        (400, "MALFORMED_JSON", [*malformed, b'{"id": ' + b"9" * 10_000 + b"}"]),
        (422, "VALIDATION_ERROR", [b"[]", b'"id"', b"{}", b"", b'{"id": null}', b'{"id": 7}']),
        (413, "BODY_TOO_LARGE", [b" " * (LARGEST_BODY + 1)]),
    ):
        for body in bodies:
            reply = http.post("/api/booking/confirm", content=body, headers=headers)
            assert (reply.status_code, reply.json()["code"]) == (status, code), body[:20]
            assert reply.json()["error"] is True
    unknown = ("/api/nothing", "/", "/api/ticket/", "/voucher/x/y.pdf", "/api/ticket/a%2Fb")
    for status, code, method, paths in (
        (404, "NOT_FOUND", "GET", unknown),
        (404, "TICKET_NOT_FOUND", "GET", ["/api/ticket/%C3%A9%20"]),
        (405, "METHOD_NOT_ALLOWED", "GET", ["/api/availability"]),
        (405, "METHOD_NOT_ALLOWED", "PUT", ["/api/booking"]),
        (405, "METHOD_NOT_ALLOWED", "DELETE", ["/api/booking/x"]),
    ):
        for path in paths:
            reply = http.request(method, path, headers={"accept-language": "it"})
            assert (reply.status_code, reply.json()["code"]) == (status, code), (method, path)
            assert reply.headers["content-type"] == "application/json"


def test_every_response_has_its_ids_and_an_error_its_invalid_fields(http):
    unknown = http.get("/api/port", headers={"authorization": "Bearer"})
    assert unknown.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    wrong = http.post("/api/booking", json={"passengers": [{"type": "Adult", "nme": "x"}]})
    error = wrong.json()
    assert (wrong.status_code, error["code"]) == (422, "VALIDATION_ERROR")
    named = [one["field"] for one in error["errors"]]
    assert error["field"] == named[0]
    assert {"availabilities", "passengers[0].first_name", "passengers[0].nme"} <= set(named)
    assert error["message"].startswith(named[0])
    paths = ("/api/vehicle-brand", "/api/nothing", "/api/ticket/x")
    unread = http.post("/api/booking/confirm", content=b"{")
    replies = [unknown, wrong, unread, *map(http.get, paths)]
    ids = {str(uuid.UUID(reply.headers["x-request-id"])) for reply in replies}
    assert len(ids) == len(replies)
    for reply in replies:
        assert reply.headers["x-client-correlation-id"] == reply.headers["x-request-id"]
    mine = http.get("/api/nothing", headers={"x-client-correlation-id": "mine-7"})
    assert mine.headers["x-client-correlation-id"] == "mine-7"
    assert mine.headers["x-request-id"] != "mine-7"


def test_names_are_sent_in_utf8_and_requests_counted_even_if_refused(http, sandbox, service):
    guest = {**GUEST, "first_name": "Ζωή", "last_name": "بن علي"}
    created = service.create(passengers=[guest])
    assert len(str(created["total_price"]).partition(".")[2]) <= 2
    content = http.get(f"/api/booking/{created['booking_id']}").content.decode("utf-8")
    assert "Ζωή" in content
    assert "بن علي" in content
    http.post("/api/booking", json={})
    http.get("/api/port", headers={"authorization": ""})
    http.get("/voucher/a/b.pdf")
    requests = sandbox.counters.requests
    assert requests["bookings.create"] == 2
    assert requests["catalogue.ports"] == requests["voucher.file"] == 1
    assert len(sandbox.counters.effects) == 1


# Operations, without HTTP


WRITES = [
    *("bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel"),
    *("mcp.create_booking", "mcp.confirm_booking", "mcp.cancel_ticket"),
]
NOT_OF_CTN = journey_id("SEHEL", "DKHLS")
NOT_SERVED = {"voucher.file", "mcp.initialize", "mcp.ping", "mcp.list_tools", "mcp.list_resources"}
SERVED = [name for name in OPERATIONS if name not in NOT_SERVED]


def test_every_served_operation_has_a_handler(offline):
    assert {*offline.service._handlers} == {*SERVED}


def test_every_served_operation_has_an_answer():
    assert {*ANSWERS} == {*SERVED}


@each("operation", SERVED)
def test_what_sales_perform_uses_bookings(offline, operation):
    handler = offline.service._handlers[operation]
    owner = getattr(handler.perform, "__self__", None)
    assert handler.uses_bookings == isinstance(owner, Sales)


def protocol_of(operation):
    return "mcp" if operation.startswith("mcp.") else "rest"


@each("operation", SERVED)
@each("access", Access)
def test_each_token_allows_its_operations(offline, operation, access):
    error = offline.attempt(operation, {}, access=access)
    forbidden = error is not None and error.status == 403
    if operation == "tickets.mark_paid":
        assert forbidden == (access is not Access.ORGANISATION)
    else:
        assert forbidden == (access is Access.READ_ONLY and operation in WRITES)
    if forbidden:
        assert error.code == "FORBIDDEN"
    elif error is not None:
        assert error.status == 422


def test_an_unknown_id_is_not_found_and_invalid_arguments_have_the_code_of_the_tool_over_mcp_only(
    offline,
):
    for code, field, names in (
        ("NOT_FOUND", "id", ["bookings.get", "bookings.cancel_fee"]),
        ("NOT_FOUND", "booking_id", ["bookings.cancel"]),
        ("TICKET_NOT_FOUND", "id", ["tickets.get", "tickets.pdf", "tickets.mark_paid"]),
        ("TICKET_NOT_FOUND", "id", ["mcp.view_ticket"]),
        ("BOOKING_CONFIRM_ERROR", "id", ["bookings.confirm", "mcp.confirm_booking"]),
        ("TICKET_CANCEL_ERROR", "ticket_id", ["tickets.cancel", "mcp.cancel_ticket"]),
    ):
        for name in names:
            more = {"external_payment_ref": "x"} if name == "tickets.mark_paid" else {}
            how = {"access": Access.ORGANISATION, "protocol": protocol_of(name)}
            error = offline.error_of(name, {field: "unknown", **more}, **how)
            assert (name, error.status, error.code, error.field) == (name, 404, code, field)
    for name, code in {
        **dict.fromkeys(("availability.search", "bookings.create"), "VALIDATION_ERROR"),
        "mcp.search_availability": "AVAILABILITY_ERROR",
        "mcp.create_booking": "BOOKING_CREATE_ERROR",
        "mcp.confirm_booking": "BOOKING_CONFIRM_ERROR",
        "mcp.view_ticket": "TICKET_VIEW_ERROR",
        "mcp.cancel_ticket": "TICKET_CANCEL_ERROR",
    }.items():
        error = offline.error_of(name, {"nonsense": 1}, protocol=protocol_of(name))
        assert (name, error.status, error.code) == (name, 422, code)
        wire = error.to_wire()
        assert wire["error"] is True
        assert wire["field"] == wire["errors"][0]["field"]
        assert {"field": "nonsense", "message": "This field is unknown."} in wire["errors"]
        again = ServiceError(error.status, error.code, error.message, error.field, error.errors)
        assert type(again)(*again.args).to_wire() == wire


def test_departures_of_a_company_and_of_some_journeys(offline):
    everything = offline.perform("catalogue.departures", provider_id="ctn")["departures"]
    journeys = Network.load().journeys_of(Network.load().companies["CTN"])
    assert {each["journey_id"] for each in everything} == {journey.id for journey in journeys}
    night = next(each for each in everything if each["journey_id"] == journey_id("FRMRS", "TNLGN"))
    assert "18:00" <= min(night["departure_times"]) <= max(night["departure_times"]) < "24:00"
    one = everything[0]["journey_id"]
    for journeys, expected in (([one], everything[:1]), ([], everything), (None, everything)):
        named = {"provider_id": "CTN", "__journey_id": journeys}
        assert offline.perform("catalogue.departures", named)["departures"] == expected
    for ids, field in ((["x"], "__journey_id[0]"), ([one, NOT_OF_CTN], "__journey_id[1]")):
        named = {"provider_id": "CTN", "__journey_id": ids}
        wrong = offline.error_of("catalogue.departures", named)
        assert (wrong.status, wrong.field) == (422, field)
    assert offline.error_of("catalogue.departures", {"provider_id": "x"}).field == "provider_id"
    assert offline.error_of("catalogue.departures", {}).field == "provider_id"


def test_effects_have_one_name_for_both_protocols_and_view_ticket_adds_a_summary(offline):
    created = offline.create(TWO_TICKETS, back=7)
    tickets = offline.tickets(created)
    first, second = (ticket["id"] for ticket in tickets)
    seen = offline.perform("mcp.view_ticket", id=first, protocol="mcp")
    booking = seen.pop("booking")
    assert seen == offline.perform("tickets.get", id=first) == tickets[0]
    same = {name: created[name] for name in ("booking_id", "booking_reference")}
    assert booking == {**same, "stage": "payment_due", "payment_status": "unpaid"}
    offline.perform("mcp.confirm_booking", id=created["booking_id"], protocol="mcp")
    offline.perform("mcp.cancel_ticket", ticket_id=first, protocol="mcp")
    offline.perform("tickets.cancel", ticket_id=second)
    offline.error_of("tickets.cancel", ticket_id=second)
    effects = [(effect.operation, effect.subject) for effect in offline.counters.effects]
    made = [(f"bookings.{name}", created["booking_id"]) for name in ("create", "confirm")]
    assert effects == made + [("tickets.cancel", ticket) for ticket in (first, second)]


def test_several_threads_confirm_a_booking_once(offline, request):
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    for _ in range(10):
        created = offline.create()
        start = threading.Barrier(8)

        def confirm(booking_id, start=start):
            start.wait()
            return offline.attempt("bookings.confirm", {"id": booking_id})

        with ThreadPoolExecutor(8) as pool:
            refusals = list(pool.map(confirm, [created["booking_id"]] * 8))
        assert [error.status for error in refusals if error] == [409] * 7
    assert len(offline.counters.effects_of("bookings.confirm")) == 10
    caught(KeyError, offline.perform, "bookings.steal")
