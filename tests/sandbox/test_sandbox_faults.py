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
from ferry_sdk.sandbox.faults.details import OptionExpired, PriceChange
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.kinds import FaultKind
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
        app.state.clock = Clock()
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


def test_every_kind_can_be_requested_by_its_name_and_an_invalid_request_is_refused():
    for kind in FaultKind:
        fault = Faults().add(kind.value)
        assert fault.kind is kind
        assert (fault.operation, fault.times, fault.after) == ("*", 1, 0)
        assert Fault.read(json.loads(json.dumps(fault.to_wire()))) == fault
    for kind, field, values in (
        *(("tea_break", "kind", ["tea_break"]), ("rate_limited", "retry", [3])),
        ("rate_limited", "operation", ["tickets.read", "ticket.*"]),
        *(("rate_limited", "times", [0, True, 1.5]), ("rate_limited", "after", [-1])),
        *(("rate_limited", "retry_after", ["soon"]), ("server_error", "status", [404])),
        *(("delay_before", "seconds", [float("nan")]), ("mcp_envelope", "result", ["xml"])),
        ("redirect", "location", ["/a\r\nset-cookie: b"]),
        *(("price_change", "amount", [1e300, 1e20, -1e7]), ("truncate", "keep", [1.1, "half"])),
    ):
        for value in values:
            error = caught(InvalidOrderError, Fault.read, {"kind": kind, field: value})
            assert (error.field, isinstance(error, ValueError)) == (field, True), (kind, value)
            assert str(error).startswith(f"{field}: ")
    assert caught(InvalidOrderError, Fault.read, {"operation": "tickets.get"}).field == "kind"
    wanted = {"kind": "price_change", "operation": "bookings.*", "times": None, "after": 2}
    wanted |= {"factor": 1.5}
    fault = Fault.read(wanted)
    assert (fault.details, fault.to_wire()) == (PriceChange(factor=1.5), wanted)
    faults = Faults()
    with pytest.raises(ValueError, match=r"^sleep: "):
        faults.add("delay_before", sleep=3)
    assert faults.pending == ()
    assert faults.add(fault) is fault
    assert faults.pending == (fault,)


def confirm(faults, times):
    """Return the fault of each of so many requests."""
    occurred = (faults.take(OptionExpired, "bookings.confirm") for _ in range(times))
    return [each and faults.taken[-1] for each in occurred]


def test_a_fault_occurs_as_often_and_for_the_operation_and_kind_as_requested_by_threads_too():
    faults = Faults()
    fault = faults.add("option_expired", "bookings.*", times=2, after=1)
    assert confirm(faults, 5) == [None, fault, fault, None, None]
    assert (faults.pending, faults.taken) == ((), (fault, fault))
    always = faults.add("option_expired", times=None)
    assert confirm(faults, 3) == [always] * 3
    assert faults.pending == (always,)
    faults.clear()
    assert (faults.pending, faults.taken) == ((), ())
    fault = faults.add("option_expired", "bookings.confirm")
    assert faults.take(OptionExpired, "bookings.create") is None
    assert faults.take(OptionExpired, "mcp.confirm_booking") is None
    assert faults.take(PriceChange, "bookings.confirm") is None
    assert confirm(faults, 2) == [fault, None]
    first = faults.add("option_expired", "bookings.*")
    second = faults.add("option_expired", "bookings.confirm", after=1)
    assert confirm(faults, 3) == [first, second, None]
    faults = Faults()
    faults.add("option_expired", times=200)
    with ThreadPoolExecutor(8) as pool:
        occurred = list(chain.from_iterable(pool.map(confirm, [faults] * 8, [80] * 8)))
    assert sum(fault is not None for fault in occurred) == 200


OFFERS = [
    {"id": "A1", "direction": "Outward", "tariffs": [{"amount": 10.0}, {"amount": 12.5}]},
    {"id": "A2", "direction": "Outward", "tariffs": []},
]


def test_a_fault_reshapes_a_copy_of_the_value():
    first, second = OFFERS
    tickets, ports = {"tickets": {"a": [{"type": "x"}]}, "b": 1}, {"ports": [{"name": "a"}] * 2}
    dear = [{**first, "tariffs": [{}, {"amount": 12.5}]}, second]
    first_only = [first, {"id": "A2", "tariffs": []}]
    nameless = {"ports": [{"name": "a"}, {"name": None}]}
    for kind, how, value, expected in (
        ("wrong_shape", {}, OFFERS, {"unexpected": True}),
        ("wrong_shape", {}, GOOD, ["unexpected"]),
        *(("wrong_shape", {"value": one}, GOOD, one) for one in (None, "7")),
        ("unknown_enum", {}, OFFERS, [{**first, "direction": "Unheard"}, second]),
        ("unknown_enum", {"value": "Moored"}, GOOD, {**GOOD, "status": "Moored"}),
        ("unknown_enum", {}, tickets, tickets | {"tickets": {"a": [{"type": "Unheard"}]}}),
        ("missing_field", {}, GOOD, {"status": "Issued", "passengers": ["Ada", "Grace"]}),
        ("missing_field", {"field": "tariffs.0.amount"}, OFFERS, dear),
        ("missing_field", {"field": "direction", "index": 1}, OFFERS, first_only),
        ("missing_field", {"field": "passengers.1"}, GOOD, {**GOOD, "passengers": ["Ada"]}),
        ("null_field", {"field": "name", "index": 1}, ports, nameless),
        *(("null_field", {"field": one}, GOOD, GOOD) for one in ("berth", "passengers.9")),
        ("null_field", {"index": 9}, OFFERS, OFFERS),
        ("null_field", {}, "text", "text"),
    ):
        faults = Faults()
        faults.add(kind, **how)
        before = json.dumps(value)
        assert faults.reshape("tickets.get", value) == expected, (kind, how)
        assert json.dumps(value) == before, (kind, how)
        assert faults.reshape("tickets.get", value) is value


