"""Each class that a docstring names below `Raises:` is raised by the call, and no other class is.

What a call may raise is in its docstring, or in the box at the top of the reference. A row makes
one call fail; it does not say how.
"""

import errno
import inspect
import re
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import date, datetime, timedelta
from functools import partial as row
from itertools import chain

import pytest

import ferry_sdk as sdk
from ferry_sdk import aftersales, agents, conformance, correlation, notebook, orders, sandbox, scan
from ferry_sdk._engine.limiter import RateRequest, current_request
from ferry_sdk.journal import Journal
from tests.support.operations import OPERATIONS, arguments
from tests.support.reference import PAGES, REFERENCE, shown_on
from tests.support.routes import know_routes
from tests.support.tiers import mostly_long
from tests.support.trip import DAY, PASSENGERS, TRAVELLERS, booked, found, search_arguments

NOWHERE = "http://127.0.0.1:9"


def classes(text):
    section = (text or "").partition("Raises:\n")[2].partition("\n\n")[0]
    return {*re.findall(r"^ {4}(?:\w+\.)*(\w+): ", section, re.MULTILINE)}


def documented(page):
    """The calls on a page of the reference, each with the errors that its docstring names.

    The two clients have the same. What has a protocol's methods is the caller's own.
    """
    named, protocols = {}, set()
    for name, shown, text in shown_on(page):
        if getattr(shown, "_is_protocol", False):
            protocols.add(name)
        elif name.partition(".")[0] not in protocols:
            errors = classes(text)
            assert named.setdefault(name.removeprefix("Async"), errors) == errors, name
    return named


def boxed():
    page = (REFERENCE / "index.md").read_text("utf-8")
    return [
        {*re.findall(r"`(\w+Error)`", re.search(rf"^\| {calls} \|.*", page, re.MULTILINE)[0])}
        for calls in ("all", "every write")
    ]


ALL, WRITES = boxed()


def name_of(call):
    if call.func is getattr:
        owner, name = call.args
        return name if inspect.ismodule(owner) else f"{type(owner).__name__}.{name}"
    call = call.func
    owner = getattr(call, "__self__", None)
    if owner is None:
        return call.__qualname__
    return f"{(owner if inspect.isclass(owner) else type(owner)).__name__}.{call.__name__}"


def finish(result):
    if isinstance(result, Iterator):
        for _ in result:
            pass
    elif isinstance(result, AbstractContextManager):
        with result:
            pass


class World:
    def __init__(self, service, folder, stack):
        self.service, self.folder, self.stack = service, folder, stack
        self.ferry = self.client()
        self.late = self.client(deadline=1e-9)
        self.stranger = self.client("nobody's")
        self.lost = self.client(base_url=NOWHERE)
        self.unset = self.client(lambda: "", organisation_token=lambda: "")
        self.journal = stack.enter_context(Journal(f"sqlite:///{folder / 'ferry.db'}"))
        self.ruined = stack.enter_context(Journal(f"sqlite:///{folder / 'nowhere' / 'ferry.db'}"))

    def client(self, token=None, **options):
        options = {"organisation_token": self.service.organisation_token} | options
        options = {"base_url": self.service.base_url, "max_retries": 0} | options
        return self.stack.enter_context(sdk.Ferry(token or self.service.token, **options))

    def failing(self):
        yield from (self.lost, self.late, self.unset)
        for kind, status, journal in (
            ("server_error", 503, None),
            ("rate_limited", None, None),
            ("unauthorized", 401, None),
            ("unauthorized", 403, None),
            ("redirect", 302, None),
            ("request_timeout", None, None),
            ("request_timeout", None, self.journal),
            ("request_timeout", None, self.journal),
        ):
            details = {} if status is None else {"status": status}
            self.service.faults.add(kind, times=None, **details)
            yield self.client(journal=journal)
            self.service.faults.clear()


