"""`/mcp` of the local service: the protocol, sessions, and every shape of a reply."""

import base64
import copy
import json
import re
from datetime import timedelta

import pytest
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from offline_service import ADULT, NOW, ONE_TICKET, ServiceOverHttp, run, search_request

from ferry_sdk.sandbox import McpOptions, McpSwitches
from ferry_sdk.sandbox.operations import RESOURCES, TOOLS
from ferry_sdk.sandbox.requests.errors import messages
from tests.support.shapes import is_about_shape

BOTH = "application/json, text/event-stream"
PORTS = "resource://service/ports"
SEARCH = {
    "request": search_request(ONE_TICKET, NOW.date() + timedelta(days=61)),
    "passengers": [ADULT],
}


class Caller(ServiceOverHttp):
    """A bare HTTP client of `/mcp`, independent of the client's own MCP code."""

    def post(self, message, token=None, **headers):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = {"authorization": f"Bearer {token or self.sandbox.token}", "accept": BOTH}
        given |= {"content-type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        return self.http.post("/mcp", content=body, headers=sent)

    def request(self, method, params=None, **headers):
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        return self.post(message, **headers)

    def tool(self, name, arguments=None, **headers):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, **headers)

    def read(self, uri, **headers):
        return self.request("resources/read", {"uri": uri}, **headers)

    def open(self, version="2025-11-25", **headers):
        return self.request("initialize", {"protocolVersion": version}, **headers)


@pytest.fixture(scope="module")
def running_service():
    with run(Caller) as caller:
        caller.http.headers["accept"] = "*/*"
        del caller.http.headers["authorization"]
        yield caller


@pytest.fixture
def caller(service):
    return service


def events(reply):
    """Return the messages of an event stream, split at its own line ends only."""
    assert reply.headers["content-type"].startswith("text/event-stream")
    blocks = re.sub(r"\r\n|\r", "\n", reply.content.decode()).split("\n\n")
    fields = [[line.partition(":")[::2] for line in block.split("\n")] for block in blocks]
    data = ["\n".join(x.removeprefix(" ") for name, x in one if name == "data") for one in fields]
    return [json.loads(each) for each in data if each]


def test_initialize_answers_a_version_it_knows_unless_it_is_refused(caller):
    known = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
    for asked in (*known, "2026-07-28", "1999-01-01", None, 7):
        reply = caller.open(asked)
        result = reply.json()["result"]
        assert result["protocolVersion"] == (asked if asked in known else "2025-11-25")
        assert set(result["capabilities"]) == {"tools", "resources"}
        assert set(result["serverInfo"]) == {"name", "version"}
        assert len(reply.headers["mcp-session-id"]) >= 32
    caller.sandbox.mcp.set(handshake="odd_version")
    assert caller.open().json()["result"]["protocolVersion"] == "1.0"
    for handshake, status, code in (("refused", 200, -32601), ("modern_only", 400, -32022)):
        caller.sandbox.mcp.set(handshake=handshake)
        reply = caller.open()
        assert (handshake, reply.status_code) == (handshake, status)
        assert (handshake, reply.json()["error"]["code"]) == (handshake, code)
        assert caller.read(PORTS).status_code == 200
    for status in (404, 405):
        caller.sandbox.mcp.set(handshake=f"refused_{status}")
        reply = caller.open()
        assert reply.status_code == status
        assert reply.headers["content-type"].startswith("text/plain")
        assert caller.read(PORTS).status_code == 200


