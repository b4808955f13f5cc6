"""The MCP session: opened once, renewed in time, named only where it should be."""

from dataclasses import replace
from itertools import product

import pytest

import ferry_sdk as sdk
from ferry_sdk import FerryError, NotFoundError, RequestTimeoutError, UnexpectedResponseError
from ferry_sdk._engine.http import Headers, Reply
from ferry_sdk._protocols.mcp.session import RENEW_AFTER
from ferry_sdk.resources.mcp import McpGroup
from tests.backend.gathering import at_once
from tests.support.cases import case
from tests.support.driven import Driven, in_turn, replied
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, PASSENGERS, SELECTION, TICKET, failure
from tests.support.tables import each

OPENED = ["initialize", "notifications/initialized"]
ONCE = [*OPENED, "tools/call"]
MANY = 8
VIEW = McpGroup.view_ticket(None, "t1")
BOOK = McpGroup.create_booking(None, availabilities=SELECTION, passengers=PASSENGERS)
SEEN = replied(result={"structuredContent": TICKET})
BOOKED = replied(result={"structuredContent": BOOKING})


def refusal(status, message, code=-32600, session=None):
    return replied(status, session, error={"code": code, "message": message})


NOT_FOUND = refusal(404, "Session not found")
MISSING = refusal(400, "Bad Request: Missing session ID")
TERMINATED = refusal(404, "Not Found: Session has been terminated")
UNINITIALISED = refusal(400, "Bad Request: Server not initialized", -32000)


def slow(_):
    raise RequestTimeoutError("slow", outcome="unknown")


def cut(_):
    raise sdk.ConnectionFailedError("cut", outcome="unknown")


def opening(session="session-1", version="2025-11-25", status=200):
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}
    return replied(status, session, result=result)


def two_openings():
    return in_turn(opening("one"), opening("two"))


def plain(status, session=None, body=b"No"):
    named = [] if session is None else [("mcp-session-id", session)]
    return lambda _: Reply(status, Headers([("content-type", "text/plain"), *named]), body)


def sessions(driven):
    return [headers.get("mcp-session-id") for _, headers in driven.sent]


def versions(driven):
    return [headers.get("mcp-protocol-version") for _, headers in driven.sent]


def test_the_first_call_opens_a_session_of_any_version_which_is_renewed_and_not_for_ever():
    driven = Driven(opening("session-7", "2025-06-18"), SEEN)
    assert driven.session.opened_at is None
    assert driven.call(VIEW).id == driven.call(VIEW).id == "t1"
    assert driven.methods == [*ONCE, "tools/call"]
    assert sessions(driven) == [None, *["session-7"] * 3]
    assert versions(driven) == [None, *["2025-06-18"] * 3]
    driven = Driven(opening(session=None), SEEN)
    driven.call(VIEW)
    assert sessions(driven) == [None] * 3, "a server that names no session is sent none"
    assert versions(driven)[-1] == driven.session.version == "2025-11-25"
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        driven = Driven(opening(version=version), SEEN)
        driven.call(VIEW)
        assert driven.session.version == version
    for version in ("1.0", "2026-07-28", 7, ["2025-11-25"], {"a": 1}):
        driven = Driven(opening(version=version), SEEN)
        caught(UnexpectedResponseError, driven.call, VIEW)
        assert driven.session.opened_at is None
    with pytest.raises(UnexpectedResponseError, match="Mcp-Session-Id"):
        Driven(opening(session="one\x00"), SEEN).call(VIEW)
    driven = Driven(two_openings(), SEEN)
    driven.call(VIEW)
    driven.now += RENEW_AFTER
    driven.call(VIEW)
    assert driven.methods.count("initialize") == 1
    driven.now += 1
    driven.call(VIEW)
    assert (driven.methods[-3:], sessions(driven)[-3:]) == (ONCE, [None, "two", "two"])
    assert versions(driven)[-3] is None
    assert RENEW_AFTER < 60 * 60
    driven = Driven(opening(), NOT_FOUND)
    error = caught(sdk.APIError, driven.call, BOOK)
    assert (driven.methods, error.outcome) == ([*ONCE, *ONCE], "rejected")
    assert error.message == "the session ended, nothing was done"
    driven = Driven(in_turn(opening(), slow), NOT_FOUND)
    assert caught(RequestTimeoutError, driven.call, BOOK).outcome == "not_sent"
    for handshake in (opening(session=None), plain(405)):  # where none was named none is lost
        driven = Driven(handshake, plain(404))
        caught(NotFoundError, driven.call, VIEW)
        assert driven.methods.count("initialize") == driven.methods.count("tools/call") == 1


