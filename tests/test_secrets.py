"""No token and no passenger's data in logs, messages, reprs, pickles and tracebacks."""

import base64
import logging
import pickle

import httpx
import pytest

from ferry_sdk import (
    AsyncFerry,
    Ferry,
    FerryError,
    InvalidInputError,
    UnexpectedResponseError,
    UnprocessableEntityError,
)
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Headers, Reply, Request
from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models import (
    Booking,
    Contact,
    Passenger,
    Received,
    Reverse,
    Ticket,
    TicketPassenger,
    Unreadable,
    Vehicle,
)
from tests.backend import canaries
from tests.backend.canaries import BOOKING, CONTACT, ORGANISATION, PASSENGER, PERSONAL, TOKEN, leaks
from tests.support import samples
from tests.support.exchanges import URL, Exchanges, caught, client_of

pytestmark = pytest.mark.usefixtures("look_once")


def _fail(echo):
    raise httpx.ReadError(f"reset: {echo}")


def _json(status, make_body):
    return lambda echo: httpx.Response(status, json=make_body(echo))


def _message(echo):
    return {"error": True, "code": "NO", "message": echo}


SERVICES = {
    "message 422": _json(422, _message),
    "message 503": _json(503, _message),
    "message 200": _json(200, _message),
    "text 400": lambda echo: httpx.Response(400, text=echo),
    "text 200": lambda echo: httpx.Response(200, text=echo),
    "record": _json(200, lambda echo: {"booking_id": 17, "note": echo}),
    "errors": _json(422, lambda echo: {"errors": [{"field": "passengers[0]", "message": echo}]}),
    "code": _json(400, lambda _: {"code": f"{TOKEN} {PASSENGER['doc_number']}", "message": "no"}),
    "header": lambda echo: httpx.Response(
        404, headers={"x-request-id": "r-1", "x-echo": echo, "set-cookie": echo}
    ),
    "JSON-RPC error": _json(200, lambda echo: {"error": {"code": -32000, "message": echo}}),
    "tool error": _json(
        200, lambda echo: {"result": {"isError": True, "content": [{"type": "text", "text": echo}]}}
    ),
    "network": _fail,
    "redirect": lambda _: httpx.Response(
        307, headers={"location": f"https://evil.example/?{TOKEN}"}
    ),
}
"""Replies that repeat what the service was told."""
CALLS = {
    "REST create": lambda ferry: ferry.bookings.create(**BOOKING),
    "MCP create": lambda ferry: ferry.mcp.create_booking(**BOOKING),
    "MCP any tool": lambda ferry: ferry.mcp.call_tool("create_booking", BOOKING),
}
every_service = pytest.mark.parametrize("service", SERVICES)


def repeating_client(clients, service, token=TOKEN, **settings):
    """Return a client whose service repeats what it was told, in one of the ways."""

    def answer(request):
        content = request.content.decode()
        authorization = request.headers["authorization"]
        echo = f"I cannot do this with {authorization}: {content} {' '.join(canaries.CANARIES)}"
        return SERVICES[service](echo)

    settings = {"organisation_token": ORGANISATION, "max_retries": 1} | settings
    return client_of(clients, answer, token, **settings)


@every_service
@pytest.mark.parametrize("call", CALLS)
def test_error_shows_nothing_that_the_service_repeats(clients, service, call):
    with pytest.raises(FerryError) as info:
        CALLS[call](repeating_client(clients, service))
    assert canaries.frames_of(info.value)
    assert not leaks(canaries.shown(info.value))


@every_service
@pytest.mark.parametrize("call", CALLS)
def test_log_shows_nothing_that_the_service_repeats(clients, caplog, service, call):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(FerryError):
        CALLS[call](repeating_client(clients, service))
    assert not leaks(caplog.text)


@every_service
@pytest.mark.parametrize("organisation_token", [ORGANISATION, lambda: ORGANISATION])
def test_organisation_token_is_not_shown(clients, caplog, service, organisation_token):
    caplog.set_level(logging.DEBUG)
    ferry = repeating_client(clients, service, organisation_token=organisation_token, max_retries=0)
    with pytest.raises(FerryError) as info:
        ferry.tickets.mark_paid("t-1", external_payment_ref="pay-1")
    assert ORGANISATION not in canaries.shown(info.value)
    assert not leaks(caplog.text)


