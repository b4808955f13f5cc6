"""Whatever becomes of a call, no token and no traveller's data is in what it leaves behind."""

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
from tests.support.tables import each
from tests.support.trip import DAY, selected
from tests.transport.scripted import Service, in_turn, read_request

pytestmark = pytest.mark.usefixtures("look_once")
PAID = "canary-payment-55d1"
ECHO = {"name": f"{TOKEN} {PASSENGER['last_name']} {CONTACT['email']}"}


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.DEBUG)
    return lambda: "\n".join(
        f"{record.name} {record.getMessage()} {record.args!r} {record.exc_text}"
        for record in caplog.records
        if record.name != "asyncio"
    )


def record_of(request):
    """A service that knows everything of everybody, and loses the replies to writes."""
    known = [{**samples.TICKET, "passengers": [PASSENGER], "holder": ECHO}]
    booking = {**samples.BOOKING, "tickets": known, "contact": CONTACT, "echo": ECHO}
    match request.method, request.url.path.rpartition("/")[2]:
        case "GET", "pdf":
            return httpx.Response(200, json={"url": None, "echo": ECHO})
        case "GET", "t-1":
            return httpx.Response(200, json={**known[0], "status": "Blocked"})
        case "GET", _:
            blocked = [{**known[0], "status": "Blocked"}]
            return httpx.Response(200, json={**booking, "tickets": blocked})
        case "POST", "cancel-fee":
            return httpx.Response(200, json={**samples.CANCELLATION_FEE, "echo": ECHO})
        case _:
            said = f"{request.headers['authorization']} {request.content.decode()}"
            raise httpx.ReadError(f"reset: {said}")


ERRORS = [
    (OutcomeUnknownError, lambda ferry: ferry.bookings.confirm("b-1")),
    (OutcomeUnknownError, lambda ferry: ferry.bookings.cancel("b-1")),
    (OutcomeUnknownError, lambda ferry: ferry.tickets.cancel("t-1")),
    (OutcomeUnknownError, lambda ferry: ferry.tickets.mark_paid("t-1", external_payment_ref=PAID)),
    (OutcomeUnknownError, lambda ferry: ferry.bookings.create(**BOOKING)),
    (sdk.PriceChangedError, lambda ferry: ferry.bookings.confirm("b-1", expect_total=1)),
    (PenaltyExceededError, lambda ferry: ferry.bookings.cancel("b-1", max_penalty=1)),
    (PenaltyExceededError, lambda ferry: ferry.tickets.cancel("t-1", max_penalty=1)),
    (
        sdk.RequestTimeoutError,
        lambda ferry: ferry.bookings.wait("b-1", until="voided", deadline=0.1),
    ),
    (sdk.RequestTimeoutError, lambda ferry: ferry.tickets.wait_pdf("t-1", deadline=0.1)),
]


