"""However a call ends, its errors and logs show no token and no traveller."""

import asyncio
import json
import logging
import pickle
import traceback
from contextlib import suppress
from copy import copy, deepcopy
from datetime import timedelta
from operator import attrgetter

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import AlreadyDoneError, Ferry, FerryError, OutcomeUnknownError, PenaltyExceededError
from tests.backend import canaries
from tests.backend.canaries import BOOKING, CONTACT, ORGANISATION, PASSENGER, TOKEN, leaks, shown
from tests.support import operations, samples
from tests.support.cases import case
from tests.support.exchanges import URL, caught, client_of
from tests.support.injected import LIBRARIES
from tests.support.trip import DAY, selected
from tests.transport.scripted import Service, in_turn, read_request

pytestmark = pytest.mark.usefixtures("look_once")
PAID = "canary-payment-55d1"
ECHO = {"name": f"{TOKEN} {PASSENGER['last_name']} {CONTACT['email']}"}


@pytest.fixture
def logged(caplog):
    """Returns everything that was logged, at every level and by every library."""
    caplog.set_level(logging.DEBUG)
    return lambda: "\n".join(
        f"{record.name} {record.getMessage()} {record.args!r} {record.exc_text}"
        for record in caplog.records
        if record.name != "asyncio"
    )


def echo_everything(request):
    """A service that echoes all that it knows of everybody, and loses the replies to writes."""
    ticket = {**samples.TICKET, "passengers": [PASSENGER], "holder": ECHO}
    blocked = {**ticket, "status": "Blocked"}
    booking = {**samples.BOOKING, "contact": CONTACT, "echo": ECHO}
    match request.method, request.url.path.rpartition("/")[2]:
        case "GET", "pdf":
            return httpx.Response(200, json={"url": None, "echo": ECHO})
        case "GET", "t-1":
            return httpx.Response(200, json=blocked)
        case "GET", _:
            return httpx.Response(200, json={**booking, "tickets": [blocked]})
        case "POST", "cancel-fee":
            return httpx.Response(200, json={**samples.CANCELLATION_FEE, "echo": ECHO})
        case _:
            sent = f"{request.headers['authorization']} {request.content.decode()}"
            raise httpx.ReadError(f"reset: {sent}")


ERRORS = [
    pytest.param(
        OutcomeUnknownError,
        lambda ferry: ferry.bookings.confirm("b-1"),
        id="confirm",
    ),
    pytest.param(
        OutcomeUnknownError,
        lambda ferry: ferry.bookings.cancel("b-1"),
        id="cancel a booking",
    ),
    pytest.param(
        OutcomeUnknownError,
        lambda ferry: ferry.tickets.cancel("t-1"),
        id="cancel a ticket",
    ),
    pytest.param(
        OutcomeUnknownError,
        lambda ferry: ferry.tickets.mark_paid("t-1", external_payment_ref=PAID),
        id="mark a ticket as paid",
    ),
    pytest.param(
        OutcomeUnknownError,
        lambda ferry: ferry.bookings.create(**BOOKING),
        id="create",
    ),
    pytest.param(
        sdk.PriceChangedError,
        lambda ferry: ferry.bookings.confirm("b-1", expect_total=1),
        id="another price",
    ),
    pytest.param(
        PenaltyExceededError,
        lambda ferry: ferry.bookings.cancel("b-1", max_penalty=1),
        id="penalty of a booking",
    ),
    pytest.param(
        PenaltyExceededError,
        lambda ferry: ferry.tickets.cancel("t-1", max_penalty=1),
        id="penalty of a ticket",
    ),
    pytest.param(
        sdk.RequestTimeoutError,
        lambda ferry: ferry.bookings.wait("b-1", until="voided", deadline=0.1),
        id="wait for a booking",
    ),
    pytest.param(
        sdk.RequestTimeoutError,
        lambda ferry: ferry.tickets.wait_pdf("t-1", deadline=0.1),
        id="wait for a voucher",
    ),
]


