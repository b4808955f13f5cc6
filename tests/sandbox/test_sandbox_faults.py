"""Faults: requesting them, when they occur, and their effect on a connection."""

import email.utils
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
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
    """Return the server of the module."""
    service = CountingService()
    yield service
    service.server.stop()


@pytest.fixture
def service(running_service):
    """Return the server of the module without faults, counts and work done."""
    running_service.faults.clear()
    running_service.counters.reset()
    running_service.done = 0
    return running_service


# Requesting a fault


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_can_be_requested_by_name(kind):
    fault = Faults().add(kind.value)
    assert fault.kind is kind
    assert (fault.operation, fault.times, fault.after) == ("*", 1, 0)


@pytest.mark.parametrize("kind", FaultKind)
def test_every_fault_is_read_back_from_json(kind):
    fault = Faults().add(kind.value)
    assert Fault.read(json.loads(json.dumps(fault.to_wire()))) == fault


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("tea_break", "kind", "tea_break"),
        ("rate_limited", "retry", 3),
        ("rate_limited", "operation", "tickets.read"),
        ("rate_limited", "operation", "ticket.*"),
        ("rate_limited", "times", 0),
        ("rate_limited", "times", True),
        ("rate_limited", "times", 1.5),
        ("rate_limited", "after", -1),
        ("rate_limited", "retry_after", "soon"),
        ("server_error", "status", 404),
        ("delay_before", "seconds", float("nan")),
        ("mcp_envelope", "result", "xml"),
        ("redirect", "location", "/a\r\nset-cookie: b"),
        ("price_change", "amount", 1e300),
        ("price_change", "amount", 1e20),
        ("price_change", "amount", -1e7),
        ("truncate", "keep", 1.1),
        ("truncate", "keep", "half"),
        pytest.param("wrong_shape", "value", "\ud800", id="half-a-surrogate-pair"),
        pytest.param("wrong_shape", "value", [{"\ud800": 1}], id="half-a-pair-in-a-name"),
        pytest.param("wrong_shape", "value", [float("inf")], id="infinity"),
    ],
)
def test_invalid_request_names_its_field(kind, field, value):
    error = caught(InvalidOrderError, Fault.read, {"kind": kind, field: value})
    assert isinstance(error, ValueError)
    assert error.field == field
    assert str(error).startswith(f"{field}: ")


def test_request_without_kind_names_it():
    assert caught(InvalidOrderError, Fault.read, {"operation": "tickets.get"}).field == "kind"


def test_request_keeps_its_details():
    request = {
        "kind": "price_change",
        "operation": "bookings.*",
        "times": None,
        "after": 2,
        "factor": 1.5,
    }
    fault = Fault.read(request)
    assert fault.details == PriceChange(factor=1.5)
    assert fault.to_wire() == request


def test_invalid_fault_is_not_added():
    faults = Faults()
    with pytest.raises(ValueError, match=r"^sleep: "):
        faults.add("delay_before", sleep=3)
    assert faults.pending == ()


def test_complete_fault_is_added_as_it_is():
    faults = Faults()
    fault = Fault.read({"kind": "price_change"})
    assert faults.add(fault) is fault
    assert faults.pending == (fault,)


# When a fault occurs


def confirm(faults, times):
    """Return the fault of each of so many requests."""
    occurred = (faults.take(OptionExpired, "bookings.confirm") for _ in range(times))
    return [details and faults.taken[-1] for details in occurred]


def test_fault_occurs_so_often_after_so_many_requests():
    faults = Faults()
    fault = faults.add("option_expired", "bookings.*", times=2, after=1)
    assert confirm(faults, 5) == [None, fault, fault, None, None]
    assert (faults.pending, faults.taken) == ((), (fault, fault))


def test_endless_fault_stays_pending():
    faults = Faults()
    fault = faults.add("option_expired", times=None)
    assert confirm(faults, 3) == [fault] * 3
    assert faults.pending == (fault,)


def test_clear_forgets_pending_faults_with_the_taken():
    faults = Faults()
    faults.add("option_expired", times=None)
    confirm(faults, 1)
    faults.clear()
    assert (faults.pending, faults.taken) == ((), ())