@contextmanager
def changed(name, value):
    with pytest.MonkeyPatch.context() as patch:
        if value is None:
            for loaded in {name, *(one for one in sys.modules if one.startswith(f"{name}."))}:
                patch.setitem(sys.modules, loaded, None)
            for user in ("frames", "charts"):
                patch.delitem(sys.modules, f"{notebook.__name__}.{user}", raising=False)
            for used in ("frames", "charts", *notebook.__all__):
                patch.delattr(notebook, used, raising=False)
        else:
            patch.setattr(name, value)
        yield


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def every_call(ferry, folder, **waits):
    for name in OPERATIONS:
        group, _, call = name.partition(".")
        changes = waits if "wait" in call else {}
        yield row(getattr(getattr(ferry, group), call), **arguments(name, folder) | changes)
    yield row(ferry.mcp.call_tool, "cancel_ticket", {"ticket_id": "t-1"})
    yield row(ferry.request, "POST", "api/booking", json={})
    yield row(ferry.routes.refresh)
    yield row(ferry.vehicles.find, "golf")
    yield from every_plan(ferry, "Marseille")


def every_plan(ferry, origin):
    trip = {"origin": origin, "destination": "Tunis", "passengers": TRAVELLERS}
    for find in (ferry.places.find, ferry.places.get, ferry.routes.find):
        yield row(find, origin)
    for search in (ferry.trips.search, ferry.trips.stream, ferry.trips.connections):
        yield row(search, on=DAY, **trip)
    yield row(ferry.trips.calendar, start=DAY, end=DAY, **trip)


def is_write(call):
    return "ReadOnlyError" in classes(inspect.getdoc(call.func))


def clients(world):
    ferry, folder = world.ferry, world.folder
    for failing in world.failing():
        yield from every_call(failing, folder, deadline=0.01)
    for refusing in (world.client(read_only=True), world.client(journal=world.ruined)):
        yield from filter(is_write, every_call(refusing, folder))
    for call in every_call(ferry, folder):  # of what nobody has
        yield call
        if call.args:
            yield row(call.func, 7, *call.args[1:])
        elif call.keywords:
            yield row(call.func, **call.keywords | {next(iter(call.keywords)): 7})

    yield row(sdk.Ferry, base_url="ftp://ferry.example")
    yield row(ferry.with_options, token=None)
    yield row(ferry.recover, 7)
    unknown = sdk.OutcomeUnknownError("", request=sdk.RequestDigest("POST", "api/booking", "0"))
    yield row(ferry.recover, unknown)
    yield row(correlation, "\n")

    nothing = {"company": "GNV", "depart": "ITGOA", "arrive": "TNLGN"}
    nothing = search_arguments(**nothing) | {"out_at": date(2050, 6, 8)}
    yield row(ferry.availability.search, **nothing)
    yield row(ferry.mcp.search_availability, **nothing)
    yield row(ferry.mcp.read_resource, "resource://service/nothing")
    for wrong in ("Zzyzx", "Porto"):
        yield from every_plan(ferry, wrong)
    world.service.mcp.set(is_absent=True)
    absent = world.client()
    yield row(absent.mcp.list_tools)
    yield row(absent.mcp.list_resources)
    world.service.mcp.reset()


