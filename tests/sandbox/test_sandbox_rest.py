from __future__ import annotations

import json
import socket
import uuid
from datetime import date

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    TWO_TICKETS,
    search_request,
    selection,
)

from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.operations import ENDPOINTS
from ferry_sdk.sandbox.server import Sandbox
from tests.support.tiers import examples
from tests.support.wire import TLS

EXPECTED = {
    ("POST", "/api/availability"): 200,
    ("POST", "/api/booking"): 201,
    ("POST", "/api/booking/confirm"): 201,
    ("GET", "/api/booking/{id}"): 200,
    ("POST", "/api/booking/cancel"): 201,
    ("GET", "/api/ticket/{id}"): 200,
    ("POST", "/api/ticket/cancel"): 201,
    ("POST", "/api/booking/cancel-fee"): 200,
    ("GET", "/api/ticket/{id}/pdf"): 200,
    ("POST", "/api/ticket/{id}/mark-paid"): 200,
    ("POST", "/api/departure"): 201,
    ("POST", "/api/journey"): 201,
    ("GET", "/api/port"): 200,
    ("GET", "/api/vehicle-brand"): 200,
    ("GET", "/api/vehicle-data"): 200,
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as running:
        running.clock.freeze()
        yield running


@pytest.fixture(autouse=True)
def _fresh(sandbox):
    sandbox.clock.travel_to(NOW)
    sandbox.counters.reset()
    sandbox.faults.clear()


def client_of(sandbox, token):
    headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
    return httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers)


@pytest.fixture(scope="module")
def client(sandbox):
    with client_of(sandbox, sandbox.token) as opened:
        yield opened


@pytest.fixture(scope="module")
def organisation(sandbox):
    with client_of(sandbox, sandbox.organisation_token) as opened:
        yield opened


def search(client, line=ONE_TICKET):
    """Return the reply to the first search on a line that finds both directions."""
    for day in range(1, 28):
        request = search_request(line, date(2026, 7, day), date(2026, 8, day))
        body = {"request": request, "passengers": [ADULT]}
        reply = client.post("/api/availability", json=body)
        if reply.status_code == 200 and len({one["direction"] for one in reply.json()}) == 2:
            return reply
    raise AssertionError(reply.text)


def create(client, line=ONE_TICKET, name="STANDARD", **more):
    firsts = {}
    for one in search(client, line).json():
        firsts.setdefault(one["direction"], one)
    chosen = [selection(one, name) for one in firsts.values()]
    body = {"availabilities": chosen, "passengers": [GUEST], **more}
    return client.post("/api/booking", json=body)


def test_every_endpoint_has_the_status_of_the_interface():
    assert {(each.method, each.path): each.success for each in ENDPOINTS} == EXPECTED


def test_a_booking_can_be_paid_issued_and_cancelled_over_http(client, organisation, sandbox):
    found = search(client)
    assert found.status_code == 200
    created = create(client, TWO_TICKETS)
    assert created.status_code == 201
    booking_id = created.json()["booking_id"]
    booking = client.get(f"/api/booking/{booking_id}")
    assert booking.status_code == 200
    first, second = (ticket["id"] for ticket in booking.json()["tickets"])
    body = {"external_payment_ref": "ref", "psp": "bank", "paid_at": NOW.isoformat()}
    paid = organisation.post(f"/api/ticket/{first}/mark-paid", json=body)
    assert (paid.status_code, paid.json()) == (200, {"ticket_id": first, "payment_status": "paid"})
    confirmed = client.post("/api/booking/confirm", json={"id": booking_id})
    assert confirmed.status_code == 201
    assert confirmed.json()["status"] == "confirmed"
    ticket = client.get(f"/api/ticket/{first}")
    assert (ticket.status_code, ticket.json()["status"]) == (200, "Issued")
    sandbox.clock.advance(600)
    address = client.get(f"/api/ticket/{first}/pdf")
    assert address.status_code == 200
    voucher = httpx.get(address.json()["url"])
    assert voucher.headers["content-type"] == "application/pdf"
    assert voucher.content.startswith(b"%PDF-")
    fee = client.post("/api/booking/cancel-fee", json={"id": booking_id})
    assert fee.status_code == 200
    response = client.post("/api/ticket/cancel", json={"ticket_id": second})
    assert (response.status_code, response.json()["status"]) == (201, "cancelled")
    cancelled = client.post("/api/booking/cancel", json={"booking_id": booking_id})
    assert cancelled.status_code == 201
    assert isinstance(cancelled.json()["refund_amount"], float)
    assert client.get(f"/api/booking/{booking_id}").json()["stage"] == "voided"
    assert httpx.get(address.json()["url"]).status_code == 404


