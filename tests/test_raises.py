"""Each class that a docstring names below `Raises:` is raised by the call, and no other class is.

1. `documented` reads which errors each call names: `{"Rate.acquire": {"RateLimitError", …}, …}`.
   `ALL_CALLS` and `EVERY_WRITE` are the errors in the box at the top of the reference.
2. A function such as `wrong_settings` yields calls that fail, as `functools.partial`. It does not
   say which error they raise.
3. The test makes each call when it is yielded, so that a `with` around a `yield` is in force.
4. `Findings.add` compares the error with the docstring and with the box.

For example, `partial(correlation, "\\n")` is a call of `correlation`. It raises
`InvalidInputError`, which the docstring names. If no call of `correlation` raised that, the test
would fail with `("correlation", "InvalidInputError")` among the missing errors.
"""

import asyncio
import errno
import inspect
import re
import sys
from collections.abc import Coroutine, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import chain
from types import SimpleNamespace

import pytest

import ferry_sdk as sdk
from ferry_sdk import (
    AsyncFerry,
    aftersales,
    agents,
    conformance,
    correlation,
    notebook,
    offers,
    orders,
    sandbox,
    scan,
)
from ferry_sdk._engine.limiter import RateRequest, current_request
from ferry_sdk.journal import Journal
from tests.support.operations import OPERATIONS, arguments
from tests.support.reference import PAGES, REFERENCE, shown_on
from tests.support.routes import know_routes
from tests.support.tiers import mostly_long
from tests.support.trip import (
    DAY,
    PASSENGERS,
    TRAVELLERS,
    booked,
    found,
    search_arguments,
    selected,
)

NOWHERE = "http://127.0.0.1:9"
FAULTS = [
    ("server_error", {"status": 503}),
    ("rate_limited", {}),
    ("unauthorized", {"status": 401}),
    ("unauthorized", {"status": 403}),
    ("redirect", {"status": 302}),
    ("request_timeout", {}),
]
"""How the service fails every call: a kind of fault and its details."""


def classes(text):
    """Return the names of the classes below `Raises:` in a docstring."""
    section = (text or "").partition("Raises:\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^ {4}(?:\w+\.)*(\w+): ", section, re.MULTILINE))


def documented(page):
    """Return the calls on a page of the reference, each with the errors that its docstring names.

    The two clients have the same errors. The methods of a protocol are left out: the caller
    writes them.
    """
    errors_of_calls = {}
    protocols = set()
    for name, member, text in shown_on(page):
        if getattr(member, "_is_protocol", False):
            protocols.add(name)
        elif name.partition(".")[0] not in protocols:
            errors = classes(text)
            sync_name = name.removeprefix("Async")
            assert errors_of_calls.setdefault(sync_name, errors) == errors, name
    return errors_of_calls


def boxed(calls):
    """Return the errors in a line of the box at the top of the reference."""
    page = (REFERENCE / "index.md").read_text("utf-8")
    line = re.search(rf"^\| {calls} \|.*", page, re.MULTILINE)[0]
    return set(re.findall(r"`(\w+Error)`", line))


ALL_CALLS = boxed("all")
EVERY_WRITE = boxed("every write")


def name_of(call):
    """Return the name that the reference gives to a call.

    `partial(getattr, owner, name)` reads a property, or a name that loads on first use.
    """
    if call.func is getattr:
        owner, name = call.args
        return name if inspect.ismodule(owner) else f"{type(owner).__name__}.{name}"

    function = call.func
    owner = getattr(function, "__self__", None)
    if owner is None:
        return function.__qualname__
    owner_class = owner if inspect.isclass(owner) else type(owner)
    return f"{owner_class.__name__}.{function.__name__}"


def finish(result):
    """Use a result to its end, so that it raises what it raises late."""
    if isinstance(result, Iterator):
        for _ in result:
            pass
    elif isinstance(result, AbstractContextManager):
        with result:
            pass
    elif isinstance(result, Coroutine):
        asyncio.run(result)


