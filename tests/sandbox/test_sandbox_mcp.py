"""`/mcp` of the local service: the protocol, sessions, and every shape of a reply."""

import base64
import json
import re

import httpx
import pytest

from ferry_sdk.sandbox import McpOptions, McpSwitches, Sandbox
from ferry_sdk.sandbox.operations import RESOURCES, TOOLS
from tests.support.tables import each
from tests.support.wire import TLS

BOTH = "application/json, text/event-stream"
PORTS = "resource://service/ports"


class Caller:
    """A bare HTTP client of `/mcp`, independent of the client's own MCP code."""

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.http = httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=5)
        self.a_sailing = self.sailing()

    def post(self, message, token=None, **headers):
        given = {"authorization": f"Bearer {token or self.sandbox.token}", "accept": BOTH}
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {"content-type": "application/json", **given, **names}
        return self.http.post(
            "/mcp", content=body, headers={k: v for k, v in sent.items() if v is not None}
        )

    def request(self, method, params=None, **headers):
        return self.post(
            {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}, **headers
        )

    def tool(self, name, arguments=None, **headers):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, **headers)

    def read(self, uri, **headers):
        return self.request("resources/read", {"uri": uri}, **headers)

    def open(self, **headers):
        return self.request("initialize", {"protocolVersion": "2025-11-25"}, **headers)

    def sailing(self):
        """Return the arguments of a search with results."""
        departures = self.read("resource://service/departures").json()["result"]["contents"]
        (row, *_) = json.loads(departures[0]["text"])
        return {
            "request": {
                "company": row["company"]["code"],
                "depart_code": row["depart_code"],
                "arrive_code": row["arrive_code"],
                "out_journey_id": row["journey_id"],
                "out_at": row["depart_at"][:10],
                "out_time": row["depart_at"][11:16],
            },
            "passengers": [
                {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 36}
            ],
        }


@pytest.fixture(scope="module")
def running():
    with Sandbox() as sandbox:
        caller = Caller(sandbox)
        yield caller
        caller.http.close()


@pytest.fixture
def caller(running):
    running.sandbox.reset()
    return running


def events(reply):
    """Return the messages of an event stream, split at its own line ends only."""
    assert reply.headers["content-type"].startswith("text/event-stream")
    blocks = re.sub(r"\r\n|\r", "\n", reply.content.decode()).split("\n\n")
    fields = [[line.partition(":")[::2] for line in block.split("\n")] for block in blocks]
    data = [
        "\n".join(value.removeprefix(" ") for name, value in block if name == "data")
        for block in fields
    ]
    return [json.loads(each) for each in data if each]


# The handshake


@each(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
        (7, "2025-11-25"),
    ],
)
def test_initialize_answers_a_version_it_knows(caller, asked, answered):
    reply = caller.request("initialize", {"protocolVersion": asked})
    result = reply.json()["result"]
    assert result["protocolVersion"] == answered
    assert set(result["capabilities"]) == {"tools", "resources"}
    assert set(result["serverInfo"]) == {"name", "version"}
    assert len(reply.headers["mcp-session-id"]) >= 32


def test_server_discover_of_newer_clients_is_an_unknown_method(caller):
    reply = caller.request("server/discover", mcp_protocol_version="2026-07-28")
    assert reply.status_code == 200
    assert reply.json()["error"]["code"] == -32601