def sales(world):
    ferry, folder = world.ferry, world.folder
    held, booking_id = booked(ferry), booked(ferry).booking_id
    ticket_id = ferry.bookings.confirm(booking_id).ticket_id
    unpaid = ferry.bookings.get(held.booking_id).tickets[0].id
    yield row(ferry.bookings.confirm, held.booking_id, expect_total=1)
    yield row(ferry.bookings.confirm, booking_id)
    yield row(ferry.mcp.confirm_booking, booking_id)
    yield row(ferry.bookings.cancel, booking_id, booking_reference="no")
    yield row(ferry.bookings.cancel, booking_id, max_penalty=0)
    yield row(ferry.tickets.cancel, ticket_id, max_penalty=0)
    yield row(ferry.tickets.read_pdf, unpaid)
    yield row(ferry.tickets.save_pdf, unpaid, folder / "voucher.pdf")
    ferry.tickets.wait_pdf(ticket_id, deadline=60)
    yield row(ferry.tickets.save_pdf, ticket_id, folder)
    with changed("pathlib.Path.replace", full):
        yield row(ferry.tickets.save_pdf, ticket_id, folder / "voucher.pdf")
    ferry.bookings.cancel(booking_id)
    yield row(ferry.bookings.cancel, booking_id)
    yield row(ferry.tickets.cancel, ticket_id)
    yield row(ferry.mcp.cancel_ticket, ticket_id)
    world.service.faults.add("refused", "bookings.cancel", status=409)
    yield row(ferry.bookings.cancel, held.booking_id)
    pay = row(ferry.tickets.mark_paid, unpaid, external_payment_ref="p-1")
    yield row(pay, paid_at="yesterday")
    yield row(world.client(organisation_token=None).tickets.mark_paid, unpaid, **pay.keywords)
    pay()
    yield row(pay, external_payment_ref="p-2")
    yield row(pay, external_payment_ref="p-2", booking_id=held.booking_id)


def values(world):
    ferry = world.ferry
    sailings = sdk.Records([found(ferry)])
    *_, search, _, _, calendar = every_plan(ferry, "Marseille")
    trips, calendar = search(), calendar()
    yield row(sailings[0].select, tariff="t", place="p")
    yield row(trips[0].select, "cheapest")
    yield row(trips.filter, reservation_type="GIFT")
    yield row(trips.best, by="colour")
    for table in (sailings, trips, calendar):
        yield row(table.to_frame, money="coins")
        with changed("pandas", None):
            yield row(table.to_frame)
    yield row(sdk.AgeBands, infant=-1)
    yield row(sdk.Travellers, [7])
    yield row(sdk.Travellers([]).problems, on="some day")
    yield row(notebook.fares_by_day, [7])
    with changed("matplotlib", None):
        for chart in notebook.__all__:
            yield row(getattr, notebook, chart)
    yield row(sdk.Rate, "fast")
    with changed("pyrate_limiter", None):
        yield row(sdk.Rate, "50/second")
    yield row(sdk.Rate("50/second", storage="redis://127.0.0.1:9").acquire, "bookings.get")
    rate = sdk.Rate("1/minute")
    rate.acquire("bookings.get")
    token = current_request.set(RateRequest(until=0.0))
    yield row(rate.acquire, "bookings.get")
    current_request.reset(token)


def journals(world):
    journal, ruined = world.journal, world.ruined
    yield row(Journal, 7)
    with changed("psycopg", None):
        yield row(Journal, "postgresql://localhost/ferry")
    yield row(journal.unresolved, older_than="long")
    yield row(journal.entries, limit=-1)
    yield row(journal.booking_ids, since="yesterday")
    yield row(journal.entry, "e-1")
    yield row(journal.settle, "e-1", happened=True)
    yield row(journal.forget, older_than="long")
    for read in (ruined.unresolved, ruined.entries, ruined.booking_ids):
        yield row(read)
    yield row(ruined.entry, "e-1")
    yield row(ruined.settle, "e-1", happened=True)
    yield row(ruined.forget, older_than=0)


def selling(world):
    sailing = found(world.ferry)
    tariff = next(one for one in sailing.tariffs if one.type == "Ticket")
    selection = sailing.select(tariff=tariff, place=sailing.places[0])
    return {"selections": [[selection]], "passengers": PASSENGERS, "journal": world.journal}


