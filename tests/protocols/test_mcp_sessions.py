"""The MCP session: opened once, renewed in time, named only where it should be."""

from dataclasses import replace

import pytest

from ferry_sdk import (
    AuthenticationError,
    BookingCreateError,
    ConnectionFailedError,
    Ferry,
    FerryError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.http import Headers, Reply
from ferry_sdk._protocols.mcp.session import RENEW_AFTER
from ferry_sdk.resources.mcp import McpGroup
from tests.backend.gathering import at_once
from tests.support.driven import Driven, in_turn, raising, replied
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, PASSENGERS, SELECTION, TICKET, failure
from tests.support.tables import each

OPENED = "initialize", "notifications/initialized"
MANY = 8
VIEW = McpGroup.view_ticket(None, "t1")
BOOK = McpGroup.create_booking(None, availabilities=SELECTION, passengers=PASSENGERS)
TICKET_SEEN = replied(result={"structuredContent": TICKET})
BOOKED = replied(result={"structuredContent": BOOKING})
NOT_FOUND = replied(404, error={"code": -32600, "message": "Session not found"})
MISSING = replied(400, error={"code": -32600, "message": "Bad Request: Missing session ID"})
TERMINATED = replied(
    404, error={"code": -32600, "message": "Not Found: Session has been terminated"}
)
UNINITIALISED = replied(
    400, error={"code": -32000, "message": "Bad Request: Server not initialized"}
)
UNKNOWN_METHOD = replied(error={"code": -32601, "message": "Method not found"})


def opening(session="session-1", version="2025-11-25", status=200):
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}
    return replied(status, session, result=result)


def plain(status, session=None, body=b"No"):
    named = [] if session is None else [("mcp-session-id", session)]
    return lambda _: Reply(status, Headers([("content-type", "text/plain"), *named]), body)


def test_nothing_is_sent_before_the_first_call():
    driven = Driven(opening(), TICKET_SEEN)
    assert driven.session.stage == "unknown"
    assert driven.call(VIEW).id == "t1"
    assert driven.call(VIEW).id == "t1"
    assert driven.methods == [*OPENED, "tools/call", "tools/call"]


def test_id_and_version_are_sent_back_on_all_but_initialize():
    driven = Driven(opening("session-7", "2025-06-18"), TICKET_SEEN)
    driven.call(VIEW)
    (_, first), (_, notification), (_, call) = driven.sent
    assert not {"mcp-session-id", "mcp-protocol-version"} & first.keys()
    for headers in (notification, call):
        assert headers["mcp-session-id"] == "session-7"
        assert headers["mcp-protocol-version"] == "2025-06-18"


def test_every_version_with_a_handshake_is_agreed_to():
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        driven = Driven(opening(version=version), TICKET_SEEN)
        driven.call(VIEW)
        assert driven.session.version == version
    for version in ("1.0", "2026-07-28", 7, ["2025-11-25"], {"a": 1}):
        driven = Driven(opening(version=version), TICKET_SEEN)
        caught(UnexpectedResponseError, driven.call, VIEW)
        assert driven.session.stage == "unknown"
    with pytest.raises(UnexpectedResponseError, match="Mcp-Session-Id"):
        Driven(opening(session="one\x00"), TICKET_SEEN).call(VIEW)


def test_a_server_that_names_no_session_is_sent_none():
    driven = Driven(opening(session=None), TICKET_SEEN)
    driven.call(VIEW)
    assert all("mcp-session-id" not in headers for _, headers in driven.sent)
    assert driven.sent[-1][1]["mcp-protocol-version"] == "2025-11-25"
    assert driven.session.stage == "open"


@each(
    "refused",
    [
        plain(400, "dead"),
        plain(404, "dead"),
        plain(405, "dead"),
        plain(406, "dead"),
        opening("dead", status=400),
        UNKNOWN_METHOD,
        replied(404, "dead", error={"code": -32601, "message": "no"}),
        replied(200, "dead", result={}),
        plain(200, "dead", b"<html>"),
        plain(202, "dead", b""),
    ],
)
def test_a_server_without_a_handshake_is_called_bare_from_then_on(refused):
    driven = Driven(refused, TICKET_SEEN)
    driven.call(VIEW)
    driven.now += 2 * RENEW_AFTER
    driven.call(VIEW)
    assert driven.methods == ["initialize", "tools/call", "tools/call"]
    assert all("mcp-session-id" not in headers for _, headers in driven.sent)
    assert all("mcp-protocol-version" not in headers for _, headers in driven.sent)


def test_a_view_of_a_client_shares_its_session(both, ferry_sandbox):
    both.mcp.ports()
    both.with_options(language="fr").mcp.ports()
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1