def test_the_catalogues_answer_with_their_statuses(client):
    assert client.get("/api/port").json()["ports"]
    assert client.get("/api/vehicle-brand").json()["brands"]
    assert client.get("/api/vehicle-data").json()["vehicle_types"]
    journeys = client.post("/api/journey")
    assert (journeys.status_code, bool(journeys.json()["journeys"])) == (201, True)
    assert client.post("/api/journey", json={}).status_code == 201
    departures = client.post("/api/departure", json={"provider_id": "CTN", "__journey_id": []})
    assert (departures.status_code, bool(departures.json()["departures"])) == (201, True)


NUMBER = (int, float)
TICKET = {
    "id": str,
    "status": str,
    "ticket_number": (str, type(None)),
    "pdf_url": (str, type(None)),
    "direction": str,
    "vehicle": (dict, type(None)),
    "passengers": list,
    "availability": dict,
    "qr_code": str,
    "boarding_time": str,
}
BOOKING = {
    "booking_id": str,
    "booking_reference": str,
    "stage": str,
    "possible_actions": dict,
    "status": str,
    "payment_status": str,
    "all_tickets_paid": bool,
    "ticket_count": int,
    "total_price": NUMBER,
    "currency": str,
    "expire_at": (str, type(None)),
    "pricing": (dict, type(None)),
    "tickets": list,
    "journey_details": dict,
}


def test_a_booking_has_every_field_of_the_interface(client):
    booking_id = create(client).json()["booking_id"]
    for _ in range(2):
        booking = client.get(f"/api/booking/{booking_id}").json()
        assert set(booking) == set(BOOKING)
        assert all(isinstance(booking[name], kind) for name, kind in BOOKING.items())
        for action in booking["possible_actions"].values():
            assert set(action) == {"type", "timeLimit", "requestedItems"}
            assert action["type"] in {"mandatory", "optional"}
            assert isinstance(action["requestedItems"], dict)
        (ticket,) = booking["tickets"]
        assert set(ticket) == set(TICKET)
        assert all(isinstance(ticket[name], kind) for name, kind in TICKET.items())
        assert set(ticket["availability"]) == {"outward", "return"}
        for way in ticket["availability"].values():
            assert set(way["journey"]) == {
                "depart_at",
                "arrive_at",
                "depart_port_name",
                "arrive_port_name",
                "duration_minutes",
            }
            assert isinstance(way["journey"]["duration_minutes"], int)
        client.post("/api/booking/confirm", json={"id": booking_id})


def test_money_has_two_decimals_at_most(client):
    text = create(client, reservation_type="TICKET").text
    price = json.loads(text, parse_float=str)["total_price"]
    assert len(price.partition(".")[2]) <= 2


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic abc", "Bearer"])
@pytest.mark.parametrize(("method", "path"), EXPECTED)
def test_every_endpoint_refuses_an_unknown_token(sandbox, method, path, header):
    headers = {"accept": "application/json", **({"authorization": header} if header else {})}
    reply = httpx.request(method, f"{sandbox.base_url}{path}", headers=headers, verify=TLS)
    assert (reply.status_code, reply.json()["code"]) == (401, "UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert not sandbox.counters.effects


def test_a_read_only_token_reads_without_pricing_and_cannot_confirm(sandbox, client):
    created = create(client).json()
    with client_of(sandbox, sandbox.read_only_token) as reader:
        booking = reader.get(f"/api/booking/{created['booking_id']}")
        assert (booking.status_code, booking.json()["pricing"]) == (200, None)
        refused = reader.post("/api/booking/confirm", json={"id": created["booking_id"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        ("text/html, application/json; charset=utf-8", 200),
        ("text/html", 406),
        ("", 406),
        ("application/json;q=0, */*", 406),
        ("text/html, */*;q=0.0", 406),
    ],
)
def test_accept_must_allow_json(client, accept, status):
    assert client.get("/api/vehicle-brand", headers={"accept": accept}).status_code == status


def test_a_request_without_accept_is_not_acceptable(sandbox):
    host = httpx.URL(sandbox.base_url)
    with socket.create_connection((host.host, host.port)) as wire:
        wire.sendall(
            f"GET /api/port HTTP/1.1\r\nHost: {host.netloc.decode()}\r\n"
            f"Authorization: Bearer {sandbox.token}\r\nConnection: close\r\n\r\n".encode()
        )
        assert wire.makefile("rb").readline().split()[1] == b"406"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 404),
        ("Application/JSON; charset=utf-8", 404),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        (None, 415),
    ],
)
def test_the_content_type_must_be_json(client, kind, status):
    headers = {} if kind is None else {"content-type": kind}
    reply = client.post("/api/booking/confirm", content=b'{"id": "x"}', headers=headers)
    assert reply.status_code == status


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "MALFORMED_JSON"),
        (b'{"id": NaN}', 400, "MALFORMED_JSON"),
        (b'{"id": "\xff"}', 400, "MALFORMED_JSON"),
        (b'{"id": "\\ud800"}', 400, "MALFORMED_JSON"),
        (b"[" * 100_000, 400, "MALFORMED_JSON"),
        (b'{"id": ' + b"9" * 10_000 + b"}", 400, "MALFORMED_JSON"),
        (b"[]", 422, "VALIDATION_ERROR"),
        (b'"id"', 422, "VALIDATION_ERROR"),
        (b"{}", 422, "VALIDATION_ERROR"),
        (b"", 422, "VALIDATION_ERROR"),
        (b'{"id": null}', 422, "VALIDATION_ERROR"),
        (b" " * (LARGEST_BODY + 1), 413, "BODY_TOO_LARGE"),
    ],
    ids=range(12),
)
def test_an_unreadable_body_is_refused(client, body, status, code):
    headers = {"content-type": "application/json"}
    reply = client.post("/api/booking/confirm", content=body, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["error"] is True


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "NOT_FOUND"),
        ("GET", "/", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/", 404, "NOT_FOUND"),
        ("GET", "/api/availability", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "/api/booking", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/api/booking/x", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/voucher/x/y.pdf", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/a%2Fb", 404, "NOT_FOUND"),
        ("GET", "/api/ticket/%C3%A9%20", 404, "TICKET_NOT_FOUND"),
    ],
)
def test_other_paths_and_methods_are_refused_in_json(client, method, path, status, code):
    reply = client.request(method, path, headers={"accept-language": "it"})
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-request-id"]


