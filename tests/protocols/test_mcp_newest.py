"""The revision 2026-07-28 of MCP, which has no handshake and no session, over real sockets."""

import pytest

from ferry_sdk import (
    BadRequestError,
    ConflictError,
    Ferry,
    NotFoundError,
    OutcomeUnknownError,
    ServerError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.context import Context
from ferry_sdk._protocols.mcp.session import RENEW_AFTER
from ferry_sdk._runtime.clock import monotonic
from tests.backend.gathering import at_once
from tests.support.exchanges import caught
from tests.support.mcp_newest import (
    UNKNOWN_METHOD,
    VERSION,
    WRITES,
    NewestServer,
    answer,
    unsupported,
    with_error,
    with_result,
)
from tests.support.mcp_samples import book, view
from tests.support.operations import OPERATIONS, make

CALLS = [name for name in OPERATIONS if name.startswith("mcp.")]
NO_HANDSHAKE = {
    "unknown method": UNKNOWN_METHOD,
    "unknown method, 200": with_error(200, -32601, "Method not found"),
    "invalid parameters": with_error(400, -32602, "params._meta must be an object"),
    "no header": with_error(400, -32020, "Header mismatch"),
    "no capability": with_error(400, -32021, "Missing capability"),
    "version": unsupported(),
    "version, 200": unsupported(200),
    "result": with_result({"protocolVersion": VERSION, "capabilities": {}, "serverInfo": {}}),
}
"""Replies to a handshake of servers that need none."""
ODD = {
    "HTML": answer(200, "<html>", "text/html"),
    "400 HTML": answer(400, "<html>", "text/html"),
    "400": answer(400),
    "404": answer(404),
    "405": answer(405),
    "405 JSON": answer(405, {"detail": "Method Not Allowed"}),
    "invalid request": with_error(400, -32600, "Invalid Request"),
    "code of the server": with_error(404, -32000, "No"),
    "text as a code": with_error(400, "-32022", "Unsupported protocol version"),
}
"""Replies to a handshake that do not say that the server has none."""


@pytest.fixture
def serve(mostly_sync_clients):
    """Start a server, and return it with a client of it."""
    servers = []

    def start(handshake=UNKNOWN_METHOD):
        server = NewestServer(handshake).__enter__()
        servers.append(server)
        client = mostly_sync_clients("test-token-1234", base_url=server.url, max_retries=0)
        return server, client

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture
def clock(monkeypatch):
    """The clock of the calls, which a test moves."""

    class Clock:
        ahead = 0.0

        def __call__(self):
            return monotonic() + self.ahead

    clock = Clock()
    monkeypatch.setitem(Context.start.__func__.__kwdefaults__, "clock", clock)
    return clock


# How the version is found


@pytest.mark.parametrize("name", CALLS)
def test_every_call_goes_without_a_handshake(serve, name, tmp_path):
    server, ferry = serve()
    make(ferry, name, tmp_path)
    assert [call[1:] for call in server.calls] == [(None, None), (VERSION, None)]


@pytest.mark.parametrize("handshake", NO_HANDSHAKE.values(), ids=NO_HANDSHAKE)
def test_refused_handshake_names_the_newest_version(serve, handshake):
    server, ferry = serve(handshake)
    view(ferry)
    assert server.calls[-1] == ("tools/call", VERSION, None)


@pytest.mark.parametrize("handshake", ODD.values(), ids=ODD)
def test_other_refusals_name_no_version(serve, handshake):
    server, ferry = serve(handshake)
    server.reply = with_result({"structuredContent": {"id": "t-1"}})
    caught(UnexpectedResponseError, view, ferry)
    assert server.calls[-1] == ("tools/call", None, None)


@pytest.mark.parametrize("handshake", ODD.values(), ids=ODD)
def test_version_that_the_call_misses_is_the_servers_word(serve, handshake):
    server, ferry = serve(handshake)
    error = caught(BadRequestError, book, ferry)
    assert (error.code, error.outcome, server.effects) == ("-32022", "rejected", [])


def test_server_of_both_kinds_has_a_session(serve):
    server, ferry = serve(handshake=None)
    view(ferry)
    assert server.calls[-1] == ("tools/call", "2025-11-25", "session-1")


@pytest.mark.parametrize("name", ["ñandú", " x", "=?base64?eA==?="])
def test_any_name_is_repeated_in_a_header(serve, name):
    _, ferry = serve()
    assert ferry.mcp.call_tool(name, {}) == {"name": name}


def test_uri_is_repeated_in_a_header(serve):
    _, ferry = serve()
    assert ferry.mcp.read_resource("resource://service/île")[0]["code"] == "X"


# What is remembered


def test_calls_share_what_the_first_one_found(serve):
    server, ferry = serve()
    for _ in range(3):
        view(ferry)
    assert server.methods == ["initialize", *["tools/call"] * 3]


def test_accounts_find_it_each(serve):
    server, ferry = serve()
    view(ferry)
    view(ferry.with_options(language="fr"))
    view(ferry.with_options(token="another-token"))
    assert server.methods.count("initialize") == 2


def test_first_calls_find_it_together():
    with NewestServer() as server, Ferry("test-token-1234", base_url=server.url) as ferry:
        for call in at_once(*[ferry.mcp.ports] * 8):
            call.value()
    assert server.methods.count("initialize") == 1


def test_version_is_found_again_after_an_hour(serve, clock):
    server, ferry = serve()
    view(ferry)
    clock.ahead += RENEW_AFTER - 10
    view(ferry)
    clock.ahead += 20
    view(ferry)
    assert server.methods.index("initialize", 1) == 3


def test_server_without_a_version_is_not_asked_again(serve, clock):
    server, ferry = serve(answer(405))
    for _ in range(2):
        server.reply = with_result({"content": [], "structuredContent": {"id": "t-1"}})
        caught(UnexpectedResponseError, view, ferry)
        clock.ahead += 2 * RENEW_AFTER
    assert server.methods == ["initialize", "tools/call", "tools/call"]


def test_server_may_accept_handshakes_after_an_hour(serve, clock):
    server, ferry = serve()
    view(ferry)
    server.handshake = None
    clock.ahead += RENEW_AFTER + 10
    view(ferry)
    assert server.calls[-1][1] == "2025-11-25"


# A server that changes


@pytest.fixture
def changed(serve):
    """A server that had sessions when its client called it first, and has only the newest version
    now; and the client."""
    server, ferry = serve(handshake=None)
    view(ferry)
    server.handshake = UNKNOWN_METHOD
    return server, ferry


@pytest.mark.parametrize("name", CALLS)
def test_call_with_a_refused_version_goes_on_once(changed, name, tmp_path):
    server, ferry = changed
    make(ferry, name, tmp_path)
    versions = [version for _, version, _ in server.calls[2:]]
    assert versions == ["2025-11-25", None, VERSION]


@pytest.mark.parametrize("name", [name for name in CALLS if name[4:] in WRITES])
def test_write_with_a_refused_version_is_done_once(changed, name, tmp_path):
    server, ferry = changed
    make(ferry, name, tmp_path)
    assert server.effects == [name[4:]]


def test_refused_version_is_an_attempt(changed):
    _, ferry = changed
    attempts = ferry.with_raw_response.mcp.view_ticket("t-1").attempts
    assert [attempt.problem for attempt in attempts] == ["BadRequestError", None]


def test_failed_handshake_after_a_refusal_sends_nothing(serve):
    server, ferry = serve()
    view(ferry)
    server.reply = unsupported()
    server.handshake = answer(503)
    assert caught(ServerError, book, ferry).outcome == "not_sent"
    assert server.methods[2:] == ["tools/call", "initialize"]


@pytest.mark.parametrize("status", [200, 400])
def test_version_of_the_future_is_refused(serve, status):
    server, ferry = serve()
    server.refusal = unsupported(status, ["2030-01-01"])
    error = caught(BadRequestError, book, ferry)
    assert (error.outcome, server.effects) == ("rejected", [])
    assert server.methods == ["initialize", "tools/call"] * 2


def test_server_that_forgets_the_version_gives_a_session(serve):
    server, ferry = serve()
    view(ferry)
    server.handshake, server.is_older = None, True
    assert book(ferry).booking_id
    assert (len(server.effects), server.calls[-1][1]) == (1, "2025-11-25")


def test_call_after_a_bad_request_finds_the_version_again(serve):
    server, ferry = serve()
    server.reply = with_error(400, -32000, "Bad Request: Unsupported protocol version: 2026-07-28")
    assert caught(BadRequestError, book, ferry).outcome == "rejected"
    server.handshake = None
    view(ferry)
    assert server.calls[-1][1] == "2025-11-25"


# A write is sent once

NO_PROOF = {
    "500": answer(500),
    "version, 503": unsupported(503),
    "version without the supported ones": with_error(200, -32022, "Unsupported"),
    "header, 200": with_error(200, -32020, "Header mismatch"),
    "unreadable": answer(200, "<html>", "text/html"),
}


@pytest.mark.parametrize("reply", NO_PROOF.values(), ids=NO_PROOF)
def test_write_that_may_be_done_is_not_sent_again(serve, reply):
    server, ferry = serve()
    server.reply = reply
    caught(OutcomeUnknownError, book, ferry)
    assert server.methods == ["initialize", "tools/call"]


def test_refusal_of_a_tool_is_its_error(serve):
    server, ferry = serve()
    server.reply = answer(409, {"error": True, "code": "SOLD_OUT", "message": "Sold out"})
    assert caught(ConflictError, book, ferry).outcome == "rejected"
    assert server.methods == ["initialize", "tools/call"]


def test_missing_resource_is_not_found(serve):
    _, ferry = serve()
    caught(NotFoundError, ferry.mcp.read_resource, "resource://service/nothing")


def test_invalid_parameters_leave_the_version(serve):
    server, ferry = serve()
    server.reply = with_error(400, -32602, "Invalid arguments")
    caught(BadRequestError, view, ferry)
    view(ferry)
    assert server.methods == ["initialize", "tools/call", "tools/call"]


# More input

MORE = with_result({"resultType": "input_required", "inputRequests": {}, "requestState": "s"})
every_read = pytest.mark.parametrize("name", ["mcp.view_ticket", "mcp.ports"])


@every_read
def test_read_that_needs_more_input_is_an_error(serve, name, tmp_path):
    server, ferry = serve()
    server.reply = MORE
    with pytest.raises(UnexpectedResponseError, match="asks for more input"):
        make(ferry, name, tmp_path)


def test_write_that_needs_more_input_is_unknown(serve):
    server, ferry = serve()
    server.reply = MORE
    error = caught(OutcomeUnknownError, book, ferry)
    assert "asks for more input" in str(error)


# The local service


@pytest.mark.parametrize("handshake", ["refused", "modern_only"])
def test_local_service_without_a_handshake_books(both, ferry_sandbox, creation, handshake):
    ferry_sandbox.mcp.set(handshake=handshake)
    booking = both.mcp.create_booking(**creation)
    confirmed = both.mcp.confirm_booking(booking.booking_id)
    assert both.mcp.view_ticket(confirmed.ticket_id).id == confirmed.ticket_id
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1


def test_local_service_that_drops_older_versions_books_once(both, ferry_sandbox, creation):
    both.mcp.ports()
    ferry_sandbox.mcp.set(handshake="modern_only")
    both.mcp.create_booking(**creation)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
