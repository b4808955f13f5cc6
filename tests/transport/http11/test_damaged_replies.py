"""Damaged replies: both readers read the same, refuse the same, and use the same again."""

import random
from collections import Counter
from itertools import pairwise

import httpcore
import pytest

from ferry_sdk._transport.http11.replies import H11Reader, LlhttpReader
from tests.support.tiers import mostly_long

BODIES = (b'{"ports": []}', b'{"name": "%b"}' % (b"x" * 150), b"", b"[]\r\n")
STATUSES = (b"200 OK", b"201 Created", b"204 No Content", b"304 Not Modified", b"409", b"500 ")
HEADERS = (b"content-type: application/json", b"x-request-id: a-1", b"date: now")
SOMETIMES = (b"connection: close", b"connection: keep-alive", b"upgrade: x", b"connection: upgrade")
INTERIM = (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nlink: a\r\n\r\n")
INSERTED = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b"\r\n ",
    b"\v",
    b"\f",
    b"\x7f",
    b"\x80",
    b"\xff",
    b":",
    b";",
    b",",
    b"1",
    b"f",
    b"G",
    b"-1",
    b"+1",
    b"0x5",
    b"9" * 20,
    b"f" * 18,
    b";ext=1",
    b"content-length: 5\r\n",
    b"content-length: 0\r\n",
    b"content-length: 1, 1\r\n",
    b"transfer-encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"transfer-encoding: identity\r\n",
    b"connection: close\r\n",
    b"x: \x01\r\n",
    b"x : y\r\n",
    b" x: y\r\n",
    b"x\r\n",
    b": y\r\n",
    b"5\r\nabcde\r\n",
    b"0\r\n\r\n",
    b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/2.0",
    b"HTTP/0.9",
    b"HTTP/1.1 101 Switch\r\n\r\n",
)


def reply(dice):
    """Return a reply as services send them."""
    body = dice.choice(BODIES)
    headers = [*dice.sample(HEADERS, dice.randrange(4))]
    if dice.random() < 0.2:
        headers.append(dice.choice(SOMETIMES))

    form = dice.randrange(5)
    if form == 0:
        headers.append(b"transfer-encoding: chunked")
        middle = dice.randrange(len(body) + 1)
        pieces = [piece for piece in (body[:middle], body[middle:]) if piece]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        body += dice.choice([b"0\r\n\r\n", b"0\r\nx-late: 1\r\n\r\n"])
    elif form > 1:
        headers.append(b"content-length: %d" % len(body))

    interim = dice.choice(INTERIM) * dice.randrange(3) if dice.random() < 0.1 else b""
    version = dice.choice([b"HTTP/1.1"] * 5 + [b"HTTP/1.0"])
    lines = [version + b" " + dice.choice(STATUSES), *headers, b"", body]
    return interim + b"\r\n".join(lines)


def damage(raw, dice):
    """Return a reply with up to five faults, about half of them at the end of a line."""
    for _ in range(dice.choice([0, 1, 1, 1, 2, 2, 3, 5])):
        place = dice.randrange(len(raw) + 1)
        ends = [place for place in range(len(raw)) if raw[place : place + 2] == b"\r\n"]
        if ends and dice.random() < 0.5:
            place = dice.choice(ends) + dice.randrange(3)
        raw = with_fault(raw, raw[:place], raw[place:], dice)
    return raw


def with_fault(raw, head, rest, dice):
    """Return a reply with a fault between its head and its rest."""
    match dice.randrange(7):
        case 0 | 1:
            return head + dice.choice(INSERTED) + rest
        case 2:
            return head + rest[dice.randrange(1, 4) :]
        case 3:
            return head + bytes([dice.randrange(256)]) + rest[1:]
        case 4:
            return head
        case 5:
            return raw + dice.choice(INSERTED)
        case _:
            return head + raw[dice.randrange(len(raw) + 1) :] + rest


def outcome(kind, pieces):
    """Return what a reader makes of a reply; None if it refuses it."""
    reader = kind()
    body = b""
    try:
        for piece in [*pieces, b""]:
            reader.feed(piece)
            body += reader.take()
            reader.check()
            if reader.is_complete:
                break
    except httpcore.RemoteProtocolError:
        return None
    headers = [(name.lower(), value) for name, value in reader.headers]
    is_reusable = reader.is_reusable and piece is pieces[-1]
    return reader.status_code, headers, body, is_reusable


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("replies", mostly_long([2_000, 50_000], ids=str))
def test_both_readers_judge_alike(replies, record_property):
    dice = random.Random(replies)  # noqa: S311 -- no secret
    counts = Counter()
    for _ in range(replies):
        raw = damage(reply(dice), dice)
        cuts = sorted(dice.randrange(len(raw) + 1) for _ in range(dice.choice([0, 0, 1, 3])))
        pieces = [raw[start:end] for start, end in pairwise([0, *cuts, len(raw)]) if start < end]
        expected = outcome(H11Reader, pieces)
        assert outcome(LlhttpReader, pieces) == expected, raw
        counts["refused" if expected is None else "read"] += 1
    assert counts["read"] > replies // 5
    assert counts["refused"] > replies // 5
    record_property("damaged replies that both readers judged", replies)


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_a_body_read_again_is_given_once():
    reader = LlhttpReader()
    reader.feed(CHUNKED + b"2\r\nab\r\n")
    assert reader.take() == b"ab"
    reader.feed(b"2 \r\ncd\r\n0\r\n\r\n")
    assert reader.take() == b"cd"
    assert reader.is_complete


@pytest.mark.parametrize("kind", [H11Reader, LlhttpReader])
def test_bytes_before_an_error_are_given(kind):
    reader = kind()
    reader.feed(CHUNKED + b"2\r\nab\r\nzz\r\n")
    assert reader.take() == b"ab"
    with pytest.raises(httpcore.RemoteProtocolError):
        reader.check()


@pytest.mark.parametrize("kind", [H11Reader, LlhttpReader])
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"HTTP/1.1 200", id="in the head"),
        pytest.param(CHUNKED, id="after the head"),
        pytest.param(CHUNKED + b"2\r\nab", id="in the body"),
    ],
)
def test_an_early_end_is_called_so(kind, start):
    reader = kind()
    reader.feed(start)

    def end():
        reader.feed(b"")
        reader.check()

    with pytest.raises(httpcore.RemoteProtocolError, match="closed the connection early"):
        end()
