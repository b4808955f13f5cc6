"""A view with another token shares the connections with its client, and nothing else."""

import gc
import sys
import threading
import tracemalloc
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from types import SimpleNamespace

import httpx
import pytest
from pydantic import BaseModel

from ferry_sdk import BadRequestError, ConfigurationError, Ferry, InvalidInputError, ReadOnlyError
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


class Accounts:
    """One address for two accounts: a request goes to the service that its token is of."""

    def __init__(self, north, south):
        self.services = {NORTH: north, SOUTH: south}
        self.north, self.south = north.token, south.token
        self.openers = {}  # of the MCP sessions
        self.faults = []  # sessions used by another account
        self.tokens = []  # of the requests, in order
        self.http = httpx.Client(verify=TLS)

    def __call__(self, request):
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.tokens.append(token)
        if request.url.path == "/api/booking/echo":  # refused with a message that names every token
            refusal = {"error": True, "code": "BAD_REQUEST"}
            refusal["message"] = f"refused: {self.north} {self.south}"
            return httpx.Response(400, json=refusal)
        for name, sandbox in self.services.items():
            if token in {sandbox.token, sandbox.organisation_token}:
                return self._forward(request, token, name, sandbox)
        return httpx.Response(401, json={})

    def _forward(self, request, token, name, sandbox):
        session = request.headers.get("mcp-session-id")
        if session is not None and self.openers.get(session, token) != token:
            self.faults.append(f"{name} uses a session of another account")
        headers = {**request.headers, "accept-encoding": "identity"}
        del headers["host"]
        url = f"{sandbox.base_url}{request.url.raw_path.decode()}"
        reply = self.http.request(request.method, url, headers=headers, content=request.content)
        if "mcp-session-id" in reply.headers:
            self.openers.setdefault(reply.headers["mcp-session-id"], token)
        content = reply.content
        if not content.startswith(b"%PDF"):
            content = content.replace(CITY, name.encode())
            content = content.replace(sandbox.base_url.encode(), URL.encode())
        kept = {key: value for key, value in reply.headers.items() if key != "content-length"}
        return httpx.Response(reply.status_code, headers=kept, content=content)


@pytest.fixture(scope="module")
def accounts():
    with Sandbox(now=NOW) as north, Sandbox(now=NOW) as south:
        made = Accounts(north, south)
        yield made
        made.http.close()


@pytest.fixture(autouse=True)
def _without_routes():
    clear_cache()
    yield
    clear_cache()


def pair(clients, accounts, **settings):
    north, south = accounts.services.values()
    settings["organisation_token"] = north.organisation_token
    ferry = client_of(clients, accounts, north.token, **settings)
    view = ferry.with_options(token=south.token, organisation_token=south.organisation_token)
    return ferry, view


def texts(value):
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, Mapping):
        value = [*value.items()]
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return "".join(map(texts, value)) if is_list else repr(value)


