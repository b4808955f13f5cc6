"""The document describes what the service takes and answers, and nothing else."""

import json
import re
from datetime import timedelta

import httpx
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    TWO_TICKETS,
    ServiceOverHttp,
    rpc,
    search_request,
)
from starlette.applications import Starlette
from starlette.routing import Route

from ferry_sdk.sandbox.api.openapi import pages
from ferry_sdk.sandbox.requests.access import Access
from tests.support.wire import TLS

DOCUMENT = json.loads(pages.document())
OPERATIONS = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
CAR = {"vehicle": "PEUGEOT__208", "more": {"vehicle": {"code": "CAR"}}}
REST = {key: operation for key, operation in OPERATIONS.items() if key[1].startswith("/api/")}


def closed(value):
    """Return a schema in which the records of responses have no other fields than named ones."""
    if isinstance(value, list):
        return [closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: closed(item) for key, item in value.items()}
    if "properties" in value and "type" in value:
        more = dict.fromkeys(MORE_FIELDS.get(value.get("title"), ()), True)
        inner |= {"properties": more | inner["properties"], "additionalProperties": False}
    return inner


MORE_FIELDS = {
    "Company": ("country", "country_code", "website"),
    "McpPort": ("country_code", "timezone"),
    "ScheduledDeparture": ("arrive_name", "depart_name", "duration_minutes", "route", "sailing_id"),
    "Ticket": ("booking",),
    "TicketLeg": ("is_open", "valid_until"),
    "FaultRequest": ("seconds",),
}
"""The fields that the service sends and no record of the client names."""
CLOSED = {"components": {"schemas": closed(DOCUMENT["components"]["schemas"])}}
FORMATS = FormatChecker(["date", "uuid"])


def faults(schema, value):
    """Return what is wrong with a value, by a schema of the document without other fields."""
    validator = Draft202012Validator({**CLOSED, **schema}, format_checker=FORMATS)
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(value)]


def resolved(thing):
    """Return a response of the document, or the one that it refers to."""
    if "$ref" not in thing:
        return thing
    *_, kind, name = thing["$ref"].split("/")
    return DOCUMENT["components"][kind][name]


def test_every_reference_is_defined():
    text = pages.document().decode()
    for reference in set(re.findall(r'"#/components/(\w+/[^"]+)"', text)):
        kind, _, name = reference.partition("/")
        assert name in DOCUMENT["components"][kind], reference


def test_every_schema_is_valid():
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_operation_has_an_id_of_its_own():
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("field", ["read_back", "previewed"])
def test_no_answer_has_a_field_of_the_client(field):
    assert f'"{field}"' not in pages.document().decode()


def test_every_route_is_described(sandbox):
    app = sandbox._app
    while not isinstance(app, Starlette):
        app = getattr(app, "_app", None) or app.app
    described = set()
    for route in app.routes:
        is_page = route.path.startswith("/docs/") or route.path == "/_sandbox/"
        if isinstance(route, Route) and not is_page:
            described |= {(method, route.path) for method in route.methods - {"HEAD"}}
    assert described == set(OPERATIONS)


@pytest.mark.parametrize("operation", REST.values(), ids=lambda each: each["operationId"])
def test_every_example_fits_its_schema(operation):
    holders = [operation.get("requestBody", {}), *map(resolved, operation["responses"].values())]
    contents = [media for holder in holders for media in holder.get("content", {}).values()]
    examples = [media for media in contents if "example" in media]
    assert examples
    for media in examples:
        assert faults(media["schema"], media["example"]) == []


class Client:
    """A client that compares every reply with the document."""

    def __init__(self, http):
        self.http = http

    def request(self, method, path, *, expected=None, **how):
        reply = self.http.request(method, path, **how)
        (operation,) = (
            operation
            for (known, template), operation in OPERATIONS.items()
            if known == method and re.fullmatch(template.replace("{id}", "[^/]+"), path)
        )
        status = str(reply.status_code)
        assert status in operation["responses"], f"{method} {path}: {status} {reply.text}"
        response = resolved(operation["responses"][status])
        (schema,) = [media["schema"] for media in response["content"].values()]
        assert not faults(schema, reply.json())
        for name in response.get("headers", {}):
            assert name in reply.headers
        if expected is not None:
            assert reply.status_code == expected, reply.text
        return reply