@each(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
def test_notifications_and_client_responses_are_accepted_without_a_body(caller, message):
    reply = caller.post(message)
    assert (reply.status_code, reply.content) == (202, b"")


def test_ping_and_the_lists_answer(caller):
    assert caller.request("ping").json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    tools = caller.request("tools/list").json()["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)
    resources = caller.request("resources/list").json()["result"]["resources"]
    assert [resource["uri"] for resource in resources] == list(RESOURCES)
    templates = caller.request("resources/templates/list").json()["result"]
    assert templates == {"resourceTemplates": []}


def test_every_tool_has_a_description_a_schema_and_hints(caller):
    tools = {tool["name"]: tool for tool in caller.request("tools/list").json()["result"]["tools"]}
    for tool in tools.values():
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        assert tool["inputSchema"]["properties"]
        assert "outputSchema" not in tool
    hints = {
        name: (tool["annotations"]["readOnlyHint"], tool["annotations"]["destructiveHint"])
        for name, tool in tools.items()
    }
    assert hints == {
        "search_availability": (True, False),
        "create_booking": (False, False),
        "confirm_booking": (False, True),
        "view_ticket": (True, False),
        "cancel_ticket": (False, True),
    }
    assert '"ADT"' in json.dumps(tools["create_booking"]["inputSchema"])
    assert set(tools["search_availability"]["inputSchema"]["properties"]) == {
        "request",
        "passengers",
        "vehicle",
    }


# Refused requests


@each(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"\xff", 400, -32700),
        (b"[" * 100_000, 400, -32700),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', 400, -32700),
        (b"[]", 400, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
        (b"7", 400, -32600),
        (b'{"id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600),
    ],
)
def test_an_invalid_message_is_refused(caller, body, status, code):
    reply = caller.post(body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert reply.json()["id"] is None


def test_another_content_type_is_refused(caller):
    assert caller.request("ping", content_type="text/plain").status_code == 415
    json_in_words = "application/json; charset=utf-8"
    assert caller.request("ping", content_type=json_in_words).status_code == 200


@each(
    ("method", "params", "code"),
    [
        ("prompts/list", {}, -32601),
        ("tools/call", {"name": "pay"}, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "view_ticket", "arguments": []}, -32602),
        ("resources/read", {}, -32602),
    ],
)
def test_an_unknown_method_or_tool_is_a_json_rpc_error(caller, method, params, code):
    reply = caller.request(method, params)
    assert reply.status_code == 200
    assert reply.json()["id"] == 7
    assert reply.json()["error"]["code"] == code


def test_an_unknown_resource_is_named_in_the_error(caller):
    error = caller.read("resource://service/tides").json()["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": "resource://service/tides"})


def test_other_http_methods_and_paths_are_refused(caller):
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": "text/event-stream"}
    got = caller.http.get("/mcp", headers=headers)
    assert got.status_code == 405
    assert set(got.headers["allow"].split(", ")) == {"POST", "DELETE"}
    for name in ("oauth-protected-resource", "oauth-authorization-server", "openid-configuration"):
        assert caller.http.get(f"/.well-known/{name}").status_code == 404
        assert caller.http.get(f"/.well-known/{name}/mcp").status_code == 404


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Basic abc"])
def test_a_request_without_a_known_token_is_refused(caller, authorization):
    reply = caller.request("ping", authorization=authorization)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    error = reply.json()["error"]
    assert reply.json()["jsonrpc"] == "2.0"
    assert (error["data"]["error"], error["data"]["code"]) == (True, "UNAUTHORIZED")
    assert caller.sandbox.counters.requests == {"mcp.ping": 1}
    for stray in (b"{", b'{"jsonrpc":"2.0","id":1,"method":"tides/list"}'):
        assert caller.post(stray, authorization=authorization).status_code == 401
    notification = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    assert caller.post(notification, authorization=authorization).status_code == 401


def test_a_read_only_token_reads_and_does_not_write(caller):
    token = caller.sandbox.read_only_token
    assert "result" in caller.read(PORTS, token=token).json()
    assert "result" in caller.tool("search_availability", caller.a_sailing, token=token).json()
    reply = caller.tool("create_booking", {}, token=token)
    assert reply.status_code == 403
    assert reply.headers["www-authenticate"] == 'Bearer error="insufficient_scope"'
    assert reply.json()["error"]["data"]["code"] == "FORBIDDEN"
    assert caller.sandbox.counters.effects == ()


@each(
    ("header", "value", "status"),
    [
        ("host", "gateway.example", 421),
        ("host", "127.0.0.1.example", 421),
        ("host", "[::1", 421),
        ("host", "localhost:8080", 200),
        ("host", "[::1]:8080", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:5173", 200),
        ("origin", "http://127.0.0.1", 200),
    ],
)
def test_other_hosts_and_origins_are_refused(caller, header, value, status):
    assert caller.request("ping", **{header: value}).status_code == status


# Sessions


def test_a_call_needs_no_session(caller):
    reply = caller.read(PORTS)
    assert reply.status_code == 200
    assert "mcp-session-id" not in reply.headers


def test_a_session_lives_for_an_hour_of_the_clock(caller):
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.clock.advance(3590)
    assert caller.request("ping", mcp_session_id=session).status_code == 200
    caller.sandbox.clock.advance(11)
    response = caller.request("ping", mcp_session_id=session)
    assert (response.status_code, response.json()["error"]["message"]) == (404, "Session not found")
    assert caller.open(mcp_session_id=session).status_code == 404
    caller.sandbox.mcp.set(session_seconds=5)
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.clock.advance(6)
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_a_client_can_end_its_session(caller):
    session = caller.open().headers["mcp-session-id"]
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "mcp-session-id": session}
    assert caller.http.delete("/mcp", headers=headers).status_code == 200
    assert caller.http.delete("/mcp", headers=headers).status_code == 404
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_an_unknown_session_is_refused_for_notifications_too(caller):
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert caller.post(notification, mcp_session_id="nobody's").status_code == 404


def test_requests_without_a_session_are_refused_if_sessions_are_required(caller):
    caller.sandbox.mcp.set(session="required", stray_session_ids=True)
    refused = caller.request("ping")
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == -32600
    assert "session" in refused.json()["error"]["message"].lower()
    stray = refused.headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=stray).status_code == 404
    session = caller.open().headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=session).status_code == 200


