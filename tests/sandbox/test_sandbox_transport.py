"""HTTP conventions of every reply."""

import json
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.offers.offers import Offers
from tests.support.tables import each
from tests.support.wire import TLS


def call(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@each(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("*", "gzip"),
        ("br, *;q=0.1", "gzip"),
        ("gzip;q=0.5", "gzip"),
        ("gzip;q=0.5, identity;q=0.5", "gzip"),
        ("deflate, gzip;q=1.0, *;q=0.5", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0.000, identity", None),
        ("gzip; q=0 , *", None),
        ("*;q=0", None),
        ("*;q=0, gzip", "gzip"),
        ("identity", None),
        ("gzip;q=0.2, identity;q=0.8", None),
        ("gzipped", None),
        ("x;gzip", None),
        ("br", None),
        ("", None),
    ],
)
def test_a_reply_is_compressed_if_the_client_prefers_it(sandbox, http, accepted, encoding):
    for reply in (
        http.get("/api/port", headers={"accept-encoding": accepted}),
        http.post("/mcp", json=call("tools/list"), headers={"accept-encoding": accepted}),
    ):
        assert reply.status_code == 200
        assert reply.headers.get("content-encoding") == encoding
        assert reply.json()


def test_several_accept_encoding_headers_count_together(sandbox, http):
    lines = [("accept-encoding", "br"), ("accept-encoding", "gzip;q=0"), ("accept-encoding", "*")]
    known = [(name, http.headers[name]) for name in ("authorization", "accept")]
    reply = http.send(httpx.Request("GET", f"{sandbox.base_url}/api/port", headers=known + lines))
    assert reply.status_code == 200
    assert "content-encoding" not in reply.headers


@each("method", ["GET", "POST", "PUT", "DELETE"])
@each("path", ["/api/port/", "/api/booking/", "/mcp/", "/_sandbox/clock/", "/api/"])
def test_a_trailing_slash_is_not_found(sandbox, http, method, path):
    reply = http.request(method, path, json={} if method in {"POST", "PUT"} else None)
    assert (reply.status_code, reply.json()["code"]) == (404, "NOT_FOUND")
    assert "location" not in reply.headers


def test_rest_and_mcp_refuse_a_body_over_the_limit(sandbox, http):
    headers = {"content-type": "application/json"}
    message = json.dumps(call("ping")).encode()
    largest = message.ljust(LARGEST_BODY)
    assert http.post("/mcp", content=largest, headers=headers).json()["result"] == {}
    for too_large in (largest + b" ", iter([largest, b" "])):
        reply = http.post("/mcp", content=too_large, headers=headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (413, -32600)
    reply = http.post("/api/journey", content=largest + b" ", headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert sandbox.counters.requests == {"mcp.ping": 1}


@pytest.mark.parametrize("path", ["/api/journey", "/mcp", "/_sandbox/clock"])
def test_the_rest_of_a_body_over_the_limit_is_not_read(sandbox, monkeypatch, path):
    sizes = []
    receive = H11Protocol.data_received

    def count(protocol, data):
        sizes.append(len(data))
        receive(protocol, data)

    monkeypatch.setattr(H11Protocol, "data_received", count)
    address = urlsplit(sandbox.base_url)
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(1000):
                connection.sendall(chunk)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        with suppress(ConnectionError):
            while connection.recv(10_000):
                pass
    assert LARGEST_BODY < sum(sizes) < 2 * LARGEST_BODY


def search(sandbox):
    departure = next(
        row
        for row in sandbox.service.offers.catalogue.scheduled_departures("en")
        if row["company"]["code"] == "CTN"
    )
    return {
        "request": {
            "company": "CTN",
            "depart_code": departure["depart_code"],
            "arrive_code": departure["arrive_code"],
            "out_journey_id": departure["journey_id"],
            "out_at": departure["depart_at"][:10],
            "out_time": "00:00",
        },
        "passengers": [{"order": 1, "type": "Adult", "param": "A", "gender": "Male", "age": 40}],
    }


def test_small_requests_are_answered_during_large_searches(sandbox, monkeypatch):
    begun = threading.Semaphore(0)
    may_end = threading.Event()
    find = Offers.search

    def search_for_long(offers, query):
        begun.release()
        assert may_end.wait(60)
        return find(offers, query)

    monkeypatch.setattr(Offers, "search", search_for_long)
    headers = {"authorization": f"Bearer {sandbox.token}", "accept": "application/json"}
    arguments = search(sandbox)
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers, timeout=60) as http:
        replies = []
        searches = [
            threading.Thread(
                target=lambda each=each: replies.append(http.post(each[0], json=each[1]))
            )
            for each in (
                ("/mcp", call("tools/call", name="search_availability", arguments=arguments)),
                ("/api/availability", arguments),
            )
        ]
        for each in searches:
            each.start()
        try:
            for _ in searches:
                assert begun.acquire(timeout=30)
            small = [
                http.get("/api/port", timeout=30),
                http.get("/api/booking/unknown", timeout=30),
                http.get("/_sandbox/clock", timeout=30),
                http.post("/mcp", json=call("ping"), timeout=30),
                http.post(
                    "/mcp",
                    json=call("tools/call", name="view_ticket", arguments={"id": "unknown"}),
                    timeout=30,
                ),
            ]
            assert [each.status_code for each in small] == [200, 404, 200, 200, 200]
            assert replies == []
        finally:
            may_end.set()
            for each in searches:
                each.join()
        assert [each.status_code for each in replies] == [200, 200]


def test_an_internal_error_announces_that_the_connection_closes(sandbox, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setitem(sandbox.service._handlers, "catalogue.ports", fail)
    host, _, port = sandbox.base_url.removeprefix("http://").partition(":")
    asked = (
        f"GET /api/port HTTP/1.1\r\nhost: {host}\r\naccept: application/json\r\n"
        f"authorization: Bearer {sandbox.token}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), 30) as link:
        link.sendall(asked.encode())
        reply = b""
        while received := link.recv(65536):
            reply += received
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["code"] == "INTERNAL_ERROR"