def several(world):
    ferry, journal, faults = world.ferry, world.journal, world.service.faults
    sale = selling(world)
    sold = orders.hold(ferry, **sale)
    agreed = {"expect_totals": sold.totals, "journal": journal}
    fee = {"max_penalty": {"EUR": 1000}, "journal": journal}
    orders.confirm(ferry, sold, **agreed)
    change = row(
        orders.change,
        booking_id=sold.parts[0].booking_id,
        to=sale["selections"][0],
        passengers=PASSENGERS,
        **agreed | fee,
    )

    def every_step(ferry, **more):
        yield row(orders.hold, ferry, **sale | more)
        yield row(orders.confirm, ferry, orders.hold(world.ferry, **sale), **agreed | more)
        yield row(orders.cancel, ferry, orders.hold(world.ferry, **sale), **fee | more)
        yield row(change, ferry, **more)
        yield row(orders.resume, ferry, sold.id, **{"journal": journal} | more)

    for failing in (world.client(read_only=True), world.lost, world.late, world.unset):
        yield from every_step(failing)
    yield from every_step(ferry, journal=world.ruined)
    for index, call in ((0, "create"), (1, "confirm"), (2, "cancel"), (3, "create")):
        step = [*every_step(ferry)][index]
        faults.add("refused", f"bookings.{call}", times=None)
        yield step
        faults.clear()
    for record in journal.load_orders():
        yield row(orders.resume, ferry, record.id, journal=journal)
    yield row(orders.hold, ferry, **sale | {"passengers": 7})
    yield row(orders.confirm, ferry, sold, **agreed | {"expect_totals": {"EUR": 1}})
    yield row(orders.confirm, ferry, sold, **agreed, if_refused="weep")
    yield row(orders.cancel, ferry, sold, **fee | {"max_penalty": {}})
    yield row(orders.cancel, ferry, 7, **fee)
    yield row(change, ferry, max_penalty={})
    yield row(change, ferry, expect_totals={})
    yield row(orders.resume, ferry, "o-1", journal=journal)
    yield row(orders.get, "o-1", journal=journal)
    yield row(orders.get, sold.id, journal=world.ruined)
    yield row(orders.unfinished, journal=world.ruined)


def afterwards(world):
    ferry = world.ferry
    payment = {"booking_id": booked(ferry).booking_id, "amount": "1", "currency": "EUR"}
    yield row(aftersales.watch, ferry, [7], deadline=60)
    yield row(aftersales.watch, world.stranger, ["b-1"], deadline=60)
    yield row(aftersales.watch, ferry, ["b-1"], deadline=60, journal=world.ruined)
    yield row(aftersales.reconcile, ferry, world.journal, [{}])
    yield row(aftersales.reconcile, ferry, world.ruined, [])
    yield row(aftersales.reconcile, world.stranger, world.journal, [payment])
    found = aftersales.reconcile(ferry, world.journal, [payment])
    yield row(found.to_frame, money="coins")
    with changed("pandas", None):
        yield row(found.to_frame)
    for check, more in (
        (conformance.check, {}),
        (conformance.check_with_booking, {"max_price": 1}),
    ):
        for failing in (world.stranger, world.lost, world.unset):
            yield row(check, failing, **more)
    yield row(conformance.check_with_booking, ferry, max_price="much")
    yield row(agents.Toolkit, 7)
    yield row(agents.Toolkit(ferry).settle, "c-1", happened=True)


class Killed(ThreadPoolExecutor):
    def submit(self, *_, **__):
        raise BrokenExecutor("a worker was killed")


