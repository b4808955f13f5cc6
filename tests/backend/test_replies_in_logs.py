"""A broken reply counts as lost, and what it holds is in no log and in no text of an error."""

import json
import logging
import pickle
import traceback

import pytest

from ferry_sdk import FerryError
from tests.support.tables import each
from tests.transport.scripted import Service

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

NAMES = ("Marguerite", "Okonkwo", "XD998877", "1980-03-02")
BODY = json.dumps(
    {"booking_id": "b-1", "passengers": [{"first_name": NAMES[0], "last_name": NAMES[1]}]}
    | {"doc_number": NAMES[2], "birth_date": NAMES[3]}
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
BROKEN = {
    "chunks that are none": HEAD + b"transfer-encoding: chunked\r\n\r\n" + BODY + b"\r\n",
    "no head": BODY + b"\r\n\r\n",
    "a line of the head that is none": HEAD + BODY + b"\r\n\r\n",
    "too short": HEAD + b"content-length: 9999\r\n\r\n" + BODY,
    "not packed": HEAD + b"content-encoding: gzip\r\ncontent-length: 9\r\n\r\n" + BODY[:9],
    "a refusal": HEAD.replace(b"200 OK", b"409 No")
    + b"content-length: %d\r\n\r\n" % len(BODY)
    + BODY,
    "names in its headers": HEAD + b"x-request-id: for Okonkwo\r\nx-seat: Marguerite XD998877\r\n"
    b"content-length: 2\r\n\r\n{}",
}


def replied(raw):
    def reply(connection):
        connection.request()
        connection.socket.sendall(raw)

    return reply


@pytest.mark.usefixtures("look_once")
@each("kind", BROKEN)
@each("name", ["get", "confirm"])
def test_a_reply_shows_nobody(any_clients, caplog, kind, name):
    caplog.set_level(logging.DEBUG)
    with Service(replied(BROKEN[kind])) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0, deadline=20)
        with pytest.raises(FerryError) as info:
            getattr(ferry.bookings, name)("b-1")
    error = info.value
    shown = f"{error} {error!r} {''.join(traceback.format_exception(error))} {caplog.text}"
    shown += pickle.dumps(error, 0).decode("latin-1")
    assert not [name for name in NAMES if name in shown]
