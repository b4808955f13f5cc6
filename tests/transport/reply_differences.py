"""The replies that the HTTP clients do not read alike, as docs/concurrency.md shows them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "concurrency.md"
_MIB = 1024 * 1024
_CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
_LARGE = b"%x\r\n%b\r\n" % (2 * _MIB, b" " * 2 * _MIB)
_INTERIM = b"HTTP/1.1 103 Early Hints\r\nlink: %b\r\n\r\n" % (b"x" * 200)


@dataclass(frozen=True)
class Difference:
    """A kind of reply.

    Attributes:
        example: One of them.
        is_one: Tells whether a reply is of the kind.
    """

    example: bytes
    is_one: Callable[[bytes], object]


DIFFERENCES = {
    "A chunk size of more than 20 digits, most of them zeros": Difference(
        _CHUNKED + b"000000000000000000002\r\n[]\r\n0\r\n\r\n",
        re.compile(rb"[0-9A-Fa-f]{21}").search,
    ),
    "Blanks behind a chunk size, or odd trailers, after 1 MiB": Difference(
        _CHUNKED + _LARGE + b"2 \r\n[]\r\n0\r\n\r\n",
        lambda reply: len(reply) > _MIB,
    ),
    "More than 100 KiB of interim heads": Difference(
        _INTERIM * 2000 + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        lambda reply: len(reply) > 100_000,
    ),
}


def documented():
    """Return the rows of the table in the documentation: what each client does with a reply."""
    text = DOCUMENT.read_text("utf-8")
    rows = text.partition("| Reply | With `fast` | Without | httpx | Why |")[2].splitlines()[2:]
    table = {}
    for row in rows:
        if not row:
            break
        name, *judgements, reason = [cell.strip() for cell in row.strip("| ").split("|")]
        table[name] = judgements
        assert reason
    return table