def test_ping_and_the_lists_answer(caller):
    assert caller.request("ping").json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    resources = caller.request("resources/list").json()["result"]["resources"]
    assert [resource["uri"] for resource in resources] == list(RESOURCES)
    assert caller.request("resources/templates/list").json()["result"] == {"resourceTemplates": []}
    tools = {tool["name"]: tool for tool in caller.request("tools/list").json()["result"]["tools"]}
    assert list(tools) == list(TOOLS)
    for name, tool in tools.items():
        assert tool["description"]
        assert "outputSchema" not in tool
        hints = tool["annotations"]
        assert hints["readOnlyHint"] == (name in {"search_availability", "view_ticket"})
        assert hints["destructiveHint"] == (name in {"confirm_booking", "cancel_ticket"})
    assert '"ADT"' in json.dumps(tools["create_booking"]["inputSchema"])
    fields = set(tools["search_availability"]["inputSchema"]["properties"])
    assert fields == {"request", "passengers", "vehicle"}


def test_a_message_is_accepted_without_a_body_refused_or_answered_with_an_error(caller):
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    answers = ({"id": 1, "result": {}}, {"id": 1, "error": {"code": 1, "message": "no"}})
    for message in ({"method": "notifications/initialized"}, cancelled, *answers):
        reply = caller.post({"jsonrpc": "2.0", **message})
        assert (message, reply.status_code, reply.content) == (message, 202, b"")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    written = json.dumps(ping).encode()
    odd = (written.replace(b"1,", b"NaN,"), written.replace(b"1,", b'"\\ud800",'))
    nameless, unversioned = ({k: ping[k] for k in ping if k != x} for x in ("method", "jsonrpc"))
    changed = [ping | change for change in ({"id": None}, {"id": True}, {"params": []})]
    for code, bodies in (
        (-32700, (b"{", b"\xff", b"[" * 100_000, *odd)),
        (-32600, ([], [ping], 7, nameless, unversioned, *changed)),
    ):
        for body in bodies:
            reply = caller.post(body)
            answer = (reply.status_code, reply.json()["error"]["code"], reply.json()["id"])
            assert answer == (400, code, None), body
    no, listed = {"uri": "resource://no"}, {"name": "view_ticket", "arguments": []}
    for code, method, params in (
        *((-32601, method, {}) for method in ("prompts/list", "server/discover")),
        *((-32602, "tools/call", params) for params in ({"name": "pay"}, {}, listed)),
        *((-32602, "resources/read", params) for params in ({}, no)),
    ):
        reply = caller.request(method, params)
        error = reply.json()["error"]
        answer = (reply.status_code, reply.json()["id"], error["code"])
        assert (method, params, *answer) == (method, params, 200, 7, code)
        assert params is not no or error["data"] == no


def test_other_http_methods_paths_and_tokens_are_refused(caller):
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": "text/event-stream"}
    got = caller.http.get("/mcp", headers=headers)
    assert got.status_code == 405
    assert set(got.headers["allow"].split(", ")) == {"POST", "DELETE"}
    for name in ("oauth-protected-resource", "oauth-authorization-server", "openid-configuration"):
        assert caller.http.get(f"/.well-known/{name}").status_code == 404
        assert caller.http.get(f"/.well-known/{name}/mcp").status_code == 404
    stray = ({"id": 1, "method": "tides/list"}, {"method": "notifications/initialized"})
    for authorization in (None, "Bearer wrong", "Basic abc"):
        caller.sandbox.reset()
        reply = caller.request("ping", authorization=authorization)
        assert reply.status_code == 401, authorization
        assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        error = reply.json()["error"]
        assert reply.json()["jsonrpc"] == "2.0"
        assert (error["data"]["error"], error["data"]["code"]) == (True, "UNAUTHORIZED")
        assert caller.sandbox.counters.requests == {"mcp.ping": 1}
        for message in (b"{", *({"jsonrpc": "2.0", **one} for one in stray)):
            assert caller.post(message, authorization=authorization).status_code == 401


def test_a_read_only_token_reads_and_does_not_write(caller):
    token = caller.sandbox.read_only_token
    assert "result" in caller.read(PORTS, token=token).json()
    assert "result" in caller.tool("search_availability", SEARCH, token=token).json()
    reply = caller.tool("create_booking", {}, token=token)
    assert reply.status_code == 403
    assert reply.headers["www-authenticate"] == 'Bearer error="insufficient_scope"'
    assert reply.json()["error"]["data"]["code"] == "FORBIDDEN"
    assert caller.sandbox.counters.effects == ()


