"""The document describes what the service takes and answers, and nothing else."""

import json
import re
from datetime import timedelta

import httpx
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
from tests.support.tables import each
from tests.support.wire import TLS

DOCUMENT = json.loads(pages.document())
OPERATIONS = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
CAR = {"vehicle": "PEUGEOT__208", "more": {"vehicle": {"code": "CAR"}}}
REST = {each: found for each, found in OPERATIONS.items() if each[1].startswith("/api/")}


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


def test_every_reference_is_defined_and_every_schema_is_valid():
    text = pages.document().decode()
    for name in set(re.findall(r'"#/components/(\w+/[^"]+)"', text)):
        kind, _, key = name.partition("/")
        assert key in DOCUMENT["components"][kind], name
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)
    # No answer has a field that only the client sets.
    assert '"read_back"' not in text
    assert '"previewed"' not in text


def test_every_route_is_described_and_nothing_else(sandbox):
    app = sandbox._app
    while not isinstance(app, Starlette):
        app = getattr(app, "_app", None) or app.app
    routes = {
        (method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        and not route.path.startswith("/docs/")
        and route.path != "/_sandbox/"
        for method in route.methods - {"HEAD"}
    }
    assert routes == set(OPERATIONS)


@each("operation", REST.values())
def test_every_example_fits_its_schema(operation):
    holders = [operation.get("requestBody", {}), *map(resolved, operation["responses"].values())]
    contents = [media for holder in holders for media in holder.get("content", {}).values()]
    examples = [media for media in contents if "example" in media]
    assert examples
    assert not [wrong for one in examples for wrong in faults(one["schema"], one["example"])]


class Client:
    """A client that compares every reply with the document."""

    def __init__(self, http):
        self.http = http

    def request(self, method, path, *, expected=None, **how):
        reply = self.http.request(method, path, **how)
        (operation,) = (
            one
            for (known, template), one in OPERATIONS.items()
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


@each(
    ("line", "how"),
    [
        (ONE_TICKET, {"back": 7, **CAR}),
        (TWO_TICKETS, {"back": 7}),
        (ONE_TICKET, {"out_is_open": True, **CAR}),
    ],
)
def test_every_reply_of_a_journey_fits_the_document(http, sandbox, line, how):
    sandbox.clock.travel_to(NOW)
    service = ServiceOverHttp(sandbox, Client(http))
    created, other = (service.create(line, name="FLEX", **how) for _ in "ab")
    tickets = service.tickets(created)
    first, last = tickets[0], tickets[-1]
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


def test_every_error_and_every_reply_of_the_catalogue_fits_the_document(http, sandbox):
    http.headers["authorization"] = f"Bearer {sandbox.organisation_token}"
    call = Client(http).request
    for name in ("port", "vehicle-brand", "vehicle-data"):
        call("GET", f"/api/{name}", expected=200)
    for how in ({}, {"json": {}}):
        call("POST", "/api/journey", expected=201, **how)
    for company, status in (("CTN", 201), ("NOBODY", 422)):
        call("POST", "/api/departure", json={"provider_id": company}, expected=status)
    json_type = {"content-type": "application/json"}
    for (method, template), operation in REST.items():
        refused = [(401, {"headers": {"authorization": "Bearer x"}})]
        refused.append((406, {"headers": {"accept": "text/plain"}}))
        if "403" in operation["responses"]:
            reading = {"authorization": f"Bearer {sandbox.read_only_token}"}
            refused.append((403, {"headers": reading, "json": {}}))
        if method == "POST":
            refused += [
                (400, {"content": b"{", "headers": json_type}),
                (413, {"content": b"x" * 1_100_000, "headers": json_type}),
                (415, {"content": b"x", "headers": {"content-type": "a/b"}}),
                (422, {"json": {"colour": "red"}}),
            ]
        if "{id}" in template or "schemas/Identified" in json.dumps(operation):
            paid = "mark-paid" in template
            body = {"external_payment_ref": "pi_1"} if paid else {"id": "nothing"}
            refused.append((404, {"json": body} if method == "POST" else {}))
        for status, how in refused:
            call(method, template.replace("{id}", "nothing"), expected=status, **how)


def ask_mcp(http, method, **params):
    return http.post("/mcp", json=rpc(method, **params)).json()["result"]


def test_the_resources_and_tools_of_mcp_fit_the_document(http, sandbox):
    described = {each["uri"]: each for each in DOCUMENT["x-mcp"]["resources"]}
    listed = ask_mcp(http, "resources/list")["resources"]
    assert set(described) == {each["uri"] for each in listed}
    for uri, resource in described.items():
        (content,) = ask_mcp(http, "resources/read", uri=uri)["contents"]
        assert not faults(resource["content"], json.loads(content["text"])), uri
    tools = {each["name"]: each for each in DOCUMENT["x-mcp"]["tools"]}
    assert set(tools) == {each["name"] for each in ask_mcp(http, "tools/list")["tools"]}
    sandbox.clock.travel_to(NOW)

    def call(name, **arguments):
        assert not faults(tools[name]["inputSchema"], arguments)
        answer = ask_mcp(http, "tools/call", name=name, arguments=arguments)["structuredContent"]
        answer = answer.get("result", answer)
        assert not faults(tools[name]["result"], answer)
        return answer

    request = search_request(ONE_TICKET, NOW.date() + timedelta(days=61))
    (sailing, *_) = call("search_availability", request=request, passengers=[ADULT])
    created = call("create_booking", id=sailing["id"], passengers=[{**GUEST, "type": "ADT"}])
    ticket = call("confirm_booking", id=created["booking_id"])["ticket_id"]
    call("view_ticket", id=ticket)
    call("cancel_ticket", ticket_id=ticket)


def test_the_controls_answer_what_the_document_says(http, sandbox):
    sandbox.faults.add("server_error", "catalogue.ports", status=503, times=2)
    http.get("/api/port")
    call = Client(http).request
    for method, path in [one for one in OPERATIONS if one[1].startswith("/_sandbox")]:
        body = {"kind": "delay_before", "seconds": 0} if path.endswith("/faults") else {}
        how = {} if method in {"GET", "DELETE"} else {"json": body}
        call(method, path, expected=200, **how)
    call("POST", "/_sandbox/clock", json={"advance": -1}, expected=422)


def test_document_and_page_need_no_token_and_no_other_host(sandbox):
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=30) as client:
        first = client.get("/openapi.json")
        page = client.get("/docs")
        files = re.findall(r'(?:href|src)="(docs/[^"]+)"', page.text)
        types = {name: client.get(f"/{name}").headers["content-type"] for name in files}
    assert first.json() == DOCUMENT
    assert first.headers["content-type"] == "application/json"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "//" not in page.text.replace("</", "")
    kinds = {name: "css" if name.endswith("css") else "javascript" for name in files}
    assert types == {name: f"text/{kind}; charset=utf-8" for name, kind in kinds.items()}
    assert len(types) == 4


def test_without_the_files_of_the_page_an_error_names_the_extra(sandbox, monkeypatch):
    monkeypatch.setattr(pages, "_SWAGGER_UI", "not_installed_here")
    reply = httpx.get(f"{sandbox.base_url}/docs/swagger-ui.css", verify=TLS, timeout=30)
    assert reply.status_code == 404
    assert "ferry-sdk[sandbox]" in reply.json()["message"]