@dataclass
class Findings:
    """How the errors of calls differ from what is documented.

    Attributes:
        documented: The errors that each call names.
        missing: Pairs of a call and an error that it names, but that was not raised yet. A call
            to the service has to raise an error of the box too; its pair has `FerryError`.
        undocumented: Pairs of a call and an error that it raised, but does not name.
        raised: The errors that were raised.
    """

    documented: dict[str, set[str]]
    missing: set[tuple[str, str]] = field(default_factory=set)
    undocumented: set[tuple[str, str]] = field(default_factory=set)
    raised: set[str] = field(default_factory=set)

    def __post_init__(self):
        for name, errors in self.documented.items():
            self.missing |= {(name, error) for error in errors}
            if "Group." in name:
                self.missing.add((name, "FerryError"))

    def add(self, name, error):
        """Compare the error of a call with what is documented."""
        error_name = type(error).__name__
        self.raised.add(error_name)

        # A docstring may name a base class of what is raised. `FerryError` would allow any error.
        named = self.documented[name] - {"FerryError"}
        for base in type(error).__mro__:
            if base.__name__ in named:
                self.missing.discard((name, base.__name__))
                return

        self.missing.discard((name, "FerryError"))
        in_box = set(ALL_CALLS)
        if "ReadOnlyError" in self.documented[name]:
            in_box |= EVERY_WRITE
        if error_name not in in_box:
            self.undocumented.add((name, error_name))


class World:
    """The local service, and clients and journals of which most cannot do what they are asked.

    Attributes:
        service: The local service.
        folder: A folder to write in.
        stack: Closes the clients and the journals.
        ferry: A client that may do everything.
        late: A client whose deadline has passed when a call begins.
        stranger: A client with a wrong token.
        lost: A client of an address where no service listens.
        unset: A client whose tokens are empty.
        journal: A journal that works.
        ruined: A journal whose folder does not exist.
    """

    def __init__(self, service, folder, stack):
        self.service = service
        self.folder = folder
        self.stack = stack
        self.ferry = self.client()
        self.late = self.client(deadline=1e-9)
        self.stranger = self.client("nobody's")
        self.lost = self.client(base_url=NOWHERE)
        self.unset = self.client(lambda: "", organisation_token=lambda: "")
        self.journal = stack.enter_context(Journal(f"sqlite:///{folder / 'ferry.db'}"))
        self.ruined = stack.enter_context(Journal(f"sqlite:///{folder / 'nowhere' / 'ferry.db'}"))

    def client(self, token=None, **changes):
        """Return a client with other settings than `ferry`."""
        options = {
            "organisation_token": self.service.organisation_token,
            "base_url": self.service.base_url,
            "max_retries": 0,
        }
        client = sdk.Ferry(token or self.service.token, **options | changes)
        return self.stack.enter_context(client)

    @contextmanager
    def fault(self, kind, operation="*", **details):
        """Have the service fail each call of an operation."""
        self.service.faults.add(kind, operation, times=None, **details)
        yield
        self.service.faults.clear()

    def failing_clients(self):
        """Yield clients whose calls all fail, each in another way."""
        yield self.lost
        yield self.late
        yield self.unset
        for kind, details in FAULTS:
            with self.fault(kind, **details):
                yield self.client()

        # A write of the first client stays without an outcome, so that the second may not send it.
        for _ in range(2):
            with self.fault("request_timeout"):
                yield self.client(journal=self.journal)


MCP_SERVER = "ferry_sdk.agents.mcp_server"


@contextmanager
def not_installed(package):
    """Let the imports of a package fail, also where the library has imported it already."""
    with pytest.MonkeyPatch.context() as patch:
        submodules = [name for name in sys.modules if name.startswith(f"{package}.")]
        for name in (package, *submodules):
            patch.setitem(sys.modules, name, None)

        for name in [name for name in sys.modules if name.startswith(MCP_SERVER)]:
            patch.delitem(sys.modules, name)
        for name in ("frames", "charts"):
            patch.delitem(sys.modules, f"{notebook.__name__}.{name}", raising=False)
        for name in ("frames", "charts", *notebook.__all__):
            patch.delattr(notebook, name, raising=False)
        yield


@contextmanager
def full_disk(*functions):
    """Let functions that write a file fail as on a full disk."""

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        for function in functions:
            patch.setattr(function, fail)
        yield