def test_headers_decide_whether_a_request_is_refused(caller):
    local = ("http://localhost:5173", "http://127.0.0.1")
    for header, status, values in (
        ("content_type", 415, ["text/plain"]),
        ("content_type", 200, ["application/json; charset=utf-8"]),
        ("host", 421, ["gateway.example", "127.0.0.1.example", "[::1"]),
        ("host", 200, ["localhost:8080", "[::1]:8080"]),
        ("origin", 403, ["https://evil.example", "null"]),
        ("origin", 200, local),
        ("mcp_protocol_version", 200, [None, "2025-06-18"]),
        ("mcp_protocol_version", 400, ["2026-07-28", "1999-01-01"]),
    ):
        for value in values:
            answered = caller.request("ping", **{header: value}).status_code
            assert (header, value, answered) == (header, value, status)


def test_a_session_lives_for_an_hour_of_the_clock_or_until_its_client_ends_it(caller):
    assert "mcp-session-id" not in caller.read(PORTS).headers
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.clock.advance(3590)
    assert caller.request("ping", mcp_session_id=session).status_code == 200
    caller.sandbox.clock.advance(11)
    response = caller.request("ping", mcp_session_id=session)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (404, -32001)
    assert error["message"] == "Session not found"
    assert caller.open(mcp_session_id=session).status_code == 404
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert caller.post(notification, mcp_session_id=session).status_code == 404
    session = caller.open().headers["mcp-session-id"]
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "mcp-session-id": session}
    assert [caller.http.delete("/mcp", headers=headers).status_code for _ in "ab"] == [200, 404]
    assert caller.request("ping", mcp_session_id=session).status_code == 404
    caller.sandbox.mcp.set(session_seconds=5)
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.clock.advance(6)
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_sessions_can_be_required_or_missing_and_faults_refuse_before_the_work(caller):
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.faults.add("session_expired", "mcp.confirm_booking")
    assert caller.tool("confirm_booking", {"id": "B1"}, mcp_session_id=session).status_code == 404
    assert caller.request("ping", mcp_session_id=session).status_code == 404
    caller.sandbox.faults.add("session_required", "mcp.ping")
    assert [caller.request("ping").status_code for _ in "ab"] == [400, 200]
    caller.sandbox.mcp.set(session="required", stray_session_ids=True)
    refused = caller.request("ping")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)
    assert "session" in refused.json()["error"]["message"].lower()
    stray = refused.headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=stray).status_code == 404
    session = caller.open().headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=session).status_code == 200
    caller.sandbox.mcp.set(session="none")
    assert "mcp-session-id" not in caller.open().headers
    assert caller.request("ping", mcp_session_id="any").status_code == 200


def test_accept_decides_the_form_and_a_stream_has_other_events_an_early_end_or_separators(caller):
    for accept in (BOTH, "application/json", "*/*", None, "text/event-stream"):
        stream = accept == "text/event-stream"
        reply = caller.request("ping", accept=accept)
        assert reply.headers["content-type"].startswith("text/event-stream") == stream, accept
        (message,) = events(reply) if stream else [reply.json()]
        assert message == {"jsonrpc": "2.0", "id": 7, "result": {}}
    events_before = dict.fromkeys(("comments", "notification_first", "request_first"), True)
    for line_end in ("lf", "crlf", "cr"):
        caller.sandbox.mcp.set(reply="sse", line_end=line_end, several_lines=True, **events_before)
        reply = caller.read(PORTS, accept="application/json")
        assert reply.content.startswith(b": ")
        assert (b"\r" in reply.content) == (line_end != "lf")
        assert (b"\n" in reply.content) == (line_end != "cr")
        first, second, last = events(reply)
        assert (first["method"], "id" in first) == ("notifications/message", False)
        assert (second["method"], second["id"]) == ("ping", 7)
        assert last["result"]["contents"][0]["uri"] == PORTS
    caller.sandbox.reset()
    caller.sandbox.faults.add("mcp_envelope", reply="sse", ended_early=True, comments=True)
    assert events(caller.request("ping")) == []
    assert caller.sandbox.counters.requests["mcp.ping"] == 1
    caller.sandbox.mcp.set(reply="sse", raw_separators=True)
    reply = caller.tool("search_availability", SEARCH)
    assert {"\u2028", "\u0085"} <= set(reply.content.decode())
    (message,) = events(reply)
    assert "\u2028" in message["result"]["_meta"]["separators"]


