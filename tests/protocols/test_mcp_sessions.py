"""The MCP session: opened once, renewed in time, named only where it should be."""

from dataclasses import replace

import pytest

import ferry_sdk as sdk
from ferry_sdk import FerryError, NotFoundError, RequestTimeoutError, UnexpectedResponseError
from ferry_sdk._engine.http import Headers, Reply
from ferry_sdk._protocols.mcp.session import RENEW_AFTER
from ferry_sdk.resources.mcp import McpGroup
from tests.backend.gathering import at_once
from tests.support.driven import Driven, in_turn, replied
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, PASSENGERS, SELECTION, TICKET, failure

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


# The handshake


def test_first_call_opens_a_session():
    driven = Driven(opening("session-7", "2025-06-18"), SEEN)
    assert driven.session.opened_at is None
    assert driven.call(VIEW).id == driven.call(VIEW).id == "t1"
    assert driven.methods == [*ONCE, "tools/call"]
    assert sessions(driven) == [None, *["session-7"] * 3]
    assert versions(driven) == [None, *["2025-06-18"] * 3]


@pytest.mark.parametrize("session", [None, ""])
def test_server_that_names_no_session_is_sent_none(session):
    driven = Driven(opening(session=session), SEEN)
    driven.call(VIEW)
    assert sessions(driven) == [None] * 3
    assert versions(driven)[-1] == driven.session.version == "2025-11-25"


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_server_chooses_a_known_version(version):
    driven = Driven(opening(version=version), SEEN)
    driven.call(VIEW)
    assert driven.session.version == version


@pytest.mark.parametrize("version", ["1.0", "2030-01-01", 7, ["2025-11-25"], {"a": 1}], ids=str)
def test_unknown_version_opens_no_session(version):
    driven = Driven(opening(version=version), SEEN)
    caught(UnexpectedResponseError, driven.call, VIEW)
    assert driven.session.opened_at is None


def test_session_id_must_be_a_header():
    with pytest.raises(UnexpectedResponseError, match="Mcp-Session-Id"):
        Driven(opening(session="one\x00"), SEEN).call(VIEW)


def test_session_is_renewed_in_time():
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


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(plain(400, "dead"), id="400"),
        pytest.param(plain(404, "dead"), id="404"),
        pytest.param(plain(405, "dead"), id="405"),
        pytest.param(plain(406, "dead"), id="406"),
        pytest.param(opening("dead", status=400), id="400 with a result"),
        pytest.param(refusal(400, "no", -32600, "dead"), id="invalid request"),
        pytest.param(replied(200, "dead", result={}), id="empty result"),
        pytest.param(plain(200, "dead", b"<html>"), id="HTML"),
        pytest.param(plain(202, "dead", b""), id="202"),
    ],
)
def test_server_without_a_handshake_is_called_bare(refused):
    driven = Driven(refused, SEEN)
    driven.call(VIEW)
    driven.now += 2 * RENEW_AFTER
    driven.call(VIEW)
    assert driven.methods == ["initialize", "tools/call", "tools/call"]
    assert sessions(driven) == versions(driven) == [None] * 3


def test_view_of_a_client_shares_its_session(both, ferry_sandbox):
    both.mcp.ports()
    both.with_options(language="fr").mcp.ports()
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1


# A session that is gone


@pytest.mark.parametrize(
    ("gone", "call", "answer"),
    [
        pytest.param(NOT_FOUND, VIEW, SEEN, id="read, not found"),
        pytest.param(MISSING, VIEW, SEEN, id="read, missing"),
        pytest.param(TERMINATED, VIEW, SEEN, id="read, terminated"),
        pytest.param(plain(404), VIEW, SEEN, id="read, 404"),
        pytest.param(NOT_FOUND, BOOK, BOOKED, id="write, not found"),
        pytest.param(MISSING, BOOK, BOOKED, id="write, missing"),
        pytest.param(TERMINATED, BOOK, BOOKED, id="write, terminated"),
        pytest.param(UNINITIALISED, BOOK, BOOKED, id="write, not initialized"),
        pytest.param(
            replied(404, **failure("SESSION_EXPIRED")),
            BOOK,
            BOOKED,
            id="write, a code that no tool has",
        ),
    ],
)
def test_lost_session_is_renewed(gone, call, answer):
    driven = Driven(two_openings(), in_turn(gone, answer))
    attempts = driven.raw(call).attempts
    assert driven.methods == [*ONCE, *ONCE]
    assert (sessions(driven), driven.waits) == ([None, "one", "one", None, "two", "two"], [])
    assert [attempt.problem is None for attempt in attempts] == [False, True]
    assert {attempt.operation for attempt in attempts} == {call.name}


def test_session_is_not_renewed_for_ever():
    driven = Driven(opening(), NOT_FOUND)
    error = caught(sdk.APIError, driven.call, BOOK)
    assert (driven.methods, error.outcome) == ([*ONCE, *ONCE], "rejected")
    assert error.message == "the session ended, nothing was done"


def test_failed_renewal_leaves_a_write_not_sent():
    driven = Driven(in_turn(opening(), slow), NOT_FOUND)
    assert caught(RequestTimeoutError, driven.call, BOOK).outcome == "not_sent"


