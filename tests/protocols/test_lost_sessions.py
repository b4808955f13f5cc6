"""Every way in which a server says that a session is gone, over real sockets."""

import json

import pytest

from ferry_sdk import (
    APIError,
    BadRequestError,
    FerryError,
    NotFoundError,
    OutcomeUnknownError,
    TicketNotFoundError,
)
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, TICKET, book, failure, view
from tests.support.mcp_socket import answer, with_error, with_result

NOTHING_DONE = "the session ended, nothing was done"
SEEN = with_result({"structuredContent": TICKET})
BOOKED = with_result({"structuredContent": BOOKING})


def failed_tool(*texts, **members):
    blocks = [{"type": "text", "text": text} for text in texts]
    return with_result({"content": blocks, "isError": True, **members})


def event(data):
    return answer(200, f"event: message\ndata: {data}\n\n", "text/event-stream")


def plain(status, text=""):
    return answer(status, text, "text/plain")


NAMED_AT_THE_TRANSPORT = {
    "404 JSON-RPC": with_error(404, -32001, "Session not found"),
    "404 with the id": with_error(404, -32600, "Session not found: session-1"),
    "404 text": plain(404, "session not found\n"),
    "404 other words": plain(404, "Session expired or invalid."),
    "404 JSON": answer(404, {"error": "Session not found or has expired."}),
    "404 problem": answer(404, {"detail": "Invalid or expired session. Please re-initialize."}),
    "404 code": answer(404, failure("SESSION_EXPIRED")),
    "400 JSON-RPC": with_error(400, -32000, "Bad Request: Mcp-Session-Id header is required"),
    "400 no valid id": with_error(
        400, -32000, "Bad Request: No valid session ID or not an initialize request"
    ),
    "400 text": plain(400, "Invalid session ID"),
    "401 JSON-RPC": with_error(401, -32600, "Unauthorized: Session not found"),
    "401 text": plain(401, "Unauthorized: Session not found"),
    "410 text": plain(410, "Session expired"),
    "410 JSON-RPC": with_error(410, -32001, "Session has been terminated"),
    "200 invalid request": with_error(200, -32600, "Session not found"),
}
"""Replies with which a server refuses a request before it reads it, and names the session."""

NAMED_ELSEWHERE = {
    "200 JSON-RPC": with_error(200, -32001, "Session not found"),
    "200 not initialized": with_error(200, -32002, "Server not initialized"),
    "200 of the server": with_error(200, -32000, "No active MCP session"),
    "200 internal": with_error(200, -32603, "Session terminated"),
    "200 text": plain(200, "Session expired"),
    "200 JSON": answer(200, {"error": "Session not found"}),
    "200 event": event(json.dumps({"error": "Session not found"})),
    "200 event of text": event("Session not found"),
    "200 failed tool": failed_tool("Session expired due to inactivity"),
    "404 internal": with_error(404, -32603, "Session not found"),
    "400 list as the code": with_error(400, [], "Session not found"),
    "400 object as the code": with_error(400, {"code": -32600}, "Session not found"),
}
"""Replies that name the session, but that may come from behind the transport."""

NOT_NAMED = {
    "404 without a body": plain(404),
    "404 HTML": answer(404, "<html><body>Not Found</body></html>", "text/html"),
    "404 JSON": answer(404, {"detail": "Not Found"}),
    "404 JSON-RPC": with_error(404, -32000, "Carrier answered: no such sailing"),
    "404 of the carrier": with_error(404, -32001, "Session not found at the carrier"),
    "404 unknown code": answer(404, failure("NO_SUCH_SAILING")),
}
"""Replies with 404 to a request with a session id, which do not name the session."""

ABOUT_SOMETHING_ELSE = {
    "failed tool": failed_tool("Checkout session expired at the carrier"),
    "failed tool with a prefix": failed_tool(
        "Error calling tool 'create_booking': Session expired"
    ),
    "two texts": failed_tool("Session expired", "at the carrier"),
    "structured": failed_tool("Session expired", structuredContent={"carrier": "X"}),
    "JSON-RPC": with_error(200, -32000, "The carrier's session timed out"),
    "JSON-RPC internal": with_error(200, -32603, "Payment session closed"),
}


EVERY_WAY = NAMED_AT_THE_TRANSPORT | NAMED_ELSEWHERE | NOT_NAMED


