"""Money is exact to the digits on the wire, however many there are, in either protocol."""

import json
import pickle
from contextvars import copy_context
from copy import deepcopy
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter

from ferry_sdk import UnexpectedResponseError
from ferry_sdk._engine.parsing import Record, RecordList
from ferry_sdk._engine.requests import read_in_thread
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.models import Availability, BookingCancellation
from ferry_sdk.models.base import LongNumber
from tests.support.exchanges import client_of
from tests.support.samples import AVAILABILITY, BOOKING_CANCELLATION

LONG = "1234567890123456.789012345"
FACE = "987654321"
amounts = st.decimals(allow_nan=False, allow_infinity=False, places=20) | st.from_regex(
    r"-?(0|[1-9][0-9]{0,24})\.[0-9]{1,30}([eE][-+]?[0-9]{1,2})?", fullmatch=True
).map(Decimal)


def wire(value, amount):
    """JSON in which one number has exactly these digits."""
    return json.dumps(value).replace(FACE, amount).encode()


def tariffs(amount, number=1):
    tariff = AVAILABILITY["tariffs"][0] | {"amount": int(FACE)}
    return wire([AVAILABILITY | {"tariffs": [tariff]}] * number, amount)


@given(amounts)
def test_record_has_every_digit(amount):
    value = decode_json(wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, f"{amount:f}"))
    assert Record(BookingCancellation).read(value).refund_amount == amount


@pytest.mark.parametrize("number", [1, 3])
@given(amount=amounts)
def test_list_has_every_digit(number, amount):
    value = decode_json(tariffs(f"{amount.copy_abs():f}", number))
    records = RecordList(Availability).read(value)
    assert {record.tariffs[0].amount for record in records} == {amount.copy_abs()}


def test_amounts_of_a_list_keep_their_texts():
    texts = ["0.12345678901234567", "0.12345678901234568", "0.123456789012345670", "7", "7.5"]
    body = b"[" + b",".join(tariffs(text)[1:-1] for text in texts) + b"]"
    records = RecordList(Availability).read(decode_json(body))
    assert [str(record.tariffs[0].amount) for record in records] == texts


def read(amount):
    """Read an amount in a record and in a list."""
    body = wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, amount)
    records = RecordList(Availability).read(decode_json(tariffs(amount, 3)))
    return Record(BookingCancellation).read(decode_json(body)), records[0]


def test_tiny_amount_is_zero():
    cancellation, sailing = read("1e-999999999999999999999")
    assert cancellation.refund_amount == sailing.tariffs[0].amount == 0


@pytest.mark.parametrize("amount", ['"9e999999"', "1e9999999999999999999"])
def test_huge_amount_is_refused(amount):
    with pytest.raises(UnexpectedResponseError, match="amount"):
        read(amount)


def test_long_number_is_a_float_for_others():
    number = LongNumber(LONG)
    assert number == float(LONG)
    assert isinstance(TypeAdapter(JsonValue).validate_python([number]), list)
    assert json.loads(json.dumps(number)) == float(LONG)


@pytest.mark.parametrize(
    "copy_of",
    [
        pytest.param(deepcopy, id="deepcopy"),
        pytest.param(lambda number: pickle.loads(pickle.dumps(number)), id="pickle"),
    ],
)
def test_copy_of_a_long_number_keeps_its_digits(copy_of):
    assert repr(copy_of(LongNumber(LONG))) == LONG


@pytest.mark.parametrize("is_stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("is_text", [False, True], ids=["structured", "text"])
def test_tool_has_every_digit_in_every_envelope(clients, is_text, is_stream):
    def service(request):
        if b"initialize" in request.content:
            return httpx.Response(405)
        body = wire(BOOKING_CANCELLATION | {"total": int(FACE)}, LONG).decode()
        text = json.dumps({"content": [{"type": "text", "text": body}]})
        result = text if is_text else f'{{"structuredContent":{body}}}'
        number = json.dumps(json.loads(request.content).get("id"))
        content = f'{{"jsonrpc":"2.0","id":{number},"result":{result}}}'
        if not is_stream:
            return httpx.Response(200, content=content)
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, content=f"data: {content}\n\n")

    assert repr(client_of(clients, service).mcp.call_tool("total", {})["total"]) == LONG


def test_rest_has_every_digit(clients):
    body = wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, LONG)
    ferry = client_of(clients, lambda _: httpx.Response(201, content=body))
    assert str(ferry.bookings.cancel("b-1").refund_amount) == LONG


def aside(content):
    """Decode as in a worker thread."""
    return copy_context().run(read_in_thread, lambda: decode_json(content), waiting_thread=0)


@pytest.mark.parametrize("decode", [decode_json, aside], ids=["here", "aside"])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"-Infinity", id="infinity"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[1,", id="cut off"),
        pytest.param(b"[1]]", id="one bracket too many"),
        pytest.param(b"[01]", id="leading zero"),
        pytest.param(b'{"a" 1}', id="no colon"),
        pytest.param(b'"\x01"', id="control character"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b"[]\xef\xbb\xbf", id="byte order mark at the end"),
        pytest.param(b'"\\ud80"', id="short escape"),
        pytest.param(b"[" * 250 + b"]" * 250, id="deep"),
        pytest.param(b"[" * 100_000, id="very deep"),
        pytest.param(b'{"a":' * 300, id="deep objects"),
    ],
)
def test_what_is_no_json_is_refused(content, decode):
    with pytest.raises(ValueError):  # noqa: PT011 -- any of them
        decode(content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[]", id="empty list"),
        pytest.param(b" [ ] ", id="spaces"),
        pytest.param(b"\xef\xbb\xbf[]", id="byte order mark"),
        pytest.param(b"[" * 200 + b"]" * 200, id="deep"),
        pytest.param(b'"\\ud83d\\ude00"', id="surrogate pair"),
        pytest.param(b'{"a":1,"a":2}', id="name twice"),
        pytest.param(b"1e999", id="too large"),
        pytest.param(b"1E5", id="exponent"),
        pytest.param(b"-0", id="negative zero"),
        pytest.param(b"-0.0", id="negative zero with a point"),
        pytest.param(b"0.1", id="fraction"),
        pytest.param(b"12345678901234567890123456", id="large integer"),
        pytest.param(b'["12345678901234567"]', id="digits in a text"),
    ],
)
def test_json_is_the_same_in_a_worker(content):
    assert repr(decode_json(content)) == repr(aside(content))


def test_json_of_every_kind_is_decoded():
    value = {"": [None, True, False, {}], "é\u2028": [0.1, -1.5, 5e-324, 2**70, -7, "\x00", []]}
    assert decode_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb'"a\ud800b"', "a\ufffdb"),
        (rb'"\ud800\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\\ud800"', r"\ud800"),
        (rb'"\\\ud800"', "\\\ufffd"),
    ],
)
def test_half_a_character_is_replaced(content, text):
    assert decode_json(content) == text