def test_a_stream_left_open_has_sent_its_reply(caller):
    caller.sandbox.faults.add("mcp_envelope", "mcp.ports", reply="sse", left_open=True)
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": BOTH}
    body = {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": PORTS}}
    with caller.http.stream("POST", "/mcp", json=body, headers=headers) as reply:
        pieces, received = reply.iter_bytes(), b""
        while not received.endswith(b"\n\n"):
            received += next(pieces)
        # The stream has not ended: nothing more can be read without waiting.
        link = reply.extensions["network_stream"].get_extra_info("socket")
        link.settimeout(0.05)
        with pytest.raises(TimeoutError):
            link.recv(1)
    assert b'"contents"' in received


def test_the_fault_mcp_envelope_applies_to_one_reply_only(caller):
    caller.sandbox.mcp.set(status=207)
    caller.sandbox.faults.add("mcp_envelope", "mcp.ports", resource="bare_list")
    shaped, usual = caller.read(PORTS), caller.read(PORTS)
    assert isinstance(shaped.json()["result"], list)
    assert set(usual.json()["result"]) == {"contents"}
    assert (shaped.status_code, usual.status_code) == (207, 207)


# The shapes of results

ROWS = [{"code": "A"}, {"code": "B\u2028"}, {"code": "C"}]


def search_with(caller, value, **options):
    caller.sandbox.mcp.set(**options)
    caller.sandbox.faults.add("wrong_shape", "mcp.search_availability", value=value)
    return caller.tool("search_availability", SEARCH).json()


def texts(result):
    return [block["text"] for block in result["content"]]


def test_every_shape_of_a_result_holds_the_value_or_none(caller):
    def result(shape):
        return search_with(caller, value, result=shape)["result"]

    def parsed(shape):
        return [json.loads(text) for text in texts(result(shape))]

    for value in ([], ROWS[:1], ROWS, {"code": "A"}):
        wrapped = value if isinstance(value, dict) else {"result": value}
        assert result("structured_and_text")["structuredContent"] == wrapped
        assert parsed("structured_and_text") == [value]
        assert result("structured") == {"content": [], "structuredContent": wrapped}
        assert result("structured_result")["structuredContent"] == {"result": value}
        assert result("structured_array") == {"content": [], "structuredContent": value}
        assert ("structuredContent" in result("text"), parsed("text")[0]) == (False, value)
        assert parsed("n_blocks") == (value if isinstance(value, list) else [value])
        split = texts(result("split_text"))
        assert (len(split), json.loads("".join(split))) == (2, value)
        (embedded,) = result("embedded_resource")["content"]
        assert embedded["type"] == "resource"
        assert json.loads(embedded["resource"]["text"]) == value
        extra = result("extra_blocks")["content"]
        assert [block["type"] for block in extra] == ["text", "image", "audio", "resource_link"]
        assert json.loads(extra[0]["text"]) == value
        assert result("bare") == value
        assert search_with(caller, value, result="naked") == value
        (message,) = search_with(caller, value, result="batch")
        assert message["result"]["structuredContent"] == wrapped
        assert result("complete_result_type")["resultType"] == "complete"
    shapes = ("empty", "plain_text", "input_required", "unknown_result_type")
    empty, plain, asked, unknown = map(result, shapes)
    assert empty == {"content": []}
    for text in (texts(plain)[0], "".join(texts(plain))):
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]
    assert unknown["resultType"] not in ("complete", "input_required")


