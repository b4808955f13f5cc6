"""A view with another token shares the connections with its client, and nothing else."""

import gc
import sys
import threading
import tracemalloc
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count

import httpx
import pytest
from pydantic import BaseModel

from ferry_sdk import (
    BadRequestError,
    ConfigurationError,
    Ferry,
    InvalidInputError,
    ReadOnlyError,
)
from ferry_sdk.journal import Journal
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Sandbox
from tests.support.both import Clients
from tests.support.exchanges import URL, caught, client_of
from tests.support.operations import OPERATIONS, arguments
from tests.support.tiers import LONG
from tests.support.trip import DAY, NOW, PASSENGERS, TRAVELLERS, booked, search_arguments
from tests.support.wire import TLS

NORTH, SOUTH = "Massalia North", "Massalia South"
CITY = b"Marseille"
"""A city that each account knows under a name of its own."""
ECHO = "/api/booking/echo"
"""Refused with a message that names every token."""


class Accounts:
    """One address for two accounts: a request goes to the service that its token is of.

    Attributes:
        services: The service of each account, by the account's name of the city.
        sessions: The token that opened each MCP session.
        faults: Sessions used by another account.
        tokens: The token of each request, in order.
    """

    def __init__(self, services):
        self.services = services
        self.sessions = {}
        self.faults = []
        self.tokens = []
        self.http = httpx.Client(verify=TLS)

    def token_of(self, name):
        """The token of an account."""
        return self.services[name].token

    def __call__(self, request):
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.tokens.append(token)
        if request.url.path == ECHO:
            message = " ".join(sandbox.token for sandbox in self.services.values())
            refusal = {"error": True, "code": "BAD_REQUEST", "message": f"refused: {message}"}
            return httpx.Response(400, json=refusal)
        for name, sandbox in self.services.items():
            if token in {sandbox.token, sandbox.organisation_token}:
                return self._forward(request, token, name, sandbox)
        return httpx.Response(401, json={})

    def _forward(self, request, token, name, sandbox):
        session = request.headers.get("mcp-session-id")
        if session is not None and self.sessions.get(session, token) != token:
            self.faults.append(f"{name} uses a session of another account")
        headers = {**request.headers, "accept-encoding": "identity"}
        del headers["host"]
        url = f"{sandbox.base_url}{request.url.raw_path.decode()}"
        reply = self.http.request(request.method, url, headers=headers, content=request.content)
        if "mcp-session-id" in reply.headers:
            self.sessions.setdefault(reply.headers["mcp-session-id"], token)
        content = reply.content
        if not content.startswith(b"%PDF"):
            content = content.replace(CITY, name.encode())
            content = content.replace(sandbox.base_url.encode(), URL.encode())
        kept = {key: value for key, value in reply.headers.items() if key != "content-length"}
        return httpx.Response(reply.status_code, headers=kept, content=content)


@pytest.fixture(scope="module")
def accounts():
    """Two accounts at one address, with different catalogues, bookings and sessions."""
    with Sandbox(now=NOW) as north, Sandbox(now=NOW) as south:
        made = Accounts({NORTH: north, SOUTH: south})
        yield made
        made.http.close()


@pytest.fixture(autouse=True)
def _without_routes():
    clear_cache()
    yield
    clear_cache()


def pair(clients, accounts, **settings):
    """A client of one account, and its view for the other one."""
    north, south = accounts.services[NORTH], accounts.services[SOUTH]
    ferry = client_of(
        clients,
        accounts,
        north.token,
        organisation_token=north.organisation_token,
        **settings,
    )
    view = ferry.with_options(token=south.token, organisation_token=south.organisation_token)
    return ferry, view