@every_service
@pytest.mark.parametrize("token", [TOKEN, lambda: TOKEN], ids=["text", "function"])
def test_token_is_not_shown(clients, caplog, service, token):
    caplog.set_level(logging.DEBUG)
    ferry = repeating_client(clients, service, token, max_retries=0)
    with pytest.raises(FerryError) as info:
        ferry.tickets.get("t-1")
    assert TOKEN not in canaries.shown(info.value)
    assert not leaks(caplog.text)


def test_words_around_a_secret_stay(clients):
    create = repeating_client(clients, "message 422").bookings.create
    error = caught(UnprocessableEntityError, create, **BOOKING)
    assert "I cannot do this with Bearer [hidden]" in str(error)
    assert TOKEN in error.body["message"]


def test_unreadable_record_is_not_shown(clients, caplog):
    caplog.set_level(logging.INFO, "ferry_sdk")
    ports = [{"code": "A", "name": "n", "country": "c"}, {"code": 7, "name": PERSONAL[0]}]
    records = client_of(clients, lambda _: httpx.Response(200, json=ports)).catalogue.ports()
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "code" in warning.getMessage()
    assert not leaks(f"{caplog.text} {records!r} {records.unreadable!r}")


@pytest.mark.parametrize(
    ("name", "value"),
    [("first_name", ""), ("age", "CANARYDOC771"), ("birth_date", TOKEN)],
    ids=["first_name", "age", "birth_date"],
)
def test_refused_argument_is_not_shown(clients, name, value):
    create = repeating_client(clients, "message 503").bookings.create
    booking = BOOKING | {"passengers": [PASSENGER | {name: value}]}
    error = caught(InvalidInputError, create, **booking)
    assert error.field == f"passengers[0].{name}"
    assert not leaks(f"{error} {error!r} {error.args} {pickle.dumps(error, 0).decode('latin-1')}")


@pytest.fixture
def requests(clients):
    """The requests of all calls, of a client with both tokens."""
    service = Exchanges(httpx.Response(404))
    ferry = client_of(clients, service, TOKEN, organisation_token=ORGANISATION)
    for call in CALLS.values():
        with pytest.raises(FerryError):
            call(ferry)
    return service.requests


def names_with_token(request):
    """Return the names of the headers that hold the token."""
    return [name for name, value in request.headers.items() if TOKEN in value]


def test_token_is_in_one_header(requests):
    others = [one for one in requests if names_with_token(one) != ["authorization"]]
    assert requests
    assert others == []


def test_token_is_in_no_address_or_body(requests):
    encoded = base64.b64encode(TOKEN.encode()).decode()
    texts = [f"{request.url} {request.content.decode()}" for request in requests]
    assert [text for text in texts if TOKEN in text or encoded in text] == []


def test_organisation_token_leaves_with_payments_only(requests):
    texts = [f"{one.url} {one.content.decode()} {one.headers.raw}" for one in requests]
    assert [text for text in texts if ORGANISATION in text] == []


TRAVELLER_OF_TICKET = samples.TICKET_PASSENGER | PASSENGER | {"phone": CONTACT["phone"]}
TICKET_OF_TRAVELLER = samples.TICKET | {
    "vehicle": samples.TICKET_VEHICLE | canaries.VEHICLE,
    "passengers": [TRAVELLER_OF_TICKET],
    "qr_code": PASSENGER["doc_number"],
    "holder": CONTACT["name"],
}
BOOKING_OF_TRAVELLER = samples.BOOKING | {
    "possible_actions": {"Pay": samples.POSSIBLE_ACTION | {"requestedItems": {"e": PERSONAL[5]}}},
    "pricing": None,
    "tickets": [TICKET_OF_TRAVELLER],
    "journey_details": {"outward": PASSENGER["last_name"]},
    "contact": CONTACT,
}
MONEY = {"amount": 1, "currency": "EUR"}


