"""Every envelope that servers put a reply in: what is read, what is refused, what is unknown."""

import base64
import json
from itertools import product

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import APIError, NotFoundError, OutcomeUnknownError, UnexpectedResponseError
from tests.support.cases import case
from tests.support.exchanges import caught
from tests.support.mcp_samples import BOOKING, TICKET, availability, book, failure, search, view
from tests.support.mcp_server import Scripted, carried, reply
from tests.support.tables import each
from tests.support.tiers import LONG

ONE, TWO = availability("a1"), availability("a2")
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"
NAMED_ODDLY = availability("odd", ship_name=SEPARATORS)
ONCE = ["initialize", "tools/call"]


@pytest.fixture(params=["json", pytest.param("sse", marks=LONG)])
def carrier(request):
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


LISTS = {
    "": [*map(structured, ({"result": []}, [], None)), content(text([])), content(), []],
    "a1": [
        structured({"result": [ONE]}),
        content(text("…"), structuredContent={"result": [ONE]}),
        structured([ONE], resultType="complete"),
        content(text(ONE)),
        content(text({"result": [ONE]})),
        content(embedded(text=json.dumps([ONE]))),
        content(embedded(blob=base64_blob([ONE]))),
        ONE,
        content(text([ONE]), *OTHER_BLOCKS),
        content(*OTHER_BLOCKS, text([ONE])),
    ],
    "a1 a2": [
        *map(structured, ({"result": [ONE, TWO]}, {"result": json.dumps([ONE, TWO])}, [ONE, TWO])),
        content(text([ONE, TWO])),
        *(content(text(ONE), text(TWO)), content(text(ONE), text(TWO), isError=False)),
        content(*halves([ONE, TWO])),
        *([ONE, TWO], {"availabilities": [ONE, TWO]}),
    ],
    "odd": [content(text(json.dumps([NAMED_ODDLY], ensure_ascii=False)))],
}


@each(("result", "names"), [(one, names) for names, some in LISTS.items() for one in some])
def test_a_list_is_read_out_of_every_envelope(clients, carrier, result, names):
    server = Scripted(carried(carrier, result=result))
    sailings = [(sailing.id, sailing.ship_name) for sailing in search(server.client(clients))]
    ships = [(name, SEPARATORS if name == "odd" else "Tanit") for name in names.split()]
    assert (sailings, server.methods) == (ships, ONCE)


@each(
    "envelope",
    [
        structured,
        lambda v: structured({"result": v}),
        lambda v: content(text("Here it is."), structuredContent=v),
        lambda v: {"structuredContent": v},
        lambda v: content(text(v)),
        lambda v: content(text(json.dumps(v, indent=2))),
        lambda v: content(*halves(v)),
        lambda v: content(embedded(text=json.dumps(v))),
        lambda v: content(embedded(blob=base64_blob(v))),
        lambda v: v,
        lambda v: content(*OTHER_BLOCKS, text(v)),
        lambda v: content(text(v), resultType="complete"),
        lambda v: content(text(v), _meta={"a": SEPARATORS}),
    ],
)
@each(("call", "value", "name"), [(view, TICKET, "id"), (book, BOOKING, "booking_id")])
def test_a_record_is_read_out_of_every_envelope(clients, carrier, envelope, call, value, name):
    server = Scripted(carried(carrier, result=envelope(value)))
    assert getattr(call(server.client(clients)), name) == value[name]


@each(
    "result",
    [
        *(content(text(ONE), resultType=kind) for kind in ("input_required", "partial", 7)),
        {"resultType": "input_required", "inputRequests": {}},
        *(content(text("Done."), text("See the booking.")), content(text("Done."))),
        *(content(*OTHER_BLOCKS), content(text(TICKET["passengers"])), None, "Done.", 7, {}),
    ],
)
def test_a_result_without_the_record_is_unexpected_or_unknown(clients, carrier, result):
    server = Scripted(carried(carrier, result=result))
    caught(UnexpectedResponseError, view, server.client(clients))
    assert server.methods == ["initialize", *["tools/call"] * 3]
    server = Scripted(carried(carrier, result=result))
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert server.methods == ONCE
    assert (error.outcome, error.request.path) == ("unknown", "/mcp tools/call create_booking")


