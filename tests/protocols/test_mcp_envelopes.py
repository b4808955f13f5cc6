"""Every envelope that servers put a reply in: what is read, what is refused, what is unknown."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from ferry_sdk import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    BookingCreateError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TicketNotFoundError,
    UnexpectedResponseError,
)
from tests.support.mcp_samples import (
    BOOKING,
    EVERY_CALL,
    READS,
    TICKET,
    availability,
    book,
    failure,
    search,
    view,
)
from tests.support.mcp_server import Scripted, carried, reply
from tests.support.tables import each
from tests.support.tiers import LONG

ONE, TWO = availability("a1"), availability("a2")
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"


@pytest.fixture
def clients(mostly_sync_clients):
    return mostly_sync_clients


@pytest.fixture(params=["json", pytest.param("sse", marks=LONG)])
def carrier(request):
    return request.param


def text(value):
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


def content(*blocks, **members):
    return {"content": list(blocks), **members}


def embedded_text(value, **rest):
    return {"type": "resource", "resource": {"uri": "resource://service/x", **(value or rest)}}


def base64_blob(value):
    return base64.b64encode(json.dumps(value).encode()).decode()


def halves(value):
    whole = json.dumps(value)
    return text(whole[:40]), text(whole[40:])


OTHER_BLOCKS = (
    {"type": "image", "data": "R0lGODlhAQABAAAAACw=", "mimeType": "image/gif"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "resource://service/ports", "name": "ports"},
    {"type": "hologram", "depth": 3},
    "no block at all",
)


# The result of a tool that answers a list


@each(
    ("result", "names"),
    [
        pytest.param(content(structuredContent={"result": []}), [], id="R7 none"),
        pytest.param(content(structuredContent={"result": [ONE]}), ["a1"], id="R7 one"),
        pytest.param(content(structuredContent={"result": [ONE, TWO]}), ["a1", "a2"], id="R7 two"),
        pytest.param(
            content(text("…"), structuredContent={"result": [ONE]}), ["a1"], id="R7 before texts"
        ),
        pytest.param(
            content(structuredContent={"result": json.dumps([ONE, TWO])}),
            ["a1", "a2"],
            id="R7 JSON text",
        ),
        pytest.param(content(structuredContent=[]), [], id="R8 none"),
        pytest.param(content(structuredContent=[ONE, TWO]), ["a1", "a2"], id="R8 two"),
        pytest.param(
            content(structuredContent=[ONE], resultType="complete"), ["a1"], id="R8 complete"
        ),
        pytest.param(content(text([])), [], id="R9 none"),
        pytest.param(content(text([ONE, TWO])), ["a1", "a2"], id="R9 two"),
        pytest.param(content(text(ONE)), ["a1"], id="R9 an object alone"),
        pytest.param(content(text({"result": [ONE]})), ["a1"], id="R9 wrapped"),
        pytest.param(content(text(ONE), text(TWO)), ["a1", "a2"], id="R10"),
        pytest.param(content(text(ONE), text(TWO), isError=False), ["a1", "a2"], id="R10 no error"),
        pytest.param(content(*halves([ONE, TWO])), ["a1", "a2"], id="R11"),
        pytest.param(content(), [], id="R12"),
        pytest.param(content(structuredContent=None), [], id="R12 null"),
        pytest.param(content(embedded_text({"text": json.dumps([ONE])})), ["a1"], id="R13 text"),
        pytest.param(content(embedded_text({"blob": base64_blob([ONE])})), ["a1"], id="R13 blob"),
        pytest.param([ONE, TWO], ["a1", "a2"], id="R14 list"),
        pytest.param([], [], id="R14 empty list"),
        pytest.param(ONE, ["a1"], id="R14 one record"),
        pytest.param({"availabilities": [ONE, TWO]}, ["a1", "a2"], id="R14 a member"),
        pytest.param(content(text([ONE]), *OTHER_BLOCKS), ["a1"], id="R15 after"),
        pytest.param(content(*OTHER_BLOCKS, text([ONE])), ["a1"], id="R15 before"),
    ],
)
def test_a_list_is_read_out_of_every_envelope(clients, carrier, result, names):
    server = Scripted(carried(carrier, result=result))
    assert [each.id for each in search(server.client(clients))] == names
    assert server.methods == ["initialize", "tools/call"]


# The result of a tool that answers one record


@each(
    "envelope",
    [
        pytest.param(lambda v: content(structuredContent=v), id="R7"),
        pytest.param(lambda v: content(structuredContent={"result": v}), id="R7 result"),
        pytest.param(
            lambda v: content(text("Here it is."), structuredContent=v), id="R7 with prose"
        ),
        pytest.param(lambda v: {"structuredContent": v}, id="R7 no content"),
        pytest.param(lambda v: content(text(v)), id="R9"),
        pytest.param(lambda v: content(text(json.dumps(v, indent=2))), id="R9 indented"),
        pytest.param(lambda v: content(*halves(v)), id="R11"),
        pytest.param(lambda v: content(embedded_text({"text": json.dumps(v)})), id="R13 text"),
        pytest.param(lambda v: content(embedded_text({"blob": base64_blob(v)})), id="R13 blob"),
        pytest.param(lambda v: v, id="R14"),
        pytest.param(lambda v: content(*OTHER_BLOCKS, text(v)), id="R15"),
        pytest.param(lambda v: content(text(v), resultType="complete"), id="complete"),
        pytest.param(lambda v: content(text(v), _meta={"a": SEPARATORS}), id="separators"),
    ],
)
@each(("call", "value", "name"), [(view, TICKET, "id"), (book, BOOKING, "booking_id")])
def test_a_record_is_read_out_of_every_envelope(clients, carrier, envelope, call, value, name):
    server = Scripted(carried(carrier, result=envelope(value)))
    assert getattr(call(server.client(clients)), name) == value[name]


def test_separators_of_unicode_in_a_value_arrive_unchanged(clients, carrier):
    result = content(text(json.dumps([availability(ship_name=SEPARATORS)], ensure_ascii=False)))
    (sailing,) = search(Scripted(carried(carrier, result=result)).client(clients))
    assert sailing.ship_name == SEPARATORS


@each(
    "result",
    [
        pytest.param(content(text(ONE), resultType="input_required"), id="R1"),
        pytest.param({"resultType": "input_required", "inputRequests": {}}, id="R1 no content"),
        pytest.param(content(text(ONE), resultType="partial"), id="R2"),
        pytest.param(content(text(ONE), resultType=7), id="R2 a number"),
        pytest.param(content(text("Done."), text("See the booking.")), id="R11 prose"),
        pytest.param(content(text("Done.")), id="R9 prose"),
        pytest.param(content(*OTHER_BLOCKS), id="R15 alone"),
        pytest.param(None, id="R14 null"),
        pytest.param("Done.", id="R14 text"),
        pytest.param(7, id="R14 number"),
        pytest.param({}, id="R14 empty object"),
        pytest.param(content(text(TICKET["passengers"])), id="R9 a list for a record"),
    ],
)
def test_a_result_without_the_record_is_unexpected_and_for_a_write_unknown(
    clients, carrier, result
):
    server = Scripted(carried(carrier, result=result))
    with pytest.raises(UnexpectedResponseError):
        view(server.client(clients))
    assert server.methods == ["initialize", *["tools/call"] * 3]
    server = Scripted(carried(carrier, result=result))
    with pytest.raises(OutcomeUnknownError) as caught:
        book(server.client(clients))
    assert server.methods == ["initialize", "tools/call"]
    assert caught.value.outcome == "unknown"
    assert caught.value.request.path == "/mcp tools/call create_booking"


def test_empty_content_is_no_record(clients, carrier):
    server = Scripted(carried(carrier, result=content()))
    with pytest.raises(UnexpectedResponseError, match="empty"):
        view(server.client(clients, max_retries=0))


@each("words", ["null", "Nothing sails.", "7"])
def test_words_are_no_empty_search(clients, carrier, words):
    server = Scripted(carried(carrier, result=content(text(words))))
    with pytest.raises(UnexpectedResponseError):
        search(server.client(clients, max_retries=0))


def test_a_question_of_the_tool_is_named_as_one(clients, carrier):
    result = {"resultType": "input_required", "inputRequests": {}}
    with pytest.raises(UnexpectedResponseError, match="asks for more input"):
        view(Scripted(carried(carrier, result=result)).client(clients, max_retries=0))


@each(
    ("result", "value"),
    [
        (content(text("Done."), text("See the booking.")), "Done.See the booking."),
        (content(text("42")), 42),
        (content(structuredContent={"result": 42}), 42),
        (content(structuredContent={"result": "Done."}), "Done."),
        (content(structuredContent={"result": 1, "more": 2}), {"result": 1, "more": 2}),
        (content(text({"a": 1}), text({"a": 2})), [{"a": 1}, {"a": 2}]),
        ({"anything": 1}, {"anything": 1}),
        ([1, 2], [1, 2]),
        ({"error": True}, {"error": True}),
        ({"error": "no", "code": "X"}, {"error": "no", "code": "X"}),
        (content(structuredContent={"error": True, "code": 7}), {"error": True, "code": 7}),
    ],
)
def test_any_tool_gives_its_value(clients, carrier, result, value):
    server = Scripted(carried(carrier, result=result))
    assert server.client(clients).mcp.call_tool("anything", {}) == value


# A tool that failed


def error_in_every_place(error):
    """The interface's error object in every place it may be in."""
    words = json.dumps(error)
    return [
        pytest.param({"result": error}, id="R3"),
        pytest.param(
            {"result": content(text(error), structuredContent=error, isError=True)}, id="R4"
        ),
        pytest.param({"result": content(structuredContent=error, isError=True)}, id="R4 structure"),
        pytest.param({"result": content(text(error), isError=True)}, id="R4 text"),
        pytest.param({"result": content(text("Oh."), text(error), isError=True)}, id="R4 later"),
        pytest.param(
            {"result": content(text(f"Error executing tool view_ticket: {words}"), isError=True)},
            id="R4 after words",
        ),
        pytest.param(
            {"result": content(text(error), structuredContent=error, isError=False)}, id="R5"
        ),
        pytest.param({"result": content(structuredContent=error)}, id="R5 structure"),
        pytest.param({"result": content(structuredContent={"result": error})}, id="R5 wrapped"),
        pytest.param({"result": content(text(error))}, id="R5 text"),
        pytest.param({"result": content(embedded_text({"text": words}))}, id="R5 resource"),
        pytest.param({"error": {"code": -32603, "message": "", "data": error}}, id="R6"),
        pytest.param({"error": {"code": -32000, "message": "", "data": error}}, id="R6 other"),
        pytest.param(error, id="T8 beside the envelope"),
    ]


