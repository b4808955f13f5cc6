"""An event loop that is closed with calls in flight: they end without a word of the library."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiers import mostly_long
from tests.transport import scripted as do
from tests.transport.scripted import Service

PROGRAM = Path(__file__).with_name("closed_loop.py")
HANGS = do.in_turn(do.read_request, do.hang)


def slow_down(connection):
    connection.socket.sendall(
        b"HTTP/1.1 429 Slow\r\nretry-after: 30\r\ncontent-length: 2\r\n\r\n{}"
    )


PLACES = {
    "a head": do.in_turn(do.read_request, do.half_a_head, do.hang),
    "a body": do.in_turn(do.read_request, do.half_a_body, do.hang),
    "a deadline": HANGS,
    "a write": HANGS,
    "a handshake": HANGS,
    "a token function": HANGS,
    "a search of several companies": HANGS,
    "a wait between attempts": do.in_turn(do.read_request, slow_down, do.hang),
}
PLACE_NAMES = ["a write", *(place for place in PLACES if place != "a write")]
"""The names of the places. The first is quick: each place needs a new process."""
WORDS = {
    "a write": [
        "bookings.create was interrupted and may have happened",
        "bookings.confirm was interrupted and may have happened",
    ]
}
"""What the library has to say."""


@pytest.mark.slow
@pytest.mark.parametrize("place", mostly_long(PLACE_NAMES))
def test_a_closed_loop_ends_calls_quietly(place):
    with Service(PLACES[place]) as service:
        ended = subprocess.run(
            [sys.executable, str(PROGRAM), service.url, place],
            capture_output=True,
            text=True,
            timeout=50,
            check=True,
        )
    said = [line.partition(" (")[0] for line in ended.stderr.splitlines()]
    assert said == WORDS.get(place, [])
