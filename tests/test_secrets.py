"""No token and no passenger's data in logs, messages, reprs, pickles and tracebacks."""

import base64
import logging
import pickle

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Ferry, FerryError, InvalidInputError, UnexpectedResponseError
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
from tests.support.tables import each

pytestmark = pytest.mark.usefixtures("look_once")


def _network(said):
    raise httpx.ReadError(f"reset: {said}")


def _json(status, body):
    return lambda said: httpx.Response(status, json=body(said))


SERVICES = {
    **{
        f"message {status}": _json(
            status, lambda said: {"error": True, "code": "NO", "message": said}
        )
        for status in (422, 503, 200)
    },
    "text 400": lambda said: httpx.Response(400, text=said),
    "text 200": lambda said: httpx.Response(200, text=said),
    "record": _json(200, lambda said: {"booking_id": 17, "note": said}),
    "errors": _json(422, lambda said: {"errors": [{"field": "passengers[0]", "message": said}]}),
    "code": _json(400, lambda _: {"code": f"{TOKEN} {PASSENGER['doc_number']}", "message": "no"}),
    "header": lambda said: httpx.Response(
        404, headers={"x-request-id": "r-1", "x-echo": said, "set-cookie": said}
    ),
    "JSON-RPC error": _json(200, lambda said: {"error": {"code": -32000, "message": said}}),
    "tool error": _json(
        200, lambda said: {"result": {"isError": True, "content": [{"type": "text", "text": said}]}}
    ),
    "network": _network,
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
every_service = each("service", SERVICES)


def secretive(clients, service, token=TOKEN, **settings):
    def answer(request):
        said = request.content.decode()
        authorization = request.headers["authorization"]
        told = f"I cannot do this with {authorization}: {said} {' '.join(canaries.CANARIES)}"
        return SERVICES[service](told)

    settings = {"organisation_token": ORGANISATION, "max_retries": 1} | settings
    return client_of(clients, answer, token, **settings)


@every_service
@each("call", CALLS)
def test_what_the_service_repeats_shows_nowhere(clients, caplog, service, call):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(FerryError) as info:
        CALLS[call](secretive(clients, service))
    assert canaries.frames_of(info.value)
    assert not leaks(canaries.shown(info.value))
    assert not leaks(caplog.text)


@every_service
@each("organisation_token", [ORGANISATION, lambda: ORGANISATION])
def test_neither_token_shows_anywhere(clients, caplog, service, organisation_token):
    caplog.set_level(logging.DEBUG)
    ferry = secretive(
        clients, service, lambda: TOKEN, organisation_token=organisation_token, max_retries=0
    )
    for call, arguments, secret in (
        (ferry.tickets.mark_paid, {"external_payment_ref": "pay-1"}, ORGANISATION),
        (ferry.tickets.get, {}, TOKEN),
    ):
        with pytest.raises(FerryError) as info:
            call("t-1", **arguments)
        assert secret not in canaries.shown(info.value)
    assert not leaks(caplog.text)


def test_the_words_left_say_what_was_hidden_and_a_refused_argument_is_not_shown(clients, caplog):
    error = caught(
        sdk.UnprocessableEntityError, secretive(clients, "message 422").bookings.create, **BOOKING
    )
    assert "I cannot do this with Bearer [hidden]" in str(error)
    assert TOKEN in error.body["message"]
    caplog.set_level(logging.INFO, "ferry_sdk")
    ports = [{"code": "A", "name": "n", "country": "c"}, {"code": 7, "name": PERSONAL[0]}]
    records = client_of(clients, lambda _: httpx.Response(200, json=ports)).catalogue.ports()
    assert len(caplog.records) == 1
    assert "code" in caplog.text
    assert not leaks(f"{caplog.text} {records!r} {records.unreadable!r}")
    ferry = secretive(clients, "message 503")
    for name, value in [("first_name", ""), ("age", "CANARYDOC771"), ("birth_date", TOKEN)]:
        passenger = {**PASSENGER, name: value}
        call = ferry.bookings.create
        error = caught(InvalidInputError, call, **{**BOOKING, "passengers": [passenger]})
        assert error.field == f"passengers[0].{name}"
        text = f"{error} {error!r} {error.args} {pickle.dumps(error, 0).decode('latin-1')}"
        assert not leaks(text)
    service = Exchanges(httpx.Response(404))
    ferry = client_of(clients, service, TOKEN, organisation_token=ORGANISATION)
    for call in CALLS.values():
        with pytest.raises(FerryError):
            call(ferry)
    encoded = base64.b64encode(TOKEN.encode()).decode()
    for request in service.requests:
        names = [name for name, value in request.headers.items() if TOKEN in value]
        assert names == ["authorization"]
        text = f"{request.url} {request.content.decode()}"
        assert TOKEN not in text
        assert encoded not in text
        assert ORGANISATION not in f"{text} {request.headers.raw}"


def test_models_settings_requests_and_clients_do_not_show_what_they_carry():
    traveller = samples.TICKET_PASSENGER | PASSENGER | {"phone": CONTACT["phone"]}
    ticket = samples.TICKET | {
        "vehicle": samples.TICKET_VEHICLE | canaries.VEHICLE,
        "passengers": [traveller],
        "qr_code": PASSENGER["doc_number"],
        "holder": CONTACT["name"],
    }
    pay = samples.POSSIBLE_ACTION | {"requestedItems": {"e": PERSONAL[5]}}
    booking = samples.BOOKING | {
        "possible_actions": {"Pay": pay},
        "pricing": None,
        "tickets": [ticket],
        "journey_details": {"outward": PASSENGER["last_name"]},
        "contact": CONTACT,
    }
    money = {"amount": 1, "currency": "EUR"}
    models = [
        Passenger.model_validate(PASSENGER),
        Contact.model_validate(CONTACT),
        Vehicle.model_validate(canaries.VEHICLE),
        TicketPassenger.model_validate(traveller),
        Ticket.model_validate(ticket),
        Booking.model_validate(booking),
        Received.model_validate({**money, "from_label": CONTACT["name"]}),
        Reverse.model_validate({**money, "to_label": CONTACT["name"]}),
        Unreadable(index=0, field="f", problem="p", raw=booking),
    ]
    for model in models:
        assert not leaks(f"{model!r} {model}"), type(model)
    assert Booking.model_validate(booking).tickets[0].passengers[0].first_name == "Canarywoman"
    secret = Secret(ORGANISATION, "organisation_token")
    settings = Settings(URL, Secret(TOKEN), secret, headers={"x-agent": PASSENGER["email"]})
    email = PASSENGER["email"]
    request = Request("POST", f"{URL}/{TOKEN}", {"Authorization": TOKEN}, email.encode())
    head = Reply(200, Headers([("set-cookie", TOKEN)]), email.encode())
    things = [
        *(settings, settings.token, request, head, Send(request, settings.timeout)),
        Rest.post("booking", body=BOOKING),
    ]
    for kind in (Ferry, AsyncFerry):
        ferry = kind(TOKEN, base_url=URL, organisation_token=ORGANISATION)
        things += [ferry, ferry.bookings, ferry._transport, ferry.with_raw_response]
        things += [vars(one) for one in things[-4:] if hasattr(one, "__dict__")]
    for thing in things:
        assert not leaks(f"{thing!r} {thing}"), type(thing)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Settings(URL, Secret(TOKEN)))


