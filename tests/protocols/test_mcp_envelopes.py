"""Every envelope that servers put a reply in: what is read, what is refused, what is unknown."""

import base64
import json

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import APIError, NotFoundError, OutcomeUnknownError, UnexpectedResponseError
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, TICKET, availability, book, failure, search, view
from tests.support.mcp_server import Scripted, carried, reply
from tests.support.tiers import LONG

ONE = availability("a1")
TWO = availability("a2")
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"
NAMED_ODDLY = availability("odd", ship_name=SEPARATORS)
ONCE = ["initialize", "tools/call"]


@pytest.fixture(params=["json", pytest.param("sse", marks=LONG)])
def carrier(request):
    """How a message is sent: as JSON, or as an event stream."""
    return request.param


def text(value):
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


def content(*blocks, **members):
    return {"content": list(blocks), **members}


def structured(value, **members):
    return {"content": [], "structuredContent": value, **members}


def embedded(**resource):
    return {"type": "resource", "resource": {"uri": "resource://service/x", **resource}}


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


EMPTY_LISTS = {
    "wrapped": structured({"result": []}),
    "structured": structured([]),
    "null": structured(None),
    "text": content(text([])),
    "no content": content(),
    "bare": [],
}
LISTS_OF_ONE = {
    "wrapped": structured({"result": [ONE]}),
    "wrapped beside a text": content(text("…"), structuredContent={"result": [ONE]}),
    "structured": structured([ONE], resultType="complete"),
    "record in a text": content(text(ONE)),
    "wrapped in a text": content(text({"result": [ONE]})),
    "embedded text": content(embedded(text=json.dumps([ONE]))),
    "embedded blob": content(embedded(blob=base64_blob([ONE]))),
    "bare record": ONE,
    "before other blocks": content(text([ONE]), *OTHER_BLOCKS),
    "after other blocks": content(*OTHER_BLOCKS, text([ONE])),
}
LISTS_OF_TWO = {
    "wrapped": structured({"result": [ONE, TWO]}),
    "JSON in a wrapper": structured({"result": json.dumps([ONE, TWO])}),
    "structured": structured([ONE, TWO]),
    "text": content(text([ONE, TWO])),
    "texts": content(text(ONE), text(TWO)),
    "texts without an error": content(text(ONE), text(TWO), isError=False),
    "text in halves": content(*halves([ONE, TWO])),
    "bare": [ONE, TWO],
    "member": {"availabilities": [ONE, TWO]},
}


def ids_of_search(clients, carrier, result):
    server = Scripted(carried(carrier, result=result))
    sailings = search(server.client(clients))
    assert server.methods == ONCE
    return [sailing.id for sailing in sailings]


@pytest.mark.parametrize("result", EMPTY_LISTS.values(), ids=EMPTY_LISTS)
def test_empty_list_is_read(clients, carrier, result):
    assert ids_of_search(clients, carrier, result) == []


@pytest.mark.parametrize("result", LISTS_OF_ONE.values(), ids=LISTS_OF_ONE)
def test_list_of_one_is_read(clients, carrier, result):
    assert ids_of_search(clients, carrier, result) == ["a1"]


@pytest.mark.parametrize("result", LISTS_OF_TWO.values(), ids=LISTS_OF_TWO)
def test_list_of_two_is_read(clients, carrier, result):
    assert ids_of_search(clients, carrier, result) == ["a1", "a2"]


def test_line_separators_stay_in_a_text(clients, carrier):
    result = content(text(json.dumps([NAMED_ODDLY], ensure_ascii=False)))
    server = Scripted(carried(carrier, result=result))
    (sailing,) = search(server.client(clients))
    assert (sailing.id, sailing.ship_name) == ("odd", SEPARATORS)


ENVELOPES = {
    "structured": structured,
    "wrapped": lambda value: structured({"result": value}),
    "beside a text": lambda value: content(text("Here it is."), structuredContent=value),
    "structured alone": lambda value: {"structuredContent": value},
    "text": lambda value: content(text(value)),
    "indented text": lambda value: content(text(json.dumps(value, indent=2))),
    "text in halves": lambda value: content(*halves(value)),
    "embedded text": lambda value: content(embedded(text=json.dumps(value))),
    "embedded blob": lambda value: content(embedded(blob=base64_blob(value))),
    "bare": lambda value: value,
    "after other blocks": lambda value: content(*OTHER_BLOCKS, text(value)),
    "complete": lambda value: content(text(value), resultType="complete"),
    "with metadata": lambda value: content(text(value), _meta={"a": SEPARATORS}),
}


