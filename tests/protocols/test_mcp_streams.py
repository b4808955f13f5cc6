"""Event streams: whatever pieces they come in, our reply is found, and nothing waited for."""

import json
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import UnexpectedResponseError
from ferry_sdk._engine.http import Headers, Reply
from ferry_sdk._protocols.mcp.jsonrpc import EventStream, ReplyListener
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, TICKET, book, view
from tests.support.mcp_server import Scripted, carried, reply
from tests.support.stopwatch import Stopwatch
from tests.support.tiers import examples

MINE = "ferry-test"
HEAD = Reply(200, Headers([("content-type", "Text/Event-Stream; charset=utf-8")]))
BOM = "\ufeff"
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"


def cut(stream, at):
    return [stream[begin:end] for begin, end in pairwise([0, *sorted(at), len(stream)])]


def events(stream, at=()):
    parser = EventStream()
    return [*[data for piece in cut(stream, at) for data in parser.feed(piece)], *parser.finish()]


def bytewise(stream):
    return events(stream, range(len(stream)))


STREAMS = {
    "LF": ("data: a\n\ndata: b\n\n", "a", "b"),
    "CRLF": ("data: a\r\n\r\ndata: b\r\n\r\n", "a", "b"),
    "CR": ("data: a\r\rdata: b\r\r", "a", "b"),
    "mixed line ends": ("data: a\n\r\ndata: b\r\n\n", "a", "b"),
    "BOM first": (BOM + "data: a\n\n", "a"),
    "BOM later is part of the name": ("\n" + BOM + "data: a\n\n",),
    "several data lines": ("data: a\ndata: b\n\n", "a\nb"),
    "several with CRLF": ("data: a\r\ndata: b\r\n\r\n", "a\nb"),
    "no space": ("data:a\n\n", "a"),
    "one space of two": ("data:  a\n\n", " a"),
    "a field without a colon": ("data\n\n", ""),
    "a comment": (": data: a\ndata: b\n\n", "b"),
    "other fields": ("event: x\nid: 1\nretry: 9\ndata: a\n\n", "a"),
    "fields of nearly that name": ("datax: a\nDATA: b\n\n",),
    "events without data": ("event: x\n\n\n\n",),
    "separators of Unicode": (f"data: {SEPARATORS}\n\n", SEPARATORS),
    "what str splits at": ("data: a\x0bb\x0cc\x1cd\n\n", "a\x0bb\x0cc\x1cd"),
    "cut before the blank line": ("data: a\n", "a"),
    "cut within a line": ("data: a", "a"),
    "cut after CR": ("data: a\r", "a"),
    "nothing": ("",),
}


every_stream = pytest.mark.parametrize(
    ("stream", "expected"),
    [(stream.encode(), [*map(str.encode, data)]) for stream, *data in STREAMS.values()],
    ids=STREAMS,
)


@every_stream
def test_stream_is_split_into_events(stream, expected):
    assert events(stream) == expected


@every_stream
def test_stream_is_split_byte_by_byte(stream, expected):
    assert bytewise(stream) == expected