@each(
    "refused",
    [
        *(plain(status, "dead") for status in (400, 404, 405, 406)),
        opening("dead", status=400),
        refusal(200, "Method not found", -32601),
        refusal(404, "no", -32601, "dead"),
        replied(200, "dead", result={}),
        plain(200, "dead", b"<html>"),
        plain(202, "dead", b""),
    ],
)
def test_a_server_without_a_handshake_is_called_bare_from_then_on(refused):
    driven = Driven(refused, SEEN)
    driven.call(VIEW)
    driven.now += 2 * RENEW_AFTER
    driven.call(VIEW)
    assert driven.methods == ["initialize", "tools/call", "tools/call"]
    assert sessions(driven) == versions(driven) == [None] * 3


def test_a_view_of_a_client_shares_its_session(both, ferry_sandbox):
    both.mcp.ports()
    both.with_options(language="fr").mcp.ports()
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1


@each(
    ("gone", "call", "answer"),
    [
        *product((NOT_FOUND, MISSING, TERMINATED, plain(404)), [VIEW], [SEEN]),
        *product((NOT_FOUND, MISSING, TERMINATED, UNINITIALISED), [BOOK], [BOOKED]),
        (replied(404, **failure("SESSION_EXPIRED")), BOOK, BOOKED),  # a code that no tool has
    ],
)
def test_a_session_that_is_gone_is_renewed_and_the_call_made_once_more(gone, call, answer):
    driven = Driven(two_openings(), in_turn(gone, answer))
    attempts = driven.raw(call).attempts
    assert driven.methods == [*ONCE, *ONCE]
    assert (sessions(driven), driven.waits) == ([None, "one", "one", None, "two", "two"], [])
    assert [one.problem is None for one in attempts] == [False, True]
    assert {one.operation for one in attempts} == {call.name}


@each(
    "refused",
    [
        refusal(400, "Carrier session timed out while booking", -32000),
        refusal(404, "Carrier answered: no such sailing", -32000),
        refusal(404, "Session not found at the carrier", -32001),
        refusal(404, "Session not found", -32603),
        replied(404, **failure("NO_SUCH_SAILING")),
        plain(404),
        plain(404, body=b""),
    ],
)
def test_a_write_is_sent_again_only_where_the_server_refused_it_for_its_session(refused):
    driven = Driven(two_openings(), in_turn(refused, BOOKED))
    error = driven.error(FerryError, BOOK)
    assert driven.methods == ONCE
    assert len(error.attempts) == 1
    assert driven.call(BOOK).booking_id == "b1"  # whose session may well have been gone


