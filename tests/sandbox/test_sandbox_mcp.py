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
        defaults = {
            "authorization": f"Bearer {token or self.sandbox.token}",
            "accept": BOTH,
            "content-type": "application/json",
        }
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in (defaults | named).items() if value is not None}
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
    """A caller of a service that runs for the whole module, without a token in its headers."""
    with run(Caller) as caller:
        caller.http.headers["accept"] = "*/*"
        del caller.http.headers["authorization"]
        yield caller


@pytest.fixture
def caller(service):
    """The caller of the service."""
    return service


def events(reply):
    """Return the messages of an event stream, split at its own line ends only."""
    assert reply.headers["content-type"].startswith("text/event-stream")
    text = re.sub(r"\r\n|\r", "\n", reply.content.decode())
    messages = []
    for block in text.split("\n\n"):
        fields = [line.partition(":")[::2] for line in block.split("\n")]
        data = "\n".join(value.removeprefix(" ") for name, value in fields if name == "data")
        if data:
            messages.append(json.loads(data))
    return messages


# The handshake


@pytest.mark.parametrize(
    ("requested", "answered"),
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
def test_initialize_answers_a_version_it_knows(caller, requested, answered):
    reply = caller.open(requested)
    result = reply.json()["result"]
    assert result["protocolVersion"] == answered
    assert set(result["capabilities"]) == {"tools", "resources"}
    assert set(result["serverInfo"]) == {"name", "version"}
    assert len(reply.headers["mcp-session-id"]) >= 32


def test_initialize_can_answer_an_odd_version(caller):
    caller.sandbox.mcp.set(handshake="odd_version")
    assert caller.open().json()["result"]["protocolVersion"] == "1.0"


@pytest.mark.parametrize(
    ("handshake", "status", "code"), [("refused", 200, -32601), ("modern_only", 400, -32022)]
)
def test_initialize_can_be_refused(caller, handshake, status, code):
    caller.sandbox.mcp.set(handshake=handshake)
    reply = caller.open()
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("version", [None, "2026-07-28"])
def test_service_without_a_handshake_serves_any_version(caller, version):
    caller.sandbox.mcp.set(handshake="refused")
    assert caller.read(PORTS, mcp_protocol_version=version).status_code == 200


@pytest.mark.parametrize("version", [None, "2025-11-25", "1999-01-01"])
def test_older_versions_can_be_refused(caller, version):
    caller.sandbox.mcp.set(handshake="modern_only")
    reply = caller.read(PORTS, mcp_protocol_version=version)
    error = {"supported": ["2026-07-28"], "requested": version}
    assert (reply.status_code, reply.json()["error"]["data"]) == (400, error)


def test_newest_version_can_be_the_only_one(caller):
    caller.sandbox.mcp.set(handshake="modern_only")
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_session_id": "gone"}
    assert caller.read(PORTS, **headers).status_code == 200


@pytest.mark.parametrize("status", [404, 405])
def test_initialize_can_be_refused_without_json(caller, status):
    caller.sandbox.mcp.set(handshake=f"refused_{status}")
    reply = caller.open()
    assert reply.status_code == status
    assert reply.headers["content-type"].startswith("text/plain")
    assert caller.read(PORTS).status_code == 200


# Lists


def test_ping_is_answered(caller):
    assert caller.request("ping").json() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_every_resource_is_listed(caller):
    resources = caller.request("resources/list").json()["result"]["resources"]
    assert [resource["uri"] for resource in resources] == list(RESOURCES)


def test_there_is_no_template_of_resources(caller):
    assert caller.request("resources/templates/list").json()["result"] == {"resourceTemplates": []}


@pytest.fixture
def listed_tools(caller):
    """Return the tools by name."""
    tools = caller.request("tools/list").json()["result"]["tools"]
    return {tool["name"]: tool for tool in tools}


def test_every_tool_is_listed(listed_tools):
    assert list(listed_tools) == list(TOOLS)


@pytest.mark.parametrize(
    ("name", "reads", "destroys"),
    [
        ("search_availability", True, False),
        ("create_booking", False, False),
        ("confirm_booking", False, True),
        ("view_ticket", True, False),
        ("cancel_ticket", False, True),
    ],
)
def test_tool_says_what_it_does(listed_tools, name, reads, destroys):
    tool = listed_tools[name]
    assert tool["description"]
    assert "outputSchema" not in tool
    hints = tool["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"]) == (reads, destroys)