def test_long_event_is_held_three_times_at_most():
    size = 4_000_000
    piece = 16_384
    stream = b"data: " + b"x" * size + b"\n\n"
    pieces = cut(stream, range(piece, len(stream), piece))
    parser = EventStream()
    tracemalloc.start()
    try:
        lengths = []
        for some in pieces:
            lengths += [len(data) for data in parser.feed(some)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert lengths == [size]
    assert peak < 3.3 * size


@examples(200)
@given(st.data())
def test_events_do_not_depend_on_the_pieces(data):
    marks = (b"data", b":", b" ", b"\n", b"\r", b"\r\n", b"x", b"\xff")
    alphabet = st.sampled_from([*marks, BOM.encode(), SEPARATORS[4].encode()])
    stream = b"".join(data.draw(st.lists(alphabet, max_size=30)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    whole = events(stream)
    assert (events(stream, cuts), bytewise(stream)) == (whole, whole)


NOISE = [
    [": a comment"],
    ["retry: 3000", ""],
    ["data:", ""],
    ["data: not JSON", ""],
    ["data: {", ""],
    ["data: 7", ""],
    ["data: null", ""],
    ["data: []", ""],
    ['data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}', ""],
    [f'data: {{"jsonrpc": "2.0", "id": "{MINE}", "method": "ping"}}', ""],
    ['data: {"jsonrpc": "2.0", "id": "other", "result": {"not": "ours"}}', ""],
    [f'data: {{"jsonrpc": "2.0", "id": "{MINE}"}}', ""],
]


@examples(200)
@given(
    before=st.lists(st.sampled_from(NOISE), max_size=4),
    words=st.text(max_size=20) | st.just(SEPARATORS),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.sampled_from(["", BOM]),
    indent=st.sampled_from([None, 1]),
    data=st.data(),
)
def test_reply_is_found_in_any_pieces(before, words, line_end, bom, indent, data):
    message = {"jsonrpc": "2.0", "id": MINE, "result": {"words": words}}
    text = json.dumps(message, ensure_ascii=False, indent=indent)
    ours = [f"data: {line}" for line in text.split("\n")]
    lines = [line for event in [*before, ours, [""], ["data: {}", ""]] for line in event]
    stream = (bom + "".join(line + line_end for line in lines)).encode()
    listener = ReplyListener(MINE)
    for piece in cut(stream, data.draw(st.lists(st.integers(0, len(stream)), max_size=8))):
        if listener.feed(HEAD, piece):
            break
    assert listener.reply == message


@examples(200)
@given(st.binary(max_size=200), st.booleans())
def test_stream_of_anything_is_no_crash(rubbish, in_data):
    listener = ReplyListener(MINE)
    listener.feed(HEAD, b"data: " + rubbish if in_data else rubbish)
    reply_found = listener.finish()
    assert reply_found is None or isinstance(reply_found, dict)


RESULT = {"jsonrpc": "2.0", "id": MINE, "result": {"number": 1}}


def error_with(error_id):
    return {"jsonrpc": "2.0", "id": error_id, "error": {"code": -32600, "message": "no"}}


def stream_of(*messages):
    return "".join(f"data: {json.dumps(message)}\n\n" for message in messages).encode()


@pytest.mark.parametrize("error_id", [None, "server-error", MINE])
def test_first_reply_counts(error_id):
    """An error need not have our id."""
    listener = ReplyListener(MINE)
    assert listener.feed(HEAD, stream_of(RESULT, error_with(error_id)))
    assert listener.reply == RESULT


@pytest.mark.parametrize("error_id", [None, "server-error", MINE])
def test_first_error_counts(error_id):
    listener = ReplyListener(MINE)
    assert listener.feed(HEAD, stream_of(error_with(error_id), RESULT))
    assert listener.reply == error_with(error_id)


def test_body_that_is_no_stream_is_not_searched():
    plain = Reply(200, Headers([("content-type", "application/json")]))
    listener = ReplyListener(MINE)
    assert not listener.feed(plain, stream_of(RESULT))
    assert listener.finish() is None


def test_stream_left_open_is_answered_at_once(both, ferry_sandbox, creation):
    ferry_sandbox.mcp.set(reply="sse", left_open=True)
    watch = Stopwatch()
    assert len(both.mcp.ports()) > 1
    booking = both.mcp.create_booking(**creation)
    assert watch.seconds < 20.0
    assert [effect.subject for effect in ferry_sandbox.counters.effects] == [booking.booking_id]
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1


@pytest.fixture
def without_an_id():
    """Give a reply that does not repeat the id of its request."""
    return json.dumps({"jsonrpc": "2.0", "result": {"structuredContent": TICKET}}).encode()


def test_reply_in_a_body_may_lack_its_id(clients, without_an_id):
    assert view(Scripted(reply(without_an_id)).client(clients)).id == "t1"


def test_reply_in_a_stream_needs_its_id(clients, without_an_id):
    stream = reply(b"data: " + without_an_id + b"\n\n", kind="text/event-stream")
    caught(UnexpectedResponseError, view, Scripted(stream).client(clients, max_retries=0))


def test_stream_may_lack_its_last_blank_line(clients):
    def shortened(message):
        whole = carried("sse", result={"structuredContent": BOOKING})(message)
        return reply(whole.content.rstrip(), kind="text/event-stream")(message)

    assert book(Scripted(shortened).client(clients)).booking_id == "b1"