def every_call(ferry, folder, *, wait_deadline=None):
    """Yield a call of everything that a client can be asked."""
    for name in OPERATIONS:
        group, _, method = name.partition(".")
        keywords = arguments(name, folder)
        if wait_deadline is not None and "wait" in method:
            keywords["deadline"] = wait_deadline
        yield partial(getattr(getattr(ferry, group), method), **keywords)

    yield partial(ferry.mcp.call_tool, "cancel_ticket", {"ticket_id": "t-1"})
    yield partial(ferry.request, "POST", "api/booking", json={})
    yield partial(ferry.routes.refresh)
    yield partial(ferry.vehicles.find, "golf")
    yield from every_plan(ferry, "Marseille")


def every_plan(ferry, origin):
    """Yield a call of everything that finds places, routes and trips."""
    yield partial(ferry.places.find, origin)
    yield partial(ferry.places.get, origin)
    yield partial(ferry.routes.find, origin)

    trip = {"origin": origin, "destination": "Tunis", "passengers": TRAVELLERS}
    yield partial(ferry.trips.search, on=DAY, **trip)
    yield partial(ferry.trips.stream, on=DAY, **trip)
    yield partial(ferry.trips.connections, on=DAY, **trip)
    yield partial(ferry.trips.calendar, start=DAY, end=DAY, **trip)


def is_write(call):
    return "ReadOnlyError" in classes(inspect.getdoc(call.func))


def calls_of_failing_clients(world):
    for client in world.failing_clients():
        yield from every_call(client, world.folder, wait_deadline=0.01)


def writes_of_refusing_clients(world):
    for client in (world.client(read_only=True), world.client(journal=world.ruined)):
        for call in every_call(client, world.folder):
            if is_write(call):
                yield call


def calls_with_wrong_arguments(world):
    """Yield each call twice: for ids that nobody has, and with a number as first argument."""
    for call in every_call(world.ferry, world.folder):
        yield call
        if call.args:
            yield partial(call.func, 7, *call.args[1:])
        elif call.keywords:
            first_name = next(iter(call.keywords))
            yield partial(call.func, **call.keywords | {first_name: 7})


def wrong_settings(world):
    ferry = world.ferry
    unknown = sdk.OutcomeUnknownError("", request=sdk.RequestDigest("POST", "api/booking", "0"))
    yield partial(sdk.Ferry, base_url="ftp://ferry.example")
    yield partial(ferry.with_options, token=None)
    yield partial(ferry.recover, 7)
    yield partial(ferry.recover, unknown)
    yield partial(correlation, "\n")


def searches_without_a_result(world):
    ferry = world.ferry
    trip = search_arguments(company="GNV", depart="ITGOA", arrive="TNLGN")
    trip["out_at"] = date(2050, 6, 8)
    yield partial(ferry.availability.search, **trip)
    yield partial(ferry.mcp.search_availability, **trip)
    yield partial(ferry.mcp.read_resource, "resource://service/nothing")

    # The first is unknown, the second is several places.
    for origin in ("Zzyzx", "Porto"):
        yield from every_plan(ferry, origin)


def calls_without_an_mcp_server(world):
    world.service.mcp.set(is_absent=True)
    client = world.client()
    yield partial(client.mcp.list_tools)
    yield partial(client.mcp.list_resources)
    world.service.mcp.reset()


