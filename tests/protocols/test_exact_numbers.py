"""Money is exact to the digits on the wire, however many there are, in either protocol."""

import json
import pickle
from contextvars import copy_context
from copy import deepcopy
from decimal import Decimal
from itertools import product

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
from tests.support.cases import case
from tests.support.exchanges import client_of
from tests.support.samples import AVAILABILITY, BOOKING_CANCELLATION
from tests.support.tables import each

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
def test_a_record_and_a_list_have_every_digit(amount):
    value = decode_json(wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, f"{amount:f}"))
    assert Record(BookingCancellation).read(value).refund_amount == amount
    for number in (1, 3):
        value = decode_json(tariffs(f"{amount.copy_abs():f}", number))
        records = RecordList(Availability).read(value)
        assert {record.tariffs[0].amount for record in records} == {amount.copy_abs()}


def test_amounts_and_json_are_the_same_to_the_last_digit_however_they_are_read():
    texts = ["0.12345678901234567", "0.12345678901234568", "0.123456789012345670", "7", "7.5"]
    body = b"[" + b",".join(tariffs(text)[1:-1] for text in texts) + b"]"
    records = RecordList(Availability).read(decode_json(body))
    assert [str(record.tariffs[0].amount) for record in records] == texts

    def read(amount):
        body = wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, amount)
        records = RecordList(Availability).read(decode_json(tariffs(amount, 3)))
        return Record(BookingCancellation).read(decode_json(body)), records[0]

    cancellation, sailing = read("1e-999999999999999999999")
    assert cancellation.refund_amount == sailing.tariffs[0].amount == 0
    for amount in ('"9e999999"', "1e9999999999999999999"):
        with pytest.raises(UnexpectedResponseError, match="amount"):
            read(amount)
    for content, decode in product(ODD, (decode_json, aside)):
        with case(content[:20]), pytest.raises(ValueError):  # noqa: PT011 -- any of them
            decode(content)
    for content in GOOD:
        assert repr(decode_json(content)) == repr(aside(content)), content
    value = {"": [None, True, False, {}], "é\u2028": [0.1, -1.5, 5e-324, 2**70, -7, "\x00", []]}
    assert decode_json(json.dumps(value).encode()) == value
    number = LongNumber(LONG)
    assert number == float(LONG)
    assert isinstance(TypeAdapter(JsonValue).validate_python([number]), list)
    assert json.loads(json.dumps(number)) == float(LONG)
    for copied in (deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert repr(copied) == LONG


@each("is_stream", [False, True])
@each("is_text", [False, True])
def test_both_protocols_have_every_digit_in_every_envelope(clients, is_text, is_stream):
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
    body = wire(BOOKING_CANCELLATION | {"refund_amount": int(FACE)}, LONG)
    ferry = client_of(clients, lambda _: httpx.Response(201, content=body))
    assert str(ferry.bookings.cancel("b-1").refund_amount) == LONG


ODD = [
    *(b"NaN", b"[1,", b"", b"\xff", b"[]\xef\xbb\xbf", b'"\\ud80"', b"[" * 250 + b"]" * 250),
    *(b"[" * 100_000, b"[01]", b'{"a" 1}', b"[1]]", b'"\x01"', b"-Infinity", b'{"a":' * 300),
]
GOOD = [
    *(b"[]", b"1e999", b'"\\ud83d\\ude00"', b"[" * 200 + b"]" * 200, b"-0", b"1E5", b" [ ] "),
    b"\xef\xbb\xbf[]",
    *(b'{"a":1,"a":2}', b"12345678901234567890123456", b"0.1", b"-0.0", b'["12345678901234567"]'),
]


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


def aside(content):
    return copy_context().run(read_in_thread, lambda: decode_json(content), waiting_thread=0)
