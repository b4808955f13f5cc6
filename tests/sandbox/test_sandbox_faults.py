"""Faults: requesting them, when they occur, and their effect on a connection."""

import email.utils
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from itertools import chain

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.kinds import FaultKind, PriceChange
from ferry_sdk.sandbox.http.server import HttpServer
from ferry_sdk.sandbox.requests.errors import InvalidOrderError
from scripts import fault_arguments
from tests.support.exchanges import caught
from tests.support.stopwatch import Stopwatch
from tests.support.tables import each
from tests.support.wire import TLS

GOOD = {"id": "T1", "status": "Issued", "passengers": ["Ada", "Grace"]}


class CountingService:
    """A server of one operation, `tickets.get` at `/`, that counts the work it does."""

    def __init__(self):
        self.faults = Faults()
        self.counters = Counters(Clock())
        self.done = 0
        app = Starlette(routes=[Route("/", self.answer, methods=["GET", "POST"])])
        self.server = HttpServer(app, self.counters, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.port}/"

    async def answer(self, request):
        async def produce():
            self.done += 1
            return JSONResponse(self.faults.reshape("tickets.get", GOOD))

        return await self.faults.around("tickets.get", request, produce)

    def get(self, timeout=30):
        with httpx.Client(verify=TLS, timeout=timeout) as client:
            return client.get(self.url)


@pytest.fixture(scope="module")
def running_service():
    service = CountingService()
    yield service
    service.server.stop()


@pytest.fixture
def service(running_service):
    running_service.faults.clear()
    running_service.counters.reset()
    running_service.done = 0
    return running_service


# Fault requests


@each("kind", list(FaultKind))
def test_every_kind_can_be_requested_by_its_name_alone(kind):
    fault = Faults().add(kind.value)
    assert fault.kind is kind
    assert (fault.operation, fault.times, fault.after) == ("*", 1, 0)
    assert Fault.read(json.loads(json.dumps(fault.to_wire()))) == fault


@each(
    ("wanted", "field"),
    [
        ({"kind": "tea_break"}, "kind"),
        ({"operation": "tickets.get"}, "kind"),
        ({"kind": "rate_limited", "operation": "tickets.read"}, "operation"),
        ({"kind": "rate_limited", "operation": "ticket.*"}, "operation"),
        *(({"kind": "rate_limited", "times": one}, "times") for one in (0, True, 1.5)),
        ({"kind": "rate_limited", "after": -1}, "after"),
        ({"kind": "rate_limited", "retry": 3}, "retry"),
        ({"kind": "rate_limited", "retry_after": "soon"}, "retry_after"),
        ({"kind": "server_error", "status": 404}, "status"),
        ({"kind": "delay_before", "seconds": float("nan")}, "seconds"),
        ({"kind": "mcp_envelope", "result": "xml"}, "result"),
        ({"kind": "redirect", "location": "/a\r\nset-cookie: b"}, "location"),
        *(({"kind": "price_change", "amount": one}, "amount") for one in (1e300, 1e20, -1e7)),
        *(({"kind": "truncate", "keep": one}, "keep") for one in (1.1, "half")),
    ],
)
def test_an_invalid_fault_request_is_refused(wanted, field):
    error = caught(InvalidOrderError, Fault.read, wanted)
    assert error.field == field
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"{field}: ")


def test_a_fault_request_or_a_fault_can_be_added():
    details = {"times": None, "after": 2, "factor": 1.5}
    wanted = {"kind": "price_change", "operation": "bookings.*", **details}
    fault = Fault.read(wanted)
    assert fault.details == PriceChange(factor=1.5)
    assert fault.to_wire() == wanted
    faults = Faults()
    with pytest.raises(ValueError, match=r"^sleep: "):
        faults.add("delay_before", sleep=3)
    assert faults.pending == ()
    assert faults.add(fault) is fault
    assert faults.pending == (fault,)


# When a fault occurs


def confirm(faults, times):
    """Return the fault of each of so many requests."""
    return [faults.take(FaultKind.OPTION_EXPIRED, "bookings.confirm") for _ in range(times)]


def test_a_fault_occurs_the_requested_number_of_times_after_the_requested_number():
    faults = Faults()
    fault = faults.add("option_expired", "bookings.*", times=2, after=1)
    assert confirm(faults, 5) == [None, fault, fault, None, None]
    assert (faults.pending, faults.taken) == ((), (fault, fault))
    always = faults.add("option_expired", times=None)
    assert confirm(faults, 3) == [always] * 3
    assert faults.pending == (always,)
    faults.clear()
    assert (faults.pending, faults.taken) == ((), ())


def test_a_fault_occurs_for_its_operation_and_kind_only_and_the_first_of_two_first():
    faults = Faults()
    fault = faults.add("option_expired", "bookings.confirm")
    assert faults.take(FaultKind.OPTION_EXPIRED, "bookings.create") is None
    assert faults.take(FaultKind.OPTION_EXPIRED, "mcp.confirm_booking") is None
    assert faults.take(FaultKind.PRICE_CHANGE, "bookings.confirm") is None
    assert confirm(faults, 2) == [fault, None]
    first = faults.add("option_expired", "bookings.*")
    second = faults.add("option_expired", "bookings.confirm", after=1)
    assert confirm(faults, 3) == [first, second, None]