def texts(value):
    """All that a result says."""
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, Mapping):
        return "".join(f"{key}{texts(member)}" for key, member in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "".join(map(texts, value))
    return repr(value)


def walk(ferry, name, folder):
    """Make every call there is, and return what each says."""
    search = search_arguments()
    sailing = ferry.availability.search(**search)[0]
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    own = [booked(ferry) for _ in range(3)]
    first = ferry.bookings.confirm(own[0].booking_id)
    unpaid = ferry.bookings.get(own[2].booking_id).tickets[0].id
    ticket = {"ticket_id": first.ticket_id}
    booking = {"booking_id": own[0].booking_id}
    selected = {"availabilities": [selection], "passengers": PASSENGERS}
    given = {
        "availability.search": search,
        "bookings.create": selected,
        "bookings.confirm": {"booking_id": own[1].booking_id},
        "bookings.get": booking,
        "bookings.wait": {**booking, "until": "ticketed", "deadline": 60},
        "bookings.cancel_fee": {"id": own[0].booking_id},
        "tickets.get": ticket,
        "tickets.pdf": ticket,
        "tickets.wait_pdf": {**ticket, "deadline": 60},
        "tickets.save_pdf": {**ticket, "path": folder / f"{threading.get_ident()}.pdf"},
        "tickets.read_pdf": ticket,
        "tickets.cancel_fee": {"id": first.ticket_id},
        "tickets.mark_paid": {"ticket_id": unpaid, "external_payment_ref": "pay-1"},
        "catalogue.departures": {"provider_id": sailing.provider.id},
        "mcp.search_availability": search,
        "mcp.create_booking": selected,
        "mcp.confirm_booking": {"booking_id": own[2].booking_id},
        "mcp.view_ticket": ticket,
        "mcp.call_tool": {"name": "view_ticket", "arguments": {"id": first.ticket_id}},
        "mcp.cancel_ticket": {"ticket_id": unpaid},
        "tickets.cancel": ticket,
        "bookings.cancel": {"booking_id": own[1].booking_id},
    }
    said = {}
    for operation in [*given, *(each for each in OPERATIONS if each not in given)]:
        group, _, call = operation.partition(".")
        keywords = given.get(operation) or arguments(operation, folder)
        said[operation] = texts(getattr(getattr(ferry, group), call)(**keywords))
    assert said.keys() == {*OPERATIONS}
    trip = {"passengers": TRAVELLERS, "companies": ["CTN"]}
    said["places.get"] = texts(ferry.places.get(name))
    said["places.find"] = texts(ferry.places.find("Massalia")[0].port)
    said["routes.find"] = texts(ferry.routes.find(name))
    said["trips.search"] = texts(ferry.trips.search(name, "TNLGN", on=DAY, **trip)[0].outward)
    said["trips.calendar"] = texts(
        ferry.trips.calendar(name, "TNLGN", start=DAY, end=DAY + timedelta(days=1), **trip)
    )
    said["vehicles.find"] = texts(ferry.vehicles.find("golf"))
    ferry.routes.refresh()
    said["routes.find again"] = texts(ferry.routes.find(name))
    return said


@LONG
def test_two_accounts_share_nothing_in_any_call_sync_and_async_at_once(
    accounts, asyncio_portal, tmp_path
):
    made = Clients(None), Clients(asyncio_portal)
    views = [view for clients in made for view in pair(clients, accounts)]
    names = [NORTH, SOUTH, NORTH, SOUTH]
    with ThreadPoolExecutor(len(views)) as threads:
        walks = [*threads.map(lambda one: walk(*one, tmp_path), zip(views, names, strict=True))]
    for clients in made:
        clients.close()
    assert not accounts.faults
    assert {*accounts.sessions.values()} == {each.token for each in accounts.services.values()}
    assert len(accounts.sessions) == 4, "one for each account of each client"
    ids = []
    for name, said in zip(names, walks, strict=True):
        other = SOUTH if name == NORTH else NORTH
        for operation, text in said.items():
            assert other not in text, operation
        for operation in ("catalogue.ports", "mcp.ports", "places.get", "routes.find again"):
            assert name in said[operation], operation
        ids.append({said["bookings.create"], said["bookings.get"], said["tickets.get"]})
    assert not set.intersection(*ids)
    assert {key[0] for key in catalogues._graphs} == {
        each.token for each in accounts.services.values()
    }


def test_both_accounts_use_the_same_connection(clients, accounts, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    view = ferry.with_options(token=ferry_sandbox.read_only_token)
    for one in (ferry, view, ferry, view):
        one.catalogue.ports()
    assert ferry_sandbox.counters.connections == 1
    ferry, view = pair(clients, accounts)
    before = len(accounts.tokens)
    for one in (ferry, view, ferry, view):
        one.catalogue.ports()
    assert accounts.tokens[before:] == [accounts.token_of(NORTH), accounts.token_of(SOUTH)] * 2


def test_a_view_keeps_the_rest_and_leaves_the_organisation_token(clients, accounts, tmp_path):
    north, south = (accounts.services[name] for name in (NORTH, SOUTH))
    outcomes = []
    asked = []

    class Limiter:
        def acquire(self, operation):
            asked.append(operation)

    with (
        Journal(f"sqlite:///{tmp_path}/a.db") as first,
        Journal(f"sqlite:///{tmp_path}/b.db") as two,
    ):
        ferry = client_of(
            clients,
            accounts,
            north.token,
            organisation_token=north.organisation_token,
            journal=first,
            limiter=Limiter(),
            language="fr",
            event_hooks={"outcome": [lambda event: outcomes.append(event.call.operation)]},
        )
        view = ferry.with_options(token=south.token)
        booking = booked(view)
        assert [entry.booking_id for entry in first.entries()] == [booking.booking_id]
        assert "bookings.create" in asked
        assert "bookings.create" in outcomes
        ticket_id = view.bookings.get(booking.booking_id).tickets[0].id
        error = caught(
            ConfigurationError, view.tickets.mark_paid, ticket_id, external_payment_ref="p"
        )
        assert "organisation_token" in str(error)
        whole = view.with_options(organisation_token=south.organisation_token)
        assert whole.tickets.mark_paid(ticket_id, external_payment_ref="p")
        same = ferry.with_options(token=north.token)  # not another account
        mine = same.bookings.get(booked(same).booking_id).tickets[0].id
        assert same.tickets.mark_paid(mine, external_payment_ref="p")
        without = same.with_options(organisation_token=None)
        caught(ConfigurationError, without.tickets.mark_paid, mine, external_payment_ref="p")
        asked.clear()
        entries = len(first.entries())
        other = view.with_options(journal=two, limiter=None)
        other.bookings.confirm(booking.booking_id)
        assert [entry.operation for entry in two.entries()] == ["bookings.confirm"]
        assert len(first.entries()) == entries
        assert not asked


def test_options_of_an_account_are_checked(clients, accounts):
    ferry, _ = pair(clients, accounts, read_only=True)
    for name, values in (
        ("token", (None, "", "a\nb", 5)),
        ("organisation_token", ("", "a\nb", 5)),
        ("journal", ("sqlite:///a.db", 5)),
        ("limiter", (5, "50/second")),
    ):
        for value in values:
            error = caught(InvalidInputError, ferry.with_options, **{name: value})
            assert error.field == name, (name, value)
    south = accounts.services[SOUTH]
    view = ferry.with_options(token=south.token)
    caught(ReadOnlyError, view.bookings.confirm, "b-1")
    caught(InvalidInputError, ferry.with_options, token=south.token, read_only=False)
    assert south.token not in repr(view)


def test_an_async_token_or_limiter_needs_the_async_client():
    class Limiter:
        async def acquire(self, operation):
            """Never asked."""

    async def token():
        return "never asked for"

    with Ferry("north-token", base_url=URL) as ferry:
        for options in ({"token": token}, {"organisation_token": token}, {"limiter": Limiter()}):
            error = caught(InvalidInputError, ferry.with_options, **options)
            assert error.field in options


def test_every_token_in_use_is_hidden(clients, accounts):
    ferry, view = pair(clients, accounts)
    tokens = [sandbox.token for sandbox in accounts.services.values()]
    for one in (ferry, view, ferry.with_options(token="a-third-account")):
        error = caught(BadRequestError, one.bookings.get, "echo")
        assert str(error).count("[hidden]") >= 1
        for token in tokens:
            assert token not in f"{error!r} {error} {error.message}"


def test_a_function_is_asked_for_each_account_and_holds_up_no_other(clients, accounts):
    north, south = accounts.token_of(NORTH), accounts.token_of(SOUTH)
    may_go_on, is_asked, calls = threading.Event(), threading.Event(), count()

    def slow():
        next(calls)
        is_asked.set()
        assert may_go_on.wait(60)
        return south

    ferry = client_of(clients, accounts, lambda: north)
    if clients.is_async:
        ferry = client_of(clients, accounts, north)  # a function blocks the event loop
        may_go_on.set()
    view = ferry.with_options(token=slow)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(view.mcp.ports)
        assert is_asked.wait(60)
        assert NORTH in texts(ferry.mcp.ports())
        may_go_on.set()
        assert SOUTH in texts(waiting.result(60))
    view.with_options(language="fr").catalogue.ports()
    assert next(calls) == 1, "a view of the same account has the token already"
    ferry.with_options(token=slow).catalogue.ports()
    assert next(calls) == 3, "another view of the function is an account of its own"


def test_each_account_has_files_of_its_own(clients, accounts, tmp_path):
    ferry, view = pair(clients, accounts, route_cache=tmp_path)
    assert ferry.routes.find(NORTH)
    assert view.routes.find(SOUTH)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(files) == 2
    for sandbox in accounts.services.values():
        for name, content in files.items():
            assert sandbox.token not in name
            assert sandbox.token.encode() not in content
    clear_cache()
    before = len(accounts.tokens)
    north, south = pair(clients, accounts, route_cache=tmp_path)
    for one, expected in ((north, NORTH), (south, SOUTH)):
        assert expected in {route.depart_name for route in one.routes.find()}
    assert len(accounts.tokens) == before, "the files have it all"
    south_token = accounts.services[SOUTH].token
    assert north.with_options(token=lambda: south_token).routes.find(SOUTH)
    assert {path.name for path in tmp_path.iterdir()} == files.keys()
    assert len(accounts.tokens) > before


def test_what_a_function_s_account_knows_goes_with_it(clients, accounts):
    ferry, _ = pair(clients, accounts)
    token = accounts.services[SOUTH].token
    view = ferry.with_options(token=lambda: token)
    assert view.routes.find(SOUTH)
    assert len(catalogues._graphs) == 1
    del view
    gc.collect()
    assert not catalogues._graphs


def test_the_routes_of_the_accounts_used_last_are_kept(clients, accounts, monkeypatch):
    monkeypatch.setattr(catalogues, "_MAX_KEPT", 2)
    first, second = pair(clients, accounts)
    third = first.with_options(language="fr")
    for ferry in (first, second, first, third):
        assert ferry.routes.find()
        assert ferry.places.find("Genoa")
        assert ferry.vehicles.find("golf")
    tokens = [accounts.services[NORTH].token] * 2
    for kept in (catalogues._graphs, catalogues._indexes, catalogues._vehicles):
        assert [(token, language) for token, _, language, _ in kept] == [
            (tokens[0], None),
            (tokens[1], "fr"),
        ]
    before = len(accounts.tokens)
    assert first.routes.find(NORTH)
    assert len(accounts.tokens) == before
    assert second.routes.find(SOUTH)
    assert len(accounts.tokens) > before


def test_a_view_is_cheap():
    with Ferry("token-zero", base_url="https://ferry.example") as ferry:
        ferry.with_options(token="token-one")
        calls = count()
        sys.setprofile(lambda *_: next(calls) and None)
        try:
            ferry.with_options(token="token-two")
        finally:
            sys.setprofile(None)
        assert next(calls) <= 180, "calls and returns, in Python and in C"
        tokens = [f"token-{number:06}" for number in range(1000)]
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            views = [ferry.with_options(token=token) for token in tokens]
            size = (tracemalloc.get_traced_memory()[0] - before) / len(views)
        finally:
            tracemalloc.stop()
        assert size <= 1024
