"""What a call costs in bytecodes and in calls of functions in C, which depends on no load.

A call may cost at most 10 % more than `call_costs.json` records for this Python, or for the newest
recorded one before it. `COMMAND` records anew, and prints without ``--record``. The record and the
bars are those of the newest versions of the dependencies, with which alone this module is run: with
the lowest ones a call costs up to 5 % more, and a read of many tickets twice as much.

Most rows have an HTTP client that sends nothing: they show what the library does around a request.
The rows over a socket have the library's own HTTP client with llhttp, and count a whole call, as a
program pays for it. The bars that are numbers, or ratios of a create to a plain one, are for whole
calls. In memory the same ratios are larger, because the plain create costs a third less there; only
the bar of travellers holds there too.

The counts are the same each time, because nothing here depends on speed or on what ran before:

- Work of other threads is done in the thread that is counted.
- The service sends each reply in one piece.
- Each row has the same travellers, and none of the patterns that `re` keeps.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from operator import attrgetter
from pathlib import Path
from socket import MSG_PEEK
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpx  # noqa: F401 -- once it is loaded, each call looks whether it is patched
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from benchmarks._memory_client import AsyncMemoryClient, MemoryClient, MemoryReply, always, by_word
from benchmarks._payload import (
    CREATED,
    FEE,
    QUESTION,
    REFUSED,
    TOKEN,
    booking,
    mcp_created,
    search_answer,
)
from ferry_sdk import AsyncFerry, Ferry, FerryError, Rate, Travellers, otel
from ferry_sdk._engine import requests
from ferry_sdk._engine.correlation import recent_ids
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk._runtime import threads
from ferry_sdk._transport.http11 import replies
from ferry_sdk.journal import Journal
from tests.support.costs import Costs, counting
from tests.support.samples import BOOKING, TICKET
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="the library's own client is what is counted")

RECORD = Path(__file__).with_name("call_costs.json")
COMMAND = "python -m tests.transport.test_call_costs --record"
SPARE = 1.1
WARM_UPS = 3
"""Calls before the counted ones: they load modules and open the journal and the connection."""
ROUNDS = 3
FIRST = 110
"""The number of the first call. A number makes the travellers and ids of its call."""
BOOKINGS = count(1000)
"""The numbers of bookings that are read: no two of them have the same URL, whose parts are kept."""
KINDS = ("sync", "async")
HARNESS = ("benchmarks", "tests", __name__.partition(".")[0])
EVENT_LOOP = ("asyncio", "selectors")
EVENTS = ("request", "response", "retry", "outcome", "limiter", "connections")
MOST_CREATE = 4300
MOST_READ = 3500
QR_CODE = "data:image/png;base64," + "iVBORw0KGgoA" * 1706
TICKETS = [{**TICKET, "id": f"t-{number}", "qr_code": QR_CODE} for number in range(18)]
TWENTY_FOUR = search_answer(24)
WITH_SHORT_NUMBER = TWENTY_FOUR.replace(b'"amount":40.0,', b'"amount":137.5,', 1)
WITH_LONG_NUMBER = TWENTY_FOUR.replace(b'"amount":40.0,', b'"amount":137.50000000000003,', 1)


@dataclass(frozen=True)
class Case:
    """A call, the reply that it gets, and what the client has.

    Attributes:
        method: The name of the method, below the client.
        arguments_of: Returns the arguments of a call by its number.
        answer: Returns the reply to a URL and a body.
        expected: The name of the type that the call returns or raises.
        settings_of: Returns the settings of the client; the stack closes what they need.
        request_id_of: Returns the service's id of a request by its number.
        is_over_socket: Whether the request goes over a socket.
    """

    method: str
    arguments_of: Callable[[int], dict[str, Any]]
    answer: Callable[[str, bytes], MemoryReply]
    expected: str
    settings_of: Callable[[ExitStack], dict[str, Any]]
    request_id_of: Callable[[int], str]
    is_over_socket: bool = False


def create_of(number):
    """Return the arguments of a create by two travellers with accents."""
    arguments = booking(number)
    for traveller in arguments["passengers"]:
        traveller["first_name"] = traveller["first_name"].replace("Leo", "Léo")
        traveller["last_name"] = traveller["last_name"].replace("Reyes", "Núñez")
    return arguments


def create_with_travellers(number):
    arguments = create_of(number)
    (selection,) = arguments["availabilities"]
    arguments["availabilities"] = [{**selection, "depart_at": "2026-07-14T00:20:00+03:00"}]
    party = [{**traveller, "type": None} for traveller in arguments["passengers"]]
    return arguments | {"passengers": Travellers(party)}


def fee_of(_number):
    return {"id": f"b-{next(BOOKINGS)}"}


def booking_of(_number):
    return {"booking_id": f"b-{next(BOOKINGS)}"}


def question_of(_number):
    return QUESTION


def booking_read(url, _content):
    reply = BOOKING | {"booking_id": url.rpartition("/")[2], "tickets": TICKETS}
    return MemoryReply(json.dumps(reply).encode())


def booking_confirmed(_url, content):
    reply = {"status": "confirmed", "ticket_id": "t-1", "ticket_number": "CTN-0001"}
    return MemoryReply(json.dumps({"booking_id": json.loads(content)["id"], **reply}).encode())


def no_settings(_opened):
    return {}


def with_hooks(_opened):
    return {"event_hooks": {name: [ignore] for name in EVENTS}}


def ignore(_event):
    """Do nothing: a hook's own work is not the library's."""


def with_spans(_opened):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    return {"event_hooks": otel.event_hooks(tracer_provider=provider)}


def with_limiter(_opened):
    return {"limiter": Rate("900000/second", burst=1000)}


def with_journal(opened):
    folder = opened.enter_context(TemporaryDirectory())
    journal = Journal(f"sqlite:///{folder}/journal.db")
    opened.callback(journal.close)
    return {"journal": journal}


def word_of(number):
    """Return an id in which somebody could be named."""
    return f"gateway-{number}"


def uuid_of(number):
    return f"4ee86a9c-1e54-4bd2-9b31-2f3c3b8d7{number}"


def call_of(method, arguments_of, answer, expected):
    if isinstance(answer, bytes):
        answer = always(MemoryReply(answer))
    return Case(method, arguments_of, answer, expected, no_settings, word_of)


def search_of(reply):
    return call_of("availability.search", question_of, reply, "Records")


CREATE = call_of("bookings.create", create_of, CREATED, "BookingCreated")
REFUSAL = always(MemoryReply(REFUSED, 422))
CONFIRMATION = call_of("bookings.confirm", booking_of, booking_confirmed, "BookingConfirmation")
CASES = {
    "create": CREATE,
    "create, id is a UUID": replace(CREATE, request_id_of=uuid_of),
    "create with Travellers": replace(CREATE, arguments_of=create_with_travellers),
    "create with hooks": replace(CREATE, settings_of=with_hooks),
    "create with OpenTelemetry": replace(CREATE, settings_of=with_spans),
    "create with a limiter": replace(CREATE, settings_of=with_limiter),
    "create with a journal": replace(CREATE, settings_of=with_journal),
    "refused create": replace(CREATE, answer=REFUSAL, expected="BookingCreateError"),
    "MCP create": replace(CREATE, method="mcp.create_booking", answer=by_word(mcp_created())),
    "confirmation with a journal": replace(CONFIRMATION, settings_of=with_journal),
    "read": call_of("bookings.cancel_fee", fee_of, FEE, "CancellationFee"),
    "read of 18 tickets": call_of("bookings.get", booking_of, booking_read, "Booking"),
    "search of 1": search_of(search_answer(1)),
    "search of 4": search_of(search_answer(4)),
    "search of 24": search_of(WITH_SHORT_NUMBER),
    "search of 24, one number is long": search_of(WITH_LONG_NUMBER),
    "search of 1000": search_of(search_answer(1000)),
}
OVER_SOCKET = (
    "create",
    "create with Travellers",
    "create with hooks",
    "create with OpenTelemetry",
    "refused create",
    "read",
)
for name in OVER_SOCKET:
    CASES[f"{name} over a socket"] = replace(CASES[name], is_over_socket=True)
ROWS = [f"{kind} {name}" for name in CASES for kind in KINDS]


def run_here(call, *, is_daemon=True):
    """Run the function of a `ThreadCall` in this thread, which is counted, as a worker would."""
    with patch.object(requests, "get_ident", no_identity):
        call.run()


def no_identity():
    """Return the identity of no thread, so that a reply is not read as in the caller's thread."""


