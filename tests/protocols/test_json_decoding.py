"""Decoding costs what it must: long numbers, and long lists in a worker thread."""

import json
import re
from contextlib import contextmanager
from contextvars import copy_context
from unittest.mock import Mock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from benchmarks._payload import search_answer
from ferry_sdk._engine.requests import read_in_thread
from ferry_sdk._protocols import json_body
from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.models.base import LongNumber
from tests.support.costs import Costs, counting
from tests.support.tiers import examples

KEPT = [
    "137.50000000000003",
    "-0.12345678901234568",
    "1.234567890123457e-05",
    "1e+16",
    "12345678901234567890",
    "-12345678901234567890",
    "0.30000000000000004",
    "123456.78901234567",
]
LOST = [
    "0.1000000000000000055",
    "0.10000000000000001",
    "137.500000000000030",
    "-0.10000000000000001",
    "12345678901234567.5",
    "12345678901234567e-2",
    "1234567890.1234567890E5",
    "100000000000000.00",
]
IN_TEXTS = [
    '"12345678901234567.5"',
    '"4111111111111111"',
    '"id 20260714-002000-12345"',
    '"eeeeeeeeeeeeeeee"',
    '"x 1.2.3.4.5.6.7.8.9.0.1"',
    '"12345678-1234-1234"',
    '"----------------"',
]
SAILINGS = 1000
SEPARATORS = [
    "{}",
    "[{}]",
    '{{"a":{}}}',
    '{{"a" : {} }}',
    "[0,{},0]",
    "[0, {}]",
    "[\n{}\n]",
    " {} ",
]
MARKS = [
    b"[",
    b"]",
    b"{}",
    b'{"a":',
    b'{"a":0}',
    b'},{"a":0},{"a":',
    b"}",
    b",",
    b"},{",
    b'"',
    b"{}, {}",
    b"0",
    b" ",
    b"\\",
]
MEMBERS = st.dictionaries(
    st.sampled_from(["a", "}", "{", '"', "},{", "\\"]),
    st.recursive(
        st.sampled_from(
            [None, 0, 1.5, "", "},{", "{", "}", '"},{"', "[", "é\\", "0.10000000000000001"]
        ),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.just("b"), inner, max_size=1)
        ),
        max_leaves=6,
    ),
    max_size=3,
)

ENVELOPES = [
    "%s",
    '{"found":%s}',
    '{"a":[],"b":{"c":0},"found":%s,"d":[{"e":0}]}',
    '{"result":{"content":[{"text":"[{\\"a\\":1},{\\"a\\":2}]"}],"structured":{"result":%s}}}',
    "[[%s]]",
]
"""What is around a list: nothing, or other members."""
MISLEADING = ['{"a":"},{","found":%s}', '{"found":%s,"a":[{"b":0},{"b":1}]}']
"""What is around a list and looks like a part of it."""


@pytest.fixture
def exact_decoder():
    """A decoder that keeps every digit, and must not be needed."""
    with patch.object(json_body, "_decode_exactly", Mock(side_effect=AssertionError)) as decoder:
        yield decoder


@pytest.fixture(scope="module")
def big_reply():
    """The reply to a search that finds 1,000 sailings."""
    return search_answer(SAILINGS)


def aside(content):
    """Decode as in a worker thread."""
    return copy_context().run(read_in_thread, lambda: decode_json(content), waiting_thread=0)


@contextmanager
def parts_of(size, longest):
    """Have a worker cut lists of more than `longest` bytes into parts of `size` bytes or more."""
    with patch.object(json_body, "_PART", size), patch.object(json_body, "_STRETCH", longest):
        yield


def bytecodes_of(decode, content):
    with counting(Costs()) as costs:
        decode(content)
    return costs.bytecodes


@pytest.mark.usefixtures("exact_decoder")
@pytest.mark.parametrize("place", SEPARATORS)
@pytest.mark.parametrize("number", KEPT)
def test_digits_that_a_float_keeps_cost_nothing(number, place):
    content = place.format(number).encode()
    assert repr(decode_json(content)) == repr(json.loads(content))
    assert number in repr(decode_json(content))


