import json
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
def running():
    with Sandbox(now=NOW, frozen=True) as sandbox:
        headers = {"authorization": f"Bearer {sandbox.token}", "accept": "application/json"}
        url = sandbox.base_url
        with httpx.Client(verify=TLS, base_url=url, headers=headers, timeout=60) as client:
            yield sandbox, client


@pytest.fixture
def sandbox(running):
    running[0].reset()
    return running[0]


@pytest.fixture(scope="module")
def client(running):
    return running[1]


@pytest.fixture
def service(sandbox, client):
    return ServiceOverHttp(sandbox, client)


@each("header", ["", "Bearer wrong", "Basic abc", "Bearer"])
@each("endpoint", ENDPOINTS)
def test_every_endpoint_refuses_an_unknown_token(client, sandbox, endpoint, header):
    headers = {"authorization": header}
    reply = client.request(endpoint.method, endpoint.path, headers=headers)
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
        (None, 406),
        ("application/json;q=0, */*", 406),
        ("text/html, */*;q=0.0", 406),
    ],
)
def test_accept_must_allow_json(client, sandbox, accept, status):
    headers = [("authorization", f"Bearer {sandbox.token}")]
    headers += [] if accept is None else [("accept", accept)]
    request = httpx.Request("GET", f"{sandbox.base_url}/api/vehicle-brand", headers=headers)
    assert client.send(request).status_code == status


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


def test_every_response_has_its_ids(client):
    replies = [
        client.get("/api/vehicle-brand"),
        client.get("/api/nothing"),
        client.get("/api/ticket/x"),
        client.get("/api/port", headers={"authorization": ""}),
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
    created = service.create(passengers=[guest])
    assert len(str(created["total_price"]).partition(".")[2]) <= 2
    content = client.get(f"/api/booking/{created['booking_id']}").content.decode("utf-8")
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
    client.get("/api/port", headers={"authorization": ""})
    client.get("/voucher/a/b.pdf")
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