def test_session_ids_are_ignored_if_the_server_has_no_sessions(caller):
    caller.sandbox.mcp.set(session="none")
    assert "mcp-session-id" not in caller.open().headers
    assert caller.request("ping", mcp_session_id="any").status_code == 200


def test_the_session_faults_refuse_a_request_before_the_work(caller):
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.faults.add("session_expired", "mcp.confirm_booking")
    arguments = {"id": "B1"}
    response = caller.tool("confirm_booking", arguments, mcp_session_id=session)
    assert response.status_code == 404
    assert caller.request("ping", mcp_session_id=session).status_code == 404
    caller.sandbox.faults.add("session_required", "mcp.ping")
    assert caller.request("ping").status_code == 400
    assert caller.request("ping").status_code == 200


@each(
    ("version", "status"),
    [(None, 200), ("2025-06-18", 200), ("2026-07-28", 400), ("1999-01-01", 400)],
)
def test_the_version_header_must_be_supported(caller, version, status):
    assert caller.request("ping", mcp_protocol_version=version).status_code == status


@each(
    ("handshake", "status", "code"),
    [
        ("refused", 200, -32601),
        ("refused_404", 404, None),
        ("refused_405", 405, None),
        ("modern_only", 400, -32022),
    ],
)
def test_the_handshake_can_be_refused(caller, handshake, status, code):
    caller.sandbox.mcp.set(handshake=handshake)
    reply = caller.open()
    assert reply.status_code == status
    if code is None:
        assert reply.headers["content-type"].startswith("text/plain")
    else:
        assert reply.json()["error"]["code"] == code
    assert caller.read(PORTS).status_code == 200


def test_the_handshake_can_answer_an_unknown_version(caller):
    caller.sandbox.mcp.set(handshake="odd_version")
    assert caller.open().json()["result"]["protocolVersion"] == "1.0"


# Operations


# The form of a reply