def walk(ferry, name, folder):
    search = search_arguments()
    sailing = ferry.availability.search(**search)[0]
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    own = [booked(ferry).booking_id for _ in range(3)]
    first = ferry.bookings.confirm(own[0]).ticket_id
    unpaid = ferry.bookings.get(own[2]).tickets[0].id
    ticket, booking = {"ticket_id": first}, {"booking_id": own[0]}
    selected = {"availabilities": [selection], "passengers": PASSENGERS}
    given = {
        "availability.search": search,
        "bookings.create": selected,
        "bookings.confirm": {"booking_id": own[1]},
        "bookings.get": booking,
        "bookings.wait": {**booking, "until": "ticketed", "deadline": 60},
        "bookings.cancel_fee": {"id": own[0]},
        "tickets.get": ticket,
        "tickets.pdf": ticket,
        "tickets.wait_pdf": {**ticket, "deadline": 60},
        "tickets.save_pdf": {**ticket, "path": folder / f"{threading.get_ident()}.pdf"},
        "tickets.read_pdf": ticket,
        "tickets.cancel_fee": {"id": first},
        "tickets.mark_paid": {"ticket_id": unpaid, "external_payment_ref": "pay-1"},
        "catalogue.departures": {"provider_id": sailing.provider.id},
        "mcp.search_availability": search,
        "mcp.create_booking": selected,
        "mcp.confirm_booking": {"booking_id": own[2]},
        "mcp.view_ticket": ticket,
        "mcp.call_tool": {"name": "view_ticket", "arguments": {"id": first}},
        "mcp.cancel_ticket": {"ticket_id": unpaid},
        "tickets.cancel": ticket,
        "bookings.cancel": {"booking_id": own[1]},
    }
    said = {}
    for operation in [*given, *(each for each in OPERATIONS if each not in given)]:
        group, _, call = operation.partition(".")
        keywords = given.get(operation) or arguments(operation, folder)
        said[operation] = texts(getattr(getattr(ferry, group), call)(**keywords))
    assert said.keys() == {*OPERATIONS}
    trip = {"passengers": TRAVELLERS, "companies": ["CTN"]}
    days = {"start": DAY, "end": DAY + timedelta(days=1)}
    said |= {
        "places.get": texts(ferry.places.get(name)),
        "places.find": texts(ferry.places.find("Massalia")[0].port),
        "routes.find": texts(ferry.routes.find(name)),
        "trips.search": texts(ferry.trips.search(name, "TNLGN", on=DAY, **trip)[0].outward),
        "trips.calendar": texts(ferry.trips.calendar(name, "TNLGN", **days, **trip)),
        "vehicles.find": texts(ferry.vehicles.find("golf")),
    }
    ferry.routes.refresh()
    return said | {"routes.find again": texts(ferry.routes.find(name))}


@LONG
def test_two_accounts_share_nothing_sync_and_async_at_once(accounts, asyncio_portal, tmp_path):
    made = Clients(None), Clients(asyncio_portal)
    views = [view for clients in made for view in pair(clients, accounts)]
    names = [NORTH, SOUTH, NORTH, SOUTH]
    with ThreadPoolExecutor(len(views)) as threads:
        walks = [*threads.map(lambda one: walk(*one, tmp_path), zip(views, names, strict=True))]
    for clients in made:
        clients.close()
    assert not accounts.faults
    assert {*accounts.openers.values()} == {accounts.north, accounts.south}
    assert len(accounts.openers) == 4, "one for each account of each client"
    ids = []
    for name, said in zip(names, walks, strict=True):
        other = SOUTH if name == NORTH else NORTH
        assert not [operation for operation, text in said.items() if other in text]
        for operation in ("catalogue.ports", "mcp.ports", "places.get", "routes.find again"):
            assert name in said[operation], operation
        ids.append({said["bookings.create"], said["bookings.get"], said["tickets.get"]})
    assert not set.intersection(*ids)
    assert {key[0] for key in catalogues._graphs} == {accounts.north, accounts.south}