@each(
    ("result", "value"),
    [
        (content(text("Done."), text("See the booking.")), "Done.See the booking."),
        (content(text("42")), 42),
        *((structured({"result": value}), value) for value in (42, "Done.")),
        (content(text({"a": 1}), text({"a": 2})), [{"a": 1}, {"a": 2}]),
        *((structured(v), v) for v in ({"error": True, "code": 7}, {"result": 1, "more": 2})),
        *((v, v) for v in ({"anything": 1}, [1, 2], {"error": True}, {"error": "n", "code": "X"})),
    ],
)
def test_any_tool_gives_its_value(clients, carrier, result, value):
    server = Scripted(carried(carrier, result=result))
    assert server.client(clients).mcp.call_tool("anything", {}) == value


def error_in_every_place(error):
    words = json.dumps(error)
    results = [
        error,
        content(text(error), structuredContent=error, isError=True),
        structured(error, isError=True),
        content(text(error), isError=True),
        content(text("Oh."), text(error), isError=True),
        content(text(f"Error executing tool view_ticket: {words}"), isError=True),
        content(text(error), structuredContent=error, isError=False),
        structured(error),
        structured({"result": error}),
        content(text(error)),
        content(embedded(text=words)),
    ]
    members = [{"error": {"code": code, "message": "", "data": error}} for code in (-32603, -32000)]
    return [*({"result": result} for result in results), *members, error]


@each(
    ("call", "told", "kind"),
    [
        (view, failure(), sdk.TicketNotFoundError),
        (search, failure("AVAILABILITY_ERROR", "Nothing sails"), sdk.AvailabilityError),
        (book, failure("BOOKING_CREATE_ERROR", "Sold out"), sdk.BookingCreateError),
    ],
)
def test_a_failure_is_found_wherever_it_hides(clients, carrier, call, told, kind):
    for members in error_in_every_place(told):
        with case(members):
            server = Scripted(carried(carrier, **members))
            error = caught(kind, call, server.client(clients))
            assert (error.code, error.message) == (told["code"], told["message"])
            assert (error.status_code, error.outcome) == (200, "rejected")
            assert server.methods == ONCE


@each(
    ("code", "status", "error", "is_refused"),
    [
        *product([-32601, -32002], [200], [NotFoundError], [True]),
        (-32602, 200, APIError, True),
        *product([-32600, -32700], [400], [APIError], [True]),
        *product([-32603], [200, 400, 500], [sdk.ServerError], [False]),
        *product([-32000, 0, "odd"], [200], [APIError], [False]),
    ],
)
def test_a_json_rpc_error_is_a_refusal_only_where_its_code_says_so(
    clients, carrier, code, status, error, is_refused
):
    answer = carried(carrier, status, error={"code": code, "message": "Not so"})
    with pytest.raises(error, match="Not so"):
        view(Scripted(answer).client(clients, max_retries=0))
    server = Scripted(answer)
    with pytest.raises(error if is_refused else OutcomeUnknownError) as info:
        book(server.client(clients))
    assert info.value.outcome == ("rejected" if is_refused else "unknown")
    assert server.methods == ONCE


NOT_SO = {"code": -32602, "message": "Not so"}


def test_errors_of_any_id_unexpected_results_and_failures_are_told(clients, carrier):
    for error_id in (None, "server-error", 7):
        client = Scripted(carried(carrier, id=error_id, error=NOT_SO)).client(clients)
        assert caught(sdk.BadRequestError, view, client).message == "Not so", error_id
    both = carried(carrier, result=structured(TICKET), error=NOT_SO)
    with pytest.raises(UnexpectedResponseError, match="both a result and an error"):
        view(Scripted(both).client(clients))
    server = Scripted(carried(carrier, result=structured(BOOKING), error=NOT_SO))
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert (error.outcome, error.booking_id) == ("unknown", BOOKING["booking_id"])
    assert server.methods == ONCE
    refused = Scripted(carried(carrier, result=None, error=NOT_SO)).client(clients)
    assert caught(sdk.BadRequestError, book, refused).outcome == "rejected"
    for none in (None, {}, False):
        answer = carried(carrier, result=structured(TICKET), error=none)
        assert view(Scripted(answer).client(clients)).id == TICKET["id"]
    more = {"resultType": "input_required", "inputRequests": {}}
    views = (view, content(), "empty"), (view, more, "asks for more input")
    searches = ((search, content(text(words)), "") for words in ("null", "Nothing sails.", "7"))
    for call, result, words in (*views, *searches):
        server = Scripted(carried(carrier, result=result))
        error = caught(UnexpectedResponseError, call, server.client(clients, max_retries=0))
        assert words in str(error)
    for result, message in (
        (content(text("Error executing tool view_ticket: no luck"), isError=True), "no luck"),
        (content(text("No"), text("luck"), isError=True), "No luck"),
        (content(isError=True), "the tool failed"),
        (structured({"reason": "no luck"}, isError=True), "the tool failed"),
    ):
        answer = carried(carrier, result=result)
        error = caught(APIError, view, Scripted(answer).client(clients))
        assert (error.message, error.code) == (message, None)
        caught(OutcomeUnknownError, book, Scripted(answer).client(clients))
    bare = Scripted(carried(carrier, result={"error": True, "code": "TICKET_VIEW_ERROR"}))
    error = caught(sdk.TicketViewError, view, bare.client(clients))
    assert error.message == "TICKET_VIEW_ERROR", "without a message the code is told"