@each("members", error_in_every_place(failure()))
def test_a_failure_is_found_wherever_it_hides(clients, carrier, members):
    server = Scripted(carried(carrier, **members))
    with pytest.raises(TicketNotFoundError) as caught:
        view(server.client(clients))
    error = caught.value
    assert (error.code, error.message) == ("TICKET_NOT_FOUND", "No such ticket")
    assert (error.status_code, error.outcome) == (200, "rejected")
    assert server.methods == ["initialize", "tools/call"]


@each("members", error_in_every_place(failure("AVAILABILITY_ERROR", "Nothing sails")))
def test_a_failed_search_is_no_empty_list(clients, carrier, members):
    with pytest.raises(AvailabilityError, match="Nothing sails"):
        search(Scripted(carried(carrier, **members)).client(clients))


@each("members", error_in_every_place(failure("BOOKING_CREATE_ERROR", "Sold out")))
def test_a_write_that_was_refused_is_known_to_be(clients, carrier, members):
    server = Scripted(carried(carrier, **members))
    with pytest.raises(BookingCreateError, match="Sold out") as caught:
        book(server.client(clients))
    assert caught.value.outcome == "rejected"
    assert server.methods == ["initialize", "tools/call"]


def test_an_error_without_a_message_says_its_code(clients, carrier):
    server = Scripted(carried(carrier, result={"error": True, "code": "TICKET_VIEW_ERROR"}))
    with pytest.raises(APIError) as caught:
        view(server.client(clients))
    assert caught.value.message == "TICKET_VIEW_ERROR"