def test_an_error_response_or_a_redirect_replaces_the_work(service):
    for kind, status, code in (
        *(("rate_limited", 429, "RATE_LIMITED"), ("server_error", 503, "SERVER_ERROR")),
        *(("server_error", 500, "SERVER_ERROR"), ("request_timeout", 408, "REQUEST_TIMEOUT")),
        *(("unauthorized", 401, "UNAUTHORIZED"), ("unauthorized", 403, "FORBIDDEN")),
        ("not_acceptable", 406, "NOT_ACCEPTABLE"),
    ):
        done = service.done
        service.faults.add(kind, **({"status": status} if status in (500, 403) else {}))
        reply = service.get()
        assert (reply.status_code, reply.json()["code"]) == (status, code)
        assert reply.json()["error"] is True
        assert "retry-after" not in reply.headers
        assert ("www-authenticate" in reply.headers) == (kind == "unauthorized")
        assert service.done == done, kind
        usual = service.get()
        assert (usual.status_code, usual.json()) == (200, GOOD)
        assert service.done == done + 1
    done = service.done
    service.faults.add("redirect", status=302, location="https://elsewhere.example/x")
    reply = service.get()
    assert (reply.status_code, reply.headers["location"]) == (302, "https://elsewhere.example/x")
    assert service.done == done


def test_retry_after_is_a_number_of_seconds_or_a_date(service):
    service.faults.add("rate_limited", retry_after=7)
    assert service.get().headers["retry-after"] == "7"
    service.faults.add("server_error", retry_after=120, as_date=True)
    before = datetime.now(timezone.utc)
    date = email.utils.parsedate_to_datetime(service.get().headers["retry-after"])
    after = datetime.now(timezone.utc)
    # HTTP dates have whole seconds.
    assert before + timedelta(seconds=119) < date <= after + timedelta(seconds=120)


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
    # A client that times out during `delay_after` has its work done.
    service.faults.add("delay_after", seconds=30)
    with pytest.raises(httpx.ReadTimeout):
        service.get(timeout=httpx.Timeout(30, read=0.1))
    for _ in range(1000):  # on a busy machine, the client can be faster than the service
        if service.done > 1:
            break
        time.sleep(0.01)
    assert service.done == 2


@each("kind", ["trickle", "left_open"])
def test_a_trickle_comes_in_pieces_and_left_open_delays_only_the_end_of_the_body(service, kind):
    service.faults.add(kind, seconds=0.2, **({"pieces": 5} if kind == "trickle" else {}))
    watch, began = Stopwatch(), time.monotonic()
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        pieces = list(reply.iter_raw())
    assert json.loads(b"".join(pieces)) == GOOD
    assert len(pieces) >= 3 if kind == "trickle" else len(pieces) == 1
    assert time.monotonic() - began >= 0.2
    assert watch.seconds < 20


def test_close_connection_closes_without_a_connection_header(service):
    service.faults.add("close_connection")
    with socket.create_connection(("127.0.0.1", service.server.port), timeout=30) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while data := link.recv(65536):
            received += data
    assert received.endswith(json.dumps(GOOD, separators=(",", ":")).encode())
    assert b"connection: close" not in received.lower()


def test_a_reply_is_replaced_or_reshaped_after_the_work(service):
    as_json, page = "application/json", "text/html; charset=utf-8"
    for kind, status, media_type in (
        *(("server_error_after", 503, as_json), ("request_timeout_after", 408, as_json)),
        *(("html_page", 200, page), ("html_page", 502, page)),
        *((kind, 200, as_json) for kind in ("not_json", "not_utf8", "empty_body")),
    ):
        done = service.done
        service.faults.add(kind, **({"status": status} if status == 502 else {}))
        reply = service.get()
        assert (reply.status_code, reply.headers["content-type"]) == (status, media_type), kind
        assert service.done == done + 1, kind
        if status == 200:
            with pytest.raises(ValueError, match=r"."):
                reply.json()
        if kind == "not_utf8":
            caught(UnicodeDecodeError, reply.content.decode)
    done = service.done
    service.faults.add("unknown_enum", "tickets.*")
    assert service.get().json() == {**GOOD, "status": "Unheard"}
    assert service.done == done + 1


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
