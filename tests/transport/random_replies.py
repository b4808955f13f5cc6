"""Random replies: odd but plausible ones, and dangerous ones."""

import gzip
import json
import zlib

BODIES = (
    b'{"ports": []}',
    b"[]",
    b"",
    json.dumps({"name": "Zoë" * 60}).encode(),
    b"\r\n",
    b"0\r\n",
)
VERSIONS = ("HTTP/1.1",) * 12 + (
    "HTTP/1.0",
    "HTTP/1.2",
    "HTTP/2.0",
    "HTTP/0.9",
    "HTTP/1",
    "RTSP/1.0",
)
STATUSES = (
    "200",
    "200",
    "201",
    "204",
    "304",
    "404",
    "422",
    "429",
    "503",
    "99",
    "600",
    "20",
    "2000",
)
REASONS = (" OK",) * 6 + ("", " ", "  OK", " Très bien", " tab\there", " bad\x00", " bad\x0b")
HEADERS = (
    "content-type: application/json",
    "x-request-id: r-1",
    "retry-after: 5",
    "date: now",
    "x-empty:",
    "x-blank: ",
    "x-wide:   a  b  ",
    "x-tabs:\ta\t",
    "x-accent: Zo\xeb",
    "x-odd: \x01",
    "x-fold: a\r\n b",
    "x-fold: a\r\n\tb\r\n  c",
    "x-fold:\r\n a",
    "connection: close",
    "connection: keep-alive",
    "upgrade: h2c",
    "X-Request-ID: r-2",
    "vary: a",
    "vary: b",
)
BAD_HEADERS = (
    "x-space : a",
    " x-first: a",
    "no colon",
    ": no name",
    "x-nul: a\0b",
    "x-cr: a\rb",
    "x y: a",
    "x-é: a",
    "x-vertical: a\x0bb",
    "x-form: a\x0c",
    "(x): a",
    "\r\n",
)
LENGTHS = (
    "{}",
    "{0}, {0}",
    "00{}",
    "+{}",
    "-{}",
    " {} ",
    "{}.0",
    "0x{:x}",
    "{}1",
    "{} {}",
    "",
    "0",
)
ENCODINGS = ("chunked",) * 8 + ("Chunked", "gzip, chunked", "chunked, chunked", "identity", "", "x")
SIZES = ("{:x}",) * 8 + (
    "{:X}",
    "{:x} ",
    "{:x}\t",
    "{:x};a=b",
    "{:x} ;a",
    "{:020x}",
    "{:021x}",
    "+{:x}",
)
LAST = ("0\r\n\r\n",) * 6 + (
    "0\r\nx: 1\r\n\r\n",
    "0\r\nx: 1\n\n",
    "0\n\n",
    "",
    "0\r\nx y\r\n\r\n",
    "0",
)
INTERIM = (
    "HTTP/1.1 100 Continue",
    "HTTP/1.1 103 Early Hints\r\nlink: a",
    "HTTP/1.1 102",
    "HTTP/1.1 101",
)
PACKINGS = {
    "gzip": [
        gzip.compress,
        lambda body: gzip.compress(body) + b"\0\0",
        lambda body: gzip.compress(body)[:-4],
        lambda body: gzip.compress(body[:3]) + gzip.compress(body[3:]),
        lambda body: body,
    ],
    "deflate": [zlib.compress, lambda body: zlib.compress(body)[2:-4]],
    "br": [lambda body: body],
    "gzip, gzip": [lambda body: gzip.compress(gzip.compress(body))],
}
BEHIND = (b"\r\n", b"\n", b"x", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", b"\0")


def reply(dice):
    """Return a reply; a third of them has nothing odd but for its frame."""
    lines, body = _content(dice)
    frame, framed = _framed(dice, body)
    lines += frame
    dice.shuffle(lines)
    if dice.random() < 0.15:
        lines.insert(dice.randrange(len(lines) + 1), dice.choice(BAD_HEADERS))

    is_odd = dice.random() < 0.3
    first = dice.choice(VERSIONS) + " " + dice.choice(STATUSES) + dice.choice(REASONS)
    if not is_odd:
        first = "HTTP/1.1 200 OK"
    head = "\r\n".join([first, *lines, "", ""])

    if dice.random() < 0.15:
        interim = [dice.choice(INTERIM) + "\r\n\r\n" for _ in range(dice.randrange(1, 4))]
        head = "".join(interim) + head
    head = _with_ends(dice, head)
    raw = head.encode("latin-1", "replace") + framed

    if dice.random() < 0.05:
        raw = dice.choice([b"\r\n", b"\n", b" "]) + raw
    if dice.random() < 0.1:
        raw += dice.choice(BEHIND)
    if dice.random() < 0.07:
        raw = raw[: dice.randrange(len(raw) + 1)]
    return raw


def _content(dice):
    """Return headers, and a body that may be packed."""
    lines = dice.sample(HEADERS, dice.randrange(5))
    body = dice.choice(BODIES)
    if dice.random() < 0.2:
        encoding = dice.choice([*PACKINGS])
        body = dice.choice(PACKINGS[encoding])(body)
        lines.append(f"content-encoding: {encoding}")
    return lines, body


def _framed(dice, body):
    """Return the headers of a frame, and the body in it."""
    kind = dice.choice(["length", "length", "lengths", "chunks", "chunks", "both", "none"])
    length = "content-length: " + dice.choice(["{}"] * 8 + [*LENGTHS]).format(len(body), len(body))
    if kind == "none":
        return [], body
    if kind == "length":
        return [length], body
    if kind == "lengths":
        other = dice.choice([length, f"content-length: {len(body)}", "Content-Length: 1"])
        return [length, other], body
    encoding = "transfer-encoding: " + dice.choice(ENCODINGS)
    lines = [encoding] if kind == "chunks" else [encoding, length]
    if dice.random() < 0.05:
        lines.append("transfer-encoding: chunked")
    return lines, _chunks(dice, body)


def _chunks(dice, body):
    middle = dice.randrange(len(body) + 1)
    size = dice.choice(SIZES)
    end = dice.choice(["\r\n"] * 12 + ["\n", "\r", "", "\r\n\r\n"])
    behind = dice.choice([b"\r\n"] * 12 + [b"\n", b"", b"x\r\n"])
    pieces = [piece for piece in (body[:middle], body[middle:]) if piece]
    chunks = [(size.format(len(piece)) + end).encode() + piece + behind for piece in pieces]
    return b"".join(chunks) + dice.choice(LAST).encode()


def _with_ends(dice, head):
    """Return a head of which all lines, or some, end with a line feed alone."""
    if dice.random() < 0.1:
        return head.replace("\r\n", "\n")
    if dice.random() < 0.1:
        lines = head.split("\r\n")
        return "".join(line + dice.choice(["\r\n", "\n"]) for line in lines[:-1])
    return head