def test_both_accounts_use_one_connection_and_hide_their_tokens(clients, accounts, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    view = ferry.with_options(token=ferry_sandbox.read_only_token)
    for one in (ferry, view, ferry, view):
        one.catalogue.ports()
    assert ferry_sandbox.counters.connections == 1
    ferry, view = pair(clients, accounts)
    before = len(accounts.tokens)
    for one in (ferry, view, ferry, view):
        one.catalogue.ports()
    assert accounts.tokens[before:] == [accounts.north, accounts.south] * 2
    for one in (ferry, view, ferry.with_options(token="a-third-account")):
        error = caught(BadRequestError, one.bookings.get, "echo")
        assert str(error).count("[hidden]") >= 1
        for token in (accounts.north, accounts.south):
            assert token not in f"{error!r} {error} {error.message}"


def test_a_view_keeps_the_rest_and_leaves_the_organisation_token(clients, accounts, tmp_path):
    north, south = accounts.services.values()
    outcomes, asked, paid = [], [], {"external_payment_ref": "p"}
    with (
        Journal(f"sqlite:///{tmp_path}/a.db") as first,
        Journal(f"sqlite:///{tmp_path}/b.db") as second,
    ):
        ferry = client_of(
            clients,
            accounts,
            north.token,
            organisation_token=north.organisation_token,
            journal=first,
            limiter=SimpleNamespace(acquire=asked.append),
            language="fr",
            event_hooks={"outcome": [lambda event: outcomes.append(event.call.operation)]},
        )
        view = ferry.with_options(token=south.token)
        booking = booked(view)
        assert [entry.booking_id for entry in first.entries()] == [booking.booking_id]
        assert "bookings.create" in asked
        assert "bookings.create" in outcomes
        ticket_id = view.bookings.get(booking.booking_id).tickets[0].id
        error = caught(ConfigurationError, view.tickets.mark_paid, ticket_id, **paid)
        assert "organisation_token" in str(error)
        whole = view.with_options(organisation_token=south.organisation_token)
        assert whole.tickets.mark_paid(ticket_id, **paid)
        same = ferry.with_options(token=north.token)  # not another account
        mine = same.bookings.get(booked(same).booking_id).tickets[0].id
        assert same.tickets.mark_paid(mine, **paid)
        without = same.with_options(organisation_token=None)
        caught(ConfigurationError, without.tickets.mark_paid, mine, **paid)
        asked.clear()
        entries = len(first.entries())
        view.with_options(journal=second, limiter=None).bookings.confirm(booking.booking_id)
        assert [entry.operation for entry in second.entries()] == ["bookings.confirm"]
        assert len(first.entries()) == entries
        assert not asked


def test_a_view_of_another_account_is_as_read_only_as_its_client(clients, accounts):
    ferry, _ = pair(clients, accounts, read_only=True)
    view = ferry.with_options(token=accounts.south)
    caught(ReadOnlyError, view.bookings.confirm, "b-1")
    caught(InvalidInputError, ferry.with_options, token=accounts.south, read_only=False)
    assert accounts.south not in repr(view)


def test_a_function_is_asked_for_each_account_and_holds_up_no_other(clients, accounts):
    may_go_on, is_asked, calls = threading.Event(), threading.Event(), count()

    def slow():
        next(calls)
        is_asked.set()
        assert may_go_on.wait(60)
        return accounts.south

    if clients.is_async:
        may_go_on.set()  # a function blocks the event loop
    ferry = client_of(
        clients, accounts, accounts.north if clients.is_async else lambda: accounts.north
    )
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
    for token in (accounts.north, accounts.south):
        for name, content in files.items():
            assert token not in name
            assert token.encode() not in content
    clear_cache()
    before = len(accounts.tokens)
    north, south = pair(clients, accounts, route_cache=tmp_path)
    for one, expected in ((north, NORTH), (south, SOUTH)):
        assert expected in {route.depart_name for route in one.routes.find()}
    assert len(accounts.tokens) == before, "the files have it all"
    assert north.with_options(token=lambda: accounts.south).routes.find(SOUTH)
    assert {path.name for path in tmp_path.iterdir()} == files.keys()
    assert len(accounts.tokens) > before


def test_what_a_function_s_account_knows_goes_with_it(clients, accounts):
    ferry, _ = pair(clients, accounts)
    view = ferry.with_options(token=lambda: accounts.south)
    assert view.routes.find(SOUTH)
    assert len(catalogues._graphs) == 1
    del view
    gc.collect()
    assert not catalogues._graphs


def test_the_routes_of_the_accounts_used_last_are_kept(clients, accounts, monkeypatch):
    monkeypatch.setattr(catalogues, "_MAX_KEPT", 2)
    first, second = pair(clients, accounts)
    for ferry in (first, second, first, first.with_options(language="fr")):
        assert ferry.routes.find()
        assert ferry.places.find("Genoa")
        assert ferry.vehicles.find("golf")
    expected = [(accounts.north, None), (accounts.north, "fr")]
    for kept in (catalogues._graphs, catalogues._indexes, catalogues._vehicles):
        assert [(token, language) for token, _, language, _ in kept] == expected
    before = len(accounts.tokens)
    assert first.routes.find(NORTH)
    assert len(accounts.tokens) == before
    assert second.routes.find(SOUTH)
    assert len(accounts.tokens) > before


def test_a_view_is_cheap():
    with Ferry("token-zero", base_url=URL) as ferry:
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