@pytest.mark.parametrize(
    ("line", "how"),
    [
        pytest.param(ONE_TICKET, {"back": 7, **CAR}, id="one-ticket"),
        pytest.param(TWO_TICKETS, {"back": 7}, id="two-tickets"),
        pytest.param(ONE_TICKET, {"out_is_open": True, **CAR}, id="open-ticket"),
    ],
)
def test_every_reply_of_a_journey_fits_the_document(http, sandbox, line, how):
    sandbox.clock.travel_to(NOW)
    service = ServiceOverHttp(sandbox, Client(http))
    created = service.create(line, name="FLEX", **how)
    other = service.create(line, name="FLEX", **how)
    tickets = service.tickets(created)
    first = tickets[0]
    last = tickets[-1]

    service.mark_paid(first)
    service.confirm(created)
    assert service.refusal("bookings.confirm", id=created["booking_id"])[0] == 409

    sandbox.clock.advance(3000)
    service.booking(created, access=Access.ORGANISATION)
    for name in ("get", "pdf"):
        service.perform(f"tickets.{name}", id=first["id"])
    service.fee(created["booking_id"])

    service.perform("tickets.cancel", ticket_id=last["id"])
    assert service.refusal("tickets.cancel", ticket_id=last["id"])[0] == 409
    service.booking(created)

    again = {"id": first["id"], "external_payment_ref": "other"}
    assert service.refusal("tickets.mark_paid", again, access=Access.ORGANISATION)[0] == 409
    service.cancel(other)
    assert service.refusal("bookings.cancel", booking_id=other["booking_id"])[0] == 409


@pytest.fixture
def call(http, sandbox):
    """Return a function that calls with full access and compares the reply with the document."""
    http.headers["authorization"] = f"Bearer {sandbox.organisation_token}"
    return Client(http).request


@pytest.mark.parametrize(
    ("method", "path", "how", "status"),
    [
        ("GET", "port", {}, 200),
        ("GET", "vehicle-brand", {}, 200),
        ("GET", "vehicle-data", {}, 200),
        ("POST", "journey", {}, 201),
        ("POST", "journey", {"json": {}}, 201),
        ("POST", "departure", {"json": {"provider_id": "CTN"}}, 201),
        ("POST", "departure", {"json": {"provider_id": "NOBODY"}}, 422),
    ],
    ids=str,
)
def test_every_reply_of_a_catalogue_fits_the_document(call, method, path, how, status):
    call(method, f"/api/{path}", expected=status, **how)


JSON = {"content-type": "application/json"}
ANY_REQUEST = [
    pytest.param(401, {"headers": {"authorization": "Bearer x"}}, id="wrong-token"),
    pytest.param(406, {"headers": {"accept": "text/plain"}}, id="other-accept"),
]
ANY_POST = [
    pytest.param(400, {"content": b"{", "headers": JSON}, id="no-json"),
    pytest.param(413, {"content": b"x" * 1_100_000, "headers": JSON}, id="large-body"),
    pytest.param(415, {"content": b"x", "headers": {"content-type": "a/b"}}, id="other-type"),
    pytest.param(422, {"json": {"colour": "red"}}, id="unknown-field"),
]


def path_of(template):
    return template.replace("{id}", "nothing")


@pytest.mark.parametrize(("status", "how"), ANY_REQUEST)
def test_error_of_any_request_fits_the_document(call, status, how):
    for method, template in REST:
        call(method, path_of(template), expected=status, **how)


@pytest.mark.parametrize(("status", "how"), ANY_POST)
def test_error_of_any_post_fits_the_document(call, status, how):
    for method, template in REST:
        if method == "POST":
            call(method, path_of(template), expected=status, **how)


def test_error_of_a_weak_token_fits_the_document(call, sandbox):
    headers = {"authorization": f"Bearer {sandbox.read_only_token}"}
    writes = [key for key, operation in REST.items() if "403" in operation["responses"]]
    assert writes
    for method, template in writes:
        call(method, path_of(template), expected=403, headers=headers, json={})


