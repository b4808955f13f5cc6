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
    """Return a client of the north's account, and its view of the south's."""
    north, south = accounts.services.values()
    settings["organisation_token"] = north.organisation_token
    ferry = client_of(clients, accounts, north.token, **settings)
    view = ferry.with_options(token=south.token, organisation_token=south.organisation_token)
    return ferry, view


def texts(value):
    """Return the texts of a record, a mapping or a list as one."""
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, Mapping):
        value = [*value.items()]
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return "".join(map(texts, value)) if is_list else repr(value)


def walk(ferry, name, folder):
    """Make every call with an account; return the texts of each answer by its operation."""
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
def test_calls_of_two_accounts_share_nothing(accounts, asyncio_portal, tmp_path):
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


def test_accounts_share_one_connection(clients, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    view = ferry.with_options(token=ferry_sandbox.read_only_token)
    ferry.catalogue.ports()
    view.catalogue.ports()
    ferry.catalogue.ports()
    assert ferry_sandbox.counters.connections == 1


def test_each_account_sends_its_own_token(clients, accounts):
    ferry, view = pair(clients, accounts)
    before = len(accounts.tokens)
    ferry.catalogue.ports()
    view.catalogue.ports()
    ferry.catalogue.ports()
    assert accounts.tokens[before:] == [accounts.north, accounts.south, accounts.north]


@pytest.mark.parametrize("caller", ["client", "view", "view of a third account"])
def test_an_error_hides_the_tokens_of_both_accounts(clients, accounts, caller):
    ferry, view = pair(clients, accounts)
    third = ferry.with_options(token="a-third-account")
    callers = {"client": ferry, "view": view, "view of a third account": third}
    error = caught(BadRequestError, callers[caller].bookings.get, "echo")
    text = f"{error!r} {error} {error.message}"
    assert "[hidden]" in str(error)
    assert accounts.north not in text
    assert accounts.south not in text


class TestViewOfAnotherAccount:
    """What a view with another token keeps of its client's settings."""

    @pytest.fixture
    def journal(self, tmp_path):
        with Journal(f"sqlite:///{tmp_path}/a.db") as journal:
            yield journal

    @pytest.fixture
    def waited(self):
        """The operations for which the limiter was asked."""
        return []

    @pytest.fixture
    def outcomes(self):
        """The operations of which a hook was notified."""
        return []

    @pytest.fixture
    def ferry(self, clients, accounts, journal, waited, outcomes):
        """A client of the north's account with every setting."""
        north = accounts.services[NORTH]
        return client_of(
            clients,
            accounts,
            north.token,
            organisation_token=north.organisation_token,
            journal=journal,
            limiter=SimpleNamespace(acquire=waited.append),
            language="fr",
            event_hooks={"outcome": [lambda event: outcomes.append(event.call.operation)]},
        )

    @pytest.fixture
    def view(self, ferry, accounts):
        return ferry.with_options(token=accounts.south)

    def test_keeps_the_journal(self, view, journal):
        booking = booked(view)
        assert [entry.booking_id for entry in journal.entries()] == [booking.booking_id]

    def test_keeps_the_limiter(self, view, waited):
        booked(view)
        assert "bookings.create" in waited

    def test_keeps_the_hooks(self, view, outcomes):
        booked(view)
        assert "bookings.create" in outcomes

    def test_can_have_another_journal(self, view, journal, tmp_path):
        booking = booked(view)
        entries = len(journal.entries())
        with Journal(f"sqlite:///{tmp_path}/b.db") as second:
            view.with_options(journal=second).bookings.confirm(booking.booking_id)
            assert [entry.operation for entry in second.entries()] == ["bookings.confirm"]
        assert len(journal.entries()) == entries

    def test_can_have_no_limiter(self, view, waited):
        booking = booked(view)
        waited.clear()
        view.with_options(limiter=None).bookings.confirm(booking.booking_id)
        assert not waited

    def test_leaves_the_organisation_token(self, view):
        ticket_id = unpaid_ticket_of(view)
        error = caught(
            ConfigurationError, view.tickets.mark_paid, ticket_id, external_payment_ref="p"
        )
        assert "organisation_token" in str(error)

    def test_can_have_an_organisation_token(self, view, accounts):
        organisation_token = accounts.services[SOUTH].organisation_token
        whole = view.with_options(organisation_token=organisation_token)
        assert whole.tickets.mark_paid(unpaid_ticket_of(view), external_payment_ref="p")

    def test_of_the_same_account_keeps_the_organisation_token(self, ferry, accounts):
        same = ferry.with_options(token=accounts.north)
        assert same.tickets.mark_paid(unpaid_ticket_of(same), external_payment_ref="p")

    def test_can_give_up_the_organisation_token(self, ferry):
        without = ferry.with_options(organisation_token=None)
        ticket_id = unpaid_ticket_of(ferry)
        caught(ConfigurationError, without.tickets.mark_paid, ticket_id, external_payment_ref="p")


def unpaid_ticket_of(ferry):
    """Return the id of a ticket of a new booking."""
    return ferry.bookings.get(booked(ferry).booking_id).tickets[0].id


def test_view_cannot_write_if_its_client_cannot(clients, accounts):
    ferry, _ = pair(clients, accounts, read_only=True)
    view = ferry.with_options(token=accounts.south)
    caught(ReadOnlyError, view.bookings.confirm, "b-1")


def test_a_view_cannot_give_up_read_only(clients, accounts):
    ferry, _ = pair(clients, accounts, read_only=True)
    caught(InvalidInputError, ferry.with_options, token=accounts.south, read_only=False)


def test_the_repr_of_a_view_hides_its_token(clients, accounts):
    _, view = pair(clients, accounts)
    assert accounts.south not in repr(view)


class Function:
    """A function that returns a token, and counts its calls."""

    def __init__(self, token):
        self._token = token
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self._token


def test_a_slow_function_holds_up_no_other_account(accounts):
    is_asked = threading.Event()
    may_go_on = threading.Event()

    def slow():
        is_asked.set()
        assert may_go_on.wait(60)
        return accounts.south

    ferry = client_of(Clients(None), accounts, lambda: accounts.north)
    view = ferry.with_options(token=slow)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(view.mcp.ports)
        assert is_asked.wait(60)
        assert NORTH in texts(ferry.mcp.ports())
        may_go_on.set()
        assert SOUTH in texts(waiting.result(60))


def test_views_of_one_account_share_its_token(clients, accounts):
    function = Function(accounts.south)
    view = client_of(clients, accounts, accounts.north).with_options(token=function)
    view.catalogue.ports()
    view.with_options(language="fr").catalogue.ports()
    assert function.calls == 1


def test_another_view_of_a_function_is_another_account(clients, accounts):
    function = Function(accounts.south)
    ferry = client_of(clients, accounts, accounts.north)
    ferry.with_options(token=function).catalogue.ports()
    ferry.with_options(token=function).catalogue.ports()
    assert function.calls == 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("routes")


@pytest.fixture(scope="module")
def files(accounts, folder):
    """The contents of the files of routes that both accounts wrote, by name."""
    ferry, view = pair(Clients(None), accounts, route_cache=folder)
    assert ferry.routes.find(NORTH)
    assert view.routes.find(SOUTH)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("files")
class TestFilesOfRoutes:
    """The files of `route_cache`, which both accounts have in one folder."""

    @pytest.mark.slow
    def test_each_account_has_its_own_file(self, files):
        assert len(files) == 2

    def test_files_hold_no_token(self, files, accounts):
        written = repr(files)
        assert accounts.north not in written
        assert accounts.south not in written

    def test_each_account_reads_its_own_file(self, clients, accounts, folder):
        before = len(accounts.tokens)
        ferry, view = pair(clients, accounts, route_cache=folder)
        assert NORTH in {route.depart_name for route in ferry.routes.find()}
        assert SOUTH in {route.depart_name for route in view.routes.find()}
        assert len(accounts.tokens) == before, "the files have all routes"

    @pytest.mark.slow
    def test_account_of_a_function_has_no_file(self, clients, accounts, folder, files):
        before = len(accounts.tokens)
        ferry, _ = pair(clients, accounts, route_cache=folder)
        assert ferry.with_options(token=lambda: accounts.south).routes.find(SOUTH)
        assert {path.name for path in folder.iterdir()} == files.keys()
        assert len(accounts.tokens) > before


@pytest.mark.slow
def test_routes_of_a_function_go_with_its_view(clients, accounts):
    ferry, _ = pair(clients, accounts)
    view = ferry.with_options(token=lambda: accounts.south)
    assert view.routes.find(SOUTH)
    assert len(catalogues._graphs) == 1
    del view
    gc.collect()
    assert not catalogues._graphs


@pytest.fixture
def _two_kept(monkeypatch):
    """The routes of two accounts and languages are kept."""
    monkeypatch.setattr(catalogues, "_MAX_KEPT", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("_two_kept")
def test_last_used_catalogues_are_kept(clients, accounts):
    first, second = pair(clients, accounts)
    for ferry in (first, second, first, first.with_options(language="fr")):
        assert ferry.routes.find()
        assert ferry.places.find("Genoa")
        assert ferry.vehicles.find("golf")
    kept = [
        [(token, language) for token, _, language, _ in catalogue]
        for catalogue in (catalogues._graphs, catalogues._indexes, catalogues._vehicles)
    ]
    assert kept == [[(accounts.north, None), (accounts.north, "fr")]] * 3


@pytest.mark.slow
@pytest.mark.usefixtures("_two_kept")
def test_kept_routes_are_not_read_again(clients, accounts):
    first, second = pair(clients, accounts)
    for ferry in (first, second, first, first.with_options(language="fr")):
        assert ferry.routes.find()
    before = len(accounts.tokens)
    assert first.routes.find(NORTH)
    assert len(accounts.tokens) == before
    assert second.routes.find(SOUTH)
    assert len(accounts.tokens) > before


@pytest.fixture
def warm_ferry():
    """A client that has made a view before."""
    with Ferry("token-zero", base_url=URL) as ferry:
        ferry.with_options(token="token-one")
        yield ferry


def test_a_view_takes_few_calls(warm_ferry):
    calls = count()
    sys.setprofile(lambda *_: next(calls) and None)
    try:
        warm_ferry.with_options(token="token-two")
    finally:
        sys.setprofile(None)
    assert next(calls) <= 180, "calls and returns, in Python and in C"


def test_a_view_takes_little_memory(warm_ferry):
    tokens = [f"token-{number:06}" for number in range(1000)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        views = [warm_ferry.with_options(token=token) for token in tokens]
        size = (tracemalloc.get_traced_memory()[0] - before) / len(views)
    finally:
        tracemalloc.stop()
    assert size <= 1024