@pytest.mark.parametrize("place", SEPARATORS)
@pytest.mark.parametrize("number", LOST)
def test_digits_that_a_float_loses_are_kept(number, place):
    content = place.format(number).encode()
    assert number in repr(decode_json(content))


@pytest.mark.usefixtures("exact_decoder")
@pytest.mark.parametrize("text", IN_TEXTS)
def test_digits_in_texts_cost_nothing(text):
    assert decode_json(f'{{"a":{text}}}'.encode()) == {"a": json.loads(text)}


@pytest.mark.parametrize("number", [*KEPT, *LOST])
def test_both_decoders_give_the_same_kind_of_number(number):
    fast = decode_json(f"[{number}]".encode())[0]
    exact = decode_json(f"[{number},0.10000000000000001]".encode())[0]
    assert (type(fast), repr(fast)) == (type(exact), repr(exact))
    assert isinstance(fast, LongNumber) == (number in LOST)


@examples(200)
@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,2})?", fullmatch=True)
)
def test_any_number_keeps_its_value(number):
    (value,) = decode_json(f"[{number}]".encode())
    expected = json.loads(number, parse_float=json_body._parse_number)
    assert (type(value), repr(value)) == (type(expected), repr(expected))


@pytest.mark.usefixtures("exact_decoder")
def test_a_thousand_long_numbers_stay_cheap(big_reply):
    content = re.sub(rb'(?<="balance_amount":)[\d.]+', b"137.50000000000003", big_reply, count=1000)
    assert bytecodes_of(decode_json, content) < 100 * 1000


@pytest.mark.usefixtures("exact_decoder")
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_worker_does_no_work_for_each_value(big_reply, envelope):
    assert bytecodes_of(aside, envelope.encode() % big_reply) < 40 * SAILINGS


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_worker_decodes_parts_of_a_list(big_reply, envelope):
    content = envelope.encode() % big_reply
    with patch.object(json_body, "from_json", wraps=from_json) as decoder:
        assert aside(content) == from_json(content)
    sizes = [len(call.args[0]) for call in decoder.call_args_list]
    assert len(sizes) > 20
    assert max(sizes) < 2 * json_body._PART


def test_spaces_around_a_list_do_not_matter(big_reply):
    with patch.object(json_body, "_decode_exactly", Mock(side_effect=AssertionError)):
        assert aside(b"\n" + big_reply + b" \r\n") == from_json(big_reply)


@pytest.mark.slow
def test_a_worker_keeps_every_digit_of_one_part(big_reply):
    content = big_reply.replace(b'"amount":', b'"amount":0.10000000000000001,"was":', 1)
    with patch.object(json_body, "_decode_exactly", wraps=json_body._decode_exactly) as decoder:
        assert repr(aside(content)) == repr(decode_json(content))
    assert len(decoder.call_args_list[0].args[0]) < 2 * json_body._PART


@examples(200)
@given(
    st.lists(MEMBERS, max_size=6),
    st.sampled_from([1, 8, 40]),
    st.sampled_from([None, 1]),
    st.sampled_from([*ENVELOPES, *MISLEADING]),
)
def test_list_is_the_same_in_any_parts(items, size, indent, envelope):
    content = (envelope % json.dumps(items, ensure_ascii=False, indent=indent)).encode()
    with parts_of(size, len(content) - 1):
        assert repr(aside(content)) == repr(from_json(content))


@examples(200)
@given(st.lists(st.sampled_from(MARKS), max_size=16), st.sampled_from([*ENVELOPES, *MISLEADING]))
def test_no_list_is_refused_in_any_parts(marks, envelope):
    content = envelope.encode() % (b"[%s]" % b"".join(marks))
    with parts_of(1, len(content) - 1):
        assert outcome(aside, content) == outcome(from_json, content)


@pytest.mark.parametrize("depth", [*range(194, 202)])
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_worker_has_the_same_limit_of_depth(envelope, depth):
    deep = b"[" * depth + b"]" * depth
    content = envelope.encode() % (b'[{"a":%s},{"a":%s},{"a":0}]' % (deep, deep))
    with parts_of(1, len(content) - 1):
        assert outcome(aside, content) == outcome(from_json, content)


def outcome(decode, content):
    try:
        return repr(decode(content))
    except ValueError:
        return "refused"
