"""Makes the journal of the golden files: rows of each kind in each of its tables."""

from contextlib import contextmanager, suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from typing import get_args
from unittest.mock import patch

from ferry_sdk import OrderError, OutcomeUnknownError, aftersales, offers, orders
from ferry_sdk._engine.read_back import READ_BACK_WINDOW
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.journal import Journal
from ferry_sdk.models import PlaceType, Stage
from ferry_sdk.offers.answers import SeenAnswer
from ferry_sdk.offers.events import ENDED
from ferry_sdk.offers.searches import Person, WishSearch
from ferry_sdk.offers.wish import wish_text
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.types import (
    ClaimRequest,
    EndState,
    Intent,
    OfferEventRecord,
    OutcomeDetails,
    WishRecord,
)
from tests.golden.world import ADA, ADULT, MOMENT, book, client_of, select
from tests.support.trip import DAY, search_arguments

WRITES = [*sorted(row.operation for row in SAFETY.values() if not row.is_read), "request"]
ORDER_KEY = "golden-order"
BOOKING_KEY = "golden-booking"


class Killed(BaseException):
    """Ends a call as the end of its process would."""


def fill(url, service):
    """Make the tables of a journal, and rows of each kind."""
    with Journal(url) as journal, client_of(service, journal=journal) as ferry:
        add_entries(journal)
        add_bookings(ferry, service)
        add_orders(ferry, journal, service)
        add_watches(ferry, journal, service)
        add_offers(ferry, journal)


# ---- Entries and keys -------------------------------------------------------------------------


def add_entries(journal):
    """Add an entry of each write in each state, and one that a person has settled."""
    for operation in WRITES:
        begin(journal, operation, "open")
        for state in get_args(EndState):
            entry_id = begin(journal, operation, state)
            journal.end(entry_id, state, details_of(operation, state))
    settled = begin(journal, "bookings.create", "settled")
    journal.settle(settled, happened=True, booking_id="by-hand")


def begin(journal, operation, name):
    """Add an open entry of a write."""
    booking_id = f"{operation} {name}"
    subject = {}
    if operation in {"bookings.confirm", "bookings.cancel", "mcp.confirm_booking"}:
        subject["booking_id"] = booking_id
    if "ticket" in operation:
        subject["ticket_id"] = booking_id
    intent = Intent(
        operation=operation,
        effect=getattr(SAFETY.get(operation), "effect", "request"),
        method="POST",
        path="/api/booking",
        subject=subject,
        identity=booking_id.encode(),
        correlation_id=f"golden {operation}",
    )
    return journal.begin(intent)


def details_of(operation, state):
    """Return what an outcome names."""
    if state == "done":
        return OutcomeDetails(f"of {operation}", ("t-ß-1", "t-ß-2"))
    if state == "rejected":
        return OutcomeDetails(status_code=409, code="BOOKING_EXPIRED")
    return None


def add_bookings(ferry, service):
    """Make a booking with a key, and one whose confirmation has an unknown outcome."""
    book(ferry, idempotency_key=BOOKING_KEY)
    unknown = book(ferry, day=1)
    with failing_reads(service):
        service.faults.add("lose_reply", "bookings.confirm")
        with suppress(OutcomeUnknownError):
            ferry.bookings.confirm(unknown.booking_id)


@contextmanager
def failing_reads(service, *, after=0):
    """Have the service show no booking after some reads, so that no read proves a write."""
    service.faults.add("server_error", "bookings.get", times=None, after=after)
    with patch("ferry_sdk._engine.polling._LAST_LOOK", READ_BACK_WINDOW):
        yield
    service.faults.clear()


# ---- Orders -----------------------------------------------------------------------------------


def add_orders(ferry, journal, service):
    """Add an order that has ended for each step, and one that ended in the middle of each."""

    def hold(*days, **more):
        chosen = [[select(ferry, day=day)] for day in days]
        return orders.hold(ferry, chosen, passengers=[ADA], journal=journal, **more)

    def confirm(order):
        return orders.confirm(ferry, order, expect_totals=order.totals, journal=journal)

    def cancel(order):
        return orders.cancel(ferry, order, max_penalty={"EUR": 100}, journal=journal)

    def change(order, day):
        return orders.change(
            ferry,
            order.parts[0].booking_id,
            to=[select(ferry, day=day)],
            passengers=[ADA],
            expect_totals=order.totals,
            max_penalty={"EUR": 100},
            journal=journal,
        )

    hold(10, 11, idempotency_key=ORDER_KEY)
    confirm(hold(12, 13))
    cancel(confirm(hold(14, 15)))
    change(confirm(hold(16)), day=16)

    with killed(journal, at_end=2):
        hold(17, 18)
    held = hold(19, 20)
    with killed(journal, at_end=2):
        confirm(held)
    confirmed = confirm(hold(21, 22))
    with killed(journal, at_end=2):
        cancel(confirmed)
    old = confirm(hold(23))
    with killed(journal, at_end=2):
        change(old, day=23)

    refused = confirm(hold(24))
    service.faults.add("refused", "bookings.cancel")
    with suppress(OrderError):
        change(refused, day=24)
    unknown = hold(25)
    service.faults.add("lose_reply", "bookings.confirm")
    with failing_reads(service, after=2), suppress(OrderError):
        confirm(unknown)

    both_ways = [select(ferry, day=26), select(ferry, day=27, depart="MATNG", arrive="ESTRF")]
    order = orders.hold(ferry, [both_ways], passengers=[ADA], journal=journal)
    (part,) = confirm(order).parts
    first, _ = ferry.bookings.get(part.booking_id).tickets
    ferry.tickets.cancel(first.ticket_id)
    service.faults.add("refused", "bookings.cancel")
    with suppress(OrderError):
        cancel(order)