def sales(world):
    """Yield calls for one booking that is held and one that is confirmed, then cancelled."""
    ferry = world.ferry
    held = booked(ferry)
    booking_id = booked(ferry).booking_id
    ticket_id = ferry.bookings.confirm(booking_id).ticket_id
    unpaid_ticket_id = ferry.bookings.get(held.booking_id).tickets[0].id
    yield partial(ferry.bookings.confirm, held.booking_id, expect_total=1)
    yield partial(ferry.bookings.confirm, booking_id)
    yield partial(ferry.mcp.confirm_booking, booking_id)
    yield partial(ferry.bookings.cancel, booking_id, booking_reference="no")
    yield partial(ferry.bookings.cancel, booking_id, max_penalty=0)
    yield partial(ferry.tickets.cancel, ticket_id, max_penalty=0)

    yield partial(ferry.tickets.read_pdf, unpaid_ticket_id)
    yield partial(ferry.tickets.save_pdf, unpaid_ticket_id, world.folder / "voucher.pdf")
    ferry.tickets.wait_pdf(ticket_id, deadline=60)
    yield partial(ferry.tickets.save_pdf, ticket_id, world.folder)
    with full_disk("pathlib.Path.replace"):
        yield partial(ferry.tickets.save_pdf, ticket_id, world.folder / "voucher.pdf")

    ferry.bookings.cancel(booking_id)
    yield partial(ferry.bookings.cancel, booking_id)
    yield partial(ferry.tickets.cancel, ticket_id)
    yield partial(ferry.mcp.cancel_ticket, ticket_id)
    world.service.faults.add("refused", "bookings.cancel", status=409)
    yield partial(ferry.bookings.cancel, held.booking_id)


def payments(world):
    """Yield calls that mark a ticket as paid, before it is paid and after it."""
    ferry = world.ferry
    booking_id = booked(ferry).booking_id
    ticket_id = ferry.bookings.get(booking_id).tickets[0].id
    mark_paid = partial(ferry.tickets.mark_paid, ticket_id, external_payment_ref="p-1")
    without_organisation = world.client(organisation_token=None)
    yield partial(mark_paid, paid_at="yesterday")
    yield partial(without_organisation.tickets.mark_paid, ticket_id, external_payment_ref="p-1")

    mark_paid()
    yield partial(mark_paid, external_payment_ref="p-2")
    yield partial(mark_paid, external_payment_ref="p-2", booking_id=booking_id)


def records(world):
    sailings = sdk.Records([found(world.ferry)])
    trips = world.ferry.trips.search("Marseille", "Tunis", on=DAY, passengers=TRAVELLERS)
    calendar = world.ferry.trips.calendar(
        "Marseille", "Tunis", start=DAY, end=DAY, passengers=TRAVELLERS
    )
    yield partial(sailings[0].select, tariff="t", place="p")
    yield partial(trips[0].select, "cheapest")
    yield partial(trips.filter, reservation_type="GIFT")
    yield partial(trips.best, by="colour")
    for table in (sailings, trips, calendar):
        yield partial(table.to_frame, money="coins")
        with not_installed("pandas"):
            yield partial(table.to_frame)


def travellers(world):
    yield partial(sdk.AgeBands, infant=-1)
    yield partial(sdk.Travellers, [7])
    yield partial(sdk.Travellers([]).problems, on="some day")


def charts(world):
    yield partial(notebook.fares_by_day, [7])
    yield partial(notebook.network_map, [7])
    in_two_currencies = [SimpleNamespace(currency="EUR"), SimpleNamespace(currency="TND")]
    yield partial(notebook.prices_over_time, in_two_currencies)
    with not_installed("matplotlib"):
        for chart in notebook.__all__:
            yield partial(getattr, notebook, chart)


def rates(world):
    yield partial(sdk.Rate, "fast")
    with not_installed("pyrate_limiter"):
        yield partial(sdk.Rate, "50/second")
    yield partial(sdk.Rate("50/second", storage="redis://127.0.0.1:9").acquire, "bookings.get")

    # The one request of this minute has been made, and the call may not wait for the next minute.
    rate = sdk.Rate("1/minute")
    rate.acquire("bookings.get")
    token = current_request.set(RateRequest(until=0.0))
    yield partial(rate.acquire, "bookings.get")
    current_request.reset(token)


def journals(world):
    journal = world.journal
    yield partial(Journal, 7)
    with not_installed("psycopg"):
        yield partial(Journal, "postgresql://localhost/ferry")
    yield partial(journal.unresolved, older_than="long")
    yield partial(journal.entries, limit=-1)
    yield partial(journal.booking_ids, since="yesterday")
    yield partial(journal.entry, "e-1")
    yield partial(journal.settle, "e-1", happened=True)
    yield partial(journal.forget, older_than="long")