def test_a_session_is_renewed_before_its_hour_is_over():
    driven = Driven(in_turn(opening("one"), opening("two")), TICKET_SEEN)
    driven.call(VIEW)
    driven.now += RENEW_AFTER
    driven.call(VIEW)
    assert driven.methods.count("initialize") == 1
    driven.now += 1
    driven.call(VIEW)
    assert driven.methods[-3:] == [*OPENED, "tools/call"]
    (_, first), (_, notification), (_, call) = driven.sent[-3:]
    assert not {"mcp-session-id", "mcp-protocol-version"} & first.keys()
    assert notification["mcp-session-id"] == call["mcp-session-id"] == "two"
    assert RENEW_AFTER < 60 * 60


@each(
    ("gone", "call", "answer"),
    [
        *((gone, VIEW, TICKET_SEEN) for gone in (NOT_FOUND, MISSING, TERMINATED, plain(404))),
        *((gone, BOOK, BOOKED) for gone in (NOT_FOUND, MISSING, TERMINATED, UNINITIALISED)),
    ],
)
def test_a_session_that_is_gone_is_renewed_and_the_call_made_once_more(gone, call, answer):
    driven = Driven(in_turn(opening("one"), opening("two")), in_turn(gone, answer))
    driven.call(call)
    assert driven.methods == [*OPENED, "tools/call", *OPENED, "tools/call"]
    assert [headers.get("mcp-session-id") for _, headers in driven.sent] == [
        None,
        "one",
        "one",
        None,
        "two",
        "two",
    ]
    assert driven.waits == []


@each(
    "refused",
    [
        replied(400, error={"code": -32000, "message": "Carrier session timed out while booking"}),
        replied(404, error={"code": -32000, "message": "Carrier answered: no such sailing"}),
        replied(404, error={"code": -32001, "message": "Session not found at the carrier"}),
        replied(404, error={"code": -32603, "message": "Session not found"}),
        replied(404, **failure("NO_SUCH_SAILING")),
        plain(404),
        plain(404, body=b""),
    ],
)
def test_a_write_is_sent_again_only_where_the_server_refused_it_for_its_session(refused):
    driven = Driven(in_turn(opening("one"), opening("two")), in_turn(refused, BOOKED))
    error = driven.error(FerryError, BOOK)
    assert driven.methods == [*OPENED, "tools/call"]
    assert len(error.attempts) == 1
    assert driven.call(BOOK).booking_id == "b1"  # whose session may well have been gone


def test_a_call_that_was_sent_again_in_a_new_session_shows_both_attempts():
    driven = Driven(in_turn(opening("one"), opening("two")), in_turn(NOT_FOUND, BOOKED))
    attempts = driven.raw(BOOK).attempts
    assert [(one.status_code, one.problem) for one in attempts] == [
        (404, "NotFoundError"),
        (200, None),
    ]
    assert {one.operation for one in attempts} == {"mcp.create_booking"}


def test_the_id_of_a_rejection_hides_a_traveller():
    named = Headers([("content-type", "application/json"), ("x-request-id", "req-OKONKWO")])
    gone = in_turn(lambda body: replace(NOT_FOUND(body), by_name=named), BOOKED)
    driven = Driven(in_turn(opening("one"), opening("two")), gone)
    assert driven.raw(BOOK).attempts[0].request_id == "req-[hidden]"


def test_a_session_that_is_gone_again_is_not_renewed_for_ever():
    driven = Driven(opening(), NOT_FOUND)
    error = caught(NotFoundError, driven.call, BOOK)
    assert driven.methods == [*OPENED, "tools/call", *OPENED, "tools/call"]
    assert error.outcome == "rejected"
    lost = raising(RequestTimeoutError("slow", outcome="unknown"))
    driven = Driven(in_turn(opening(), lost), NOT_FOUND)
    assert caught(RequestTimeoutError, driven.call, BOOK).outcome == "not_sent"


@each("handshake", [opening(session=None), plain(405)])
def test_where_no_session_was_named_none_is_lost(handshake):
    driven = Driven(handshake, plain(404))
    caught(NotFoundError, driven.call, VIEW)
    assert driven.methods.count("initialize") == driven.methods.count("tools/call") == 1


@each(
    ("members", "error"),
    [
        (failure("BOOKING_CREATE_ERROR"), BookingCreateError),
        (
            {"error": {"code": -32603, "message": "", "data": failure("BOOKING_CREATE_ERROR")}},
            BookingCreateError,
        ),
        ({"error": {"code": -32601, "message": "Method not found"}}, NotFoundError),
    ],
)
def test_an_answer_under_404_is_no_lost_session(members, error):
    driven = Driven(opening(), replied(404, **members))
    with pytest.raises(error) as caught:
        driven.call(BOOK)
    assert caught.value.outcome == "rejected"
    assert driven.methods == [*OPENED, "tools/call"]
    driven = Driven(opening(), replied(404, result={"structuredContent": BOOKING}))
    assert driven.call(BOOK).booking_id == "b1"
    assert driven.methods == [*OPENED, "tools/call"]


