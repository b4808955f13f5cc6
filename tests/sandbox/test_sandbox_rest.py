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


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        ("text/html, application/json; charset=utf-8", 200),
        ("text/html", 406),
        ("", 406),
        (None, 406),
        ("application/jsonp", 406),
    ],
)
def test_accept_must_allow_json(http, sandbox, accept, status):
    headers = [("authorization", f"Bearer {sandbox.token}")]
    if accept is not None:
        headers.append(("accept", accept))
    # A request of its own, because the client adds an `Accept` header.
    request = httpx.Request("GET", f"{sandbox.base_url}/api/vehicle-brand", headers=headers)
    assert http.send(request).status_code == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 404),
        ("Application/JSON; charset=utf-8", 404),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        (None, 415),
    ],
)
def test_content_type_must_be_json(http, content_type, status):
    headers = {} if content_type is None else {"content-type": content_type}
    reply = http.post("/api/booking/confirm", content=b'{"id": "x"}', headers=headers)
    assert reply.status_code == status


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        pytest.param(b"{", 400, "MALFORMED_JSON", id="no-json"),
        pytest.param(b'{"id": NaN}', 400, "MALFORMED_JSON", id="nan"),
        pytest.param(b'{"id": "\xff"}', 400, "MALFORMED_JSON", id="no-utf8"),
        pytest.param(b'{"id": "\\ud800"}', 400, "MALFORMED_JSON", id="half-a-surrogate-pair"),
        pytest.param(b"[" * 100_000, 400, "MALFORMED_JSON", id="deep"),
        pytest.param(b'{"id": ' + b"9" * 10_000 + b"}", 400, "MALFORMED_JSON", id="long-number"),
        pytest.param(b"[]", 422, "VALIDATION_ERROR", id="list"),
        pytest.param(b'"id"', 422, "VALIDATION_ERROR", id="text"),
        pytest.param(b"{}", 422, "VALIDATION_ERROR", id="no-field"),
        pytest.param(b"", 422, "VALIDATION_ERROR", id="empty"),
        pytest.param(b'{"id": null}', 422, "VALIDATION_ERROR", id="null-id"),
        pytest.param(b'{"id": 7}', 422, "VALIDATION_ERROR", id="number-as-id"),
        pytest.param(b" " * (LARGEST_BODY + 1), 413, "BODY_TOO_LARGE", id="large"),
    ],
)
def test_body_that_cannot_be_used_is_refused(http, body, status, code):
    headers = {"content-type": "application/json"}
    reply = http.post("/api/booking/confirm", content=body, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["error"] is True


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("GET", "/", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/", 404, "NOT_FOUND"),
        ("GET", "/voucher/x/y.pdf", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/a%2Fb", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/%C3%A9%20", 404, "TICKET_NOT_FOUND"),
        ("GET", "/api/availability", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "/api/booking", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/api/booking/x", 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_unknown_path_is_refused_in_json(http, method, path, status, code):
    reply = http.request(method, path, headers={"accept-language": "it"})
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/json"


def test_wrong_token_is_challenged(http):
    reply = http.get("/api/port", headers={"authorization": "Bearer"})
    assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'


def test_error_names_every_invalid_field(http):
    reply = http.post("/api/booking", json={"passengers": [{"type": "Adult", "nme": "x"}]})
    error = reply.json()
    assert (reply.status_code, error["code"]) == (422, "VALIDATION_ERROR")
    fields = [each["field"] for each in error["errors"]]
    assert error["field"] == fields[0]
    assert error["message"].startswith(fields[0])
    assert {"availabilities", "passengers[0].first_name", "passengers[0].nme"} <= set(fields)


def test_every_response_has_an_id_of_its_own(http):
    replies = [
        http.get("/api/port", headers={"authorization": "Bearer"}),
        http.post("/api/booking", json={}),
        http.post("/api/booking/confirm", content=b"{"),
        http.get("/api/vehicle-brand"),
        http.get("/api/nothing"),
        http.get("/api/ticket/x"),
    ]
    request_ids = [reply.headers["x-request-id"] for reply in replies]
    assert len({str(uuid.UUID(each)) for each in request_ids}) == len(replies)
    assert [reply.headers["x-client-correlation-id"] for reply in replies] == request_ids


def test_response_repeats_the_correlation_id(http):
    reply = http.get("/api/nothing", headers={"x-client-correlation-id": "order-7"})
    assert reply.headers["x-client-correlation-id"] == "order-7"
    assert reply.headers["x-request-id"] != "order-7"


def test_names_are_sent_in_utf8(http, service):
    created = service.create(passengers=[{**GUEST, "first_name": "Ζωή", "last_name": "بن علي"}])
    content = http.get(f"/api/booking/{created['booking_id']}").content.decode("utf-8")
    assert "Ζωή" in content
    assert "بن علي" in content


def test_price_has_at_most_two_decimals(service):
    assert len(str(service.create()["total_price"]).partition(".")[2]) <= 2


def test_refused_requests_are_counted(http, sandbox, service):
    service.create()
    http.post("/api/booking", json={})
    http.get("/api/port", headers={"authorization": ""})
    http.get("/voucher/a/b.pdf")
    requests = sandbox.counters.requests
    assert requests["bookings.create"] == 2
    assert requests["catalogue.ports"] == requests["voucher.file"] == 1
    assert len(sandbox.counters.effects) == 1


# Operations, without HTTP


WRITES = [
    "bookings.create",
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "mcp.create_booking",
    "mcp.confirm_booking",
    "mcp.cancel_ticket",
]
OF_CTN = journey_id("FRMRS", "TNLGN")
NOT_OF_CTN = journey_id("SEHEL", "DKHLS")
NOT_SERVED = {"voucher.file", "mcp.initialize", "mcp.ping", "mcp.list_tools", "mcp.list_resources"}
SERVED = [name for name in OPERATIONS if name not in NOT_SERVED]


def test_every_served_operation_has_a_handler(offline):
    assert {*offline.service._handlers["default"]} == {*SERVED}


def test_every_served_operation_has_an_answer():
    assert {*ANSWERS} == {*SERVED}


@each("operation", SERVED)
def test_what_sales_perform_uses_bookings(offline, operation):
    handler = offline.service._handlers["default"][operation]
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


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        pytest.param("bookings.get", {"id": "unknown"}, "NOT_FOUND", id="bookings.get"),
        pytest.param(
            "bookings.cancel_fee", {"id": "unknown"}, "NOT_FOUND", id="bookings.cancel_fee"
        ),
        pytest.param(
            "bookings.cancel", {"booking_id": "unknown"}, "NOT_FOUND", id="bookings.cancel"
        ),
        pytest.param("tickets.get", {"id": "unknown"}, "TICKET_NOT_FOUND", id="tickets.get"),
        pytest.param("tickets.pdf", {"id": "unknown"}, "TICKET_NOT_FOUND", id="tickets.pdf"),
        pytest.param(
            "tickets.mark_paid",
            {"id": "unknown", "external_payment_ref": "x"},
            "TICKET_NOT_FOUND",
            id="tickets.mark_paid",
        ),
        pytest.param(
            "mcp.view_ticket", {"id": "unknown"}, "TICKET_NOT_FOUND", id="mcp.view_ticket"
        ),
        pytest.param(
            "bookings.confirm", {"id": "unknown"}, "BOOKING_CONFIRM_ERROR", id="bookings.confirm"
        ),
        pytest.param(
            "mcp.confirm_booking",
            {"id": "unknown"},
            "BOOKING_CONFIRM_ERROR",
            id="mcp.confirm_booking",
        ),
        pytest.param(
            "tickets.cancel", {"ticket_id": "unknown"}, "TICKET_CANCEL_ERROR", id="tickets.cancel"
        ),
        pytest.param(
            "mcp.cancel_ticket",
            {"ticket_id": "unknown"},
            "TICKET_CANCEL_ERROR",
            id="mcp.cancel_ticket",
        ),
    ],
)
def test_unknown_id_is_not_found(offline, operation, arguments, code):
    protocol = protocol_of(operation)
    error = offline.error_of(operation, arguments, access=Access.ORGANISATION, protocol=protocol)
    field = next(iter(arguments))
    assert (error.status, error.code, error.field) == (404, code, field)


INVALID_CODES = [
    ("availability.search", "VALIDATION_ERROR"),
    ("bookings.create", "VALIDATION_ERROR"),
    ("mcp.search_availability", "AVAILABILITY_ERROR"),
    ("mcp.create_booking", "BOOKING_CREATE_ERROR"),
    ("mcp.confirm_booking", "BOOKING_CONFIRM_ERROR"),
    ("mcp.view_ticket", "TICKET_VIEW_ERROR"),
    ("mcp.cancel_ticket", "TICKET_CANCEL_ERROR"),
]


@pytest.mark.parametrize(("operation", "code"), INVALID_CODES)
def test_only_tools_have_their_code_for_invalid_arguments(offline, operation, code):
    error = offline.error_of(operation, {"nonsense": 1}, protocol=protocol_of(operation))
    assert (error.status, error.code) == (422, code)


@pytest.mark.parametrize("operation", [operation for operation, _ in INVALID_CODES])
def test_error_object_names_every_field(offline, operation):
    error = offline.error_of(operation, {"nonsense": 1}, protocol=protocol_of(operation))
    wire = error.to_wire()
    assert wire["error"] is True
    assert wire["field"] == wire["errors"][0]["field"]
    assert {"field": "nonsense", "message": "This field is unknown."} in wire["errors"]


def test_error_can_be_made_again_of_its_arguments(offline):
    error = offline.error_of("bookings.create", {"nonsense": 1})
    again = ServiceError(error.status, error.code, error.message, error.field, error.errors)
    assert type(again)(*again.args).to_wire() == error.to_wire()


@pytest.fixture
def departures(offline):
    """Return the departures of a company, journey by journey."""
    return offline.perform("catalogue.departures", provider_id="ctn")["departures"]


def test_departures_name_every_journey_of_the_company(departures):
    journeys = Network.load().journeys_of(Network.load().companies["CTN"])
    assert {each["journey_id"] for each in departures} == {journey.id for journey in journeys}


def test_overnight_departures_are_in_the_evening(departures):
    night = journey_id("FRMRS", "TNLGN")
    (times,) = [each["departure_times"] for each in departures if each["journey_id"] == night]
    assert "18:00" <= min(times) <= max(times) < "24:00"


def test_departures_of_one_journey_are_found(offline, departures):
    query = {"provider_id": "CTN", "__journey_id": [departures[0]["journey_id"]]}
    assert offline.perform("catalogue.departures", query)["departures"] == departures[:1]


@pytest.mark.parametrize("journey_ids", [[], None], ids=["empty", "null"])
def test_no_journey_means_all(offline, departures, journey_ids):
    query = {"provider_id": "CTN", "__journey_id": journey_ids}
    assert offline.perform("catalogue.departures", query)["departures"] == departures


@pytest.mark.parametrize(
    ("query", "field"),
    [
        pytest.param({}, "provider_id", id="no-company"),
        pytest.param({"provider_id": "x"}, "provider_id", id="unknown-company"),
        pytest.param(
            {"provider_id": "CTN", "__journey_id": ["x"]}, "__journey_id[0]", id="unknown-journey"
        ),
        pytest.param(
            {"provider_id": "CTN", "__journey_id": [OF_CTN, NOT_OF_CTN]},
            "__journey_id[1]",
            id="journey-of-others",
        ),
    ],
)
def test_departures_name_an_invalid_field(offline, query, field):
    error = offline.error_of("catalogue.departures", query)
    assert (error.status, error.field) == (422, field)


def test_view_ticket_adds_a_summary_of_the_booking(offline):
    created = offline.create(TWO_TICKETS, back=7)
    first, _ = offline.tickets(created)
    viewed = offline.perform("mcp.view_ticket", id=first["id"], protocol="mcp")
    summary = viewed.pop("booking")
    assert viewed == offline.perform("tickets.get", id=first["id"]) == first
    assert summary == {
        "booking_id": created["booking_id"],
        "booking_reference": created["booking_reference"],
        "stage": "payment_due",
        "payment_status": "unpaid",
    }


def test_effects_have_one_name_for_both_protocols(offline):
    created = offline.create(TWO_TICKETS, back=7)
    booking_id = created["booking_id"]
    first, second = [ticket["id"] for ticket in offline.tickets(created)]
    offline.perform("mcp.confirm_booking", id=booking_id, protocol="mcp")
    offline.perform("mcp.cancel_ticket", ticket_id=first, protocol="mcp")
    offline.perform("tickets.cancel", ticket_id=second)
    offline.error_of("tickets.cancel", ticket_id=second)
    assert [(effect.operation, effect.subject) for effect in offline.counters.effects] == [
        ("bookings.create", booking_id),
        ("bookings.confirm", booking_id),
        ("tickets.cancel", first),
        ("tickets.cancel", second),
    ]


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