def ruined_journals(world):
    ruined = world.ruined
    yield partial(ruined.unresolved)
    yield partial(ruined.entries)
    yield partial(ruined.booking_ids)
    yield partial(ruined.entry, "e-1")
    yield partial(ruined.settle, "e-1", happened=True)
    yield partial(ruined.forget, older_than=0)


def creates_with_a_key(world):
    """Creates whose key has another booking, and creates with a key and without a journal."""
    family = {"availabilities": [selected(world.ferry)], "passengers": PASSENGERS}
    one_person = family | {"passengers": PASSENGERS[:1]}
    with_journal = world.client(journal=world.journal)
    for ferry in (with_journal, world.ferry):
        for create in (ferry.bookings.create, ferry.mcp.create_booking):
            yield partial(create, **family, idempotency_key="order-1")
            yield partial(create, **one_person, idempotency_key="order-1")


def sale_of(world):
    """Return the arguments of an order of one booking."""
    selections = [[selected(world.ferry)]]
    return {"selections": selections, "passengers": PASSENGERS, "journal": world.journal}


def failing_orders(world):
    ferry = world.ferry
    journal = world.journal
    sale = sale_of(world)
    confirmed = orders.hold(ferry, **sale)
    agreed = {"expect_totals": confirmed.totals, "journal": journal}
    fee = {"max_penalty": {"EUR": 1000}, "journal": journal}
    orders.confirm(ferry, confirmed, **agreed)
    change = partial(
        orders.change,
        booking_id=confirmed.parts[0].booking_id,
        to=sale["selections"][0],
        passengers=PASSENGERS,
        **agreed | fee,
    )

    def calls_by(client, **changes):
        """Return every call of an order by a client, with changed arguments, by its name."""
        to_confirm = orders.hold(ferry, **sale)
        to_cancel = orders.hold(ferry, **sale)
        return {
            "hold": partial(orders.hold, client, **sale | changes),
            "confirm": partial(orders.confirm, client, to_confirm, **agreed | changes),
            "cancel": partial(orders.cancel, client, to_cancel, **fee | changes),
            "change": partial(change, client, **changes),
            "resume": partial(
                orders.resume, client, confirmed.id, **{"journal": journal} | changes
            ),
        }

    for client in (world.client(read_only=True), world.lost, world.late, world.unset):
        yield from calls_by(client).values()
    yield from calls_by(ferry, journal=world.ruined).values()

    calls = calls_by(ferry)
    with world.fault("refused", "bookings.create"):
        yield calls["hold"]
        yield calls["change"]
    with world.fault("refused", "bookings.confirm"):
        yield calls["confirm"]
    with world.fault("refused", "bookings.cancel"):
        yield calls["cancel"]
    for record in journal.load_orders():
        yield partial(orders.resume, ferry, record.id, journal=journal)

    yield partial(orders.hold, ferry, **sale | {"passengers": 7})
    yield partial(orders.hold, ferry, **sale, idempotency_key="order-2")
    one_person = sale | {"passengers": PASSENGERS[:1]}
    yield partial(orders.hold, ferry, **one_person, idempotency_key="order-2")
    with world.fault("lose_reply", "bookings.create"):
        yield partial(orders.hold, ferry, **sale, idempotency_key="order-3")
    yield partial(orders.hold, ferry, **sale, idempotency_key="order-3")

    yield partial(orders.confirm, ferry, confirmed, **agreed | {"expect_totals": {"EUR": 1}})
    yield partial(orders.confirm, ferry, confirmed, **agreed, if_refused="weep")
    yield partial(orders.cancel, ferry, confirmed, **fee | {"max_penalty": {}})
    yield partial(orders.cancel, ferry, 7, **fee)
    yield partial(change, ferry, max_penalty={})
    yield partial(change, ferry, expect_totals={})
    yield partial(orders.resume, ferry, "o-1", journal=journal)
    yield partial(orders.get, "o-1", journal=journal)
    yield partial(orders.get, confirmed.id, journal=world.ruined)
    yield partial(orders.unfinished, journal=world.ruined)