def test_a_code_that_no_tool_has_may_tell_of_a_lost_session():
    gone = replied(404, **failure("SESSION_EXPIRED"))
    driven = Driven(opening(), in_turn(gone, BOOKED))
    assert driven.call(BOOK).booking_id == "b1"
    assert driven.methods == [*OPENED, "tools/call", *OPENED, "tools/call"]


@pytest.mark.parametrize("kind", ["session_expired", "session_required"])
def test_a_write_that_met_the_end_of_its_session_is_done_once(both, ferry_sandbox, creation, kind):
    both.mcp.ports()
    ferry_sandbox.faults.add(kind, "mcp.create_booking")
    both.mcp.create_booking(**creation)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 2
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


def test_a_server_that_begins_to_want_sessions_gets_them():
    driven = Driven(in_turn(plain(405), opening("one")), in_turn(TICKET_SEEN, MISSING, TICKET_SEEN))
    driven.call(VIEW)
    driven.call(VIEW)
    assert driven.session.stage == "open"
    assert driven.sent[-1][1]["mcp-session-id"] == "one"


@each("call", [VIEW, BOOK])
@each("code", [-32020, -32021, -32022])
@each("status", [200, 400])
def test_a_server_of_another_era_is_named_as_that(call, code, status):
    modern = replied(status, error={"code": code, "message": "Unsupported protocol version"})
    driven = Driven(modern, TICKET_SEEN)
    with pytest.raises(UnexpectedResponseError, match="without a handshake") as caught:
        driven.call(call)
    assert caught.value.outcome == "not_sent"
    assert set(driven.methods) == {"initialize"}


@each(
    "trouble",
    [
        raising(RequestTimeoutError("slow", outcome="unknown")),
        raising(ConnectionFailedError("cut", outcome="unknown")),
        plain(503),
        plain(500),
        plain(429),
    ],
)
def test_a_handshake_that_fails_before_a_write_is_tried_again(trouble):
    driven = Driven(in_turn(trouble, opening()), BOOKED)
    assert driven.call(BOOK).booking_id == "b1"
    assert driven.methods == ["initialize", *OPENED, "tools/call"]
    assert len(driven.waits) == 1


@each(
    ("trouble", "error"),
    [
        (raising(RequestTimeoutError("slow", outcome="unknown")), RequestTimeoutError),
        (raising(ConnectionFailedError("cut", outcome="unknown")), ConnectionFailedError),
        (plain(502), ServerError),
        (plain(429), RateLimitError),
    ],
)
def test_a_handshake_that_always_fails_leaves_the_write_not_sent(trouble, error):
    driven = Driven(trouble, BOOKED)
    with pytest.raises(error) as caught:
        driven.call(BOOK)
    assert caught.value.outcome == "not_sent"
    assert [attempt.sent for attempt in caught.value.attempts] == [False, False, False]
    assert driven.methods == ["initialize"] * 3


def test_a_write_lost_after_the_handshake_is_unknown_all_the_same():
    lost = raising(RequestTimeoutError("slow", outcome="unknown"))
    driven = Driven(opening(), lost)
    caught(OutcomeUnknownError, driven.call, BOOK)
    assert driven.methods == [*OPENED, "tools/call"]


@each(("status", "error"), [(401, AuthenticationError), (403, PermissionDeniedError)])
@each("call", [VIEW, BOOK])
def test_a_token_refused_at_the_handshake_ends_the_call(status, error, call):
    refused = replied(status, "dead", error="invalid_token", error_description="Expired")
    driven = Driven(refused, TICKET_SEEN)
    with pytest.raises(error, match="Expired") as caught:
        driven.call(call)
    assert caught.value.outcome == "rejected"
    assert driven.methods == ["initialize"]
    driven.opening = opening("one")
    driven.answering = in_turn(BOOKED if call is BOOK else TICKET_SEEN)
    driven.call(call)
    assert driven.sent[-1][1]["mcp-session-id"] == "one"


@each("told", [plain(500), plain(404), raising(ConnectionFailedError("cut"))])
def test_whatever_becomes_of_the_notification_the_session_stands(told):
    driven = Driven(opening(), TICKET_SEEN)
    driven.notified = told
    assert driven.call(VIEW).id == "t1"
    assert driven.methods == [*OPENED, "tools/call"]
    assert driven.waits == []


def test_a_handshake_that_failed_is_made_by_the_next_in_turn(ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "mcp.initialize")
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        for call in at_once(*[ferry.mcp.ports] * MANY):
            call.value()
    assert ferry_sandbox.counters.requests == {"mcp.initialize": 2, "mcp.ports": MANY}
