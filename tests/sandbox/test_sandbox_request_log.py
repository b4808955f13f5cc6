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
    """Return the service of the module, with a control token."""
    with run(control_token=CONTROL) as service:
        yield service


@pytest.fixture
def sandbox(service):
    return service.sandbox


def logged(http, **query):
    return http.get("/_sandbox/requests", params=query).json()["requests"]


# The log of requests


def test_request_is_logged_with_its_reply(http):
    reply = http.get("/api/port", headers={CORRELATION: "order-7"})
    (entry,) = logged(http)
    assert entry.pop("milliseconds") >= 0
    assert entry == {
        "at": NOW.isoformat(),
        "method": "GET",
        "path": "/api/port",
        "operation": "catalogue.ports",
        "status": 200,
        "correlation_id": "order-7",
        "request_id": reply.headers["x-request-id"],
        "faults": [],
        "booking_id": None,
        "ticket_id": None,
    }


@pytest.mark.parametrize(
    "path", ["/health", "/_sandbox/clock", "/openapi.json", "/docs", "/_sandbox/"]
)
def test_other_requests_are_not_logged(http, path):
    http.get(path)
    assert logged(http) == []


def test_requests_are_found_by_their_correlation_id(http):
    for name in ("a", "b", "a"):
        http.get("/api/port", headers={CORRELATION: name})
    assert len(logged(http, correlation_id="a")) == 2
    assert logged(http, correlation_id="c") == []


def test_reply_id_finds_its_request(http):
    reply = http.get("/api/nothing")
    entries = logged(http, correlation_id=reply.headers[CORRELATION])
    assert [entry["status"] for entry in entries] == [404]


def test_unknown_query_is_refused(http):
    assert http.get("/_sandbox/requests?colour=blue").json()["field"] == "colour"


def test_requests_are_forgotten(http):
    http.get("/api/port")
    assert http.delete("/_sandbox/requests").json() == {"requests": []}


@pytest.fixture
def lost_write(service, sandbox, http):
    """Return the ids of a booking and its ticket, whose cancellation got no reply."""
    created = service.issue()
    (ticket,) = service.tickets(created)
    http.get(f"/api/ticket/{ticket['id']}")
    sandbox.faults.add("delay_before", "bookings.cancel", seconds=0)
    sandbox.faults.add("lose_reply", "bookings.cancel")
    with pytest.raises(httpx.RemoteProtocolError):
        http.post("/api/booking/cancel", json={"booking_id": created["booking_id"]})
    return created["booking_id"], ticket["id"]


@pytest.mark.usefixtures("lost_write")
def test_request_is_logged_with_its_faults(http):
    (entry,) = [each for each in logged(http) if each["operation"] == "bookings.cancel"]
    assert entry["faults"] == ["delay_before", "lose_reply"]


@pytest.mark.parametrize(
    ("operation", "names_booking", "names_ticket"),
    [
        ("bookings.create", True, False),
        ("bookings.confirm", True, True),
        ("tickets.get", False, True),
        ("bookings.cancel", True, False),
    ],
)
def test_request_is_logged_with_what_it_made(
    http, lost_write, operation, names_booking, names_ticket
):
    booking_id, ticket_id = lost_write
    entry = {each["operation"]: each for each in logged(http)}[operation]
    assert entry["booking_id"] == (booking_id if names_booking else None)
    assert entry["ticket_id"] == (ticket_id if names_ticket else None)


@pytest.fixture
def voucher(service, http):
    """Return the id of a booking and the address of its voucher, which was fetched."""
    created = service.issue()
    (ticket,) = service.tickets(created)
    assert http.get(ticket["pdf_url"]).status_code == 200
    http.get("/api/booking/Ada%20Byron", params={"name": "Ada"})
    http.get("/api/ada@example.org/Byron")
    http.request("BYRON", "/api/port")
    return created["booking_id"], ticket["pdf_url"]


def test_logged_paths_hide_unknown_words(http, voucher):
    booking_id, url = voucher
    ticket_id, _ = url.removesuffix(".pdf").split("/")[-2:]
    paths = {entry["path"] for entry in logged(http)}
    assert {
        f"/voucher/{ticket_id}/…",
        f"/api/booking/{booking_id}",
        "/api/booking/…",
        "/api/…/…",
    } <= paths