@pytest.mark.parametrize("envelope", ENVELOPES.values(), ids=ENVELOPES)
@pytest.mark.parametrize(
    ("call", "value", "id_member"),
    [(view, TICKET, "id"), (book, BOOKING, "booking_id")],
    ids=["ticket", "booking"],
)
def test_record_is_read(clients, carrier, envelope, call, value, id_member):
    server = Scripted(carried(carrier, result=envelope(value)))
    assert getattr(call(server.client(clients)), id_member) == value[id_member]


WITHOUT_A_RECORD = {
    "input required": content(text(ONE), resultType="input_required"),
    "partial": content(text(ONE), resultType="partial"),
    "type is a number": content(text(ONE), resultType=7),
    "input requests": {"resultType": "input_required", "inputRequests": {}},
    "two texts": content(text("Done."), text("See the booking.")),
    "a text": content(text("Done.")),
    "other blocks": content(*OTHER_BLOCKS),
    "another value": content(text(TICKET["passengers"])),
    "null": None,
    "bare text": "Done.",
    "bare number": 7,
    "empty object": {},
}
every_without_a_record = pytest.mark.parametrize(
    "result", WITHOUT_A_RECORD.values(), ids=WITHOUT_A_RECORD
)


@every_without_a_record
def test_read_without_a_record_is_repeated(clients, carrier, result):
    server = Scripted(carried(carrier, result=result))
    caught(UnexpectedResponseError, view, server.client(clients))
    assert server.methods == ["initialize", *["tools/call"] * 3]


@every_without_a_record
def test_write_without_a_record_is_unknown(clients, carrier, result):
    server = Scripted(carried(carrier, result=result))
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert server.methods == ONCE
    assert (error.outcome, error.request.path) == ("unknown", "/mcp tools/call create_booking")


@pytest.mark.parametrize(
    ("result", "value"),
    [
        pytest.param(
            content(text("Done."), text("See the booking.")),
            "Done.See the booking.",
            id="two texts",
        ),
        pytest.param(content(text("42")), 42, id="number in a text"),
        pytest.param(structured({"result": 42}), 42, id="wrapped number"),
        pytest.param(structured({"result": "Done."}), "Done.", id="wrapped text"),
        pytest.param(
            content(text({"a": 1}), text({"a": 2})), [{"a": 1}, {"a": 2}], id="two objects"
        ),
        pytest.param(
            structured({"error": True, "code": 7}), {"error": True, "code": 7}, id="odd code"
        ),
        pytest.param(
            structured({"result": 1, "more": 2}), {"result": 1, "more": 2}, id="more than a result"
        ),
        pytest.param({"anything": 1}, {"anything": 1}, id="bare object"),
        pytest.param([1, 2], [1, 2], id="bare list"),
        pytest.param({"error": True}, {"error": True}, id="error without a code"),
        pytest.param({"error": "n", "code": "X"}, {"error": "n", "code": "X"}, id="error is text"),
    ],
)
def test_any_tool_gives_its_value(clients, carrier, result, value):
    server = Scripted(carried(carrier, result=result))
    assert server.client(clients).mcp.call_tool("anything", {}) == value


@pytest.mark.parametrize(
    ("call", "result", "message"),
    [
        pytest.param(view, content(), "empty", id="empty"),
        pytest.param(
            view,
            {"resultType": "input_required", "inputRequests": {}},
            "asks for more input",
            id="input required",
        ),
        pytest.param(search, content(text("null")), "", id="null"),
        pytest.param(search, content(text("Nothing sails.")), "", id="prose"),
        pytest.param(search, content(text("7")), "", id="number"),
    ],
)
def test_unexpected_result_says_why(clients, carrier, call, result, message):
    server = Scripted(carried(carrier, result=result))
    error = caught(UnexpectedResponseError, call, server.client(clients, max_retries=0))
    assert message in str(error)