def scans(world):
    folder = world.folder / "fares"
    party = scan.Party("lone", TRAVELLERS[:1])
    season = row(scan.FareScan, folder, routes=[("Genoa", "Tunis")], parties=[party])
    fares = season(dates=(DAY, DAY))
    yield row(scan.Party, "", [])
    for argument in ("dates", "parties", "routes"):
        yield row(season, **{"dates": (DAY, DAY), argument: 7})
    yield row(getattr, fares, "size")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FERRY_TOKEN", "t")
        patch.setenv("FERRY_BASE_URL", NOWHERE)
        for name in ("size", "report"):
            yield row(getattr, fares, name)
    yield row(season(routes=[("Genoa", "Genoa")], dates=(DAY, DAY)).plan, world.ferry)
    yield row(fares.plan, world.lost)
    yield row(fares.run, world.ferry, workers="many")
    yield row(fares.run, world.lost)
    yield row(fares.run, world.client, executor=Killed())
    fares.plan(world.ferry)
    world.service.faults.add("unauthorized", "availability.search", times=None)
    yield row(fares.run, world.ferry)
    world.service.faults.clear()
    with changed("pathlib.Path.replace", full), changed("os.replace", full):
        yield row(fares.run, world.ferry)
    fares.run(world.ferry)
    yield row(fares.to_frame, money="coins")
    with changed("pandas", None):
        yield row(fares.to_frame)
    yield row(getattr, season(dates=(DAY, DAY + timedelta(1))), "report")


def services(world):
    service, folder = world.service, world.folder
    clock, naive = service.clock, datetime(2050, 1, 1)  # noqa: DTZ001
    unread, wrong = folder / "nothing.json", folder / "wrong.json"
    wrong.write_text("[]")
    for made in (sandbox.Sandbox, sandbox.serve):
        yield row(made, profile=unread)
        yield row(made, profile=wrong)
        yield row(made, now=naive)
    port = int(service.base_url.rpartition(":")[2])
    yield row(service.start)
    yield row(sandbox.Sandbox(port=port).start)
    yield row(getattr, sandbox.Sandbox(), "base_url")
    yield row(sandbox.Profile.load, unread)
    yield row(sandbox.Profile.load, wrong)
    yield row(sandbox.Clock, naive)
    yield row(clock.advance, -1)
    yield row(clock.travel_to, naive)
    yield row(service.faults.add, "earthquake")
    yield row(service.mcp.set, reply="slow")


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
        [clients, sales, values],
    ),
    "writes": (
        ["aftersales", "agents", "conformance", "journal", "orders"],
        [journals, several, afterwards],
    ),
    "services": (["sandbox", "scan"], [services, scans]),
}
"""The pages of the reference, and the functions whose rows make their calls fail."""


def test_page_with_errors_is_in_an_area():
    pages = {page for page in PAGES if any(documented(page).values())}
    covered = {page for area_pages, _ in AREAS.values() for page in area_pages}
    assert pages <= covered


@pytest.mark.slow
@pytest.mark.parametrize("area", mostly_long(["writes", "client", "services"]))
def test_call_raises_what_it_names(area, ferry_sandbox, tmp_path, look_once):
    """Each call of an area raises all errors that its docstring names, and no other."""
    know_routes(ferry_sandbox)
    pages, sources = AREAS[area]
    named = {}
    for page in pages:
        named |= documented(page)
    missing = {(name, error) for name, errors in named.items() for error in errors}
    missing |= {(name, "FerryError") for name in named if "Group." in name}
    undocumented = set()
    seen = set()

    with ExitStack() as stack:
        world = World(ferry_sandbox, tmp_path, stack)
        for call in chain.from_iterable(rows(world) for rows in sources):
            name = name_of(call)
            try:
                finish(call())
            except Exception as error:  # noqa: BLE001 -- each is judged
                classes_of_error = [kind.__name__ for kind in type(error).__mro__]
                own = [kind for kind in classes_of_error if kind in named[name] - {"FerryError"}]
                missing.discard((name, own[0] if own else "FerryError"))
                seen.add(classes_of_error[0])
                box = ALL | (WRITES if "ReadOnlyError" in named[name] else set())
                if not own and classes_of_error[0] not in box:
                    undocumented.add((name, classes_of_error[0]))

    assert (sorted(missing), sorted(undocumented)) == ([], [])
    if "clients" in pages:
        assert (ALL | WRITES) - seen == set()