@pytest.mark.parametrize(
    ("details", "operation"),
    [
        pytest.param(OptionExpired, "bookings.create", id="another-operation"),
        pytest.param(OptionExpired, "mcp.confirm_booking", id="another-protocol"),
        pytest.param(PriceChange, "bookings.confirm", id="another-kind"),
    ],
)
def test_fault_waits_for_its_request(details, operation):
    faults = Faults()
    fault = faults.add("option_expired", "bookings.confirm")
    assert faults.take(details, operation) is None
    assert confirm(faults, 2) == [fault, None]


def test_of_two_faults_the_earlier_occurs_first():
    faults = Faults()
    first = faults.add("option_expired", "bookings.*")
    second = faults.add("option_expired", "bookings.confirm", after=1)
    assert confirm(faults, 3) == [first, second, None]


def test_threads_take_each_fault_once():
    faults = Faults()
    faults.add("option_expired", times=200)
    with ThreadPoolExecutor(8) as pool:
        occurred = list(chain.from_iterable(pool.map(confirm, [faults] * 8, [80] * 8)))
    assert sum(fault is not None for fault in occurred) == 200


# Changes of the value


OFFERS = [
    {"id": "A1", "direction": "Outward", "tariffs": [{"amount": 10.0}, {"amount": 12.5}]},
    {"id": "A2", "direction": "Outward", "tariffs": []},
]
FIRST, SECOND = OFFERS
WITHOUT_AMOUNT = [{**FIRST, "tariffs": [{}, {"amount": 12.5}]}, SECOND]
WITHOUT_DIRECTION = [FIRST, {"id": "A2", "tariffs": []}]
NESTED = {"tickets": {"a": [{"type": "x"}]}, "b": 1}
NESTED_UNHEARD = {"tickets": {"a": [{"type": "Unheard"}]}, "b": 1}
PORTS = {"ports": [{"name": "a"}, {"name": "a"}]}
PORTS_SECOND_NULL = {"ports": [{"name": "a"}, {"name": None}]}
WITHOUT_ID = {"status": "Issued", "passengers": ["Ada", "Grace"]}


@pytest.mark.parametrize(
    ("kind", "details", "value", "expected"),
    [
        pytest.param("wrong_shape", {}, OFFERS, {"unexpected": True}, id="object-for-a-list"),
        pytest.param("wrong_shape", {}, GOOD, ["unexpected"], id="list-for-an-object"),
        pytest.param("wrong_shape", {"value": None}, GOOD, None, id="null-for-an-object"),
        pytest.param("wrong_shape", {"value": "7"}, GOOD, "7", id="text-for-an-object"),
        pytest.param(
            "unknown_enum",
            {},
            OFFERS,
            [{**FIRST, "direction": "Unheard"}, SECOND],
            id="enum-of-the-first-record",
        ),
        pytest.param(
            "unknown_enum",
            {"value": "Moored"},
            GOOD,
            {**GOOD, "status": "Moored"},
            id="enum-with-a-chosen-value",
        ),
        pytest.param("unknown_enum", {}, NESTED, NESTED_UNHEARD, id="enum-of-a-nested-record"),
        pytest.param("missing_field", {}, GOOD, WITHOUT_ID, id="any-field-is-missing"),
        pytest.param(
            "missing_field",
            {"field": "tariffs.0.amount"},
            OFFERS,
            WITHOUT_AMOUNT,
            id="field-of-an-item-is-missing",
        ),
        pytest.param(
            "missing_field",
            {"field": "direction", "index": 1},
            OFFERS,
            WITHOUT_DIRECTION,
            id="field-of-the-second-record-is-missing",
        ),
        pytest.param(
            "missing_field",
            {"field": "passengers.1"},
            GOOD,
            {**GOOD, "passengers": ["Ada"]},
            id="item-is-missing",
        ),
        pytest.param(
            "null_field",
            {"field": "name", "index": 1},
            PORTS,
            PORTS_SECOND_NULL,
            id="null-in-the-second-record",
        ),
        pytest.param("null_field", {"field": "berth"}, GOOD, GOOD, id="no-such-field"),
        pytest.param("null_field", {"field": "passengers.9"}, GOOD, GOOD, id="no-such-item"),
        pytest.param("null_field", {"index": 9}, OFFERS, OFFERS, id="no-such-record"),
        pytest.param("null_field", {}, "text", "text", id="no-record"),
    ],
)
def test_fault_changes_a_copy_of_the_value(kind, details, value, expected):
    faults = Faults()
    faults.add(kind, **details)
    before = json.dumps(value)
    assert faults.reshape("tickets.get", value) == expected
    assert json.dumps(value) == before
    assert faults.reshape("tickets.get", value) is value