def test_every_shape_of_an_error_has_its_code_and_message(caller):
    def failed(shape):
        caller.sandbox.mcp.set(error=shape)
        return caller.tool("view_ticket", {"id": "none"}).json()

    shapes = ("is_error", "is_error_text", "is_error_prose", "tool_error_text")
    usual, as_text, prose, prefixed = results = [failed(shape)["result"] for shape in shapes]
    error = usual["structuredContent"]
    assert (error["error"], error["code"]) == (True, "TICKET_NOT_FOUND")
    assert "There is no such ticket." in error["message"]
    assert json.loads(texts(as_text)[0]) == error
    assert error["message"] in texts(prose)[0]
    assert texts(prefixed)[0].startswith("Error executing tool view_ticket: {")
    assert json.loads(texts(prefixed)[0].partition(": ")[2]) == error
    assert all(each["isError"] is True for each in results)
    shapes = ("error_as_success", "error_as_success_text", "bare")
    structured, as_text, bare = results = [failed(shape)["result"] for shape in shapes]
    assert structured["structuredContent"] == json.loads(texts(as_text)[0]) == bare == error
    assert not any(each.get("isError", False) for each in results)
    assert error["message"] in failed("json_rpc_error")["error"]["message"]
    assert failed("json_rpc_error_data")["error"]["data"] == error
    assert failed("naked") == error


def test_every_shape_of_a_resource_holds_its_records(caller):
    def result(shape):
        caller.sandbox.mcp.set(resource=shape)
        return caller.read(PORTS).json()["result"]

    shapes = ("text", "text_without_type", "text_without_uri", "blob")
    [usual], [typeless], [nameless], [blob] = (result(shape)["contents"] for shape in shapes)
    ports = json.loads(usual["text"])
    assert usual["uri"] == PORTS
    assert (set(typeless), set(nameless)) == ({"uri", "text"}, {"mimeType", "text"})
    assert json.loads(base64.b64decode(blob["blob"])) == ports
    first, second = (json.loads(each["text"]) for each in result("split")["contents"])
    assert first + second == ports
    assert result("empty") == {"contents": []}
    assert (result("bare_list"), result("bare_object")) == (ports, {"ports": ports})


def test_code_and_id_of_an_error_are_options_and_an_invalid_option_changes_nothing(caller):
    for code in (-32602, -32002, 0):
        caller.sandbox.mcp.set(unknown_resource_code=code)
        assert caller.read("resource://service/tides").json()["error"]["code"] == code
    for choice, answered in (("same", 7), ("null", None), ("server_error", "server-error")):
        caller.sandbox.mcp.set(error_id=choice)
        assert caller.request("tides/list").json()["id"] == answered
    switches = McpSwitches()
    wrong = {"result": "xml", "colour": "blue", "session_seconds": -1, "comments": 1}
    for field, value in wrong.items():
        with pytest.raises(ValueError, match=rf"^{field}: "):
            switches.set(reply="sse", **{field: value})
        assert switches.current == McpOptions(), field


# The schemas in `tools/list` accept exactly what the tools accept


