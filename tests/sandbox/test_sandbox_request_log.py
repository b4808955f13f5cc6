"""What happened: the log of requests, the list of bookings and the page of the controls."""

import re
import sys

import httpx
import pytest
from offline_service import GUEST, NOW, run

from ferry_sdk.sandbox import Clock, RequestLog, Sandbox
from tests.support.wire import TLS

CORRELATION = "x-client-correlation-id"
CONTROL = "control-token-of-a-team"


@pytest.fixture(scope="module")
def running_service():
    with run(control_token=CONTROL) as service:
        yield service


@pytest.fixture
def sandbox(service):
    return service.sandbox


def logged(http, **query):
    return http.get("/_sandbox/requests", params=query).json()["requests"]


def test_a_request_of_the_interface_is_logged_with_its_reply(http):
    reply = http.get("/api/port", headers={CORRELATION: "order-7"})
    for path in ("/health", "/_sandbox/clock", "/openapi.json", "/docs", "/_sandbox/"):
        http.get(path)
    (entry,) = logged(http)
    assert entry.pop("milliseconds") >= 0
    request = {"method": "GET", "path": "/api/port", "operation": "catalogue.ports"}
    ids = {"correlation_id": "order-7", "request_id": reply.headers["x-request-id"]}
    made = {"faults": [], "booking_id": None, "ticket_id": None}
    assert entry == {"at": NOW.isoformat(), "status": 200, **request, **ids, **made}


def test_requests_are_found_by_their_correlation_id(http):
    for name in ("a", "b", "a"):
        http.get("/api/port", headers={CORRELATION: name})
    reply = http.get("/api/nothing")
    assert len(logged(http, correlation_id="a")) == 2
    own = reply.headers[CORRELATION]
    assert [each["status"] for each in logged(http, correlation_id=own)] == [404]
    assert logged(http, correlation_id="c") == []
    assert http.get("/_sandbox/requests?colour=blue").json()["field"] == "colour"
    assert http.delete("/_sandbox/requests").json() == {"requests": []}


def test_a_lost_write_is_logged_with_its_faults_and_what_it_made(service, sandbox, http):
    made = service.issue()
    ticket_id = service.tickets(made)[0]["id"]
    http.get(f"/api/ticket/{ticket_id}")
    for kind, how in (("delay_before", {"seconds": 0}), ("lose_reply", {})):
        sandbox.faults.add(kind, "bookings.cancel", **how)
    with pytest.raises(httpx.RemoteProtocolError):
        http.post("/api/booking/cancel", json={"booking_id": made["booking_id"]})
    entries = {each["operation"]: each for each in logged(http)}
    named = {name: (each["booking_id"], each["ticket_id"]) for name, each in entries.items()}
    assert entries["bookings.cancel"]["faults"] == ["delay_before", "lose_reply"]
    assert named["bookings.create"] == (made["booking_id"], None)
    assert named["bookings.confirm"] == (made["booking_id"], ticket_id)
    assert named["tickets.get"] == (None, ticket_id)
    assert named["bookings.cancel"] == (made["booking_id"], None)


def test_no_secret_and_no_traveller_is_logged(service, sandbox, http, capfd):
    created = service.issue()
    url = service.tickets(created)[0]["pdf_url"]
    assert http.get(url).status_code == 200
    http.get("/api/booking/Ada%20Byron", params={"name": "Ada"})
    http.get("/api/ada@example.org/Byron")
    http.request("BYRON", "/api/port")
    paths = {each["path"] for each in logged(http)}
    ticket, key = url.removesuffix(".pdf").split("/")[-2:]
    assert {f"/voucher/{ticket}/…", "/api/booking/…", "/api/…/…"} <= paths
    assert f"/api/booking/{created['booking_id']}" in paths
    told = http.get("/_sandbox/requests").text + http.get("/_sandbox/bookings").text
    told += repr(sandbox.request_log.entries())
    secrets = [sandbox.token, key, CONTROL, "Ada", "ada@", "Byron", "BYRON", GUEST["email"]]
    assert [each for each in secrets if each in told] == []
    assert capfd.readouterr().err == ""


def test_the_log_keeps_the_latest_thousand_also_where_standard_error_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    log = RequestLog(Clock(NOW, frozen=True), prints=True)
    request = {"method": "GET", "path": "/api/port"}
    for number in range(1500):
        log.add(request, status=200, seconds=0, correlation_id=str(number), request_id="id")
    entries = log.entries()
    assert [entries[0].correlation_id, entries[-1].correlation_id] == ["500", "1499"]
    assert len(entries) == 1000


def test_a_line_a_request_goes_to_standard_error(capsys):
    with (
        Sandbox(now=NOW, frozen=True, log=True) as sandbox,
        httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=60) as client,
    ):
        client.get("/api/port", headers={CORRELATION: "line-1"})
        client.get("/health")
        sandbox.faults.add("server_error")
        client.post("/api/journey", headers={CORRELATION: f"é\xad{'x' * 200}".encode("latin-1")})
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"GET /api/port 401 \d+ ms line-1", first)
    assert re.fullmatch(r"POST /api/journey 503 \d+ ms é\?x{126} server_error", second)


def test_bookings_are_listed_without_their_travellers(service, sandbox, http):
    created = [service.create() for _ in range(2)]
    listed = http.get("/_sandbox/bookings").json()
    assert listed["total"] == 2
    newest, oldest = listed["bookings"]
    assert [one["booking_id"] for one in (oldest, newest)] == [one["booking_id"] for one in created]
    assert newest["stage"] == "payment_due"
    assert newest["tickets"][0]["company"] == "CTN"
    sandbox.clock.advance(3600)
    assert http.get("/_sandbox/bookings").json()["bookings"][0]["stage"] == "lapsed"


def test_the_page_has_a_strict_policy_and_needs_no_token(http):
    page = http.get("/_sandbox/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    parts = page.headers["content-security-policy"].split(";")
    policy = dict(part.strip().split(" ", 1) for part in parts)
    assert policy["default-src"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == policy["script-src"] == "'self'"
    assert re.findall(r'(?:src|href)="(.*?)"', page.text) == [
        "../docs/control.css",
        "../docs/control.js",
    ]
    script = http.get("/docs/control.js").text
    assert not re.search(r"https?://|\sstyle=|\son\w+=|innerHTML", page.text + script)
    elsewhere = {"host": "ferry:8080", "authorization": ""}
    assert http.get("/_sandbox/", headers=elsewhere).status_code == 200
    assert http.get("/_sandbox/requests", headers=elsewhere).status_code == 401
    with Sandbox() as alone:
        for headers, status in ((elsewhere, 403), ({}, 200)):
            page = httpx.get(f"{alone.base_url}/_sandbox/", verify=TLS, headers=headers, timeout=60)
            assert page.status_code == status


def test_every_address_and_element_that_the_page_uses_exists(http):
    text = http.get("/docs/control.js").text
    used = set(re.findall(r'\$\("([\w-]+)"\)', text))
    assert used <= set(re.findall(r'id="([\w-]+)"', http.get("/_sandbox/").text))
    calls = set(re.findall(r'call\("([A-Z]+)", ["`]([\w/-]+)', text))
    assert len(calls) > 10
    paths = http.get("/openapi.json").json()["paths"]
    for method, path in calls:
        assert method.lower() in paths[f"/_sandbox/{path}"], (method, path)