def watches(world):
    watch = partial(aftersales.watch, deadline=60)
    yield partial(watch, world.ferry, [7])
    yield partial(watch, world.stranger, ["b-1"])
    yield partial(watch, world.ferry, ["b-1"], journal=world.ruined)


def reconciliations(world):
    ferry = world.ferry
    payment = {"booking_id": booked(ferry).booking_id, "amount": "1", "currency": "EUR"}
    yield partial(aftersales.reconcile, ferry, world.journal, [{}])
    yield partial(aftersales.reconcile, ferry, world.ruined, [])
    yield partial(aftersales.reconcile, world.stranger, world.journal, [payment])

    differences = aftersales.reconcile(ferry, world.journal, [payment])
    yield partial(differences.to_frame, money="coins")
    with not_installed("pandas"):
        yield partial(differences.to_frame)


def checks_of_conformance(world):
    for client in (world.stranger, world.lost, world.unset):
        yield partial(conformance.check, client)
        yield partial(conformance.check_with_booking, client, max_price=1)
    yield partial(conformance.check_with_booking, world.ferry, max_price="much")


def toolkits(world):
    yield partial(agents.Toolkit, 7)
    yield partial(agents.Toolkit(world.ferry).settle, "c-1", happened=True)
    yield partial(agents.http_app, agents.Toolkit(world.ferry), secret="of-all-the-hosts")
    with not_installed("mcp"):
        tools = agents.AsyncToolkit(AsyncFerry("token", base_url="https://ferry.example"))
        yield partial(agents.http_app, tools, secret="of-all-the-hosts")


class KilledWorkers(ThreadPoolExecutor):
    """An executor whose workers do not live."""

    def submit(self, *_, **__):
        raise BrokenExecutor("a worker was killed")


def scans(world):
    party = scan.Party("lone", TRAVELLERS[:1])
    season = partial(
        scan.FareScan, world.folder / "fares", routes=[("Genoa", "Tunis")], parties=[party]
    )
    fares = season(dates=(DAY, DAY))
    yield partial(scan.Party, "", [])
    for argument in ("dates", "parties", "routes"):
        yield partial(season, **{"dates": (DAY, DAY), argument: 7})

    # Without a plan, a scan reads the routes with a client of its own.
    yield partial(getattr, fares, "size")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FERRY_TOKEN", "t")
        patch.setenv("FERRY_BASE_URL", NOWHERE)
        yield partial(getattr, fares, "size")
        yield partial(getattr, fares, "report")

    yield partial(season(routes=[("Genoa", "Genoa")], dates=(DAY, DAY)).plan, world.ferry)
    yield partial(fares.plan, world.lost)
    yield partial(fares.run, world.ferry, workers="many")
    yield partial(fares.run, world.lost)
    yield partial(fares.run, world.client, executor=KilledWorkers())

    fares.plan(world.ferry)
    with world.fault("unauthorized", "availability.search"):
        yield partial(fares.run, world.ferry)
    with full_disk("pathlib.Path.replace", "os.replace"):
        yield partial(fares.run, world.ferry)

    fares.run(world.ferry)
    yield partial(fares.to_frame, money="coins")
    with not_installed("pandas"):
        yield partial(fares.to_frame)
    yield partial(getattr, season(dates=(DAY, DAY + timedelta(1))), "report")


def services(world):
    service = world.service
    port = int(service.base_url.rpartition(":")[2])
    without_zone = datetime(2050, 1, 1)  # noqa: DTZ001 -- is refused
    missing_file = world.folder / "nothing.json"
    wrong_file = world.folder / "wrong.json"
    wrong_file.write_text("[]")
    for start in (sandbox.Sandbox, sandbox.serve):
        yield partial(start, profile=missing_file)
        yield partial(start, profile=wrong_file)
        yield partial(start, now=without_zone)

    yield partial(service.start)
    yield partial(sandbox.Sandbox(port=port).start)
    yield partial(getattr, sandbox.Sandbox(), "base_url")
    yield partial(sandbox.Profile.load, missing_file)
    yield partial(sandbox.Profile.load, wrong_file)
    yield partial(sandbox.Clock, without_zone)
    yield partial(service.clock.advance, -1)
    yield partial(service.clock.travel_to, without_zone)
    yield partial(service.faults.add, "earthquake")
    yield partial(service.mcp.set, reply="slow")
    yield partial(service.make_booking, "sold")
    yield partial(sandbox.Sandbox().make_booking)
    yield partial(sandbox.crossing, world.stranger)
    nowhere = AsyncFerry("t", base_url=NOWHERE, max_retries=0)
    yield partial(sandbox.acrossing, nowhere)