def test_no_secret_of_a_traveller_is_logged(sandbox, http, voucher, capfd):
    _, url = voucher
    key = url.removesuffix(".pdf").rpartition("/")[2]
    shown = http.get("/_sandbox/requests").text + http.get("/_sandbox/bookings").text
    shown += repr(sandbox.request_log.entries())
    secrets = [sandbox.token, key, CONTROL, "Ada", "ada@", "Byron", "BYRON", GUEST["email"]]
    assert [secret for secret in secrets if secret in shown] == []
    assert capfd.readouterr().err == ""


def add_requests(log, count):
    request = {"method": "GET", "path": "/api/port"}
    for number in range(count):
        log.add(request, status=200, seconds=0, correlation_id=str(number), request_id="id")


def test_log_keeps_the_latest_thousand():
    log = RequestLog(Clock(NOW, frozen=True))
    add_requests(log, 1500)
    entries = log.entries()
    assert [entries[0].correlation_id, entries[-1].correlation_id] == ["500", "1499"]
    assert len(entries) == 1000


def test_log_works_without_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    log = RequestLog(Clock(NOW, frozen=True), prints=True)
    add_requests(log, 3)
    assert len(log.entries()) == 3


def test_line_for_each_request_goes_to_standard_error(capsys):
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


# The list of bookings


@pytest.fixture
def two_bookings(service):
    """Return two new bookings, the oldest first."""
    return [service.create(), service.create()]


def test_bookings_are_listed_newest_first(http, two_bookings):
    listed = http.get("/_sandbox/bookings").json()
    ids = [booking["booking_id"] for booking in two_bookings]
    assert listed["total"] == 2
    assert [booking["booking_id"] for booking in listed["bookings"]] == ids[::-1]


@pytest.mark.usefixtures("two_bookings")
def test_bookings_are_listed_as_they_are_now(sandbox, http):
    newest, _ = http.get("/_sandbox/bookings").json()["bookings"]
    assert newest["stage"] == "payment_due"
    assert newest["tickets"][0]["company"] == "CTN"
    sandbox.clock.advance(3600)
    newest, _ = http.get("/_sandbox/bookings").json()["bookings"]
    assert newest["stage"] == "lapsed"


# The page of the controls


@pytest.fixture
def page(http):
    return http.get("/_sandbox/")


def test_page_has_a_strict_policy(page):
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    parts = page.headers["content-security-policy"].split(";")
    policy = dict(part.strip().split(" ", 1) for part in parts)
    assert policy["default-src"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == policy["script-src"] == "'self'"


def test_page_loads_its_own_files_only(http, page):
    files = re.findall(r'(?:src|href)="(.*?)"', page.text)
    assert files == ["../docs/control.css", "../docs/control.js"]
    script = http.get("/docs/control.js").text
    assert not re.search(r"https?://|\sstyle=|\son\w+=|innerHTML", page.text + script)


ELSEWHERE = {"host": "ferry:8080", "authorization": ""}


def test_page_asks_other_machines_for_the_token(http):
    assert http.get("/_sandbox/", headers=ELSEWHERE).status_code == 200
    assert http.get("/_sandbox/requests", headers=ELSEWHERE).status_code == 401


def test_page_without_control_token_is_local():
    with Sandbox() as alone, httpx.Client(base_url=alone.base_url, verify=TLS, timeout=60) as http:
        assert http.get("/_sandbox/", headers=ELSEWHERE).status_code == 403
        assert http.get("/_sandbox/").status_code == 200


def test_page_has_every_element_of_its_script(http, page):
    script = http.get("/docs/control.js").text
    used = set(re.findall(r'\$\("([\w-]+)"\)', script))
    assert used <= set(re.findall(r'id="([\w-]+)"', page.text))


def test_script_of_the_page_calls_existing_controls(http):
    script = http.get("/docs/control.js").text
    calls = set(re.findall(r'call\("([A-Z]+)", ["`]([\w/-]+)', script))
    assert len(calls) > 10
    paths = http.get("/openapi.json").json()["paths"]
    for method, path in calls:
        assert method.lower() in paths[f"/_sandbox/{path}"], (method, path)