def test_tools_have_the_types_of_mcp(listed_tools):
    assert '"ADT"' in json.dumps(listed_tools["create_booking"]["inputSchema"])
    fields = listed_tools["search_availability"]["inputSchema"]["properties"]
    assert set(fields) == {"request", "passengers", "vehicle"}


# Messages


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"method": "notifications/initialized"}, id="initialized"),
        pytest.param(
            {"method": "notifications/cancelled", "params": {"requestId": 1}}, id="cancelled"
        ),
        pytest.param({"id": 1, "result": {}}, id="result"),
        pytest.param({"id": 1, "error": {"code": 1, "message": "no"}}, id="error"),
    ],
)
def test_message_without_an_answer_is_accepted(caller, message):
    reply = caller.post({"jsonrpc": "2.0", **message})
    assert (reply.status_code, reply.content) == (202, b"")


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"{", -32700, id="no-json"),
        pytest.param(b"\xff", -32700, id="no-utf8"),
        pytest.param(b"[" * 100_000, -32700, id="deep"),
        pytest.param(b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700, id="nan"),
        pytest.param(
            b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
            -32700,
            id="half-a-surrogate-pair",
        ),
        pytest.param([], -32600, id="empty-batch"),
        pytest.param([PING], -32600, id="batch"),
        pytest.param(7, -32600, id="number"),
        pytest.param({"jsonrpc": "2.0", "id": 1}, -32600, id="no-method"),
        pytest.param({"id": 1, "method": "ping"}, -32600, id="no-version"),
        pytest.param({**PING, "id": None}, -32600, id="null-id"),
        pytest.param({**PING, "id": True}, -32600, id="boolean-id"),
        pytest.param({**PING, "params": []}, -32600, id="list-of-params"),
    ],
)
def test_invalid_message_is_refused(caller, body, code):
    reply = caller.post(body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)
    assert reply.json()["id"] is None


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("prompts/list", {}, -32601),
        ("server/discover", {}, -32601),
        ("tools/call", {"name": "pay"}, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "view_ticket", "arguments": []}, -32602),
        ("resources/read", {}, -32602),
        ("resources/read", {"uri": "resource://no"}, -32602),
    ],
    ids=str,
)
def test_unknown_method_is_answered_with_an_error(caller, method, params, code):
    reply = caller.request(method, params)
    assert (reply.status_code, reply.json()["id"]) == (200, 7)
    assert reply.json()["error"]["code"] == code


def test_error_names_the_unknown_resource(caller):
    error = caller.read("resource://no").json()["error"]
    assert error["data"] == {"uri": "resource://no"}


# HTTP


def test_get_is_not_allowed(caller):
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": "text/event-stream"}
    reply = caller.http.get("/mcp", headers=headers)
    assert reply.status_code == 405
    assert set(reply.headers["allow"].split(", ")) == {"POST", "DELETE"}


@pytest.mark.parametrize(
    "name", ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"]
)
def test_there_is_no_authorization_server(caller, name):
    assert caller.http.get(f"/.well-known/{name}").status_code == 404
    assert caller.http.get(f"/.well-known/{name}/mcp").status_code == 404


unauthorized = pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Basic abc"])


@unauthorized
def test_request_without_a_token_is_refused(caller, authorization):
    reply = caller.request("ping", authorization=authorization)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert reply.json()["jsonrpc"] == "2.0"
    data = reply.json()["error"]["data"]
    assert (data["error"], data["code"]) == (True, "UNAUTHORIZED")
    assert caller.sandbox.counters.requests == {"mcp.ping": 1}


@unauthorized
@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"{", id="no-json"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "method": "tides/list"}, id="unknown-method"),
        pytest.param({"jsonrpc": "2.0", "method": "notifications/initialized"}, id="notification"),
    ],
)
def test_message_without_a_token_gets_no_other_error(caller, authorization, message):
    assert caller.post(message, authorization=authorization).status_code == 401


def test_read_only_token_reads(caller):
    token = caller.sandbox.read_only_token
    assert "result" in caller.read(PORTS, token=token).json()
    assert "result" in caller.tool("search_availability", SEARCH, token=token).json()