def test_an_answer_under_404_is_no_lost_session_and_a_server_may_begin_to_want_them():
    told = failure("BOOKING_CREATE_ERROR")
    for members, kind in (
        (told, sdk.BookingCreateError),
        ({"error": {"code": -32603, "message": "", "data": told}}, sdk.BookingCreateError),
        ({"error": {"code": -32601, "message": "Method not found"}}, NotFoundError),
    ):
        driven = Driven(opening(), replied(404, **members))
        with case(members):
            assert (driven.error(kind, BOOK).outcome, driven.methods) == ("rejected", ONCE)
    driven = Driven(opening(), replied(404, result={"structuredContent": BOOKING}))
    assert (driven.call(BOOK).booking_id, driven.methods) == ("b1", ONCE)
    driven = Driven(in_turn(plain(405), opening("one")), in_turn(SEEN, MISSING, SEEN))
    driven.call(VIEW)
    driven.call(VIEW)
    assert (driven.session.id, sessions(driven)[-1]) == ("one", "one")
    named = Headers([("content-type", "application/json"), ("x-request-id", "req-OKONKWO")])
    gone = in_turn(lambda body: replace(NOT_FOUND(body), by_name=named), BOOKED)
    first, second = Driven(two_openings(), gone).raw(BOOK).attempts
    assert (first.status_code, first.problem) == (404, "NotFoundError")
    assert (second.status_code, second.problem) == (200, None)
    assert first.request_id == "req-[hidden]"


@pytest.mark.parametrize("kind", ["session_expired", "session_required"])
def test_a_write_that_met_the_end_of_its_session_is_done_once(both, ferry_sandbox, creation, kind):
    both.mcp.ports()
    ferry_sandbox.faults.add(kind, "mcp.create_booking")
    both.mcp.create_booking(**creation)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 2
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


@each("call", [VIEW, BOOK])
@each("code", [-32020, -32021, -32022])
@each("status", [200, 400])
def test_a_server_of_another_era_is_named_as_that(call, code, status):
    driven = Driven(refusal(status, "Unsupported protocol version", code), SEEN)
    error = driven.error(UnexpectedResponseError, call)
    assert "without a handshake" in str(error)
    assert (error.outcome, set(driven.methods)) == ("not_sent", {"initialize"})


@each(
    ("trouble", "kind"),
    [
        (slow, RequestTimeoutError),
        (cut, sdk.ConnectionFailedError),
        *product([plain(500), plain(502), plain(503)], [sdk.ServerError]),
        (plain(429), sdk.RateLimitError),
    ],
)
def test_a_handshake_that_fails_before_a_write_is_tried_again(trouble, kind):
    driven = Driven(in_turn(trouble, opening()), BOOKED)
    assert (driven.call(BOOK).booking_id, driven.methods) == ("b1", ["initialize", *ONCE])
    assert len(driven.waits) == 1
    driven = Driven(trouble, BOOKED)
    error = driven.error(kind, BOOK)
    assert error.outcome == "not_sent"
    assert [attempt.sent for attempt in error.attempts] == [False, False, False]
    assert driven.methods == ["initialize"] * 3
    driven = Driven(opening(), cut)  # after the handshake the write is unknown all the same
    caught(sdk.OutcomeUnknownError, driven.call, BOOK)
    assert driven.methods == ONCE


@each(("status", "kind"), [(401, sdk.AuthenticationError), (403, sdk.PermissionDeniedError)])
@each("call", [VIEW, BOOK])
def test_a_token_refused_at_the_handshake_ends_the_call(status, kind, call):
    refused = replied(status, "dead", error="invalid_token", error_description="Expired")
    driven = Driven(refused, SEEN)
    error = driven.error(kind, call)
    assert "Expired" in str(error)
    assert (error.outcome, driven.methods) == ("rejected", ["initialize"])
    driven.opening = opening("one")
    driven.answering = BOOKED if call is BOOK else SEEN
    driven.call(call)
    assert sessions(driven)[-1] == "one"


@each("told", [plain(500), plain(404), cut])
def test_whatever_becomes_of_the_notification_the_session_stands(told):
    driven = Driven(opening(), SEEN)
    driven.notified = told
    assert (driven.call(VIEW).id, driven.methods, driven.waits) == ("t1", ONCE, [])


def test_a_handshake_that_failed_is_made_by_the_next_in_turn(ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "mcp.initialize")
    with sdk.Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        for call in at_once(*[ferry.mcp.ports] * MANY):
            call.value()
    assert ferry_sandbox.counters.requests == {"mcp.initialize": 2, "mcp.ports": MANY}