@each("deadline", [None, 20])
@each(("kind", "call"), ERRORS)
def test_no_error_shows_what_was_read_on_the_way_to_it(clients, logged, kind, call, deadline):
    ferry = client_of(clients, record_of, TOKEN, organisation_token=ORGANISATION, deadline=deadline)
    error = caught(kind, call, ferry)
    assert not leaks(shown(error))
    assert not leaks(logged())
    for other in (copy(error), deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert not leaks(f"{other!r} {other} {other.args}")
    assert not leaks(pickle.dumps(error).decode("latin-1"))


def test_what_was_seen_last_stays_in_memory_and_a_function_that_fails_shows_no_traveller(clients):
    ferry = client_of(clients, record_of, TOKEN)
    error = caught(OutcomeUnknownError, ferry.bookings.confirm, "b-1")
    assert error.last_seen.tickets[0].passengers[0].last_name == PASSENGER["last_name"]
    assert pickle.loads(pickle.dumps(error)).last_seen is None
    assert not leaks(shown(caught(OutcomeUnknownError, ferry.recover, error)))

    def token():
        raise LookupError("the vault is closed")

    ferry = client_of(clients, record_of, token, organisation_token=ORGANISATION)
    assert not leaks(canaries.frames_of(caught(LookupError, ferry.bookings.create, **BOOKING)))
    ferry = client_of(clients, record_of, lambda: "a\r\nx-admin: 1")
    assert "admin" not in shown(caught(sdk.ConfigurationError, ferry.bookings.get, "b-1"))


@pytest.mark.parametrize("given", ["text", "function"])
def test_a_whole_trip_leaves_nothing_in_any_log(clients, ferry_sandbox, logged, monkeypatch, given):
    monkeypatch.setattr("ferry_sdk._engine.polling._LAST_LOOK", 0.25)
    tokens = (ferry_sandbox.token, ferry_sandbox.organisation_token)
    first, second = tokens if given == "text" else tuple(lambda one=one: one for one in tokens)
    ferry = clients(first, base_url=ferry_sandbox.base_url, organisation_token=second)
    selection = selected(ferry)
    adult = {**PASSENGER, "age": None}  # the date of birth says it, on whatever day this is
    born = DAY - timedelta(days=7 * 365 + 100)
    other = {"birth_date": born.isoformat(), "doc_number": f"{PASSENGER['doc_number']}2"}
    child = {**adult, **other, "type": "Child"}
    for create in (ferry.bookings.create, ferry.mcp.create_booking):
        created = create(availabilities=[selection], passengers=[adult, child], contact=CONTACT)
        ferry_sandbox.faults.add("lose_reply", "*confirm*")
        ferry.bookings.confirm(created.booking_id)
        booking = ferry.bookings.get(created.booking_id)
        ferry.tickets.get(booking.tickets[0].id)
        ferry.mcp.view_ticket(booking.tickets[0].id)
        with suppress(AlreadyDoneError):
            ferry.tickets.mark_paid(booking.tickets[0].id, external_payment_ref=PAID)
        ferry.bookings.cancel(created.booking_id, max_penalty=100_000)
    text = logged()
    assert "bookings.confirm" in text
    assert not leaks(text)
    assert PAID not in text
    assert not [token for token in tokens if token in text]
    assert child["birth_date"] not in text


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_address_with_an_id_is_logged_at_info(clients, ferry_sandbox, caplog, library):
    http_client = clients.http_client(LIBRARIES[library])
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, http_client=http_client)
    for level in (logging.INFO, logging.DEBUG):
        caplog.clear()
        caplog.set_level(level)
        with pytest.raises(FerryError):
            ferry.tickets.get("id-4711")
        ferry_sandbox.faults.add("server_error", "*", times=1)
        with pytest.raises(FerryError):
            ferry.bookings.get("id-4711")
        loud = [one.getMessage() for one in caplog.records if one.levelno >= logging.INFO]
        assert any("bookings.get failed" in line for line in loud)
        assert not [line for line in loud if "id-4711" in line or "HTTP Request" in line]
        quiet = [one.getMessage() for one in caplog.records if one.levelno == logging.DEBUG]
        assert any("HTTP Request" in line for line in quiet) == (level == logging.DEBUG)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_requests_of_others_are_logged_as_ever(ferry_sandbox, caplog, library):
    caplog.set_level(logging.INFO)
    url = ferry_sandbox.base_url
    with LIBRARIES[library].Client() as http_client:
        Ferry(ferry_sandbox.token, base_url=url, http_client=http_client).catalogue.ports()
        assert not [record for record in caplog.records if record.name == library]
        http_client.get(f"{url}/their-own")
    assert "their-own" in caplog.text


@each("group", ["bookings.create", "mcp.create_booking"])
def test_an_interruption_shows_no_traveller(group):
    class Interruption(BaseException):
        """What stops a program, as Ctrl-C does."""

    def interrupting(_):
        raise Interruption

    def create(ferry):
        return attrgetter(group)(ferry)(**BOOKING)

    transport = httpx.MockTransport(interrupting)

    async def main():
        async with httpx.AsyncClient(transport=transport) as http_client:
            await create(sdk.AsyncFerry(TOKEN, base_url=URL, http_client=http_client))

    with pytest.raises(Interruption) as in_task:
        asyncio.run(main())
    with httpx.Client(transport=transport) as http_client, pytest.raises(Interruption) as in_thread:
        create(Ferry(TOKEN, base_url=URL, http_client=http_client))
    for raised in (in_task, in_thread):
        assert not leaks(canaries.frames_of(raised.value))


NAMES = ("Marguerite", "Okonkwo", "XD998877", "1980-03-02")
BODY = json.dumps(
    {"booking_id": "b-1", "passengers": [{"first_name": NAMES[0], "last_name": NAMES[1]}]}
    | {"doc_number": NAMES[2], "birth_date": NAMES[3]}
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
@each("kind", BROKEN)
@each("name", ["get", "confirm"])
def test_a_reply_shows_nobody(any_clients, caplog, kind, name):
    caplog.set_level(logging.DEBUG)
    broken = in_turn(read_request, lambda connection: connection.socket.sendall(BROKEN[kind]))
    with Service(broken) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0, deadline=20)
        with pytest.raises(FerryError) as info:
            getattr(ferry.bookings, name)("b-1")
    error = info.value
    told = f"{error} {error!r} {''.join(traceback.format_exception(error))} {caplog.text}"
    told += pickle.dumps(error, 0).decode("latin-1")
    assert not [name for name in NAMES if name in told]


@each("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_by_any_operation(clients, tmp_path, status):
    asked = []

    def service(request):
        asked.append(request.url)
        return httpx.Response(status, headers={"location": "https://evil.example/"})

    options = {"transport": httpx.MockTransport(service), "follow_redirects": True}
    http_client = clients.http_client(**options)
    ferry = clients(TOKEN, base_url=URL, http_client=http_client, organisation_token=ORGANISATION)
    for name in operations.OPERATIONS:
        with case(name):
            asked.clear()
            error = caught(sdk.UnexpectedResponseError, operations.make, ferry, name, tmp_path)
            assert error.status_code == status
            assert {url.host for url in asked} == {httpx.URL(URL).host}
            assert not leaks(shown(error))