@contextmanager
def killed(journal, *, at_end):
    """End the block as a process ends that is killed before it records so many outcomes."""
    end = journal.end
    ends = count(1)

    def die(*arguments):
        if next(ends) == at_end:
            raise Killed
        end(*arguments)

    with patch.object(journal, "end", die), suppress(Killed):
        yield
        raise AssertionError("the block was not killed")


# ---- Watches ----------------------------------------------------------------------------------

REMINDERS = {"remind": [timedelta(days=40)], "lapsing": timedelta(hours=2)}


def add_watches(ferry, journal, service):
    """Watch a booking in each stage until departure, and one until it is at rest."""
    for stage in Stage:
        booking_id = service.make_booking(stage).booking_id
        watch(ferry, booking_id, journal=journal, until="departure", **REMINDERS)
    watch(ferry, book(ferry, day=2).booking_id, journal=journal)


def watch(ferry, booking_id, *, journal, **options):
    """Watch a booking until it is on record."""
    while booking_id not in journal.load_snapshots([booking_id]):
        for _ in aftersales.watch(ferry, [booking_id], deadline=0.2, journal=journal, **options):
            pass


# ---- Offers -----------------------------------------------------------------------------------

RULES = (
    offers.Below("60", "EUR"),
    offers.Drop(percent=10),
    offers.Drop(amount="5", currency="EUR"),
    offers.Opens(),
    offers.Opens("Cabin"),
)
PRICES = ("80", "70", "50")
"""The prices that the searches of the wishes have shown, one after the other."""


def add_offers(ferry, journal):
    """Add wishes with each rule, and answers by which each of them fires.

    The events are not given. So the next watch gives them.
    """
    offers.add(journal, wish(RULES), key="every rule")
    offers.add(journal, wish([offers.Below("1", "EUR")], vehicle="FIAT__500"), key="armed")
    offers.add(journal, wish([offers.Opens()], origin="Genoa"), key="not looked up")

    store = journal.offers
    search = wish_search()
    for key, wanted in offers.wishes(journal).items():
        if key != "not looked up":
            record = WishRecord(key, wish_text(wanted), wanted.last_day)
            ports = {"ESTRF": search.depart_name, "MATNG": search.arrive_name}
            store.save_searches(MOMENT, [(record, [search.to_record()])], ports)

    claim = ClaimRequest(
        now=MOMENT,
        first_day=MOMENT.date(),
        every=timedelta(hours=6),
        most_an_hour=9,
        most=9,
    )
    store.claim(claim)
    sailing = cheapest_sailing(ferry)
    answers = [[], *([with_price(sailing, price)] for price in PRICES)]
    for number, sailings in enumerate(answers):
        seen_at = MOMENT + timedelta(hours=number)
        answer = SeenAnswer(search, sailings, seen_at, is_complete=True)
        store.record(search.id, answer.judge, now=seen_at, keys=())

    past = MOMENT.date() + timedelta(days=1)
    offers.add(journal, wish([offers.Opens()], days=(past, past)), key="ended")
    store.end_wishes(past + timedelta(days=1), partial(ended_event, seen_at=MOMENT))


def wish(rules, **changes):
    """Return a wish for one day."""
    arguments = {"origin": "Tarifa", "days": (DAY, DAY), "passengers": [ADULT], **changes}
    return offers.Wish(destination="MATNG", companies=["BALEARIA"], rules=rules, **arguments)


def wish_search():
    """Return the search that these wishes need."""
    return WishSearch(
        company="BALEARIA",
        journey_id=journey_id("ESTRF", "MATNG"),
        day=DAY,
        party=(Person("Adult", "Female", 34),),
        vehicle=None,
        depart_code="ESTRF",
        arrive_code="MATNG",
        depart_name="Tarifa",
        arrive_name="Tangier (city)",
    )


def cheapest_sailing(ferry):
    """Return the first sailing of the search, with one fare, a seat and a cabin."""
    where = search_arguments(company="BALEARIA", depart="ESTRF", arrive="MATNG")
    sailing = ferry.availability.search(**where | {"passengers": [ADULT]})[0]
    tariff = next(tariff for tariff in sailing.tariffs if tariff.type == "Ticket")
    seat = sailing.places[0]
    cabin = seat.model_copy(update={"type": PlaceType("Cabin"), "code": "CABIN"})
    return sailing.model_copy(update={"tariffs": (tariff,), "places": (seat, cabin)})


def with_price(sailing, price):
    """Return a sailing whose fare has a price."""
    tariff = sailing.tariffs[0].model_copy(
        update={"amount": Decimal(price), "balance_amount": Decimal(price)}
    )
    return sailing.model_copy(update={"tariffs": (tariff,)})


def ended_event(key, seen_at):
    """Return the event of a wish whose last day has passed."""
    return OfferEventRecord(f"{key:0<32}", key, ENDED, seen_at)