@each(
    ("result", "message"),
    [
        (content(text("Error executing tool view_ticket: no luck"), isError=True), "no luck"),
        (content(text("No"), text("luck"), isError=True), "No luck"),
        (content(isError=True), "the tool failed"),
        (content(structuredContent={"reason": "no luck"}, isError=True), "the tool failed"),
    ],
)
def test_a_failure_without_a_code_is_told_in_its_words(clients, carrier, result, message):
    server = Scripted(carried(carrier, result=result))
    with pytest.raises(APIError) as caught:
        view(server.client(clients))
    assert (caught.value.message, caught.value.code) == (message, None)
    with pytest.raises(OutcomeUnknownError):
        book(Scripted(carried(carrier, result=result)).client(clients))


@each(
    ("code", "status", "error", "is_refused"),
    [
        (-32601, 200, NotFoundError, True),
        (-32002, 200, NotFoundError, True),
        (-32602, 200, APIError, True),
        (-32600, 400, APIError, True),
        (-32700, 400, APIError, True),
        (-32603, 200, ServerError, False),
        (-32603, 400, ServerError, False),
        (-32603, 500, ServerError, False),
        (-32000, 200, APIError, False),
        (0, 200, APIError, False),
        ("odd", 200, APIError, False),
    ],
)
def test_a_json_rpc_error_is_a_refusal_only_where_its_code_says_so(
    clients, carrier, code, status, error, is_refused
):
    answer = carried(carrier, status, error={"code": code, "message": "Not so"})
    with pytest.raises(error) as caught:
        view(Scripted(answer).client(clients, max_retries=0))
    assert caught.value.message == "Not so"
    server = Scripted(answer)
    with pytest.raises(error if is_refused else OutcomeUnknownError) as caught:
        book(server.client(clients))
    assert caught.value.outcome == ("rejected" if is_refused else "unknown")
    assert server.methods == ["initialize", "tools/call"]