@pytest.mark.parametrize("deadline", [None, 20])
@pytest.mark.parametrize(("kind", "call"), ERRORS)
def test_no_error_shows_what_was_read(clients, logged, kind, call, deadline):
    ferry = client_of(
        clients, echo_everything, TOKEN, organisation_token=ORGANISATION, deadline=deadline
    )
    error = caught(kind, call, ferry)
    assert not leaks(shown(error))
    assert not leaks(logged())
    for duplicate in (copy(error), deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert not leaks(f"{duplicate!r} {duplicate} {duplicate.args}")
    assert not leaks(pickle.dumps(error).decode("latin-1"))


def test_last_seen_stays_in_memory(clients):
    ferry = client_of(clients, echo_everything, TOKEN)
    error = caught(OutcomeUnknownError, ferry.bookings.confirm, "b-1")
    assert error.last_seen.tickets[0].passengers[0].last_name == PASSENGER["last_name"]
    assert pickle.loads(pickle.dumps(error)).last_seen is None


def test_a_failed_recovery_shows_no_traveller(clients):
    ferry = client_of(clients, echo_everything, TOKEN)
    error = caught(OutcomeUnknownError, ferry.bookings.confirm, "b-1")
    assert not leaks(shown(caught(OutcomeUnknownError, ferry.recover, error)))


def test_a_failing_token_function_shows_no_traveller(clients):
    def token():
        raise LookupError("the vault is closed")

    ferry = client_of(clients, echo_everything, token, organisation_token=ORGANISATION)
    assert not leaks(canaries.frames_of(caught(LookupError, ferry.bookings.create, **BOOKING)))


def test_a_refused_token_is_not_shown(clients):
    ferry = client_of(clients, echo_everything, lambda: "a\r\nx-admin: 1")
    assert "admin" not in shown(caught(sdk.ConfigurationError, ferry.bookings.get, "b-1"))


def as_text(token):
    return token


def as_function(token):
    return lambda: token


@pytest.mark.parametrize("give", [as_text, as_function])
def test_a_whole_trip_leaves_nothing_in_logs(clients, ferry_sandbox, logged, monkeypatch, give):
    monkeypatch.setattr("ferry_sdk._engine.polling._LAST_LOOK", 0.25)
    ferry = clients(
        give(ferry_sandbox.token),
        base_url=ferry_sandbox.base_url,
        organisation_token=give(ferry_sandbox.organisation_token),
    )
    selection = selected(ferry)
    adult = {**PASSENGER, "age": None}  # the date of birth says it, on whatever day this is
    born = DAY - timedelta(days=7 * 365 + 100)
    child = {
        **adult,
        "type": "Child",
        "birth_date": born.isoformat(),
        "doc_number": f"{PASSENGER['doc_number']}2",
    }

    for create in (ferry.bookings.create, ferry.mcp.create_booking):
        created = create(availabilities=[selection], passengers=[adult, child], contact=CONTACT)
        ferry_sandbox.faults.add("lose_reply", "*confirm*")
        ferry.bookings.confirm(created.booking_id)
        ticket_id = ferry.bookings.get(created.booking_id).tickets[0].id
        ferry.tickets.get(ticket_id)
        ferry.mcp.view_ticket(ticket_id)
        with suppress(AlreadyDoneError):
            ferry.tickets.mark_paid(ticket_id, external_payment_ref=PAID)
        ferry.bookings.cancel(created.booking_id, max_penalty=100_000)

    text = logged()
    assert "bookings.confirm" in text
    assert not leaks(text)
    assert PAID not in text
    assert ferry_sandbox.token not in text
    assert ferry_sandbox.organisation_token not in text
    assert child["birth_date"] not in text


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("level", "has_addresses"),
    [
        pytest.param(logging.INFO, False, id="INFO"),
        pytest.param(logging.DEBUG, True, id="DEBUG"),
    ],
)
def test_addresses_are_logged_at_debug_only(
    clients, ferry_sandbox, caplog, library, level, has_addresses
):
    http_client = clients.http_client(LIBRARIES[library])
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, http_client=http_client)
    caplog.set_level(level)
    with pytest.raises(FerryError):
        ferry.tickets.get("id-4711")
    ferry_sandbox.faults.add("server_error", "*", times=1)
    with pytest.raises(FerryError):
        ferry.bookings.get("id-4711")

    loud = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert any("bookings.get failed" in line for line in loud)
    assert not [line for line in loud if "id-4711" in line or "HTTP Request" in line]
    quiet = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert any("HTTP Request" in line for line in quiet) == has_addresses


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_requests_of_others_are_logged_as_ever(ferry_sandbox, caplog, library):
    caplog.set_level(logging.INFO)
    url = ferry_sandbox.base_url
    with LIBRARIES[library].Client() as http_client:
        Ferry(ferry_sandbox.token, base_url=url, http_client=http_client).catalogue.ports()
        assert not [record for record in caplog.records if record.name == library]
        http_client.get(f"{url}/their-own")
    assert "their-own" in caplog.text