def test_read_only_token_does_not_write(caller):
    reply = caller.tool("create_booking", {}, token=caller.sandbox.read_only_token)
    assert reply.status_code == 403
    assert reply.headers["www-authenticate"] == 'Bearer error="insufficient_scope"'
    assert reply.json()["error"]["data"]["code"] == "FORBIDDEN"
    assert caller.sandbox.counters.effects == ()


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("content_type", "text/plain", 415),
        ("content_type", "application/json; charset=utf-8", 200),
        ("host", "gateway.example", 421),
        ("host", "127.0.0.1.example", 421),
        ("host", "[::1", 421),
        ("host", "localhost:8080", 200),
        ("host", "[::1]:8080", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:5173", 200),
        ("origin", "http://127.0.0.1", 200),
        ("mcp_protocol_version", None, 200),
        ("mcp_protocol_version", "2025-06-18", 200),
        ("mcp_protocol_version", "2026-07-28", 400),
        ("mcp_protocol_version", "1999-01-01", 400),
    ],
)
def test_header_decides_whether_a_request_is_refused(caller, header, value, status):
    assert caller.request("ping", **{header: value}).status_code == status


# Sessions


@pytest.fixture
def session(caller):
    """Return the id of an open session."""
    return caller.open().headers["mcp-session-id"]


def test_only_initialize_opens_a_session(caller):
    assert "mcp-session-id" not in caller.read(PORTS).headers


def test_session_lives_for_an_hour(caller, session):
    caller.sandbox.clock.advance(3590)
    assert caller.request("ping", mcp_session_id=session).status_code == 200
    caller.sandbox.clock.advance(11)
    reply = caller.request("ping", mcp_session_id=session)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (404, -32001)
    assert error["message"] == "Session not found"


def test_ended_session_accepts_no_message(caller, session):
    caller.sandbox.clock.advance(3601)
    assert caller.open(mcp_session_id=session).status_code == 404
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert caller.post(notification, mcp_session_id=session).status_code == 404


def test_client_ends_its_session_once(caller, session):
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "mcp-session-id": session}
    assert caller.http.delete("/mcp", headers=headers).status_code == 200
    assert caller.http.delete("/mcp", headers=headers).status_code == 404
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_lifetime_of_sessions_is_an_option(caller):
    caller.sandbox.mcp.set(session_seconds=5)
    session = caller.open().headers["mcp-session-id"]
    caller.sandbox.clock.advance(6)
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_fault_ends_a_session_before_the_work(caller, session):
    caller.sandbox.faults.add("session_expired", "mcp.confirm_booking")
    assert caller.tool("confirm_booking", {"id": "B1"}, mcp_session_id=session).status_code == 404
    assert caller.request("ping", mcp_session_id=session).status_code == 404


def test_fault_requires_a_session_once(caller):
    caller.sandbox.faults.add("session_required", "mcp.ping")
    assert [caller.request("ping").status_code for _ in range(2)] == [400, 200]


def test_sessions_can_be_required(caller):
    caller.sandbox.mcp.set(session="required")
    refused = caller.request("ping")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)
    assert "session" in refused.json()["error"]["message"].lower()
    session = caller.open().headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=session).status_code == 200


def test_error_can_carry_an_unknown_session(caller):
    caller.sandbox.mcp.set(session="required", stray_session_ids=True)
    stray = caller.request("ping").headers["mcp-session-id"]
    assert caller.request("ping", mcp_session_id=stray).status_code == 404


def test_service_can_be_without_sessions(caller):
    caller.sandbox.mcp.set(session="none")
    assert "mcp-session-id" not in caller.open().headers
    assert caller.request("ping", mcp_session_id="any").status_code == 200


# JSON and event streams


@pytest.mark.parametrize("accept", [BOTH, "application/json", "*/*", None])
def test_reply_is_json_if_accepted(caller, accept):
    reply = caller.request("ping", accept=accept)
    assert not reply.headers["content-type"].startswith("text/event-stream")
    assert reply.json() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_client_that_accepts_only_streams_gets_one(caller):
    reply = caller.request("ping", accept="text/event-stream")
    assert events(reply) == [{"jsonrpc": "2.0", "id": 7, "result": {}}]