@each("status", [200, 201, 400, 404, 406, 418, 500, 503])
def test_a_result_counts_at_any_status_and_in_a_batch(clients, carrier, status):
    server = Scripted(carried(carrier, status, result=structured(BOOKING)))
    assert (book(server.client(clients)).booking_id, server.methods) == ("b1", ONCE)
    for beside in ([], [{"jsonrpc": "2.0", "method": "x"}]):

        def batch(message, beside=beside):
            whole = carried("json", result=structured(BOOKING))(message)
            return httpx.Response(status, json=[*beside, whole.json()])

        assert book(Scripted(batch).client(clients)).booking_id == "b1"


ACCESS = [(401, sdk.AuthenticationError), (403, sdk.PermissionDeniedError)]
BODIES = [
    (b'{"error":"invalid_token","error_description":"x"}', "application/json"),
    (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', ""),
    (b"<html>", "text/html"),
    (b"", ""),
    (b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n', "text/event-stream"),
]


@each(("status", "error"), [*ACCESS, (406, APIError), (415, APIError)])
@each(("body", "kind"), BODIES)
@each("call", [search, view, book])
def test_a_request_that_is_refused_is_not_tried_again(clients, status, error, body, kind, call):
    server = Scripted(reply(body, status, kind, **{"mcp-session-id": "dead"}))
    refused = caught(error, call, server.client(clients))
    assert (refused.status_code, refused.outcome) == (status, "rejected")
    assert server.methods == ONCE


@each(("status", "error"), ACCESS)
def test_a_refused_token_comes_before_whatever_is_said(clients, carrier, status, error):
    errors = [{"error": {"code": code, "message": "x"}} for code in (-32603, -32601)]
    for members in ({"result": structured(BOOKING)}, *errors):
        server = Scripted(carried(carrier, status, **members))
        assert caught(error, book, server.client(clients)).outcome == "rejected"
        assert server.methods == ONCE


NO_REPLY = [
    *(reply(b"", status) for status in (202, 204, 200)),
    reply(b"<html>", 200, "text/html"),
    reply(b"OK", 200, "text/plain"),
    *map(reply, (b'{"jsonrpc":"2.0","id":1,"res', b"\xff\xfe", b"null", b"[]")),
    *map(reply, (b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":1,"error":"no"}')),
    *(
        reply(body, 200, "text/event-stream")
        for body in (b"", b": bye\n\n", b'data: {"jsonrpc"\n\n')
    ),
]


@each("answer", NO_REPLY)
def test_a_read_without_a_reply_is_tried_again_and_a_write_unknown(clients, answer):
    for call in (search, view):
        good = structured({"result": [ONE]} if call is search else TICKET)
        server = Scripted(answer, answer, carried("json", result=good))
        assert call(server.client(clients))
        assert server.methods == ["initialize", *["tools/call"] * 3]
        caught(UnexpectedResponseError, call, Scripted(answer).client(clients, max_retries=0))
    server = Scripted(answer)
    error = caught(OutcomeUnknownError, book, server.client(clients))
    assert isinstance(error.__cause__, UnexpectedResponseError)
    assert server.methods == ONCE


@each(
    ("error", "is_sent"),
    [
        *((kind("slow"), True) for kind in (httpx.ReadTimeout, httpx.WriteTimeout)),
        *((kind("reset"), True) for kind in (httpx.ReadError, httpx.WriteError)),
        *((kind("cut"), True) for kind in (httpx.RemoteProtocolError, ConnectionResetError)),
        *((kind("no"), False) for kind in (httpx.ConnectError, httpx.ConnectTimeout)),
        (httpx.PoolTimeout("full"), False),
    ],
)
def test_a_break_after_sending_repeats_reads_alone(clients, error, is_sent):
    def fail(_):
        raise error

    viewed, created = (
        Scripted(fail, carried("json", result=structured(value))) for value in (TICKET, BOOKING)
    )
    assert view(viewed.client(clients)).id == "t1"
    if is_sent:
        caught(OutcomeUnknownError, book, created.client(clients))
    else:
        assert book(created.client(clients)).booking_id == "b1"
    assert created.methods == ["initialize", *["tools/call"] * (1 if is_sent else 2)]


def contents(*items):
    return {"contents": list(items)}


PORTS = [{"code": "FRMRS", "name": "Marseille"}, {"code": "TNLGN", "name": "Tunis"}]
URI = "resource://service/ports"
ALL, *EACH = map(json.dumps, (PORTS, *PORTS))


CATALOGUES = {
    0: [contents({"text": "[]"}), contents()],
    1: [contents({"text": EACH[0]})],
    2: [
        contents({"uri": URI, "mimeType": "application/json", "text": ALL}),
        contents({"uri": URI, "mimeType": "text/plain", "text": ALL}),
        *(contents({"uri": URI, "text": ALL}), contents({"text": ALL})),
        contents({"uri": URI, "blob": base64_blob(PORTS)}),
        contents(*({"text": f"[{port}]"} for port in EACH)),
        contents(*({"text": port} for port in EACH)),
        contents({"text": json.dumps({"ports": PORTS})}),
        *(PORTS, {"ports": PORTS}),
        {**contents({"text": ALL}), "resultType": "complete", "ttlMs": 1},
    ],
}


@each(("result", "count"), [(one, count) for count, some in CATALOGUES.items() for one in some])
def test_a_catalogue_is_read_out_of_every_envelope(clients, carrier, result, count):
    ports = Scripted(carried(carrier, result=result)).client(clients).mcp.ports()
    assert [port.code for port in ports] == [port["code"] for port in PORTS][:count]


@each("code", [-32602, -32002, 0, -32601])
def test_an_unknown_resource_is_not_found(clients, carrier, code):
    error = {"code": code, "message": "Unknown resource", "data": {"uri": URI}}
    server = Scripted(carried(carrier, error=error))
    with pytest.raises(NotFoundError, match="Unknown resource"):
        server.client(clients).mcp.read_resource(URI)
    assert server.methods == ["initialize", "resources/read"]


def test_pages_are_one_list_and_a_content_that_cannot_be_read_is_unexpected(clients, carrier):
    first = carried(carrier, result={"tools": [{"name": "one"}], "nextCursor": "more"})
    server = Scripted(first, carried(carrier, result={"tools": [{"name": "two"}]}))
    assert [tool.name for tool in server.client(clients).mcp.list_tools()] == ["one", "two"]
    cursors = [json.loads(each.content)["params"].get("cursor") for each in server.requests[-2:]]
    assert cursors == [None, "more"]
    assert len(Scripted(first).client(clients).mcp.list_tools()) == 2  # the pages go round
    none = Scripted(carried(carrier, error={"code": -32601, "message": "Method not found"}))
    caught(NotFoundError, none.client(clients).mcp.list_resources)
    blobs = [{"blob": "!"}, {"blob": base64.b64encode(b"\xff").decode()}]
    for item in ({}, *blobs, {"text": 7}, "x", None, {"text": "Hello"}):
        client = Scripted(carried(carrier, result=contents(item))).client(clients, max_retries=0)
        with case(item):
            caught(UnexpectedResponseError, client.mcp.ports)
    assert client.mcp.read_resource(URI) == "Hello"
    for result in (failure("X", "no"), contents({"text": json.dumps(failure())})):
        with pytest.raises(APIError):  # an error object is no catalogue
            Scripted(carried(carrier, result=result)).client(clients).mcp.ports()