NOT_SO = {"code": -32602, "message": "Not so"}


def test_a_reply_with_a_result_and_an_error_is_neither(clients, carrier):
    both = carried(carrier, result=content(structuredContent=TICKET), error=NOT_SO)
    with pytest.raises(UnexpectedResponseError, match="both a result and an error"):
        view(Scripted(both).client(clients))
    server = Scripted(carried(carrier, result=content(structuredContent=BOOKING), error=NOT_SO))
    with pytest.raises(OutcomeUnknownError) as caught:
        book(server.client(clients))
    assert caught.value.outcome == "unknown"
    assert server.methods == ["initialize", "tools/call"]


def test_an_error_beside_a_result_that_is_null_is_an_error(clients, carrier):
    with pytest.raises(BadRequestError) as caught:
        book(Scripted(carried(carrier, result=None, error=NOT_SO)).client(clients))
    assert caught.value.outcome == "rejected"


@each("none", [None, {}, False])
def test_an_empty_error_beside_a_result_is_none(clients, carrier, none):
    answer = carried(carrier, result=content(structuredContent=TICKET), error=none)
    assert view(Scripted(answer).client(clients)).id == TICKET["id"]


@each("error_id", [None, "server-error", 7])
def test_an_error_may_bear_any_id(clients, carrier, error_id):
    answer = carried(carrier, id=error_id, error={"code": -32602, "message": "Not so"})
    with pytest.raises(APIError) as caught:
        view(Scripted(answer).client(clients))
    assert caught.value.message == "Not so"


# The reply that carries it


@each("status", [200, 201, 400, 404, 406, 418, 500, 503])
def test_a_result_counts_at_any_status(clients, carrier, status):
    server = Scripted(carried(carrier, status, result=content(structuredContent=BOOKING)))
    assert book(server.client(clients)).booking_id == "b1"
    assert server.methods == ["initialize", "tools/call"]