@pytest.mark.parametrize("line_end", ["lf", "crlf", "cr"])
def test_stream_can_begin_with_other_events(caller, line_end):
    caller.sandbox.mcp.set(
        reply="sse",
        line_end=line_end,
        several_lines=True,
        comments=True,
        notification_first=True,
        request_first=True,
    )
    reply = caller.read(PORTS, accept="application/json")
    assert reply.content.startswith(b": ")
    assert (b"\r" in reply.content) == (line_end != "lf")
    assert (b"\n" in reply.content) == (line_end != "cr")
    first, second, last = events(reply)
    assert (first["method"], "id" in first) == ("notifications/message", False)
    assert (second["method"], second["id"]) == ("ping", 7)
    assert last["result"]["contents"][0]["uri"] == PORTS


def test_stream_can_end_without_the_reply(caller):
    caller.sandbox.faults.add("mcp_envelope", reply="sse", ended_early=True, comments=True)
    assert events(caller.request("ping")) == []
    assert caller.sandbox.counters.requests["mcp.ping"] == 1


def test_stream_can_contain_other_separators_of_lines(caller):
    caller.sandbox.mcp.set(reply="sse", raw_separators=True)
    reply = caller.tool("search_availability", SEARCH)
    assert {"\u2028", "\u0085"} <= set(reply.content.decode())
    (message,) = events(reply)
    assert "\u2028" in message["result"]["_meta"]["separators"]