# Errors of tools


PLACES = {
    "result": lambda error: {"result": error},
    "structured beside a text": lambda error: {
        "result": content(text(error), structuredContent=error, isError=True)
    },
    "structured": lambda error: {"result": structured(error, isError=True)},
    "text": lambda error: {"result": content(text(error), isError=True)},
    "second text": lambda error: {"result": content(text("Oh."), text(error), isError=True)},
    "within words": lambda error: {
        "result": content(
            text(f"Error executing tool view_ticket: {json.dumps(error)}"), isError=True
        )
    },
    "structured beside a text, not marked": lambda error: {
        "result": content(text(error), structuredContent=error, isError=False)
    },
    "structured, not marked": lambda error: {"result": structured(error)},
    "wrapped, not marked": lambda error: {"result": structured({"result": error})},
    "text, not marked": lambda error: {"result": content(text(error))},
    "embedded": lambda error: {"result": content(embedded(text=json.dumps(error)))},
    "data of an internal error": lambda error: {
        "error": {"code": -32603, "message": "", "data": error}
    },
    "data of a server error": lambda error: {
        "error": {"code": -32000, "message": "", "data": error}
    },
    "message": lambda error: error,
}
"""Where servers put the interface's error object: members of a JSON-RPC reply for an error."""


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    ("call", "failed", "kind"),
    [
        (view, failure(), sdk.TicketNotFoundError),
        (search, failure("AVAILABILITY_ERROR", "Nothing sails"), sdk.AvailabilityError),
        (book, failure("BOOKING_CREATE_ERROR", "Sold out"), sdk.BookingCreateError),
    ],
    ids=["view", "search", "book"],
)
def test_error_is_found_in_every_place(clients, carrier, place, call, failed, kind):
    server = Scripted(carried(carrier, **place(failed)))
    error = caught(kind, call, server.client(clients))
    assert (error.code, error.message) == (failed["code"], failed["message"])
    assert (error.status_code, error.outcome) == (200, "rejected")
    assert server.methods == ONCE


FAILED_RESULTS = {
    "words of a server": (
        content(text("Error executing tool view_ticket: no luck"), isError=True),
        "no luck",
    ),
    "two texts": (content(text("No"), text("luck"), isError=True), "No luck"),
    "no content": (content(isError=True), "the tool failed"),
    "structured": (structured({"reason": "no luck"}, isError=True), "the tool failed"),
}
every_failed_result = pytest.mark.parametrize(
    ("result", "message"), FAILED_RESULTS.values(), ids=FAILED_RESULTS
)


@every_failed_result
def test_failure_without_a_code_has_its_text(clients, carrier, result, message):
    answer = carried(carrier, result=result)
    error = caught(APIError, view, Scripted(answer).client(clients))
    assert (error.message, error.code) == (message, None)


@every_failed_result
def test_failure_without_a_code_leaves_a_write_unknown(clients, carrier, result, message):
    answer = carried(carrier, result=result)
    caught(OutcomeUnknownError, book, Scripted(answer).client(clients))


def test_code_is_the_message_if_there_is_none(clients, carrier):
    bare = Scripted(carried(carrier, result={"error": True, "code": "TICKET_VIEW_ERROR"}))
    error = caught(sdk.TicketViewError, view, bare.client(clients))
    assert error.message == "TICKET_VIEW_ERROR"


# Errors of JSON-RPC


@pytest.mark.parametrize(
    ("code", "status", "error", "is_refused"),
    [
        pytest.param(-32601, 200, NotFoundError, True, id="unknown method"),
        pytest.param(-32002, 200, NotFoundError, True, id="unknown resource"),
        pytest.param(-32602, 200, APIError, True, id="invalid parameters"),
        pytest.param(-32600, 400, APIError, True, id="invalid request"),
        pytest.param(-32700, 400, APIError, True, id="parse error"),
        pytest.param(-32603, 200, sdk.ServerError, False, id="internal error"),
        pytest.param(-32603, 400, sdk.ServerError, False, id="internal error with 400"),
        pytest.param(-32603, 500, sdk.ServerError, False, id="internal error with 500"),
        pytest.param(-32000, 200, APIError, False, id="server error"),
        pytest.param(0, 200, APIError, False, id="0"),
        pytest.param("odd", 200, APIError, False, id="no number"),
    ],
)
def test_code_says_whether_a_request_was_refused(clients, carrier, code, status, error, is_refused):
    answer = carried(carrier, status, error={"code": code, "message": "Not so"})
    with pytest.raises(error, match="Not so"):
        view(Scripted(answer).client(clients, max_retries=0))
    server = Scripted(answer)
    with pytest.raises(error if is_refused else OutcomeUnknownError) as info:
        book(server.client(clients))
    assert info.value.outcome == ("rejected" if is_refused else "unknown")
    assert server.methods == ONCE