def on_the_wire(reply, correlation_id):
    headers = {
        **reply.headers,
        "Content-Length": len(reply.body),
        "X-Client-Correlation-Id": correlation_id,
    }
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    return f"HTTP/1.1 {reply.status_code} Any\r\n{''.join(lines)}\r\n".encode() + reply.body


def replaying(answer):
    """Return a script that sends each reply in one piece, which the client reads at once."""

    def script(connection):
        while head := connection.socket.recv(65536, MSG_PEEK).partition(b"\r\n\r\n")[0]:
            connection.request()
            (sent_id,) = re.findall(r"x-client-correlation-id: (\S+)", head.decode())
            connection.socket.sendall(on_the_wire(answer("", b""), sent_id))

    return script


def client_of(case, kind, opened):
    numbers = count(FIRST)

    def answer(url, content):
        request_id = case.request_id_of(next(numbers))
        return replace(case.answer(url, content), request_id=request_id)

    is_sync = kind == "sync"
    settings = case.settings_of(opened) | {"max_retries": 0}
    if case.is_over_socket:
        settings["base_url"] = opened.enter_context(Service(replaying(answer))).url
    else:
        settings["base_url"] = "https://ferry.example"
        settings["http_client"] = MemoryClient(answer) if is_sync else AsyncMemoryClient(answer)
    return Ferry(TOKEN, **settings) if is_sync else AsyncFerry(TOKEN, **settings)