@each(
    ("accept", "stream"),
    [
        (BOTH, False),
        ("application/json", False),
        ("*/*", False),
        (None, False),
        ("text/event-stream", True),
    ],
)
def test_accept_decides_the_form(caller, accept, stream):
    reply = caller.request("ping", accept=accept)
    assert reply.headers["content-type"].startswith("text/event-stream") == stream
    (message,) = events(reply) if stream else [reply.json()]
    assert message == {"jsonrpc": "2.0", "id": 7, "result": {}}


@each("line_end", ["lf", "crlf", "cr"])
def test_an_event_stream_can_have_other_events_before_the_reply(caller, line_end):
    caller.sandbox.mcp.set(
        reply="sse",
        line_end=line_end,
        comments=True,
        notification_first=True,
        request_first=True,
        several_lines=True,
    )
    reply = caller.read(PORTS, accept="application/json")
    assert reply.content.startswith(b": ")
    assert (b"\r" in reply.content) == (line_end != "lf")
    assert (b"\n" in reply.content) == (line_end != "cr")
    first, second, last = events(reply)
    assert (first["method"], "id" in first) == ("notifications/message", False)
    assert (second["method"], second["id"]) == ("ping", 7)
    assert last["result"]["contents"][0]["uri"] == PORTS


def test_unicode_line_separators_are_sent_unescaped(caller):
    caller.sandbox.mcp.set(reply="sse", raw_separators=True)
    reply = caller.tool("search_availability", caller.a_sailing)
    text = reply.content.decode()
    assert "\u2028" in text
    assert "\u0085" in text
    (message,) = events(reply)
    assert "\u2028" in message["result"]["_meta"]["separators"]