NOT_SO = {"code": -32602, "message": "Not so"}


@pytest.mark.parametrize("error_id", [None, "server-error", 7])
def test_error_counts_with_any_id(clients, carrier, error_id):
    client = Scripted(carried(carrier, id=error_id, error=NOT_SO)).client(clients)
    assert caught(sdk.BadRequestError, view, client).message == "Not so"


def test_result_beside_an_error_is_unexpected(clients, carrier):
    both = carried(carrier, result=structured(TICKET), error=NOT_SO)
    with pytest.raises(UnexpectedResponseError, match="both a result and an error"):
        view(Scripted(both).client(clients))


def test_result_beside_an_error_leaves_a_write_unknown(clients, carrier):
    server = Scripted(carried(carrier, result=structured(BOOKING), error=NOT_SO))
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert (error.outcome, error.booking_id) == ("unknown", BOOKING["booking_id"])
    assert server.methods == ONCE


def test_null_beside_an_error_is_no_result(clients, carrier):
    refused = Scripted(carried(carrier, result=None, error=NOT_SO)).client(clients)
    assert caught(sdk.BadRequestError, book, refused).outcome == "rejected"


@pytest.mark.parametrize("nothing", [None, {}, False], ids=str)
def test_nothing_beside_a_result_is_no_error(clients, carrier, nothing):
    answer = carried(carrier, result=structured(TICKET), error=nothing)
    assert view(Scripted(answer).client(clients)).id == TICKET["id"]


# Statuses


every_status = pytest.mark.parametrize("status", [200, 201, 400, 404, 406, 418, 500, 503])


@every_status
def test_result_counts_at_any_status(clients, carrier, status):
    server = Scripted(carried(carrier, status, result=structured(BOOKING)))
    assert (book(server.client(clients)).booking_id, server.methods) == ("b1", ONCE)


@every_status
@pytest.mark.parametrize(
    "beside", [[], [{"jsonrpc": "2.0", "method": "x"}]], ids=["alone", "after a request"]
)
def test_result_counts_in_a_batch(clients, status, beside):
    def batch(message):
        whole = carried("json", result=structured(BOOKING))(message)
        return httpx.Response(status, json=[*beside, whole.json()])

    assert book(Scripted(batch).client(clients)).booking_id == "b1"


ACCESS = [(401, sdk.AuthenticationError), (403, sdk.PermissionDeniedError)]


@pytest.mark.parametrize(("status", "error"), [*ACCESS, (406, APIError), (415, APIError)])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(
            b'{"error":"invalid_token","error_description":"x"}', "application/json", id="OAuth"
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', "", id="JSON-RPC"
        ),
        pytest.param(b"<html>", "text/html", id="HTML"),
        pytest.param(b"", "", id="empty"),
        pytest.param(
            b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n', "text/event-stream", id="stream"
        ),
    ],
)
@pytest.mark.parametrize("call", [search, view, book])
def test_refused_request_is_not_repeated(clients, status, error, body, kind, call):
    server = Scripted(reply(body, status, kind, **{"mcp-session-id": "dead"}))
    refused = caught(error, call, server.client(clients))
    assert (refused.status_code, refused.outcome) == (status, "rejected")
    assert server.methods == ONCE