def test_threads_take_a_fault_no_more_often_than_requested():
    faults = Faults()
    faults.add("option_expired", times=200)
    with ThreadPoolExecutor(8) as pool:
        occurred = list(chain.from_iterable(pool.map(confirm, [faults] * 8, [80] * 8)))
    assert sum(fault is not None for fault in occurred) == 200


# Faults of a value

OFFERS = [
    {"id": "A1", "direction": "Outward", "tariffs": [{"amount": 10.0}, {"amount": 12.5}]},
    {"id": "A2", "direction": "Outward", "tariffs": []},
]


@each(
    ("wanted", "value", "expected"),
    [
        ({"kind": "wrong_shape"}, OFFERS, {"unexpected": True}),
        ({"kind": "wrong_shape"}, GOOD, ["unexpected"]),
        ({"kind": "wrong_shape", "value": None}, GOOD, None),
        ({"kind": "wrong_shape", "value": "7"}, GOOD, "7"),
        ({"kind": "unknown_enum"}, OFFERS, [{**OFFERS[0], "direction": "Unheard"}, OFFERS[1]]),
        ({"kind": "unknown_enum", "value": "Moored"}, GOOD, {**GOOD, "status": "Moored"}),
        (
            {"kind": "unknown_enum"},
            {"tickets": {"a": [{"type": "x"}]}, "b": 1},
            {"tickets": {"a": [{"type": "Unheard"}]}, "b": 1},
        ),
        ({"kind": "missing_field"}, GOOD, {"status": "Issued", "passengers": ["Ada", "Grace"]}),
        (
            {"kind": "missing_field", "field": "tariffs.0.amount"},
            OFFERS,
            [{**OFFERS[0], "tariffs": [{}, {"amount": 12.5}]}, OFFERS[1]],
        ),
        (
            {"kind": "missing_field", "field": "direction", "index": 1},
            OFFERS,
            [OFFERS[0], {"id": "A2", "tariffs": []}],
        ),
        ({"kind": "missing_field", "field": "passengers.1"}, GOOD, {**GOOD, "passengers": ["Ada"]}),
        (
            {"kind": "null_field", "field": "name", "index": 1},
            {"ports": [{"name": "a"}, {"name": "b"}]},
            {"ports": [{"name": "a"}, {"name": None}]},
        ),
        *(({"kind": "null_field", "field": x}, GOOD, GOOD) for x in ("berth", "passengers.9")),
        ({"kind": "null_field", "index": 9}, OFFERS, OFFERS),
        ({"kind": "null_field"}, "text", "text"),
    ],
)
def test_a_fault_reshapes_a_copy_of_the_value(wanted, value, expected):
    faults = Faults()
    faults.add(**wanted)
    before = json.dumps(value)
    assert faults.reshape("tickets.get", value) == expected
    assert json.dumps(value) == before
    assert faults.reshape("tickets.get", value) is value


# Faults of a connection


@each(
    ("wanted", "status", "code"),
    [
        ({"kind": "rate_limited"}, 429, "RATE_LIMITED"),
        ({"kind": "server_error"}, 503, "SERVER_ERROR"),
        ({"kind": "server_error", "status": 500}, 500, "SERVER_ERROR"),
        ({"kind": "request_timeout"}, 408, "REQUEST_TIMEOUT"),
        ({"kind": "unauthorized"}, 401, "UNAUTHORIZED"),
        ({"kind": "unauthorized", "status": 403}, 403, "FORBIDDEN"),
        ({"kind": "not_acceptable"}, 406, "NOT_ACCEPTABLE"),
    ],
)
def test_an_error_response_replaces_the_work(service, wanted, status, code):
    done = service.done
    service.faults.add(**wanted)
    reply = service.get()
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["error"] is True
    assert "retry-after" not in reply.headers
    assert ("www-authenticate" in reply.headers) == (wanted["kind"] == "unauthorized")
    assert service.done == done
    usual = service.get()
    assert (usual.status_code, usual.json()) == (200, GOOD)
    assert service.done == done + 1


def test_retry_after_is_a_number_of_seconds_or_a_date(service):
    service.faults.add("rate_limited", retry_after=7)
    assert service.get().headers["retry-after"] == "7"
    service.faults.add("server_error", retry_after=120, as_date=True)
    before = datetime.now(timezone.utc)
    date = email.utils.parsedate_to_datetime(service.get().headers["retry-after"])
    after = datetime.now(timezone.utc)
    # HTTP dates have whole seconds.
    assert before + timedelta(seconds=119) < date <= after + timedelta(seconds=120)