def test_error_of_an_unknown_id_fits_the_document(call):
    for (method, template), operation in REST.items():
        if "{id}" in template or "schemas/Identified" in json.dumps(operation):
            is_payment = "mark-paid" in template
            body = {"external_payment_ref": "pi_1"} if is_payment else {"id": "nothing"}
            how = {"json": body} if method == "POST" else {}
            call(method, path_of(template), expected=404, **how)


# MCP


def ask_mcp(http, method, **params):
    return http.post("/mcp", json=rpc(method, **params)).json()["result"]


@pytest.mark.slow
def test_every_resource_fits_the_document(http):
    described = {each["uri"]: each for each in DOCUMENT["x-mcp"]["resources"]}
    listed = ask_mcp(http, "resources/list")["resources"]
    assert set(described) == {each["uri"] for each in listed}
    for uri, resource in described.items():
        (content,) = ask_mcp(http, "resources/read", uri=uri)["contents"]
        assert faults(resource["content"], json.loads(content["text"])) == [], uri


def test_every_tool_fits_the_document(http, sandbox):
    tools = {each["name"]: each for each in DOCUMENT["x-mcp"]["tools"]}
    assert set(tools) == {each["name"] for each in ask_mcp(http, "tools/list")["tools"]}
    sandbox.clock.travel_to(NOW)

    def call_tool(name, **arguments):
        assert faults(tools[name]["inputSchema"], arguments) == []
        answer = ask_mcp(http, "tools/call", name=name, arguments=arguments)["structuredContent"]
        answer = answer.get("result", answer)
        assert faults(tools[name]["result"], answer) == []
        return answer

    request = search_request(ONE_TICKET, NOW.date() + timedelta(days=61))
    (sailing, *_) = call_tool("search_availability", request=request, passengers=[ADULT])
    created = call_tool("create_booking", id=sailing["id"], passengers=[{**GUEST, "type": "ADT"}])
    ticket = call_tool("confirm_booking", id=created["booking_id"])["ticket_id"]
    call_tool("view_ticket", id=ticket)
    call_tool("cancel_ticket", ticket_id=ticket)


# Controls


CONTROLS = [(method, path) for method, path in OPERATIONS if path.startswith("/_sandbox")]


@pytest.mark.parametrize(("method", "path"), CONTROLS)
def test_control_answers_what_the_document_says(http, sandbox, method, path):
    sandbox.faults.add("server_error", "catalogue.ports", status=503, times=2)
    http.get("/api/port")
    body = {"kind": "delay_before", "seconds": 0} if path.endswith("/faults") else {}
    how = {} if method in {"GET", "DELETE"} else {"json": body}
    Client(http).request(method, path, expected=200, **how)


def test_error_of_a_control_fits_the_document(http):
    Client(http).request("POST", "/_sandbox/clock", json={"advance": -1}, expected=422)


# The page


@pytest.fixture
def anybody(sandbox):
    """Return an HTTP client without a token."""
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=30) as client:
        yield client


def test_document_needs_no_token(anybody):
    reply = anybody.get("/openapi.json")
    assert reply.json() == DOCUMENT
    assert reply.headers["content-type"] == "application/json"


def test_page_of_the_document_has_a_strict_policy(anybody):
    page = anybody.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert page.headers["x-content-type-options"] == "nosniff"


def test_page_of_the_document_needs_no_other_host(anybody):
    page = anybody.get("/docs")
    assert "//" not in page.text.replace("</", "")
    files = re.findall(r'(?:href|src)="(docs/[^"]+)"', page.text)
    assert len(files) == 4
    for name in files:
        kind = "css" if name.endswith("css") else "javascript"
        content_type = anybody.get(f"/{name}").headers["content-type"]
        assert content_type == f"text/{kind}; charset=utf-8", name


def test_dark_theme_of_the_page_exists(anybody):
    """The script switches on a class that the style sheet of Swagger UI has."""
    (name,) = re.findall(r'classList\.toggle\("([\w-]+)"', anybody.get("/docs/page.js").text)
    assert f"html.{name}" in anybody.get("/docs/swagger-ui.css").text


def test_missing_file_of_the_page_names_the_extra(anybody, monkeypatch):
    monkeypatch.setattr(pages, "_SWAGGER_UI", "not_installed_here")
    reply = anybody.get("/docs/swagger-ui.css")
    assert reply.status_code == 404
    assert "ferry-sdk[sandbox]" in reply.json()["message"]