def test_a_stream_left_open_has_sent_its_reply(caller):
    caller.sandbox.faults.add("mcp_envelope", "mcp.ports", reply="sse", left_open=True)
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": BOTH}
    body = {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": PORTS}}
    with (
        httpx.Client(verify=TLS, base_url=caller.sandbox.base_url, timeout=0.5) as http,
        http.stream("POST", "/mcp", json=body, headers=headers) as reply,
    ):
        pieces = reply.iter_bytes()
        received = b""
        while not received.endswith(b"\n\n"):
            received += next(pieces)
        with pytest.raises(httpx.ReadTimeout):
            next(pieces)
    assert b'"contents"' in received


def test_a_stream_can_end_before_the_reply(caller):
    caller.sandbox.faults.add("mcp_envelope", reply="sse", ended_early=True, comments=True)
    assert events(caller.request("ping")) == []
    assert caller.sandbox.counters.requests["mcp.ping"] == 1


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
    """Return the message with `value` as the result of a search."""
    caller.sandbox.mcp.set(**options)
    caller.sandbox.faults.add("wrong_shape", "mcp.search_availability", value=value)
    return caller.tool("search_availability", caller.a_sailing).json()


def texts(result):
    return [block["text"] for block in result["content"]]


@each("value", [[], ROWS[:1], ROWS, {"code": "A"}])
def test_every_shape_of_a_result_holds_the_value(caller, value):
    listed = value if isinstance(value, list) else [value]
    wrapped = value if isinstance(value, dict) else {"result": value}

    def result(shape):
        return search_with(caller, value, result=shape)["result"]

    usual = result("structured_and_text")
    assert usual["structuredContent"] == wrapped
    assert [json.loads(text) for text in texts(usual)] == [value]
    assert result("structured") == {"content": [], "structuredContent": wrapped}
    assert result("structured_result")["structuredContent"] == {"result": value}
    assert result("structured_array") == {"content": [], "structuredContent": value}
    text = result("text")
    assert ("structuredContent" in text, json.loads(texts(text)[0])) == (False, value)
    assert [json.loads(text) for text in texts(result("n_blocks"))] == listed
    split = texts(result("split_text"))
    assert len(split) == 2
    assert json.loads("".join(split)) == value
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


def test_some_shapes_of_a_result_hold_no_value(caller):
    assert search_with(caller, ROWS, result="empty")["result"] == {"content": []}
    prose = texts(search_with(caller, ROWS, result="plain_text")["result"])
    for text in (prose[0], "".join(prose)):
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)
    asked = search_with(caller, ROWS, result="input_required")["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]
    unknown = search_with(caller, ROWS, result="unknown_result_type")["result"]
    assert unknown["resultType"] not in ("complete", "input_required")


@each(
    "shape",
    sorted(
        {
            "is_error",
            "is_error_text",
            "is_error_prose",
            "tool_error_text",
            "error_as_success",
            "error_as_success_text",
            "json_rpc_error",
            "json_rpc_error_data",
            "bare",
            "naked",
        }
    ),
)
def test_every_shape_of_an_error_has_its_code_and_message(caller, shape):
    caller.sandbox.mcp.set(error=shape)
    message = caller.tool("view_ticket", {"id": "none"}).json()
    found = {
        "is_error": lambda: message["result"]["structuredContent"],
        "is_error_text": lambda: json.loads(texts(message["result"])[0]),
        "is_error_prose": lambda: {"message": texts(message["result"])[0]},
        "tool_error_text": lambda: json.loads(
            texts(message["result"])[0].removeprefix("Error executing tool view_ticket: ")
        ),
        "error_as_success": lambda: message["result"]["structuredContent"],
        "error_as_success_text": lambda: json.loads(texts(message["result"])[0]),
        "json_rpc_error": lambda: {"message": message["error"]["message"]},
        "json_rpc_error_data": lambda: message["error"]["data"],
        "bare": lambda: message["result"],
        "naked": lambda: message,
    }[shape]()
    assert "There is no such ticket." in found["message"]
    if shape not in ("is_error_prose", "json_rpc_error"):
        assert (found["error"], found["code"]) == (True, "TICKET_NOT_FOUND")
    flagged = {"is_error", "is_error_text", "is_error_prose", "tool_error_text"}
    result = message.get("result", {})
    assert (result.get("isError") is True) == (shape in flagged)


def test_every_shape_of_a_resource_holds_its_records(caller):
    def result(shape):
        caller.sandbox.mcp.set(resource=shape)
        return caller.read(PORTS).json()["result"]

    (usual,) = result("text")["contents"]
    ports = json.loads(usual["text"])
    assert usual["uri"] == PORTS
    (typeless,) = result("text_without_type")["contents"]
    assert set(typeless) == {"uri", "text"}
    (nameless,) = result("text_without_uri")["contents"]
    assert set(nameless) == {"mimeType", "text"}
    (blob,) = result("blob")["contents"]
    assert json.loads(base64.b64decode(blob["blob"])) == ports
    first, second = (json.loads(each["text"]) for each in result("split")["contents"])
    assert first + second == ports
    assert result("empty") == {"contents": []}
    assert result("bare_list") == ports
    assert result("bare_object") == {"ports": ports}


@each("code", [-32602, -32002, 0])
def test_the_code_of_an_unknown_resource_is_an_option(caller, code):
    caller.sandbox.mcp.set(unknown_resource_code=code)
    assert caller.read("resource://service/tides").json()["error"]["code"] == code


@each(("choice", "answered"), [("same", 7), ("null", None), ("server_error", "server-error")])
def test_the_id_of_an_error_is_an_option(caller, choice, answered):
    caller.sandbox.mcp.set(error_id=choice)
    assert caller.request("tides/list").json()["id"] == answered


# The options


@each(
    ("field", "value"),
    [("result", "xml"), ("colour", "blue"), ("session_seconds", -1), ("comments", 1)],
)
def test_an_invalid_option_is_named_and_changes_nothing(field, value):
    switches = McpSwitches()
    with pytest.raises(ValueError, match=rf"^{field}: "):
        switches.set(reply="sse", **{field: value})
    assert switches.current == McpOptions()