# Answers instead of the work


@pytest.mark.parametrize(
    ("kind", "details", "status", "code"),
    [
        pytest.param("rate_limited", {}, 429, "RATE_LIMITED", id="rate_limited-429"),
        pytest.param("server_error", {}, 503, "SERVER_ERROR", id="server_error-503"),
        pytest.param("server_error", {"status": 500}, 500, "SERVER_ERROR", id="server_error-500"),
        pytest.param("request_timeout", {}, 408, "REQUEST_TIMEOUT", id="request_timeout-408"),
        pytest.param("unauthorized", {}, 401, "UNAUTHORIZED", id="unauthorized-401"),
        pytest.param("unauthorized", {"status": 403}, 403, "FORBIDDEN", id="unauthorized-403"),
        pytest.param("not_acceptable", {}, 406, "NOT_ACCEPTABLE", id="not_acceptable-406"),
    ],
)
def test_error_response_replaces_the_work_once(service, kind, details, status, code):
    service.faults.add(kind, **details)
    reply = service.get()
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["error"] is True
    assert "retry-after" not in reply.headers
    assert ("www-authenticate" in reply.headers) == (kind == "unauthorized")
    assert service.done == 0

    next_reply = service.get()
    assert (next_reply.status_code, next_reply.json()) == (200, GOOD)
    assert service.done == 1


def test_redirect_replaces_the_work(service):
    service.faults.add("redirect", status=302, location="https://elsewhere.example/x")
    reply = service.get()
    assert (reply.status_code, reply.headers["location"]) == (302, "https://elsewhere.example/x")
    assert service.done == 0


def test_retry_after_is_a_number_of_seconds(service):
    service.faults.add("rate_limited", retry_after=7)
    assert service.get().headers["retry-after"] == "7"


def test_retry_after_can_be_a_date(service):
    service.faults.add("server_error", retry_after=120, as_date=True)
    before = datetime.now(UTC)
    date = email.utils.parsedate_to_datetime(service.get().headers["retry-after"])
    after = datetime.now(UTC)
    # HTTP dates have whole seconds.
    assert before + timedelta(seconds=119) < date <= after + timedelta(seconds=120)


# The connection


@pytest.mark.parametrize(
    ("kind", "reset", "error", "done"),
    [
        ("cut_before", False, httpx.RemoteProtocolError, 0),
        ("cut_before", True, httpx.ReadError, 0),
        ("lose_reply", False, httpx.RemoteProtocolError, 1),
        ("lose_reply", True, httpx.ReadError, 1),
    ],
)
def test_connection_is_cut_before_or_after_the_work(service, kind, reset, error, done):
    service.faults.add(kind, reset=reset)
    caught(error, service.get)
    assert service.done == done
    assert service.get().status_code == 200
    assert service.counters.connections == 2


@pytest.mark.parametrize("details", [{}, {"chunked": True}, {"keep": 0}, {"keep": 1.0}], ids=str)
def test_truncated_reply_has_part_of_its_body(service, details):
    service.faults.add("truncate", **details)
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        assert reply.status_code == 200
        assert ("content-length" in reply.headers) != details.get("chunked", False)
        with pytest.raises(httpx.RemoteProtocolError):
            reply.read()
    assert service.done == 1


def test_delays_around_the_work_add_up(service):
    service.faults.add("delay_before", seconds=0.03)
    service.faults.add("delay_after", seconds=0.03)
    began = time.monotonic()
    assert service.get().json() == GOOD
    assert time.monotonic() - began >= 0.06
    assert len(service.faults.taken) == 2