def test_stream_left_open_has_sent_its_reply(caller):
    caller.sandbox.faults.add("mcp_envelope", "mcp.ports", reply="sse", left_open=True)
    headers = {"authorization": f"Bearer {caller.sandbox.token}", "accept": BOTH}
    body = {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": PORTS}}
    with caller.http.stream("POST", "/mcp", json=body, headers=headers) as reply:
        pieces = reply.iter_bytes()
        received = b""
        while not received.endswith(b"\n\n"):
            received += next(pieces)
        # The stream has not ended: nothing more can be read without waiting.
        link = reply.extensions["network_stream"].get_extra_info("socket")
        link.settimeout(0.05)
        with pytest.raises(TimeoutError):
            link.recv(1)
    assert b'"contents"' in received


def test_fault_changes_the_shape_of_one_reply(caller):
    caller.sandbox.mcp.set(status=207)
    caller.sandbox.faults.add("mcp_envelope", "mcp.ports", resource="bare_list")
    changed = caller.read(PORTS)
    usual = caller.read(PORTS)
    assert isinstance(changed.json()["result"], list)
    assert set(usual.json()["result"]) == {"contents"}
    assert (changed.status_code, usual.status_code) == (207, 207)


# The shapes of results

ROWS = [{"code": "A"}, {"code": "B\u2028"}, {"code": "C"}]
every_value = pytest.mark.parametrize(
    "value",
    [[], ROWS[:1], ROWS, {"code": "A"}],
    ids=["empty-list", "one-row", "rows", "object"],
)


def search_with(caller, value, shape):
    """Return the message for a search that finds `value`."""
    caller.sandbox.mcp.set(result=shape)
    caller.sandbox.faults.add("wrong_shape", "mcp.search_availability", value=value)
    return caller.tool("search_availability", SEARCH).json()


def texts(result):
    return [block["text"] for block in result["content"]]


def parsed(result):
    return [json.loads(text) for text in texts(result)]


def as_object(value):
    return value if isinstance(value, dict) else {"result": value}


@every_value
def test_result_is_structured_with_a_text(caller, value):
    result = search_with(caller, value, "structured_and_text")["result"]
    assert result["structuredContent"] == as_object(value)
    assert parsed(result) == [value]


@every_value
@pytest.mark.parametrize("shape", ["structured", "structured_array"])
def test_result_is_structured_only(caller, value, shape):
    result = search_with(caller, value, shape)["result"]
    structured = value if shape == "structured_array" else as_object(value)
    assert result == {"content": [], "structuredContent": structured}


@every_value
def test_result_is_always_in_an_object(caller, value):
    result = search_with(caller, value, "structured_result")["result"]
    assert result["structuredContent"] == {"result": value}


@every_value
def test_result_is_one_text(caller, value):
    result = search_with(caller, value, "text")["result"]
    assert "structuredContent" not in result
    assert parsed(result)[0] == value


@every_value
def test_result_is_a_text_for_each_element(caller, value):
    result = search_with(caller, value, "n_blocks")["result"]
    assert parsed(result) == (value if isinstance(value, list) else [value])


@every_value
def test_result_is_cut_into_two_texts(caller, value):
    pieces = texts(search_with(caller, value, "split_text")["result"])
    assert (len(pieces), json.loads("".join(pieces))) == (2, value)


@every_value
def test_result_is_an_embedded_resource(caller, value):
    (block,) = search_with(caller, value, "embedded_resource")["result"]["content"]
    assert block["type"] == "resource"
    assert json.loads(block["resource"]["text"]) == value


@every_value
def test_result_is_followed_by_other_blocks(caller, value):
    blocks = search_with(caller, value, "extra_blocks")["result"]["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "audio", "resource_link"]
    assert json.loads(blocks[0]["text"]) == value


@every_value
def test_result_is_bare(caller, value):
    assert search_with(caller, value, "bare")["result"] == value


@every_value
def test_reply_is_the_value_itself(caller, value):
    assert search_with(caller, value, "naked") == value


@every_value
def test_message_is_in_a_batch(caller, value):
    (message,) = search_with(caller, value, "batch")
    assert message["result"]["structuredContent"] == as_object(value)


@every_value
def test_result_says_that_it_is_complete(caller, value):
    result = search_with(caller, value, "complete_result_type")["result"]
    assert result["resultType"] == "complete"


def test_result_is_empty(caller):
    assert search_with(caller, ROWS, "empty")["result"] == {"content": []}


def test_result_is_no_json(caller):
    result = search_with(caller, ROWS, "plain_text")["result"]
    for text in (texts(result)[0], "".join(texts(result))):
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)


def test_result_asks_for_input(caller):
    result = search_with(caller, ROWS, "input_required")["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"]


def test_result_has_an_unknown_type(caller):
    result = search_with(caller, ROWS, "unknown_result_type")["result"]
    assert result["resultType"] not in ("complete", "input_required")


# The shapes of errors


def fail_with(caller, shape):
    """Return the message for a ticket that does not exist."""
    caller.sandbox.mcp.set(error=shape)
    return caller.tool("view_ticket", {"id": "none"}).json()


@pytest.fixture
def error(caller):
    """Return the error object of a ticket that does not exist."""
    return fail_with(caller, "is_error")["result"]["structuredContent"]


def test_error_has_its_code_with_a_message(error):
    assert (error["error"], error["code"]) == (True, "TICKET_NOT_FOUND")
    assert "There is no such ticket." in error["message"]


@pytest.mark.parametrize(
    "shape", ["is_error", "is_error_text", "is_error_prose", "tool_error_text"]
)
def test_result_is_marked_as_an_error(caller, shape):
    assert fail_with(caller, shape)["result"]["isError"] is True


@pytest.mark.parametrize("shape", ["error_as_success", "error_as_success_text", "bare"])
def test_error_can_be_marked_as_a_success(caller, shape):
    assert not fail_with(caller, shape)["result"].get("isError", False)


@pytest.mark.parametrize("shape", ["is_error_text", "error_as_success_text"])
def test_error_is_a_text(caller, error, shape):
    assert json.loads(texts(fail_with(caller, shape)["result"])[0]) == error


def test_error_is_prose(caller, error):
    assert error["message"] in texts(fail_with(caller, "is_error_prose")["result"])[0]


def test_error_is_a_text_after_prose(caller, error):
    (text,) = texts(fail_with(caller, "tool_error_text")["result"])
    prose, _, rest = text.partition(": ")
    assert prose == "Error executing tool view_ticket"
    assert json.loads(rest) == error


def test_error_is_structured_without_a_mark(caller, error):
    assert fail_with(caller, "error_as_success")["result"]["structuredContent"] == error


def test_error_is_the_result_itself(caller, error):
    assert fail_with(caller, "bare")["result"] == error


def test_error_is_one_of_json_rpc(caller, error):
    assert error["message"] in fail_with(caller, "json_rpc_error")["error"]["message"]


def test_error_is_in_the_data_of_json_rpc(caller, error):
    assert fail_with(caller, "json_rpc_error_data")["error"]["data"] == error


def test_error_is_the_reply_itself(caller, error):
    assert fail_with(caller, "naked") == error


# The shapes of resources


def read_with(caller, shape):
    """Return the result of reading the ports."""
    caller.sandbox.mcp.set(resource=shape)
    return caller.read(PORTS).json()["result"]


@pytest.fixture
def port_records(caller):
    """Return the records of the ports."""
    (content,) = read_with(caller, "text")["contents"]
    assert content["uri"] == PORTS
    return json.loads(content["text"])


@pytest.mark.parametrize(
    ("shape", "members"),
    [
        pytest.param("text_without_type", {"uri", "text"}, id="type"),
        pytest.param("text_without_uri", {"mimeType", "text"}, id="uri"),
    ],
)
def test_content_can_lack_a_member(caller, shape, members):
    (content,) = read_with(caller, shape)["contents"]
    assert set(content) == members


def test_content_can_be_a_blob(caller, port_records):
    (content,) = read_with(caller, "blob")["contents"]
    assert json.loads(base64.b64decode(content["blob"])) == port_records


def test_records_can_be_in_two_contents(caller, port_records):
    first, second = (json.loads(each["text"]) for each in read_with(caller, "split")["contents"])
    assert first + second == port_records


def test_contents_can_be_empty(caller):
    assert read_with(caller, "empty") == {"contents": []}


def test_records_can_be_the_result(caller, port_records):
    assert read_with(caller, "bare_list") == port_records


def test_records_can_be_in_an_object(caller, port_records):
    assert read_with(caller, "bare_object") == {"ports": port_records}


# Options of errors


@pytest.mark.parametrize("code", [-32602, -32002, 0])
def test_code_for_an_unknown_resource_is_an_option(caller, code):
    caller.sandbox.mcp.set(unknown_resource_code=code)
    assert caller.read("resource://service/tides").json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("option", "answered"), [("same", 7), ("null", None), ("server_error", "server-error")]
)
def test_id_of_an_error_is_an_option(caller, option, answered):
    caller.sandbox.mcp.set(error_id=option)
    assert caller.request("tides/list").json()["id"] == answered