@pytest.mark.parametrize(
    "record",
    [
        Passenger.model_validate(PASSENGER),
        Contact.model_validate(CONTACT),
        Vehicle.model_validate(canaries.VEHICLE),
        TicketPassenger.model_validate(TRAVELLER_OF_TICKET),
        Ticket.model_validate(TICKET_OF_TRAVELLER),
        Booking.model_validate(BOOKING_OF_TRAVELLER),
        Received.model_validate({**MONEY, "from_label": CONTACT["name"]}),
        Reverse.model_validate({**MONEY, "to_label": CONTACT["name"]}),
        Unreadable(index=0, field="f", problem="p", raw=BOOKING_OF_TRAVELLER),
    ],
    ids=lambda record: type(record).__name__,
)
def test_record_does_not_show_a_traveller(record):
    assert not leaks(f"{record!r} {record}")


def test_record_of_a_traveller_has_the_name():
    booking = Booking.model_validate(BOOKING_OF_TRAVELLER)
    assert booking.tickets[0].passengers[0].first_name == "Canarywoman"


def settings_with_secrets():
    return Settings(
        URL,
        Secret(TOKEN),
        Secret(ORGANISATION, "organisation_token"),
        headers={"x-agent": PASSENGER["email"]},
    )


def request_with_secrets():
    headers = {"Authorization": TOKEN}
    return Request("POST", f"{URL}/{TOKEN}", headers, PASSENGER["email"].encode())


@pytest.mark.parametrize(
    "value",
    [
        settings_with_secrets(),
        settings_with_secrets().token,
        request_with_secrets(),
        Reply(200, Headers([("set-cookie", TOKEN)]), PASSENGER["email"].encode()),
        Send(request_with_secrets(), settings_with_secrets().timeout),
        Rest.post("booking", body=BOOKING),
    ],
    ids=lambda value: type(value).__name__,
)
def test_value_does_not_show_what_it_carries(value):
    assert not leaks(f"{value!r} {value}")


@pytest.mark.parametrize("kind", [Ferry, AsyncFerry])
@pytest.mark.parametrize(
    "part",
    [
        lambda ferry: ferry,
        lambda ferry: ferry.bookings,
        lambda ferry: ferry._transport,
        lambda ferry: ferry.with_raw_response,
    ],
    ids=["client", "group", "transport", "view"],
)
def test_client_does_not_show_its_tokens(kind, part):
    shown = part(kind(TOKEN, base_url=URL, organisation_token=ORGANISATION))
    attributes = getattr(shown, "__dict__", {})
    assert not leaks(f"{shown!r} {shown} {attributes!r}")


def test_settings_are_not_pickled():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Settings(URL, Secret(TOKEN)))


def test_raw_response_does_not_show_its_content(clients):
    url = f"https://cdn.example/{CONTACT['phone']}"
    reply = httpx.Response(200, headers={"x-echo": TOKEN}, json={"url": url})
    raw = client_of(clients, lambda _: reply).with_raw_response.tickets.pdf("t-1")
    assert not leaks(f"{raw!r} {raw.headers!r}")
    assert raw.headers["x-echo"] == TOKEN


def test_session_id_with_a_control_character_is_refused(clients):
    result = {"result": {"protocolVersion": "2025-11-25"}}
    reply = httpx.Response(200, headers={"mcp-session-id": "s\tx"}, json=result)
    error = caught(UnexpectedResponseError, client_of(clients, lambda _: reply).mcp.ports)
    assert "Mcp-Session-Id" in str(error)


def test_token_replaces_that_of_the_http_client(clients):
    service = Exchanges(httpx.Response(200, json=[]))
    http_client = clients.http_client(
        transport=httpx.MockTransport(service),
        auth=("user", "password"),
        headers={"authorization": "Bearer other"},
    )
    clients(TOKEN, base_url=URL, http_client=http_client).catalogue.ports()
    tokens = [request.headers["authorization"] for request in service.requests]
    assert tokens == [f"Bearer {TOKEN}"]


def test_netrc_of_the_machine_is_not_used(clients, ferry_sandbox, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url).catalogue.ports()