def test_work_is_done_before_a_delay_after_it(service):
    service.faults.add("delay_after", seconds=30)
    with pytest.raises(httpx.ReadTimeout):
        service.get(timeout=httpx.Timeout(30, read=0.1))
    for _ in range(1000):  # on a busy machine, the client can be faster than the service
        if service.done > 0:
            break
        time.sleep(0.01)
    assert service.done == 1


def get_in_pieces(service):
    """Return the pieces of the body, and the seconds until its end."""
    watch = Stopwatch()
    began = time.monotonic()
    with httpx.Client(verify=TLS, timeout=30) as client, client.stream("GET", service.url) as reply:
        pieces = list(reply.iter_raw())
    seconds = time.monotonic() - began
    assert watch.seconds < 20
    return pieces, seconds


def test_trickle_sends_the_body_in_pieces(service):
    service.faults.add("trickle", seconds=0.2, pieces=5)
    pieces, seconds = get_in_pieces(service)
    assert json.loads(b"".join(pieces)) == GOOD
    assert len(pieces) >= 3
    assert seconds >= 0.2


def test_left_open_delays_only_the_end(service):
    service.faults.add("left_open", seconds=0.2)
    pieces, seconds = get_in_pieces(service)
    assert [json.loads(piece) for piece in pieces] == [GOOD]
    assert seconds >= 0.2


def test_close_connection_sends_no_connection_header(service):
    service.faults.add("close_connection")
    with socket.create_connection(("127.0.0.1", service.server.port), timeout=30) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while data := link.recv(65536):
            received += data
    assert received.endswith(json.dumps(GOOD, separators=(",", ":")).encode())
    assert b"connection: close" not in received.lower()


# The reply after the work


JSON = "application/json"
HTML = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("kind", "details", "status", "media_type"),
    [
        pytest.param("server_error_after", {}, 503, JSON, id="server-error"),
        pytest.param("request_timeout_after", {}, 408, JSON, id="timeout"),
        pytest.param("html_page", {}, 200, HTML, id="page"),
        pytest.param("html_page", {"status": 502}, 502, HTML, id="page-with-a-status"),
        pytest.param("not_json", {}, 200, JSON, id="no-JSON"),
        pytest.param("not_utf8", {}, 200, JSON, id="no-UTF-8"),
        pytest.param("empty_body", {}, 200, JSON, id="empty-body"),
    ],
)
def test_reply_is_replaced_after_the_work(service, kind, details, status, media_type):
    service.faults.add(kind, **details)
    reply = service.get()
    assert (reply.status_code, reply.headers["content-type"]) == (status, media_type)
    assert service.done == 1


@pytest.mark.parametrize("kind", ["html_page", "not_json", "not_utf8", "empty_body"])
def test_damaged_reply_is_no_json(service, kind):
    service.faults.add(kind)
    reply = service.get()
    with pytest.raises(ValueError, match=r"."):
        reply.json()


def test_not_utf8_reply_cannot_be_decoded(service):
    service.faults.add("not_utf8")
    caught(UnicodeDecodeError, service.get().content.decode)


def test_answer_is_changed_after_the_work(service):
    service.faults.add("unknown_enum", "tickets.*")
    assert service.get().json() == {**GOOD, "status": "Unheard"}
    assert service.done == 1


def test_client_that_disconnects_while_sending_leaves_no_trace(service, caplog):
    with socket.create_connection(("127.0.0.1", service.server.port), timeout=30) as link:
        link.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    assert service.get().status_code == 200
    assert service.done == 1
    assert caplog.records == []


# The stub of the arguments


@pytest.fixture
def new_stub(tmp_path, monkeypatch):
    """Have the script write the stub to a folder of the test."""
    path = tmp_path / "arguments.pyi"
    monkeypatch.setattr(fault_arguments, "STUB", path)
    fault_arguments.main()
    return path


def test_stub_names_every_kind_with_its_details():
    fault_arguments.main("--check")


@pytest.mark.usefixtures("new_stub")
def test_written_stub_passes_its_check():
    fault_arguments.main("--check")


def test_stub_without_a_kind_is_refused(new_stub):
    text = new_stub.read_text("utf-8")
    new_stub.write_text(text.replace('    "cut_before",\n', ""), "utf-8")
    with pytest.raises(SystemExit, match=r"arguments\.pyi differs .* run scripts/api-map"):
        fault_arguments.main("--check")
