"""Event streams: whatever pieces they come in, our reply is found, and nothing waited for."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import UnexpectedResponseError
from ferry_sdk._engine.http import Head, Headers
from ferry_sdk._protocols.mcp.jsonrpc import EventStream, ReplyListener
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, TICKET, book, view
from tests.support.mcp_server import Scripted, carried, reply
from tests.support.stopwatch import Stopwatch
from tests.support.tables import each
from tests.support.tiers import examples

MINE = "ferry-test"
HEAD = Head(200, Headers([("content-type", "Text/Event-Stream; charset=utf-8")]))
BOM = "\ufeff"
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"
SLOWEST_OF_ANSWERS = 20.0


def cut(stream, at):
    """The pieces of a stream that is cut at these places."""
    edges = [0, *sorted(at), len(stream)]
    return [stream[begin:end] for begin, end in pairwise(edges)]


def events(stream, at=()):
    """The data of all events of a stream that comes in pieces."""
    parser = EventStream()
    complete = [data for piece in cut(stream, at) for data in parser.feed(piece)]
    return [*complete, *parser.finish()]


def bytewise(stream):
    return events(stream, range(len(stream)))


@each(
    ("stream", "expected"),
    [
        pytest.param("data: a\n\ndata: b\n\n", ["a", "b"], id="LF"),
        pytest.param("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"], id="CRLF"),
        pytest.param("data: a\r\rdata: b\r\r", ["a", "b"], id="CR"),
        pytest.param("data: a\n\r\ndata: b\r\n\n", ["a", "b"], id="mixed line ends"),
        pytest.param(BOM + "data: a\n\n", ["a"], id="BOM first"),
        pytest.param("\n" + BOM + "data: a\n\n", [], id="BOM later is part of the name"),
        pytest.param("data: a\ndata: b\n\n", ["a\nb"], id="several data lines"),
        pytest.param("data: a\r\ndata: b\r\n\r\n", ["a\nb"], id="several with CRLF"),
        pytest.param("data:a\n\n", ["a"], id="no space"),
        pytest.param("data:  a\n\n", [" a"], id="one space of two"),
        pytest.param("data\n\n", [""], id="a field without a colon"),
        pytest.param(": data: a\ndata: b\n\n", ["b"], id="a comment"),
        pytest.param("event: x\nid: 1\nretry: 9\ndata: a\n\n", ["a"], id="other fields"),
        pytest.param("datax: a\nDATA: b\n\n", [], id="fields of nearly that name"),
        pytest.param("event: x\n\n\n\n", [], id="events without data"),
        pytest.param(f"data: {SEPARATORS}\n\n", [SEPARATORS], id="separators of Unicode"),
        pytest.param("data: a\x0bb\x0cc\x1cd\n\n", ["a\x0bb\x0cc\x1cd"], id="what str splits at"),
        pytest.param("data: a\n", ["a"], id="cut before the blank line"),
        pytest.param("data: a", ["a"], id="cut within a line"),
        pytest.param("data: a\r", ["a"], id="cut after CR"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_stream_is_split_as_its_format_says(stream, expected):
    wanted = [data.encode() for data in expected]
    assert events(stream.encode()) == wanted
    assert bytewise(stream.encode()) == wanted


@examples(200)
@given(st.data())
def test_any_bytes_give_the_same_events_however_they_are_cut(data):
    marks = (b"data", b":", b" ", b"\n", b"\r", b"\r\n", b"x", b"\xff")
    alphabet = st.sampled_from([*marks, BOM.encode(), SEPARATORS[4].encode()])
    stream = b"".join(data.draw(st.lists(alphabet, max_size=30)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    whole = events(stream)
    assert events(stream, cuts) == whole
    assert bytewise(stream) == whole


NOISE = st.sampled_from(
    [
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
)


@examples(200)
@given(
    before=st.lists(NOISE, max_size=4),
    words=st.text(max_size=20) | st.just(SEPARATORS),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.sampled_from(["", BOM]),
    indent=st.sampled_from([None, 1]),
    data=st.data(),
)
def test_our_reply_is_found_however_the_stream_is_cut(before, words, line_end, bom, indent, data):
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
def test_a_stream_of_anything_is_no_reply_and_no_crash(rubbish, in_data):
    listener = ReplyListener(MINE)
    listener.feed(HEAD, b"data: " + rubbish if in_data else rubbish)
    reply_found = listener.finish()
    assert reply_found is None or isinstance(reply_found, dict)


@each("error_id", [None, "server-error", MINE])
def test_the_first_reply_counts_and_what_follows_is_not_read(error_id):
    """An error needs not our id."""
    first = {"jsonrpc": "2.0", "id": MINE, "result": {"number": 1}}
    second = {"jsonrpc": "2.0", "id": error_id, "error": {"code": -32600, "message": "no"}}
    for replies in ([first, second], [second, first]):
        stream = "".join(f"data: {json.dumps(each)}\n\n" for each in replies)
        listener = ReplyListener(MINE)
        assert listener.feed(HEAD, stream.encode())
        assert listener.reply == replies[0]


def test_a_body_that_is_no_stream_is_not_listened_to():
    head = Head(200, Headers([("content-type", "application/json")]))
    message = {"jsonrpc": "2.0", "id": MINE, "result": {}}
    listener = ReplyListener(MINE)
    assert not listener.feed(head, f"data: {json.dumps(message)}\n\n".encode())
    assert listener.finish() is None


def test_a_stream_left_open_is_answered_at_once(both, ferry_sandbox, creation):
    ferry_sandbox.mcp.set(reply="sse", left_open=True)
    watch = Stopwatch()
    assert len(both.mcp.ports()) > 1
    booking = both.mcp.create_booking(**creation)
    assert watch.seconds < SLOWEST_OF_ANSWERS
    assert [effect.subject for effect in ferry_sandbox.counters.effects] == [booking.booking_id]
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1


def test_the_replys_own_id_may_be_missing_in_a_body_and_not_in_a_stream(clients):
    message = json.dumps({"jsonrpc": "2.0", "result": {"structuredContent": TICKET}}).encode()
    assert view(Scripted(reply(message)).client(clients)).id == "t1"
    stream = reply(b"data: " + message + b"\n\n", kind="text/event-stream")
    caught(UnexpectedResponseError, view, Scripted(stream).client(clients, max_retries=0))


def test_a_stream_without_its_last_blank_line_is_a_reply(clients):
    def shortened(message):
        whole = carried("sse", result={"structuredContent": BOOKING})(message)
        return reply(whole.content.rstrip(), kind="text/event-stream")(message)

    assert book(Scripted(shortened).client(clients)).booking_id == "b1"
