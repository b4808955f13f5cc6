import json
import socket
import uuid

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import GUEST, NOW, ServiceOverHttp

from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.operations import ENDPOINTS
from ferry_sdk.sandbox.server import Sandbox
from tests.support.tables import each
from tests.support.tiers import examples
from tests.support.wire import TLS


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


@pytest.fixture(scope="module")
def client(sandbox):
    headers = {"authorization": f"Bearer {sandbox.token}", "accept": "application/json"}
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers) as opened:
        yield opened


@pytest.fixture
def service(sandbox, client):
    return ServiceOverHttp(sandbox, client)


def test_money_has_two_decimals_at_most(service):
    price = service.create(more={"reservation_type": "TICKET"})["total_price"]
    assert len(str(price).partition(".")[2]) <= 2


@each("header", [None, "Bearer wrong", "Basic abc", "Bearer"])
@each(("method", "path"), [(each.method, each.path) for each in ENDPOINTS])
def test_every_endpoint_refuses_an_unknown_token(sandbox, method, path, header):
    headers = {"accept": "application/json", **({"authorization": header} if header else {})}
    reply = httpx.request(method, f"{sandbox.base_url}{path}", headers=headers, verify=TLS)
    assert (reply.status_code, reply.json()["code"]) == (401, "UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert not sandbox.counters.effects


@each(
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


@each(
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


@each(
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


@each(
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


def test_names_are_sent_unescaped_in_utf8(client, service):
    guest = {**GUEST, "first_name": "Ζωή", "last_name": "بن علي"}
    booking_id = service.create(passengers=[guest])["booking_id"]
    content = client.get(f"/api/booking/{booking_id}").content.decode("utf-8")
    assert "Ζωή" in content
    assert "بن علي" in content


def test_an_error_names_the_first_invalid_field_and_all_of_them(client):
    reply = client.post("/api/booking", json={"passengers": [{"type": "Adult", "nme": "x"}]})
    error = reply.json()
    assert (reply.status_code, error["code"]) == (422, "VALIDATION_ERROR")
    named = [one["field"] for one in error["errors"]]
    assert error["field"] == named[0]
    assert {"availabilities", "passengers[0].first_name", "passengers[0].nme"} <= set(named)
    assert error["message"].startswith(named[0])


def test_requests_are_counted_even_if_refused_and_effects_only_if_made(client, sandbox, service):
    service.create()
    client.post("/api/booking", json={})
    httpx.get(f"{sandbox.base_url}/api/port")
    httpx.get(f"{sandbox.base_url}/voucher/a/b.pdf")
    requests = sandbox.counters.requests
    assert requests["bookings.create"] == 2
    assert requests["catalogue.ports"] == requests["voucher.file"] == 1
    assert len(sandbox.counters.effects) == 1


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