async def outcome_of(ferry, method, arguments):
    """Make a call, read all that it returns, and return that or its error."""
    try:
        result = attrgetter(method)(ferry)(**arguments)
        if isinstance(ferry, AsyncFerry):
            result = await result
    except FerryError as error:
        return error
    read_fields(result)
    return result


def read_fields(value):
    if isinstance(value, list | tuple):
        for item in value:
            read_fields(item)
    elif isinstance(value, BaseModel):
        for name in vars(value):
            read_fields(getattr(value, name))


async def count_calls(case, kind, without):
    re.purge()
    no_proxies = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    counts = []
    with ExitStack() as opened:
        opened.enter_context(patch.dict(os.environ, no_proxies, clear=True))
        opened.enter_context(patch.object(replies, "new_reader", replies.LlhttpReader))
        opened.enter_context(patch.object(threads.ThreadCall, "start", run_here))
        # The ids of earlier tests may be as many as are kept; then each call forgets one more.
        recent_ids.clear()
        ferry = client_of(case, kind, opened)
        for number in range(FIRST, FIRST + WARM_UPS):
            await outcome_of(ferry, case.method, case.arguments_of(number))
        for number in range(FIRST + WARM_UPS, FIRST + WARM_UPS + 1 + ROUNDS):
            arguments = case.arguments_of(number)
            with counting(Costs(harness=HARNESS + without)) as costs:
                outcome = await outcome_of(ferry, case.method, arguments)
            assert type(outcome).__name__ == case.expected, outcome
            counts.append((costs.bytecodes, costs.c_calls))
        await ferry.aclose() if kind == "async" else ferry.close()
    return counts[1:]  # Python 3.13 counts few bytecodes of a function's first traced call


@cache
def counts_of(row, without):
    """Return the bytecodes and the calls in C of each counted call of a row.

    Args:
        row: The kind of the client and the name of a case.
        without: Top-level packages whose own work is not counted.
    """
    kind, _, name = row.partition(" ")
    return asyncio.run(count_calls(CASES[name], kind, without), debug=False)


def costs_of(row, without=()):
    bytecodes, c_calls = zip(*counts_of(row, without), strict=True)
    return {"bytecodes": max(bytecodes), "c_calls": max(c_calls)}


def bytecodes_of(row, without=()):
    return costs_of(row, without)["bytecodes"]