def test_every_response_has_its_ids(client, sandbox):
    replies = [
        client.get("/api/vehicle-brand"),
        client.get("/api/nothing"),
        client.get("/api/ticket/x"),
        httpx.get(f"{sandbox.base_url}/api/port"),
        client.post("/api/booking/confirm", content=b"{"),
    ]
    ids = {str(uuid.UUID(reply.headers["x-request-id"])) for reply in replies}
    assert len(ids) == len(replies)
    for reply in replies:
        assert reply.headers["x-client-correlation-id"] == reply.headers["x-request-id"]
    mine = client.get("/api/nothing", headers={"x-client-correlation-id": "mine-7"})
    assert mine.headers["x-client-correlation-id"] == "mine-7"
    assert mine.headers["x-request-id"] != "mine-7"


def test_names_are_sent_unescaped_in_utf8(client):
    guest = {**GUEST, "first_name": "Ζωή", "last_name": "بن علي"}
    created = create(client, passengers=[guest])
    reply = client.get(f"/api/booking/{created.json()['booking_id']}")
    assert "Ζωή" in reply.content.decode("utf-8")
    assert "بن علي" in reply.content.decode("utf-8")


def test_messages_and_ports_are_in_the_requested_language(client):
    headers = {"accept-language": "de, el;q=0.9, en;q=0.1"}
    assert "κράτηση" in client.get("/api/booking/x", headers=headers).json()["message"]
    ports = client.get("/api/port", headers={"accept-language": "it"}).json()["ports"]
    assert {"Marsiglia"} <= {port["name"] for port in ports}


def test_an_error_names_the_first_invalid_field_and_all_of_them(client):
    reply = client.post("/api/booking", json={"passengers": [{"type": "Adult", "nme": "x"}]})
    error = reply.json()
    assert (reply.status_code, error["code"]) == (422, "VALIDATION_ERROR")
    named = [one["field"] for one in error["errors"]]
    assert error["field"] == named[0]
    assert {"availabilities", "passengers[0].first_name", "passengers[0].nme"} <= set(named)
    assert error["message"].startswith(named[0])


def test_requests_are_counted_even_if_refused_and_effects_only_if_made(client, sandbox):
    create(client)
    client.post("/api/booking", json={})
    httpx.get(f"{sandbox.base_url}/api/port")
    httpx.get(f"{sandbox.base_url}/voucher/a/b.pdf")
    requests = sandbox.counters.requests
    assert requests["bookings.create"] == 2
    assert requests["catalogue.ports"] == requests["voucher.file"] == 1
    assert len(sandbox.counters.effects) == 1


def test_faults_apply_to_rest_requests(client, sandbox):
    sandbox.faults.add("server_error", "bookings.create", status=503)
    assert create(client).status_code == 503
    assert not sandbox.counters.effects
    sandbox.faults.add("lose_reply", "bookings.create")
    with pytest.raises(httpx.RemoteProtocolError):
        create(client)
    assert len(sandbox.counters.effects_of("bookings.create")) == 1
    assert sandbox.counters.requests["bookings.create"] == 2


@examples(60)
@given(
    body=st.binary(max_size=60)
    | st.dictionaries(st.sampled_from(["id", "booking_id", "x"]), st.text() | st.integers()).map(
        lambda value: json.dumps(value).encode()
    ),
    endpoint=st.sampled_from([each for each in ENDPOINTS if each.method == "POST"]),
)
def test_no_body_causes_an_internal_error(client, body, endpoint):
    headers = {"content-type": "application/json"}
    reply = client.post(endpoint.path.replace("{id}", "x"), content=body, headers=headers)
    assert reply.status_code in {endpoint.success, 400, 403, 404, 422}
    assert isinstance(reply.json(), dict)