def matches(validator, pattern, instance, schema):
    """Check `pattern` as JSON Schema defines it: `$` matches at the end only, as Python's `\\Z`."""
    if isinstance(instance, str) and not re.search(f"{pattern.removesuffix('$')}\\Z", instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = validators.extend(Draft202012Validator, {"pattern": matches})


class Tools:
    """The schemas of the tools and the messages of the service about their arguments."""

    def __init__(self, caller):
        self.caller = caller
        listed = caller.request("tools/list").json()["result"]["tools"]
        self.schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
        dates, schemas = FormatChecker(["date"]), self.schemas.items()
        self.validators = {name: Validator(one, format_checker=dates) for name, one in schemas}

    def agree(self, name, arguments, *, is_valid):
        """Check that the schema and the service agree; return the messages about the shape."""
        assert self.validators[name].is_valid(arguments) == is_valid
        result = self.caller.tool(name, arguments).json()["result"]
        error = result["structuredContent"] if result.get("isError") else {"message": ""}
        said = [each["message"] for each in error.get("errors", [])] or [error["message"]]
        wrong = [words for words in said if words and is_about_shape(words)]
        assert (wrong == []) == is_valid
        return wrong


@pytest.fixture(scope="module")
def tools(running_service):
    running_service.sandbox.reset()
    return Tools(running_service)


def places(value, way=()):
    """Yield the path of every value inside a value."""
    yield way
    inner = enumerate(value) if isinstance(value, list) else ()
    for step, item in value.items() if isinstance(value, dict) else inner:
        yield from places(item, (*way, step))


ODD = ["", " ", "24:00", "9:00", "10:00:00Z", "2027-02-30", "20270228", "0001-01-01", "FR\n"]
ODD += ["x" * 201, "@", "+0", "123", "PEUGEOT 208", "a__", 34.5, -1, 10, 121, "Adult", "ADT", []]


GUEST = {"type": "ADT", "first_name": "Ada", "last_name": "Byron", "birth_date": "1990-05-15"}
CHOICE = {"availability_id": "A", "tariff_id": "B", "place_id": "C"}
EXAMPLES = {
    "search_availability": {**SEARCH, "vehicle": {"code": "FIAT__500"}},
    "create_booking": {"availabilities": [CHOICE], "passengers": [GUEST]},
    "confirm_booking": {"id": "B1"},
    "view_ticket": {"id": "T1"},
    "cancel_ticket": {"ticket_id": "T1", "ticket_number": "N1"},
}


@pytest.mark.parametrize("name", TOOLS)
def test_schema_and_service_agree_on_the_shape_of_every_value(tools, name):
    tools.agree(name, EXAMPLES[name], is_valid=True)
    for *way, last in filter(None, places(EXAMPLES[name])):
        for value in ODD:
            request = copy.deepcopy(EXAMPLES[name])
            record = request
            for step in way:
                record = record[step]
            record[last] = value
            tools.agree(name, request, is_valid=tools.validators[name].is_valid(request))


def test_schemas_are_described_and_agree_on_times_one_way_searches_and_ids_of_bookings(tools):
    for name, schema in tools.schemas.items():
        assert schema["type"] == "object", name
        assert not {"anyOf", "oneOf", "allOf"} & set(schema)
        for record in (schema, *schema.get("$defs", {}).values()):
            assert record["additionalProperties"] is False
            for field, one in record["properties"].items():
                assert one.get("description"), f"{name}: {field}"
    assert json.dumps(tools.schemas).count('"format": "time"') == 0
    one_way = dict.fromkeys(("ret_journey_id", "ret_at", "ret_time"), "")
    request = search_request(ONE_TICKET, NOW.date()) | one_way
    search = {"request": request, "passengers": [ADULT]}
    tools.agree("search_availability", search, is_valid=True)
    for time in ("10:00:00Z", "24:00", "9:00"):
        wrong = {**search, "request": {**request, "out_time": time}}
        assert tools.agree("search_availability", wrong, is_valid=False) == [messages("en")["time"]]
    chosen, guests = {"availabilities": [CHOICE]}, {"passengers": [GUEST]}
    for names in ({"id": "A1"}, {"id": "A1", "availabilities": None}, chosen):
        tools.agree("create_booking", guests | names, is_valid=True)
    for names in ({}, {"id": None}, {"id": "A1"} | chosen):
        tools.agree("create_booking", guests | names, is_valid=False)