@pytest.mark.parametrize(
    ("field", "value"),
    [("result", "xml"), ("colour", "blue"), ("session_seconds", -1), ("comments", 1)],
)
def test_invalid_option_changes_nothing(field, value):
    switches = McpSwitches()
    with pytest.raises(ValueError, match=rf"^{field}: "):
        switches.set(reply="sse", **{field: value})
    assert switches.current == McpOptions()


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
    """The tools of the service."""
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
def test_schema_accepts_the_example(tools, name):
    tools.agree(name, EXAMPLES[name], is_valid=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOOLS)
def test_schema_agrees_with_the_service(tools, name):
    for *way, last in filter(None, places(EXAMPLES[name])):
        for value in ODD:
            request = copy.deepcopy(EXAMPLES[name])
            record = request
            for step in way:
                record = record[step]
            record[last] = value
            tools.agree(name, request, is_valid=tools.validators[name].is_valid(request))


@pytest.mark.parametrize("name", TOOLS)
def test_schema_describes_every_field(tools, name):
    schema = tools.schemas[name]
    assert schema["type"] == "object"
    for record in (schema, *schema.get("$defs", {}).values()):
        assert record["additionalProperties"] is False
        nameless = [
            field for field, each in record["properties"].items() if not each["description"]
        ]
        assert nameless == []


@pytest.mark.parametrize("name", TOOLS)
def test_schema_has_no_alternatives_at_the_top(tools, name):
    assert not {"anyOf", "oneOf", "allOf"} & set(tools.schemas[name])


def test_schemas_have_no_format_of_time(tools):
    assert '"format": "time"' not in json.dumps(tools.schemas)


ONE_WAY = {
    **search_request(ONE_TICKET, NOW.date()),
    "ret_journey_id": "",
    "ret_at": "",
    "ret_time": "",
}


def test_search_one_way_is_valid(tools):
    search = {"request": ONE_WAY, "passengers": [ADULT]}
    tools.agree("search_availability", search, is_valid=True)


@pytest.mark.parametrize("time", ["10:00:00Z", "24:00", "9:00"])
def test_other_form_of_a_time_is_invalid(tools, time):
    search = {"request": {**ONE_WAY, "out_time": time}, "passengers": [ADULT]}
    assert tools.agree("search_availability", search, is_valid=False) == [messages("en")["time"]]


@pytest.mark.parametrize(
    ("names", "is_valid"),
    [
        ({"id": "A1"}, True),
        ({"id": "A1", "availabilities": None}, True),
        ({"availabilities": [CHOICE]}, True),
        ({}, False),
        ({"id": None}, False),
        ({"id": "A1", "availabilities": [CHOICE]}, False),
    ],
    ids=str,
)
def test_booking_names_an_id_or_selections(tools, names, is_valid):
    tools.agree("create_booking", {"passengers": [GUEST], **names}, is_valid=is_valid)