def test_a_raw_response_shows_nothing_and_no_token_of_a_session_or_client_takes_its_place(clients):
    url = f"https://cdn.example/{CONTACT['phone']}"
    reply = httpx.Response(200, headers={"x-echo": TOKEN}, json={"url": url})
    raw = client_of(clients, lambda _: reply).with_raw_response.tickets.pdf("t-1")
    assert not leaks(f"{raw!r} {raw.headers!r}")
    assert raw.headers["x-echo"] == TOKEN
    result = {"result": {"protocolVersion": "2025-11-25"}}
    reply = httpx.Response(200, headers={"mcp-session-id": "s\tx"}, json=result)
    error = caught(UnexpectedResponseError, client_of(clients, lambda _: reply).mcp.ports)
    assert "Mcp-Session-Id" in str(error)
    service = Exchanges(httpx.Response(200, json=[]))
    http_client = clients.http_client(
        transport=httpx.MockTransport(service),
        auth=("user", "password"),
        headers={"authorization": "Bearer other"},
    )
    clients(TOKEN, base_url=URL, http_client=http_client).catalogue.ports()
    assert [one.headers["authorization"] for one in service.requests] == [f"Bearer {TOKEN}"]


def test_a_netrc_of_the_machine_is_not_asked(clients, ferry_sandbox, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url).catalogue.ports()