def test_a_redirect_replaces_the_work(service):
    service.faults.add("redirect", status=302, location="https://elsewhere.example/x")
    reply = service.get()
    assert reply.status_code == 302
    assert reply.headers["location"] == "https://elsewhere.example/x"
    assert service.done == 0


@each("reset", [False, True])
@each(("kind", "done"), [("cut_before", 0), ("lose_reply", 1)])
def test_a_connection_is_cut_before_or_after_the_work(service, kind, done, reset):
    service.done = 0
    service.counters.reset()
    service.faults.add(kind, reset=reset)
    caught(httpx.ReadError if reset else httpx.RemoteProtocolError, service.get)
    assert service.done == done
    assert service.get().status_code == 200
    assert service.counters.connections == 2


@each("wanted", [{}, {"chunked": True}, {"keep": 0}, {"keep": 1.0}])
def test_a_truncated_reply_has_complete_headers_and_part_of_the_body(service, wanted):
    done = service.done
    service.faults.add("truncate", **wanted)
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        assert reply.status_code == 200
        assert ("content-length" in reply.headers) != wanted.get("chunked", False)
        with pytest.raises(httpx.RemoteProtocolError):
            reply.read()
    assert service.done == done + 1


def test_delays_apply_before_and_after_the_work(service):
    service.faults.add("delay_before", seconds=0.03)
    service.faults.add("delay_after", seconds=0.03)
    began = time.monotonic()
    assert service.get().json() == GOOD
    assert time.monotonic() - began >= 0.06
    assert len(service.faults.taken) == 2


def test_a_client_that_times_out_during_delay_after_has_its_work_done(service):
    service.faults.add("delay_after", seconds=30)
    with pytest.raises(httpx.ReadTimeout):
        service.get(timeout=httpx.Timeout(30, read=0.1))
    for _ in range(1000):  # on a busy machine, the client can be faster than the service
        if service.done:
            break
        time.sleep(0.01)
    assert service.done == 1


def test_a_trickle_is_complete_and_comes_in_pieces(service):
    service.faults.add("trickle", seconds=0.1, pieces=5)
    watch, began = Stopwatch(), time.monotonic()
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        pieces = list(reply.iter_raw())
    assert json.loads(b"".join(pieces)) == GOOD
    assert len(pieces) >= 3
    assert time.monotonic() - began >= 0.1
    assert watch.seconds < 20


def test_left_open_delays_only_the_end_of_the_body(service):
    service.faults.add("left_open", seconds=0.2)
    began = time.monotonic()
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        pieces = reply.iter_raw()
        assert json.loads(next(pieces)) == GOOD
        assert list(pieces) == []
    assert time.monotonic() - began >= 0.2


def test_close_connection_closes_without_a_connection_header(service):
    service.faults.add("close_connection")
    with socket.create_connection(("127.0.0.1", service.server.port), timeout=30) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while data := link.recv(65536):
            received += data
    assert received.endswith(json.dumps(GOOD, separators=(",", ":")).encode())
    assert b"connection: close" not in received.lower()


@each(
    ("wanted", "status", "media_type"),
    [
        ({"kind": "server_error_after"}, 503, "application/json"),
        ({"kind": "request_timeout_after"}, 408, "application/json"),
        ({"kind": "html_page"}, 200, "text/html; charset=utf-8"),
        ({"kind": "html_page", "status": 502}, 502, "text/html; charset=utf-8"),
        *(({"kind": x}, 200, "application/json") for x in ("not_json", "not_utf8", "empty_body")),
    ],
)
def test_a_reply_is_replaced_after_the_work(service, wanted, status, media_type):
    done = service.done
    service.faults.add(**wanted)
    reply = service.get()
    assert (reply.status_code, reply.headers["content-type"]) == (status, media_type)
    assert service.done == done + 1
    if status == 200:
        with pytest.raises(ValueError, match=r"."):
            reply.json()
    if wanted["kind"] == "not_utf8":
        caught(UnicodeDecodeError, reply.content.decode)


def test_a_reply_is_reshaped_after_the_work(service):
    service.faults.add("unknown_enum", "tickets.*")
    assert service.get().json() == {**GOOD, "status": "Unheard"}
    assert service.done == 1


def test_a_client_that_disconnects_while_sending_leaves_no_trace(service, caplog):
    with socket.create_connection(("127.0.0.1", service.server.port), timeout=30) as link:
        link.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    assert service.get().status_code == 200
    assert service.done == 1
    assert caplog.records == []


def test_the_stub_names_every_kind_and_every_detail(tmp_path, monkeypatch):
    fault_arguments.main("--check")
    monkeypatch.setattr(fault_arguments, "STUB", tmp_path / "arguments.pyi")
    fault_arguments.main()
    fault_arguments.main("--check")
    text = fault_arguments.STUB.read_text("utf-8")
    fault_arguments.STUB.write_text(text.replace('    "cut_before",\n', ""), "utf-8")
    with pytest.raises(SystemExit, match=r"arguments\.pyi differs .* run scripts/api-map"):
        fault_arguments.main("--check")
