"""Whatever comes back, by either protocol, a caller gets a typed result or a FerryError."""

import copy
import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ferry_sdk import FerryError, OutcomeUnknownError, Records, Ticket
from ferry_sdk._engine.parsing import Record, RecordList
from ferry_sdk.sandbox.api.openapi import pages
from ferry_sdk.sandbox.operations import OPERATIONS as ROWS
from tests.models.test_columns import SAMPLES
from tests.models.test_models import RECORDS as SAMPLES_BY_NAME
from tests.support.exchanges import URL, client_of
from tests.support.operations import OPERATIONS as ALL_OPERATIONS
from tests.support.operations import described, make
from tests.support.tiers import LONG, examples, mostly_long

pytestmark = pytest.mark.usefixtures("read_back_once")

RECORDS = {model.__name__: sample for model, sample in SAMPLES.items()} | SAMPLES_BY_NAME
PDF = b"%PDF-1.7 and so on\n%%EOF\n"
WAITS = ("bookings.wait", "tickets.wait_pdf")
OPERATIONS = tuple(name for name in ALL_OPERATIONS if name not in WAITS)
"""A wait is another operation's read, made until its time is up."""
CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
in_one_folder = partial(examples, suppress_health_check=CHECKS)
"""All examples write into one folder."""

KEYS = (
    "error",
    "code",
    "message",
    "data",
    "detail",
    "errors",
    "result",
    "id",
    "jsonrpc",
    "method",
    "content",
    "contents",
    "text",
    "blob",
    "resource",
    "type",
    "structuredContent",
    "isError",
    "resultType",
    "nextCursor",
    "tools",
    "resources",
    "protocolVersion",
    "url",
    "status",
    "booking_id",
    "ticket_id",
    "possible_actions",
    "stage",
    "tickets",
    "ports",
)
WORDS = (
    "",
    "Issued",
    "Eur",
    "NaN",
    "1e999",
    "2026-03-01T08:00:00+01:00",
    "0000-00-00",
    "9999-99",
    "BOOKING_CREATE_ERROR",
    "complete",
    "input_required",
    "2025-11-25",
    "text",
    "\ud800",
    "[1]",
    '{"error":true,"code":"X"}',
    "https://[",
    "https://ferry.example/v.pdf",
    "http://a.example",
)
NUMBERS = (-32603, -32601, -32600, 0, 10**30, 10**4299, -(10**4299), 2**63, 253402300800)
numbers = st.integers() | st.sampled_from(NUMBERS) | st.floats()
scalars = st.none() | st.booleans() | numbers | st.sampled_from(WORDS) | st.text(max_size=8)
keys = st.sampled_from(KEYS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)
ODD_BODIES = (
    b"",
    b" ",
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"[]",
    b"{}",
    b"[[]]",
    b"{",
    b"9" * 4300,
    b"9" * 5000,
    b'"\\ud800"',
    b'"\\ud800\\u0041"',
    b'"\xff"',
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b"[" * 150 + b"]" * 150,
    b'{"a":' * 150 + b"1" + b"}" * 150,
    b'{"a":1,"a":2}',
    b'{"error":true,"code":1,"code":"X"}',
    b"\x00",
    b"data: {}\n\n",
    *(b'{"error":{"code":' + b"9" * digits + b',"message":"m"}}' for digits in (30, 4300, 5000)),
    b"\x1f\x8b garbage",
    b'{"result":' + b"[" * 190 + b"]" * 190 + b"}",
    b"<html></html>",
)
jsons = values.map(lambda value: json.dumps(value).encode())
bodies = jsons | st.sampled_from(ODD_BODIES) | st.binary(max_size=64)
STATUSES = (200, 200, 200, 201, 202, 204, 301, 307, 400, 401, 404, 408, 422, 429, 503)
statuses = st.sampled_from(STATUSES) | st.integers(200, 599)
types = st.sampled_from(
    [
        "application/json",
        "application/json",
        "text/event-stream",
        "text/html",
        "",
        ";;;",
        "application/json; charset=utf-16",
        "TEXT/EVENT-STREAM;x",
        "application/pdf",
        "\xff",
    ]
)
RETRY_AFTERS = (
    "",
    ".",
    "-1",
    "1.",
    "1e9",
    "9" * 400,
    "inf",
    "nan",
    "٣",
    "soon",
    "Wed,",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "Sun, 31 Feb 2027 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "Mon, 01 Jan 0001 00:00:00 +2359",
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    "1 Jan 2027 00:00:00 +99999999999",
)
retry_afters = st.sampled_from(RETRY_AFTERS) | st.text(max_size=12)
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