@pytest.mark.parametrize(
    "handshake", [opening(session=None), plain(405)], ids=["no session", "no handshake"]
)
def test_404_without_a_session_is_no_lost_session(handshake):
    driven = Driven(handshake, plain(404))
    caught(NotFoundError, driven.call, VIEW)
    assert driven.methods.count("initialize") == driven.methods.count("tools/call") == 1


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(
            refusal(400, "Carrier session timed out while booking", -32000), id="of a carrier"
        ),
        pytest.param(refusal(404, "Carrier answered: no such sailing", -32000), id="no sailing"),
        pytest.param(refusal(404, "Session not found at the carrier", -32001), id="at a carrier"),
        pytest.param(refusal(404, "Session not found", -32603), id="internal error"),
        pytest.param(replied(404, **failure("NO_SUCH_SAILING")), id="error object"),
        pytest.param(plain(404), id="404"),
        pytest.param(plain(404, body=b""), id="404 without a body"),
    ],
)
def test_write_that_may_be_done_is_not_repeated(refused):
    driven = Driven(two_openings(), in_turn(refused, BOOKED))
    error = driven.error(FerryError, BOOK)
    assert driven.methods == ONCE
    assert len(error.attempts) == 1
    assert driven.call(BOOK).booking_id == "b1"  # whose session may well have been gone


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        pytest.param(failure("BOOKING_CREATE_ERROR"), sdk.BookingCreateError, id="error object"),
        pytest.param(
            {"error": {"code": -32603, "message": "", "data": failure("BOOKING_CREATE_ERROR")}},
            sdk.BookingCreateError,
            id="data of an error",
        ),
        pytest.param(
            {"error": {"code": -32601, "message": "Method not found"}},
            NotFoundError,
            id="unknown method",
        ),
    ],
)
def test_error_under_404_is_no_lost_session(members, kind):
    driven = Driven(opening(), replied(404, **members))
    assert (driven.error(kind, BOOK).outcome, driven.methods) == ("rejected", ONCE)


def test_result_under_404_is_no_lost_session():
    driven = Driven(opening(), replied(404, result={"structuredContent": BOOKING}))
    assert (driven.call(BOOK).booking_id, driven.methods) == ("b1", ONCE)


def test_server_may_begin_to_want_sessions():
    driven = Driven(in_turn(plain(405), opening("one")), in_turn(SEEN, MISSING, SEEN))
    driven.call(VIEW)
    driven.call(VIEW)
    assert (driven.session.id, sessions(driven)[-1]) == ("one", "one")


def test_attempt_that_lost_its_session_is_recorded():
    headers = Headers([("content-type", "application/json"), ("x-request-id", "req-OKONKWO")])
    gone = in_turn(lambda body: replace(NOT_FOUND(body), by_name=headers), BOOKED)
    first, second = Driven(two_openings(), gone).raw(BOOK).attempts
    assert (first.status_code, first.problem) == (404, "NotFoundError")
    assert (second.status_code, second.problem) == (200, None)
    assert first.request_id == "req-[hidden]"


@pytest.mark.parametrize("kind", ["session_expired", "session_required"])
def test_write_that_lost_its_session_is_done_once(both, ferry_sandbox, creation, kind):
    both.mcp.ports()
    ferry_sandbox.faults.add(kind, "mcp.create_booking")
    both.mcp.create_booking(**creation)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 2
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 2


# A handshake that fails

every_call = pytest.mark.parametrize("call", [VIEW, BOOK], ids=["read", "write"])
every_trouble = pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        pytest.param(slow, RequestTimeoutError, id="slow"),
        pytest.param(cut, sdk.ConnectionFailedError, id="cut"),
        pytest.param(plain(500), sdk.ServerError, id="500"),
        pytest.param(plain(502), sdk.ServerError, id="502"),
        pytest.param(plain(503), sdk.ServerError, id="503"),
        pytest.param(plain(429), sdk.RateLimitError, id="429"),
    ],
)


@every_trouble
def test_failed_handshake_is_repeated(trouble, kind):
    driven = Driven(in_turn(trouble, opening()), BOOKED)
    assert (driven.call(BOOK).booking_id, driven.methods) == ("b1", ["initialize", *ONCE])
    assert len(driven.waits) == 1


@every_trouble
def test_write_without_a_handshake_is_not_sent(trouble, kind):
    driven = Driven(trouble, BOOKED)
    error = driven.error(kind, BOOK)
    assert error.outcome == "not_sent"
    assert [attempt.sent for attempt in error.attempts] == [False, False, False]
    assert driven.methods == ["initialize"] * 3


def test_write_after_the_handshake_is_unknown():
    driven = Driven(opening(), cut)
    caught(sdk.OutcomeUnknownError, driven.call, BOOK)
    assert driven.methods == ONCE


@every_call
@pytest.mark.parametrize(
    ("status", "kind"), [(401, sdk.AuthenticationError), (403, sdk.PermissionDeniedError)]
)
def test_token_refused_at_the_handshake_ends_the_call(status, kind, call):
    refused = replied(status, "dead", error="invalid_token", error_description="Expired")
    driven = Driven(refused, SEEN)
    error = driven.error(kind, call)
    assert "Expired" in str(error)
    assert (error.outcome, driven.methods) == ("rejected", ["initialize"])


@every_call
@pytest.mark.parametrize("status", [401, 403])
def test_call_after_a_refused_handshake_opens_a_session(status, call):
    driven = Driven(replied(status, "dead", error="invalid_token"), SEEN)
    driven.error(FerryError, call)
    driven.opening = opening("one")
    driven.answering = BOOKED if call is BOOK else SEEN
    driven.call(call)
    assert sessions(driven)[-1] == "one"


@pytest.mark.parametrize("trouble", [plain(500), plain(404), cut], ids=["500", "404", "cut"])
def test_failed_notification_leaves_the_session_open(trouble):
    driven = Driven(opening(), SEEN)
    driven.notified = trouble
    assert (driven.call(VIEW).id, driven.methods, driven.waits) == ("t1", ONCE, [])


def test_failed_handshake_is_made_by_the_next(ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "mcp.initialize")
    with sdk.Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        for call in at_once(*[ferry.mcp.ports] * MANY):
            call.value()
    assert ferry_sandbox.counters.requests == {"mcp.initialize": 2, "mcp.ports": MANY}