def watches_of_offers(world):
    wish = partial(
        offers.Wish,
        "Tarifa",
        "MATNG",
        days=(DAY, DAY),
        passengers=TRAVELLERS,
        rules=[offers.Opens()],
    )
    yield partial(offers.Wish, 7, "MATNG", **wish.keywords)
    yield partial(offers.Below, 9.5, "EUR")
    yield partial(offers.Drop)
    yield partial(offers.Opens, 7)

    offers.add(world.journal, wish(), key="w")
    watch = partial(offers.watch, deadline=60, every=timedelta(hours=1), max_calls="9/hour")
    for journal in (7, world.ruined):
        yield partial(offers.add, journal, wish(), key="w")
        yield partial(offers.remove, journal, "w")
        yield partial(offers.wishes, journal)
        yield partial(watch, world.ferry, journal)
        yield partial(offers.history, journal, "Tarifa", "MATNG")
    yield partial(watch, world.stranger, world.journal)


def histories(world):
    ports = {"A": "Tunis (La Goulette)", "B": "Tunis (Rades)"}
    world.journal.offers.save_searches(datetime(2050, 1, 1, tzinfo=UTC), [], ports)
    yield partial(offers.history, world.journal, "Tunis", "Tarifa")

    history = offers.history(world.journal, "Tarifa", "MATNG")
    yield partial(history.to_frame, money="coins")
    with not_installed("pandas"):
        yield partial(history.to_frame)


AREAS = {
    "client": (
        [
            "availability",
            "bookings",
            "catalogue",
            "clients",
            "inputs",
            "mcp",
            "notebook",
            "planning",
            "rate",
            "records",
            "tickets",
        ],
        [
            calls_of_failing_clients,
            writes_of_refusing_clients,
            calls_with_wrong_arguments,
            wrong_settings,
            searches_without_a_result,
            calls_without_an_mcp_server,
            sales,
            creates_with_a_key,
            payments,
            records,
            travellers,
            charts,
            rates,
        ],
    ),
    "writes": (
        ["aftersales", "agents", "conformance", "journal", "orders"],
        [
            journals,
            ruined_journals,
            failing_orders,
            watches,
            reconciliations,
            checks_of_conformance,
            toolkits,
        ],
    ),
    "offers": (["offers"], [watches_of_offers, histories]),
    "services": (["sandbox", "scan"], [services, scans]),
}
"""The pages of the reference, and the functions whose calls fail in order."""


@pytest.fixture
def world(ferry_sandbox, tmp_path, look_once):
    """The local service with clients that fail; planning knows its routes."""
    know_routes(ferry_sandbox)
    with ExitStack() as stack:
        yield World(ferry_sandbox, tmp_path, stack)


def test_page_with_errors_is_in_an_area():
    pages = {page for page in PAGES if any(documented(page).values())}
    covered = set(chain.from_iterable(area_pages for area_pages, _ in AREAS.values()))

    assert pages <= covered


@pytest.mark.slow
@pytest.mark.parametrize("area", mostly_long(["writes", "client", "offers", "services"]))
def test_call_raises_what_it_names(area, world):
    """Each call of an area raises all errors that its docstring names, and no other."""
    pages, sources = AREAS[area]
    errors_of_calls = {}
    for page in pages:
        errors_of_calls |= documented(page)
    findings = Findings(errors_of_calls)

    for call in chain.from_iterable(source(world) for source in sources):
        try:
            finish(call())
        except Exception as error:  # noqa: BLE001 -- each is compared
            findings.add(name_of(call), error)

    assert sorted(findings.missing) == []
    assert sorted(findings.undocumented) == []
    if area == "client":
        assert (ALL_CALLS | EVERY_WRITE) - findings.raised == set()