ACCESS = [
    (401, AuthenticationError),
    (403, PermissionDeniedError),
]
BODIES = [
    pytest.param(b'{"error":"invalid_token","error_description":"x"}', "application/json", id="o"),
    pytest.param(b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', "", id="rpc"),
    pytest.param(b"<html>", "text/html", id="page"),
    pytest.param(b"", "", id="empty"),
    pytest.param(b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n', "text/event-stream", id="sse"),
]


@each(("status", "error"), ACCESS)
@each(("body", "kind"), BODIES)
@each("call", EVERY_CALL)
def test_a_token_that_is_refused_is_not_tried_again(clients, status, error, body, kind, call):
    server = Scripted(reply(body, status, kind, **{"mcp-session-id": "dead"}))
    with pytest.raises(error) as caught:
        call(server.client(clients))
    assert caught.value.outcome == "rejected"
    assert server.methods == ["initialize", "tools/call"]


@each(("status", "error"), ACCESS)
@each(
    "members",
    [
        {"result": content(structuredContent=BOOKING)},
        {"error": {"code": -32603, "message": "x"}},
        {"error": {"code": -32601, "message": "x"}},
    ],
    ids=["result", "-32603", "-32601"],
)
def test_a_refused_token_comes_before_whatever_is_said(clients, carrier, status, error, members):
    server = Scripted(carried(carrier, status, **members))
    with pytest.raises(error) as caught:
        book(server.client(clients))
    assert caught.value.outcome == "rejected"
    assert server.methods == ["initialize", "tools/call"]


@each("status", [406, 415])
@each("call", EVERY_CALL)
def test_what_is_not_acceptable_is_not_tried_again(clients, status, call):
    server = Scripted(reply(b"Not Acceptable", status, "text/plain"))
    with pytest.raises(APIError) as caught:
        call(server.client(clients))
    assert (caught.value.status_code, caught.value.outcome) == (status, "rejected")
    assert server.methods == ["initialize", "tools/call"]


def test_a_batch_of_one_is_its_message(clients):
    def batch(message):
        whole = carried("json", result=content(structuredContent=BOOKING))(message)
        return httpx.Response(200, json=[whole.json()])

    assert book(Scripted(batch).client(clients)).booking_id == "b1"


def test_in_a_batch_the_reply_is_found_beside_notifications(clients):
    def batch(message):
        whole = carried("json", result=content(structuredContent=BOOKING))(message)
        return httpx.Response(200, json=[{"jsonrpc": "2.0", "method": "x"}, whole.json()])

    assert book(Scripted(batch).client(clients)).booking_id == "b1"


@each("status", [200, 400, 404, 409, 422])
def test_an_error_object_without_an_envelope_is_the_error(clients, status):
    body = json.dumps(failure("BOOKING_CREATE_ERROR", "Sold out")).encode()
    server = Scripted(reply(body, status))
    with pytest.raises(BookingCreateError, match="Sold out") as caught:
        book(server.client(clients))
    assert (caught.value.outcome, caught.value.status_code) == ("rejected", status)
    assert server.methods == ["initialize", "tools/call"]


NO_REPLY = [
    pytest.param(reply(b"", 202), id="202"),
    pytest.param(reply(b"", 204), id="204"),
    pytest.param(reply(b"", 200), id="empty"),
    pytest.param(reply(b"<html>", 200, "text/html"), id="page"),
    pytest.param(reply(b"OK", 200, "text/plain"), id="text"),
    pytest.param(reply(b'{"jsonrpc":"2.0","id":1,"res', 200), id="cut JSON"),
    pytest.param(reply(b"\xff\xfe", 200), id="not UTF-8"),
    pytest.param(reply(b"null", 200), id="null"),
    pytest.param(reply(b"[]", 200), id="empty batch"),
    pytest.param(reply(b'{"jsonrpc":"2.0","id":1}', 200), id="neither result nor error"),
    pytest.param(reply(b'{"jsonrpc":"2.0","id":1,"error":"no"}', 200), id="an error of words"),
    pytest.param(reply(b"", 200, "text/event-stream"), id="empty stream"),
    pytest.param(reply(b": bye\n\n", 200, "text/event-stream"), id="stream without a reply"),
    pytest.param(reply(b'data: {"jsonrpc"\n\n', 200, "text/event-stream"), id="cut stream"),
]


@each("answer", NO_REPLY)
@each("call", READS)
def test_a_read_without_a_reply_is_tried_again(clients, answer, call):
    good = content(structuredContent={"result": [ONE]} if call is search else TICKET)
    server = Scripted(answer, answer, carried("json", result=good))
    assert call(server.client(clients))
    assert server.methods == ["initialize", *["tools/call"] * 3]
    with pytest.raises(UnexpectedResponseError):
        call(Scripted(answer).client(clients, max_retries=0))


@each("answer", NO_REPLY)
def test_a_write_without_a_reply_is_unknown_and_not_tried_again(clients, answer):
    server = Scripted(answer)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(server.client(clients))
    assert isinstance(caught.value.__cause__, UnexpectedResponseError)
    assert server.methods == ["initialize", "tools/call"]


def raise_error(error):
    def answer(_):
        raise error

    return answer


@each(
    "error",
    [
        httpx.ReadTimeout("slow"),
        httpx.WriteTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.WriteError("reset"),
        httpx.RemoteProtocolError("cut"),
        ConnectionResetError("reset"),
    ],
)
def test_a_break_after_sending_repeats_reads_alone(clients, error):
    server = Scripted(raise_error(error), carried("json", result=content(structuredContent=TICKET)))
    assert view(server.client(clients)).id == "t1"
    server = Scripted(
        raise_error(error), carried("json", result=content(structuredContent=BOOKING))
    )
    with pytest.raises(OutcomeUnknownError):
        book(server.client(clients))
    assert server.methods == ["initialize", "tools/call"]


@each(
    "error",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")],
)
def test_what_was_not_sent_is_sent_again_even_a_write(clients, error):
    server = Scripted(
        raise_error(error), carried("json", result=content(structuredContent=BOOKING))
    )
    assert book(server.client(clients)).booking_id == "b1"
    assert server.methods == ["initialize", "tools/call", "tools/call"]


@each("status", [408, 500, 502, 503, 504])
@each("body", [b"", b"<html>", b'{"error":{"message":"x"}}'])
def test_a_server_error_repeats_reads_alone(clients, status, body):
    answer = reply(body, status, "text/html")
    server = Scripted(answer, carried("json", result=content(structuredContent=TICKET)))
    assert view(server.client(clients)).id == "t1"
    server = Scripted(answer)
    with pytest.raises(OutcomeUnknownError):
        book(server.client(clients))
    assert server.methods == ["initialize", "tools/call"]


def test_a_server_error_says_how_long_to_wait(clients):
    answer = reply(b"", 503, **{"retry-after": "61"})
    with pytest.raises(ServerError) as caught:
        view(Scripted(answer).client(clients))
    assert caught.value.retry_after == 61
    assert len(caught.value.attempts) == 1


@each("call", EVERY_CALL)
def test_too_many_requests_is_a_refusal_and_tried_again(clients, call):
    good = {search: {"result": [ONE]}, view: TICKET, book: BOOKING}[call]
    answer = reply(b"slow down", 429, "text/plain", **{"retry-after": "0"})
    server = Scripted(answer, carried("json", result=content(structuredContent=good)))
    assert call(server.client(clients))
    assert server.methods == ["initialize", "tools/call", "tools/call"]
    with pytest.raises(RateLimitError) as caught:
        call(Scripted(answer).client(clients, max_retries=0))
    assert caught.value.outcome == "rejected"


@each("status", [301, 302, 303, 307, 308])
@each("call", EVERY_CALL)
def test_a_redirect_is_not_followed(clients, status, call):
    server = Scripted(reply(b"", status, location="https://elsewhere.test/mcp"))
    with pytest.raises(UnexpectedResponseError, match="redirect"):
        call(server.client(clients))
    assert server.methods == ["initialize", "tools/call"]


# Resources


def contents(*items):
    return {"contents": list(items)}


PORTS = [{"code": "FRMRS", "name": "Marseille"}, {"code": "TNLGN", "name": "Tunis"}]
URI = "resource://service/ports"


@each(
    ("result", "count"),
    [
        pytest.param(
            contents({"uri": URI, "mimeType": "application/json", "text": json.dumps(PORTS)}),
            2,
            id="text",
        ),
        pytest.param(contents({"uri": URI, "text": json.dumps(PORTS)}), 2, id="no type"),
        pytest.param(
            contents({"uri": URI, "mimeType": "text/plain", "text": json.dumps(PORTS)}),
            2,
            id="plain type",
        ),
        pytest.param(contents({"text": json.dumps(PORTS)}), 2, id="no uri"),
        pytest.param(contents({"uri": URI, "blob": base64_blob(PORTS)}), 2, id="blob"),
        pytest.param(
            contents({"text": json.dumps(PORTS[:1])}, {"text": json.dumps(PORTS[1:])}), 2, id="two"
        ),
        pytest.param(
            contents({"text": json.dumps(PORTS[0])}, {"text": json.dumps(PORTS[1])}),
            2,
            id="two objects",
        ),
        pytest.param(contents({"text": json.dumps({"ports": PORTS})}), 2, id="under its name"),
        pytest.param(contents({"text": json.dumps(PORTS[0])}), 1, id="one object"),
        pytest.param(contents({"text": "[]"}), 0, id="an empty list"),
        pytest.param(contents(), 0, id="no contents"),
        pytest.param(PORTS, 2, id="bare list"),
        pytest.param({"ports": PORTS}, 2, id="bare object"),
        pytest.param(
            {**contents({"text": json.dumps(PORTS)}), "resultType": "complete", "ttlMs": 1},
            2,
            id="as in 2026-07-28",
        ),
    ],
)
def test_a_catalogue_is_read_out_of_every_envelope(clients, carrier, result, count):
    ports = Scripted(carried(carrier, result=result)).client(clients).mcp.ports()
    assert [port.code for port in ports] == [port["code"] for port in PORTS][:count]


@each(
    "item",
    [{}, {"blob": "!"}, {"blob": base64.b64encode(b"\xff").decode()}, {"text": 7}, "x", None],
)
def test_a_content_that_cannot_be_read_is_unexpected(clients, carrier, item):
    server = Scripted(carried(carrier, result=contents(item)))
    with pytest.raises(UnexpectedResponseError):
        server.client(clients, max_retries=0).mcp.ports()


def test_text_that_is_no_json_is_a_resources_text(clients, carrier):
    client = Scripted(carried(carrier, result=contents({"text": "Hello"}))).client(clients)
    assert client.mcp.read_resource(URI) == "Hello"
    with pytest.raises(UnexpectedResponseError):
        client.with_options(max_retries=0).mcp.ports()


@each("code", [-32602, -32002, 0, -32601])
def test_an_unknown_resource_is_not_found(clients, carrier, code):
    error = {"code": code, "message": "Unknown resource", "data": {"uri": URI}}
    server = Scripted(carried(carrier, error=error))
    with pytest.raises(NotFoundError, match="Unknown resource"):
        server.client(clients).mcp.read_resource(URI)
    assert server.methods == ["initialize", "resources/read"]


@each("result", [failure("X", "no"), contents({"text": json.dumps(failure())})])
def test_an_error_object_is_no_catalogue(clients, carrier, result):
    with pytest.raises(APIError):
        Scripted(carried(carrier, result=result)).client(clients).mcp.ports()


# Listings


def test_pages_are_one_list(clients, carrier):
    first = carried(carrier, result={"tools": [{"name": "one"}], "nextCursor": "more"})
    last = carried(carrier, result={"tools": [{"name": "two"}]})
    server = Scripted(first, last)
    assert [tool.name for tool in server.client(clients).mcp.list_tools()] == ["one", "two"]
    cursors = [json.loads(each.content)["params"].get("cursor") for each in server.requests[-2:]]
    assert cursors == [None, "more"]


def test_pages_that_go_round_end(clients, carrier):
    server = Scripted(carried(carrier, result={"tools": [{"name": "one"}], "nextCursor": "more"}))
    assert len(server.client(clients).mcp.list_tools()) == 2


def test_a_server_that_lists_nothing_says_so(clients, carrier):
    server = Scripted(carried(carrier, error={"code": -32601, "message": "Method not found"}))
    with pytest.raises(NotFoundError):
        server.client(clients).mcp.list_resources()