def _result(wrap, read):
    return lambda body, known: _rpc("result", wrap(read(body)), known)


def _json_or_text(body):
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _text(body)


def _text(body):
    return body.decode("utf-8", "replace")


WRAPS = {
    "bare": lambda body, _: body,
    "error": lambda body, known: _rpc("error", _json_or_text(body), known),
    "batch": lambda body, known: b"[" + WRAPS["result"](body, known) + b"]",
    "result": _result(lambda value: value, _json_or_text),
    "structured": _result(lambda value: {"structuredContent": value}, _json_or_text),
    "nested": _result(lambda value: {"structuredContent": {"result": value}}, _json_or_text),
    "content": _result(lambda value: {"content": value}, _json_or_text),
    "contents": _result(lambda value: {"contents": value}, _json_or_text),
    "text": _result(lambda text: {"content": [{"type": "text", "text": text}]}, _text),
    "two texts": _result(lambda text: {"content": [{"text": text}] * 2}, _text),
    "failed": _result(lambda text: {"isError": True, "content": [{"text": text}]}, _text),
    "resource": _result(lambda text: {"contents": [{"uri": "u", "text": text}]}, _text),
}


@dataclass
class Service:
    """Gives one reply to everything, but to a handshake that shall succeed."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    wrap: str = "bare"
    as_stream: bool = False
    good_handshake: bool = True
    bodies: dict = field(default_factory=dict)
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
        named = list(sent.items())
        return httpx.Response(self.status, headers=named, stream=httpx.ByteStream(body))


def check(clients, service, folder, names=OPERATIONS):
    ferry = client_of(clients, service, organisation_token="org")
    for name in names:
        service.asked = 0
        try:
            check_answer(name, folder, make(ferry, name, folder))
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


@LONG
@given(
    status=statuses,
    headers=headers,
    body=bodies,
    wrap=st.sampled_from(sorted(WRAPS)),
    as_stream=st.booleans(),
    good_handshake=st.sampled_from([True, True, False]),
)
@in_one_folder(120)
def test_any_reply_gives_a_result_or_an_error(
    clients, tmp_path, status, headers, body, wrap, as_stream, good_handshake
):
    check(clients, Service(status, headers, body, wrap, as_stream, good_handshake), tmp_path)


@pytest.mark.parametrize("body", mostly_long(ODD_BODIES, short=3, ids=lambda body: repr(body[:24])))
def test_odd_body_gives_a_result_or_an_error(clients, tmp_path, body):
    for wrap, as_stream in (("bare", False), ("bare", True), ("error", False), ("text", True)):
        for status in (200, 422):
            check(clients, Service(status, {}, body, wrap, as_stream), tmp_path)


def documented_reply(row):
    replies = json.loads(pages.document())["paths"][row.path][row.method.lower()]["responses"]
    return replies[str(row.success)]["content"]["application/json"]["example"]


def good_reply(name):
    if name in {"tickets.save_pdf", "tickets.read_pdf"}:
        return {"url": f"{URL}/voucher.pdf"}
    operation = described(name)
    value = RECORDS.get(getattr(operation.answer, "model", Ticket).__name__)
    if value is None:  # a record without a sample
        value = documented_reply(ROWS[name]) | operation.answer.requested_ids
    if isinstance(operation.answer, RecordList):
        value = [value, value]
    if not name.startswith("mcp."):
        return value
    structured = {"result": value} if isinstance(value, list) else value
    text = {"type": "text", "uri": "u", "text": json.dumps(value)}
    results = {
        "tools/call": {"content": [text], "structuredContent": structured},
        "resources/read": {"contents": [text]},
        "tools/list": {"tools": value},
        "resources/list": {"resources": value},
    }
    return {"jsonrpc": "2.0", "result": results[operation.call.method]}


def _serve(reply):
    return Service(body=json.dumps(reply).encode(), bodies={"/voucher.pdf": PDF})


@pytest.mark.parametrize("name", OPERATIONS)
def test_good_reply_gives_a_typed_result(clients, tmp_path, name):
    ferry = client_of(clients, _serve(good_reply(name)), organisation_token="org")
    check_answer(name, tmp_path, make(ferry, name, tmp_path))


@pytest.mark.slow
@given(data=st.data(), name=st.sampled_from(OPERATIONS))
@in_one_folder(1000)
def test_spoilt_reply_gives_a_result_or_an_error(clients, tmp_path, data, name):
    reply = copy.deepcopy(good_reply(name))
    for _ in range(data.draw(st.integers(1, 3), label="how often")):
        reply = _spoil(reply, data)
    check(clients, _serve(reply), tmp_path, (name,))


def _spoil(value, data):
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