@pytest.mark.parametrize("gone", EVERY_WAY.values(), ids=EVERY_WAY)
def test_a_read_goes_on_in_a_new_session(serve, gone):
    socket, ferry = serve(gone, SEEN)
    assert view(ferry).id == TICKET["id"]
    assert socket.sessions == ["session-1", "session-2"]


@pytest.mark.parametrize("gone", NAMED_AT_THE_TRANSPORT.values(), ids=NAMED_AT_THE_TRANSPORT)
def test_a_write_refused_unread_is_sent_again(serve, gone):
    socket, ferry = serve(gone, BOOKED)
    assert book(ferry).booking_id == BOOKING["booking_id"]
    assert socket.sessions == ["session-1", "session-2"]


NOT_PROVEN = NAMED_ELSEWHERE | NOT_NAMED


@pytest.mark.parametrize("gone", NOT_PROVEN.values(), ids=NOT_PROVEN)
def test_another_write_says_nothing_was_done(serve, gone):
    socket, ferry = serve(gone, BOOKED)
    error = caught(APIError, book, ferry)
    assert (type(error), error.message, error.outcome) == (APIError, NOTHING_DONE, "rejected")
    assert len(socket.calls) == 1


@pytest.mark.parametrize("gone", NOT_PROVEN.values(), ids=NOT_PROVEN)
def test_the_call_after_it_has_a_session(serve, gone):
    socket, ferry = serve(gone, BOOKED)
    caught(APIError, book, ferry)
    assert book(ferry).booking_id == BOOKING["booking_id"]
    assert socket.sessions == ["session-1", "session-2"]


def test_a_session_that_ends_twice_is_told(serve):
    socket, ferry = serve(with_error(404, -32001, "Session not found"))
    assert caught(APIError, book, ferry).message == NOTHING_DONE
    assert len(socket.calls) == 2


def test_a_read_of_something_unknown_is_not_found(serve):
    socket, ferry = serve(plain(404))
    assert caught(NotFoundError, view, ferry).message == "Not Found"
    assert len(socket.calls) == 2


@pytest.mark.parametrize("reply", ABOUT_SOMETHING_ELSE.values(), ids=ABOUT_SOMETHING_ELSE)
def test_other_sessions_leave_a_write_unknown(serve, reply):
    socket, ferry = serve(reply)
    caught(OutcomeUnknownError, book, ferry)
    assert (len(socket.calls), socket.opened) == (1, 1)


@pytest.mark.parametrize("reply", ABOUT_SOMETHING_ELSE.values(), ids=ABOUT_SOMETHING_ELSE)
def test_other_sessions_renew_nothing_for_reads(serve, reply):
    socket, ferry = serve(reply)
    with pytest.raises(FerryError):
        view(ferry)
    assert (len(socket.calls), socket.opened) == (1, 1)


def test_a_refused_request_names_no_session(serve):
    socket, ferry = serve(with_error(400, -32000, "Checkout session expired at the carrier"))
    assert caught(BadRequestError, book, ferry).outcome == "rejected"
    assert (len(socket.calls), socket.opened) == (1, 1)


def test_an_unknown_method_ends_no_session(serve):
    socket, ferry = serve(with_error(404, -32601, "Method not found"))
    caught(NotFoundError, book, ferry)
    assert (len(socket.calls), socket.opened) == (1, 1)


def test_the_code_of_a_tool_ends_no_session(serve):
    socket, ferry = serve(answer(404, failure("TICKET_NOT_FOUND", "Session not found")))
    assert caught(TicketNotFoundError, view, ferry).code == "TICKET_NOT_FOUND"
    assert (len(socket.calls), socket.opened) == (1, 1)


def test_the_error_names_the_status_alone(serve):
    _, ferry = serve(answer(404, {"detail": "No traveller Okonkwo"}))
    assert str(caught(APIError, book, ferry)) == f"{NOTHING_DONE} (HTTP 404)"


def test_a_traveller_may_be_called_session(serve):
    passenger = {"type": "Adult", "first_name": "Session", "last_name": "Ended", "age": 34}
    _, ferry = serve(plain(404))
    selection = [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}]
    with pytest.raises(APIError, match=NOTHING_DONE):
        ferry.mcp.create_booking(availabilities=selection, passengers=[passenger])


def test_a_long_text_names_no_session(serve):
    socket, ferry = serve(with_error(200, -32000, "session " * 1000))
    caught(OutcomeUnknownError, book, ferry)
    assert socket.opened == 1