@pytest.mark.parametrize(("status", "error"), ACCESS)
@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"result": structured(BOOKING)}, id="result"),
        pytest.param({"error": {"code": -32603, "message": "x"}}, id="internal error"),
        pytest.param({"error": {"code": -32601, "message": "x"}}, id="unknown method"),
    ],
)
def test_refused_token_decides_whatever_the_body_is(clients, carrier, status, error, members):
    server = Scripted(carried(carrier, status, **members))
    assert caught(error, book, server.client(clients)).outcome == "rejected"
    assert server.methods == ONCE


# No reply


every_missing_reply = pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(b"", 202), id="202"),
        pytest.param(reply(b"", 204), id="204"),
        pytest.param(reply(b"", 200), id="200 without a body"),
        pytest.param(reply(b"<html>", 200, "text/html"), id="HTML"),
        pytest.param(reply(b"OK", 200, "text/plain"), id="text"),
        pytest.param(reply(b'{"jsonrpc":"2.0","id":1,"res'), id="cut off"),
        pytest.param(reply(b"\xff\xfe"), id="not UTF-8"),
        pytest.param(reply(b"null"), id="null"),
        pytest.param(reply(b"[]"), id="empty batch"),
        pytest.param(reply(b'{"jsonrpc":"2.0","id":1}'), id="no result"),
        pytest.param(reply(b'{"jsonrpc":"2.0","id":1,"error":"no"}'), id="error is a text"),
        pytest.param(reply(b"", 200, "text/event-stream"), id="empty stream"),
        pytest.param(reply(b": bye\n\n", 200, "text/event-stream"), id="stream of comments"),
        pytest.param(reply(b'data: {"jsonrpc"\n\n', 200, "text/event-stream"), id="stream cut off"),
    ],
)
every_read = pytest.mark.parametrize(
    ("call", "good"),
    [(search, structured({"result": [ONE]})), (view, structured(TICKET))],
    ids=["search", "view"],
)


@every_missing_reply
@every_read
def test_read_without_a_reply_is_repeated(clients, answer, call, good):
    server = Scripted(answer, answer, carried("json", result=good))
    assert call(server.client(clients))
    assert server.methods == ["initialize", *["tools/call"] * 3]


@every_missing_reply
@every_read
def test_read_that_never_gets_a_reply_is_unexpected(clients, answer, call, good):
    caught(UnexpectedResponseError, call, Scripted(answer).client(clients, max_retries=0))


@every_missing_reply
def test_write_without_a_reply_is_unknown(clients, answer):
    server = Scripted(answer)
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert isinstance(error.__cause__, UnexpectedResponseError)
    assert server.methods == ONCE


BREAKS_AFTER_SENDING = [
    httpx.ReadTimeout("slow"),
    httpx.WriteTimeout("slow"),
    httpx.ReadError("reset"),
    httpx.WriteError("reset"),
    httpx.RemoteProtocolError("cut"),
    ConnectionResetError("cut"),
]
BREAKS_BEFORE_SENDING = [
    httpx.ConnectError("no"),
    httpx.ConnectTimeout("no"),
    httpx.PoolTimeout("full"),
]


def breaking_once(error, value):
    """Return a server that breaks the first request and then gives a value."""

    def fail(_):
        raise error

    return Scripted(fail, carried("json", result=structured(value)))


@pytest.mark.parametrize("error", BREAKS_AFTER_SENDING + BREAKS_BEFORE_SENDING, ids=repr)
def test_read_is_repeated_after_a_break(clients, error):
    assert view(breaking_once(error, TICKET).client(clients)).id == "t1"


@pytest.mark.parametrize("error", BREAKS_AFTER_SENDING, ids=repr)
def test_write_that_breaks_after_sending_is_unknown(clients, error):
    server = breaking_once(error, BOOKING)
    caught(OutcomeUnknownError, book, server.client(clients))
    assert server.methods == ONCE


@pytest.mark.parametrize("error", BREAKS_BEFORE_SENDING, ids=repr)
def test_write_that_breaks_before_sending_is_repeated(clients, error):
    server = breaking_once(error, BOOKING)
    assert book(server.client(clients)).booking_id == "b1"
    assert server.methods == ["initialize", "tools/call", "tools/call"]


# Resources and listings


def contents(*items):
    return {"contents": list(items)}