def load():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def recorded_costs():
    """Return the record of this Python, or of the newest before it; of none, the oldest."""
    record = load()
    numbers = {version: tuple(map(int, version.split("."))) for version in record}
    not_newer = [version for version in record if numbers[version] <= sys.version_info]
    if not_newer:
        return record[max(not_newer, key=numbers.get)]
    return record[min(record, key=numbers.get)]


@pytest.mark.parametrize("row", ROWS)
def test_a_call_costs_no_more_than_recorded(row):
    recorded = recorded_costs()[row]
    costs = costs_of(row)
    too_much = [name for name in recorded if costs[name] > SPARE * recorded[name]]
    assert not too_much, f"{costs}, recorded {recorded}; to record anew: {COMMAND}"


@pytest.mark.parametrize("row", [row for row in ROWS if "socket" in row])
def test_each_call_over_a_socket_costs_the_same(row):
    assert len(set(counts_of(row, ()))) == 1


BARS = pytest.mark.parametrize(
    ("name", "most"),
    [
        pytest.param("create", MOST_CREATE, id="create"),
        pytest.param("read", MOST_READ, id="read"),
    ],
)


@BARS
def test_a_sync_call_keeps_its_bar(name, most):
    assert bytecodes_of(f"sync {name} over a socket") <= most


@BARS
def test_an_async_call_keeps_its_bar(name, most):
    """The own work of the event loop is left out."""
    assert bytecodes_of(f"async {name} over a socket", EVENT_LOOP) <= most


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_add_at_most_half(kind):
    plain = bytecodes_of(f"{kind} create over a socket")
    assert bytecodes_of(f"{kind} create with hooks over a socket") <= 1.5 * plain


@pytest.mark.parametrize("kind", KINDS)
def test_spans_add_at_most_half(kind):
    """OpenTelemetry's own work is left out: its two spans cost more than half of a create."""
    plain = bytecodes_of(f"{kind} create over a socket")
    row = f"{kind} create with OpenTelemetry over a socket"
    assert bytecodes_of(row, ("opentelemetry",)) <= 1.5 * plain


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_costs_few_plain_creates(kind):
    plain = bytecodes_of(f"{kind} create over a socket")
    assert bytecodes_of(f"{kind} refused create over a socket") <= 2.5 * plain


@pytest.mark.parametrize("kind", KINDS)
def test_travellers_cost_little_more_than_dicts(kind):
    plain = bytecodes_of(f"{kind} create over a socket")
    assert bytecodes_of(f"{kind} create with Travellers over a socket") <= 1.15 * plain


@pytest.mark.parametrize("kind", KINDS)
def test_travellers_cost_little_more_in_memory(kind):
    plain = bytecodes_of(f"{kind} create")
    assert bytecodes_of(f"{kind} create with Travellers") <= 1.15 * plain


@pytest.mark.parametrize("kind", KINDS)
def test_one_long_number_costs_no_more(kind):
    usual = costs_of(f"{kind} search of 24")
    long = costs_of(f"{kind} search of 24, one number is long")
    assert {name for name in usual if long[name] > 1.1 * usual[name]} == set()


def test_one_long_number_needs_no_other_decoder():
    """A count does not show what a decoder does in C."""
    assert decoders_of(WITH_LONG_NUMBER) == decoders_of(WITH_SHORT_NUMBER)


def decoders_of(content):
    """Return the names of the decoders that a body needs, in order."""
    names = []

    def note(frame, event, function):
        if event == "c_call" and function.__name__ == "from_json":
            names.append("pydantic_core.from_json")
        if event == "call" and frame.f_code is json.JSONDecoder.decode.__code__:
            names.append("json.JSONDecoder.decode")

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        decode_json(content)
    finally:
        sys.setprofile(previous)
    return names


def main(arguments):
    costs = {row: costs_of(row) for row in ROWS}
    for row, numbers in costs.items():
        print(f"{row}: {numbers}")  # noqa: T201 -- a command
    if "--record" in arguments:
        known = load() if RECORD.exists() else {}
        record = known | {f"{sys.version_info[0]}.{sys.version_info[1]}": costs}
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