class Interruption(BaseException):
    """An exception that stops a program, as Ctrl-C does."""


def interrupt(_):
    raise Interruption


def create_in_thread(operation):
    transport = httpx.MockTransport(interrupt)
    with httpx.Client(transport=transport) as http_client:
        attrgetter(operation)(Ferry(TOKEN, base_url=URL, http_client=http_client))(**BOOKING)


def create_in_task(operation):
    async def main():
        transport = httpx.MockTransport(interrupt)
        async with httpx.AsyncClient(transport=transport) as http_client:
            ferry = sdk.AsyncFerry(TOKEN, base_url=URL, http_client=http_client)
            await attrgetter(operation)(ferry)(**BOOKING)

    asyncio.run(main())


@pytest.mark.parametrize("create", [create_in_thread, create_in_task])
@pytest.mark.parametrize("operation", ["bookings.create", "mcp.create_booking"])
def test_an_interruption_shows_no_traveller(create, operation):
    error = caught(Interruption, create, operation)
    assert not leaks(canaries.frames_of(error))


NAMES = ("Marguerite", "Okonkwo", "XD998877", "1980-03-02")
BODY = json.dumps(
    {
        "booking_id": "b-1",
        "passengers": [{"first_name": NAMES[0], "last_name": NAMES[1]}],
        "doc_number": NAMES[2],
        "birth_date": NAMES[3],
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
BROKEN = {
    "chunks that are none": HEAD + b"transfer-encoding: chunked\r\n\r\n" + BODY + b"\r\n",
    "no head": BODY + b"\r\n\r\n",
    "a line of the head that is none": HEAD + BODY + b"\r\n\r\n",
    "too short": HEAD + b"content-length: 9999\r\n\r\n" + BODY,
    "not packed": HEAD + b"content-encoding: gzip\r\ncontent-length: 9\r\n\r\n" + BODY[:9],
    "a refusal": b"HTTP/1.1 409 No\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY,
    "names in its headers": HEAD + b"x-request-id: for Okonkwo\r\nx-seat: Marguerite XD998877\r\n"
    b"content-length: 2\r\n\r\n{}",
}


# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
@pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")
@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("method", ["get", "confirm"])
def test_a_broken_reply_shows_nobody(any_clients, caplog, reply, method):
    caplog.set_level(logging.DEBUG)
    script = in_turn(read_request, lambda connection: connection.socket.sendall(reply))
    with Service(script) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0, deadline=20)
        with pytest.raises(FerryError) as info:
            getattr(ferry.bookings, method)("b-1")
    error = info.value
    text = f"{error} {error!r} {''.join(traceback.format_exception(error))} {caplog.text}"
    text += pickle.dumps(error, 0).decode("latin-1")
    assert not [name for name in NAMES if name in text]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_operation_follows_a_redirect(clients, tmp_path, status):
    urls = []

    def redirect(request):
        urls.append(request.url)
        return httpx.Response(status, headers={"location": "https://evil.example/"})

    options = {"transport": httpx.MockTransport(redirect), "follow_redirects": True}
    http_client = clients.http_client(**options)
    ferry = clients(TOKEN, base_url=URL, http_client=http_client, organisation_token=ORGANISATION)
    for name in operations.OPERATIONS:
        with case(name):
            urls.clear()
            error = caught(sdk.UnexpectedResponseError, operations.make, ferry, name, tmp_path)
            assert error.status_code == status
            assert {url.host for url in urls} == {httpx.URL(URL).host}
            assert not leaks(shown(error))