PORTS = [{"code": "FRMRS", "name": "Marseille"}, {"code": "TNLGN", "name": "Tunis"}]
URI = "resource://service/ports"
ALL = json.dumps(PORTS)
FIRST = json.dumps(PORTS[0])
SECOND = json.dumps(PORTS[1])
CATALOGUES = {
    "empty list": (contents({"text": "[]"}), 0),
    "no contents": (contents(), 0),
    "one record": (contents({"text": FIRST}), 1),
    "JSON": (contents({"uri": URI, "mimeType": "application/json", "text": ALL}), 2),
    "JSON as text": (contents({"uri": URI, "mimeType": "text/plain", "text": ALL}), 2),
    "no media type": (contents({"uri": URI, "text": ALL}), 2),
    "no URI": (contents({"text": ALL}), 2),
    "blob": (contents({"uri": URI, "blob": base64_blob(PORTS)}), 2),
    "two lists": (contents({"text": f"[{FIRST}]"}, {"text": f"[{SECOND}]"}), 2),
    "two records": (contents({"text": FIRST}, {"text": SECOND}), 2),
    "member": (contents({"text": json.dumps({"ports": PORTS})}), 2),
    "bare": (PORTS, 2),
    "bare member": ({"ports": PORTS}, 2),
    "complete": ({**contents({"text": ALL}), "resultType": "complete", "ttlMs": 1}, 2),
}


@pytest.mark.parametrize(("result", "count"), CATALOGUES.values(), ids=CATALOGUES)
def test_catalogue_is_read(clients, carrier, result, count):
    ports = Scripted(carried(carrier, result=result)).client(clients).mcp.ports()
    assert [port.code for port in ports] == [port["code"] for port in PORTS][:count]


@pytest.mark.parametrize("code", [-32602, -32002, 0, -32601])
def test_unknown_resource_is_not_found(clients, carrier, code):
    error = {"code": code, "message": "Unknown resource", "data": {"uri": URI}}
    server = Scripted(carried(carrier, error=error))
    with pytest.raises(NotFoundError, match="Unknown resource"):
        server.client(clients).mcp.read_resource(URI)
    assert server.methods == ["initialize", "resources/read"]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param({}, id="empty"),
        pytest.param({"blob": "!"}, id="no base64"),
        pytest.param({"blob": base64.b64encode(b"\xff").decode()}, id="not UTF-8"),
        pytest.param({"text": 7}, id="text is a number"),
        pytest.param("x", id="no object"),
        pytest.param(None, id="null"),
        pytest.param({"text": "Hello"}, id="prose"),
    ],
)
def test_content_that_is_no_catalogue_is_unexpected(clients, carrier, item):
    client = Scripted(carried(carrier, result=contents(item))).client(clients, max_retries=0)
    caught(UnexpectedResponseError, client.mcp.ports)


def test_resource_may_be_prose(clients, carrier):
    client = Scripted(carried(carrier, result=contents({"text": "Hello"}))).client(clients)
    assert client.mcp.read_resource(URI) == "Hello"


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(failure("X", "no"), id="result"),
        pytest.param(contents({"text": json.dumps(failure())}), id="text"),
    ],
)
def test_error_object_is_no_catalogue(clients, carrier, result):
    with pytest.raises(APIError):
        Scripted(carried(carrier, result=result)).client(clients).mcp.ports()


@pytest.fixture
def first_page(carrier):
    """Give the first page of a listing, whose cursor names the next."""
    return carried(carrier, result={"tools": [{"name": "one"}], "nextCursor": "more"})


def test_pages_of_a_listing_are_one_list(clients, carrier, first_page):
    server = Scripted(first_page, carried(carrier, result={"tools": [{"name": "two"}]}))
    assert [tool.name for tool in server.client(clients).mcp.list_tools()] == ["one", "two"]
    params = [json.loads(request.content)["params"] for request in server.requests[-2:]]
    assert [page.get("cursor") for page in params] == [None, "more"]


def test_pages_that_go_round_end(clients, first_page):
    assert len(Scripted(first_page).client(clients).mcp.list_tools()) == 2


def test_unknown_listing_is_not_found(clients, carrier):
    server = Scripted(carried(carrier, error={"code": -32601, "message": "Method not found"}))
    caught(NotFoundError, server.client(clients).mcp.list_resources)
