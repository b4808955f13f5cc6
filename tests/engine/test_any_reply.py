"""Whatever comes back, by either protocol, a caller gets a typed result or a FerryError."""

from __future__ import annotations

import copy
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import httpx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ferry_sdk import AsyncFerry, Ferry, FerryError, OutcomeUnknownError, Records
from ferry_sdk._engine.parsing import Record, RecordList
from ferry_sdk.sandbox.operations import OPERATIONS as SERVED
from tests.support.operations import OPERATIONS as ALL_OPERATIONS
from tests.support.operations import UNCOVERED, arguments, described, make
from tests.support.tables import each
from tests.support.tiers import LONG, examples, mostly_long
from tests.support.trip import PASSENGERS, booked, search_arguments

pytestmark = pytest.mark.usefixtures("read_back_once")

URL = "https://ferry.example"
PDF = b"%PDF-1.7 and so on"
WAITS = ("bookings.wait", "tickets.wait_pdf")
OPERATIONS = tuple(name for name in ALL_OPERATIONS if name not in WAITS)
"""A wait is another operation's read, made until its time is up."""
in_one_folder = partial(
    examples, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
"""All examples write into one folder."""

KEYS = (
    *("error", "code", "message", "data", "detail", "errors", "result", "id", "jsonrpc"),
    *("method", "content", "contents", "text", "blob", "resource", "type", "structuredContent"),
    *("isError", "resultType", "nextCursor", "tools", "resources", "protocolVersion", "url"),
    *("status", "booking_id", "ticket_id", "possible_actions", "stage", "tickets", "ports"),
)
WORDS = (
    *("", "Issued", "Eur", "NaN", "1e999", "2026-03-01T08:00:00+01:00", "0000-00-00", "9999-99"),
    *("BOOKING_CREATE_ERROR", "complete", "input_required", "2025-11-25", "text", "\ud800", "[1]"),
    *('{"error":true,"code":"X"}', "https://[", "https://ferry.example/v.pdf", "http://a.example"),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        [-32603, -32601, -32600, 0, 10**30, 10**4299, -(10**4299), 2**63, 253402300800]
    ),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5),
    ),
    max_leaves=12,
)
ODD_BODIES = (
    *(b"", b" ", b"null", b"NaN", b"-Infinity", b"1e999", b"-0", b"[]", b"{}", b"[[]]", b"{"),
    *(b"9" * 4300, b"9" * 5000, b'"\\ud800"', b'"\\ud800\\u0041"', b'"\xff"', b"\xef\xbb\xbf{}"),
    *(b"[" * 100_000, b"[" * 150 + b"]" * 150, b'{"a":' * 150 + b"1" + b"}" * 150),
    *(b'{"a":1,"a":2}', b'{"error":true,"code":1,"code":"X"}', b"\x00", b"data: {}\n\n"),
    *(b'{"error":{"code":' + b"9" * digits + b',"message":"m"}}' for digits in (30, 4300, 5000)),
    *(b"\x1f\x8b garbage", b'{"result":' + b"[" * 190 + b"]" * 190 + b"}", b"<html></html>"),
)
bodies = st.one_of(
    values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(ODD_BODIES),
    st.binary(max_size=64),
)
statuses = st.one_of(
    st.sampled_from([200, 200, 200, 201, 202, 204, 301, 307, 400, 401, 404, 408, 422, 429, 503]),
    st.integers(200, 599),
)
types = st.sampled_from(
    [
        *("application/json", "application/json", "text/event-stream", "text/html", "", ";;;"),
        *("application/json; charset=utf-16", "TEXT/EVENT-STREAM;x", "application/pdf", "\xff"),
    ]
)
retry_afters = st.one_of(
    st.sampled_from(
        [
            *("", ".", "-1", "1.", "1e9", "9" * 400, "inf", "nan", "٣", "soon", "Wed,"),
            *("Wed, 21 Oct 2015 07:28:00 GMT", "Sun, 31 Feb 2027 00:00:00 GMT"),
            *("Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 +2359"),
            *("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "1 Jan 2027 00:00:00 +99999999999"),
        ]
    ),
    st.text(max_size=12),
)
headers = st.fixed_dictionaries(
    {"content-type": types},
    optional={
        "retry-after": retry_afters,
        "location": st.sampled_from(["", "http://[", "//", "https://a b/", "https://x:99999/"]),
        "content-encoding": st.sampled_from(["gzip", "deflate", "unheard-of", "identity"]),
        "mcp-session-id": st.sampled_from(["s-1", "", " ", "\xe9", "a\tb"]),
        "x-request-id": st.text(max_size=6),
        "content-length": st.sampled_from(["0", "-1", "many"]),
    },
).map(lambda named: {name: text.encode("utf-8", "replace") for name, text in named.items()})


def _rpc(member, value, request_id):
    return json.dumps({"jsonrpc": "2.0", "id": request_id, member: value}).encode()


def _result(wrap, *, read=None):
    """Return a wrap that puts the text of a body, or what `read` makes of it, in a result."""
    return lambda body, known: _rpc("result", wrap((read or _text)(body)), known)


def _json_or_text(body):
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _text(body):
    return body.decode("utf-8", "replace")


WRAPS = {
    "bare": lambda body, _: body,
    "error": lambda body, known: _rpc("error", _json_or_text(body), known),
    "batch": lambda body, known: b"[" + WRAPS["result"](body, known) + b"]",
    "result": _result(lambda value: value, read=_json_or_text),
    "structured": _result(lambda value: {"structuredContent": value}, read=_json_or_text),
    "structured result": _result(
        lambda value: {"structuredContent": {"result": value}}, read=_json_or_text
    ),
    "content": _result(lambda value: {"content": value}, read=_json_or_text),
    "contents": _result(lambda value: {"contents": value}, read=_json_or_text),
    "text": _result(lambda text: {"content": [{"type": "text", "text": text}]}),
    "two texts": _result(lambda text: {"content": [{"text": text}, {"text": text}]}),
    "failed": _result(lambda text: {"isError": True, "content": [{"text": text}]}),
    "resource": _result(lambda text: {"contents": [{"uri": "u", "text": text}]}),
}


@dataclass
class Service:
    """Gives one reply to everything, but to a handshake that shall succeed."""

    status: int = 200
    headers: dict[str, bytes] = field(default_factory=dict)
    body: bytes = b""
    wrap: str = "bare"
    as_stream: bool = False
    good_handshake: bool = True
    bodies: dict[str, bytes] = field(default_factory=dict)
    asked: int = 0

    def __call__(self, request):
        message = _json_or_text(request.content) if request.url.path == "/mcp" else None
        members = message if isinstance(message, dict) else {}
        method = members.get("method")
        if self.good_handshake and method == "initialize":
            return httpx.Response(200, json={"result": {"protocolVersion": "2025-11-25"}})
        if method not in ("initialize", "notifications/initialized"):
            self.asked += 1
        body = self.bodies.get(request.url.path, self.body)
        if self.wrap != "bare":
            body = WRAPS[self.wrap](body, members.get("id"))
        sent = dict(self.headers)
        if self.as_stream:
            body = b": hello\n\nevent: message\ndata: " + body + b"\n\n"
            sent["content-type"] = b"text/event-stream"
        return httpx.Response(
            self.status, headers=list(sent.items()), stream=httpx.ByteStream(body)
        )


SETTINGS = {"base_url": URL, "organisation_token": "org", "max_retries": 0}


def check_sync(service, folder, names=OPERATIONS):
    """Make the calls, and look at what comes out."""
    with httpx.Client(transport=httpx.MockTransport(service)) as http:
        ferry = Ferry("token", http_client=http, **SETTINGS)
        for name in names:
            with outcome_of(name, service, folder) as check_answer:
                check_answer(make(ferry, name, folder))


def check_async(service, folder, names=OPERATIONS):
    """Make the calls on the async client, and look at what comes out."""

    async def calls():
        async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
            ferry = AsyncFerry("token", http_client=http, **SETTINGS)
            for name in names:
                with outcome_of(name, service, folder) as check_answer:
                    check_answer(await make(ferry, name, folder))

    anyio.run(calls)


CHECKS = (check_sync, check_async)
"""What a reply is read as is decided in one place for both clients: each reads half of many."""


@contextmanager
def outcome_of(name, service, folder):
    """Check the answer of the call in the block, or its error."""
    service.asked = 0
    try:
        yield partial(check_answer, name, folder)
    except FerryError as error:
        check_error(error, name, service, folder)


def check_answer(name, folder, answer):
    expected = described(name, folder).answer
    if isinstance(expected, Record):
        assert type(answer) is expected.model
    elif isinstance(expected, RecordList):
        assert isinstance(answer, Records)
        assert {type(record) for record in answer} <= {expected.model}
    elif name in ("tickets.save_pdf", "tickets.read_pdf"):
        content = answer.read_bytes() if isinstance(answer, Path) else answer
        assert isinstance(answer, bytes if name == "tickets.read_pdf" else Path)
        assert content.find(b"%PDF-") >= 0
    repr(answer)


def check_error(error, name, service, folder):
    assert error.operation == name
    assert error.correlation_id
    assert len([attempt for attempt in error.attempts if attempt.operation == name]) == 1
    assert str(error)
    repr(error)
    if not service.asked:
        assert error.outcome in ("not_sent", "rejected")
    elif described(name, folder).safety.is_read:
        assert error.outcome in ("rejected", "unknown")
    else:
        is_redirect = 300 <= service.status < 400
        unknown = isinstance(error, OutcomeUnknownError) or is_redirect
        assert unknown if error.outcome == "unknown" else error.outcome == "rejected"


def test_every_operation_has_arguments_here():
    assert not UNCOVERED
    assert len(OPERATIONS) == len(set(OPERATIONS)) >= 32


@LONG
@given(
    status=statuses,
    headers=headers,
    body=bodies,
    wrap=st.sampled_from(sorted(WRAPS)),
    as_stream=st.booleans(),
    good_handshake=st.sampled_from([True, True, False]),
    check=st.sampled_from(CHECKS),
)
@in_one_folder(120)
def test_any_reply_at_all_gives_a_typed_result_or_a_ferry_error(
    tmp_path, check, status, headers, body, wrap, as_stream, good_handshake
):
    check(Service(status, headers, body, wrap, as_stream, good_handshake), tmp_path)


@pytest.mark.parametrize("body", mostly_long(ODD_BODIES, short=3, ids=lambda body: repr(body[:24])))
def test_an_odd_body_gives_a_typed_result_or_a_ferry_error(tmp_path, body):
    wraps = (("bare", False), ("bare", True), ("error", False), ("text", True))
    for index, (wrap, as_stream) in enumerate(wraps):
        for status, check in zip((200, 422), CHECKS[:: 1 - 2 * (index % 2)], strict=True):
            check(Service(status, {}, body, wrap, as_stream), tmp_path)


@given(
    retry_after=retry_afters,
    status=st.sampled_from([200, 429, 503]),
    check=st.sampled_from(CHECKS),
)
@in_one_folder(60)
def test_any_retry_after_gives_a_typed_result_or_a_ferry_error(
    tmp_path, retry_after, status, check
):
    headers = {"retry-after": retry_after.encode("utf-8", "replace")}
    names = ("catalogue.ports", "bookings.create", "mcp.view_ticket")
    check(Service(status, headers, b'{"error":"slow down"}'), tmp_path, names)


@pytest.fixture(scope="module")
def good_replies(ferry_sandbox_server):
    """The decoded body of a real reply of the local service to each operation."""
    sandbox = ferry_sandbox_server
    if not sandbox.running:
        sandbox.start()  # an earlier test wanted it stopped
    sandbox.reset()
    with Ferry(
        sandbox.token, base_url=sandbox.base_url, organisation_token=sandbox.organisation_token
    ) as ferry:
        raw = ferry.with_raw_response
        search = search_arguments()
        sailing = ferry.availability.search(**search)[0]
        selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
        first, second, third = booked(ferry), booked(ferry), booked(ferry)
        confirmed = ferry.bookings.confirm(first.booking_id)
        unpaid = ferry.bookings.get(third.booking_id).tickets[0].id
        booking = {"availabilities": [selection], "passengers": PASSENGERS}
        calls = {
            "availability.search": search,
            "bookings.create": booking,
            "bookings.confirm": {"booking_id": second.booking_id},
            "bookings.get": {"booking_id": first.booking_id},
            "bookings.cancel_fee": {"id": first.booking_id},
            "tickets.get": {"ticket_id": confirmed.ticket_id},
            "tickets.cancel_fee": {"id": confirmed.ticket_id},
            "tickets.pdf": {"ticket_id": confirmed.ticket_id},
            "tickets.mark_paid": {"ticket_id": unpaid, "external_payment_ref": "pay-1"},
            "mcp.search_availability": search,
            "mcp.create_booking": booking,
            "mcp.confirm_booking": {"booking_id": third.booking_id},
            "mcp.view_ticket": {"ticket_id": confirmed.ticket_id},
            "mcp.call_tool": {"name": "view_ticket", "arguments": {"id": confirmed.ticket_id}},
            "mcp.read_resource": {"uri": "resource://service/ports"},
            "mcp.cancel_ticket": {"ticket_id": unpaid},
            "tickets.cancel": {"ticket_id": confirmed.ticket_id},
            "bookings.cancel": {"booking_id": second.booking_id},
        }
        names = [*calls, *(name for name in OPERATIONS if name not in calls)]
        replies = {}
        for name in names:
            if name in {"tickets.save_pdf", "tickets.read_pdf"}:
                continue
            group, _, call = name.partition(".")
            call_raw = getattr(getattr(raw, group), call)
            if name in calls:
                content = call_raw(**calls[name]).content
            else:
                content = call_raw(*SERVED[name].example.values()).content
            for argument in {"booking_id", "ticket_id"} & calls.get(name, {}).keys():
                here, there = arguments(name, Path())[argument], calls[name][argument]
                content = content.replace(there.encode(), here.encode())
            replies[name] = _shorten(json.loads(content))
        replies["tickets.save_pdf"] = replies["tickets.read_pdf"] = {"url": f"{URL}/voucher.pdf"}
    return replies


def _shorten(value):
    """The reply with the first two of each list, and the texts of MCP likewise."""
    if isinstance(value, list):
        return [_shorten(item) for item in value[:2]]
    if isinstance(value, dict):
        return {name: _shorten(item) for name, item in value.items()}
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return json.dumps(_shorten(json.loads(value)))
    return value


def _serve(name, reply):
    body = json.dumps(reply).encode()
    return Service(body=body, bodies={"/voucher.pdf": PDF})


@each("name", OPERATIONS)
def test_a_good_reply_gives_a_typed_result(good_replies, tmp_path, name):
    with httpx.Client(transport=httpx.MockTransport(_serve(name, good_replies[name]))) as http:
        ferry = Ferry("token", http_client=http, **SETTINGS)
        check_answer(name, tmp_path, make(ferry, name, tmp_path))


@given(data=st.data(), name=st.sampled_from(OPERATIONS), check=st.sampled_from(CHECKS))
@in_one_folder(1000)
def test_a_spoilt_good_reply_gives_a_typed_result_or_a_ferry_error(
    good_replies, tmp_path, data, name, check
):
    reply = copy.deepcopy(good_replies[name])
    for _ in range(data.draw(st.integers(1, 3), label="how often")):
        reply = _spoil(reply, data)
    check(_serve(name, reply), tmp_path, (name,))


def _spoil(value, data):
    """The value with one member somewhere in it missing, null or another."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        inner = _json_or_text(value.encode("utf-8", "replace"))
        return inner if isinstance(inner, str) else json.dumps(_spoil(inner, data))
    if not value or not isinstance(value, dict | list) or not data.draw(st.integers(0, 9)):
        return data.draw(st.none() | values, label="instead")
    keys = sorted(value) if isinstance(value, dict) else [*range(len(value))]
    key = data.draw(st.sampled_from(keys), label="where")
    if data.draw(st.integers(0, 4), label="deeper"):
        value[key] = _spoil(value[key], data)
    else:
        del value[key]
    return value
