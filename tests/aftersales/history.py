"""A generated history of bookings, and what has to be found of it afterwards."""

import random
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import pytest

from ferry_sdk import BookingConfirmError, FerryError, OutcomeUnknownError
from tests.support.summer import TRAVELLER, search

EUR = "EUR"
READ_FAULTS = ["server_error", "cut_before", "lose_reply", "not_json", "rate_limited"]


class Fate(NamedTuple):
    """What becomes of a booking.

    Attributes:
        first: What is done with it while it is watched.
        events: The events that the watch has to give of that.
        later: What is done once it has come to rest.
        paid: What the caller collects, and what is given back of it.
        wrong: The discrepancy.
        kind: The type of its tariff.
        back: Whether it is two tickets.
    """

    first: str
    events: frozenset[str]
    later: str = ""
    paid: str = "total"
    wrong: str = ""
    kind: str = "Ticket"
    back: bool = False


TICKETED, LAPSED = frozenset({"ticketed"}), frozenset({"lapsing", "lapsed"})
FATES = [
    Fate("confirm", TICKETED),
    Fate("confirm", TICKETED, paid="no", wrong="issued_not_paid"),
    Fate("confirm", TICKETED, paid="less", wrong="total_differs"),
    Fate("confirm", TICKETED, paid="dinars", wrong="total_differs"),
    Fate("confirm", TICKETED, paid="returned", wrong="issued_not_paid"),
    Fate("confirm", TICKETED, paid="twice half"),
    Fate("confirm", TICKETED, paid="twice, one returned"),
    Fate("confirm", TICKETED, paid="twice", wrong="total_differs"),
    Fate("confirm", TICKETED, later="cancel", paid="refunded"),
    Fate("confirm", TICKETED, later="cancel", paid="refunded short", wrong="refunded_short"),
    Fate("confirm", TICKETED, later="cancel one", paid="refunded", back=True),
    Fate(
        "confirm",
        TICKETED,
        later="cancel one",
        paid="refunded short",
        wrong="refunded_short",
        back=True,
    ),
    Fate("raise, confirm", TICKETED | {"changed"}),
    Fate("raise, confirm", TICKETED | {"changed"}, paid="old total", wrong="total_differs"),
    Fate("fail", frozenset({"rejected"}), paid="no"),
    Fate("fail", frozenset({"rejected"}), wrong="paid_not_issued"),
    Fate("fail", frozenset({"partially_ticketed"}), wrong="partly", back=True),
    Fate("cancel", frozenset({"voided"}), paid="no"),
    Fate("cancel", frozenset({"voided"}), wrong="paid_not_issued"),
    Fate("cancel", frozenset({"voided"}), paid="returned"),
    Fate("wait", LAPSED, paid="no"),
    Fate("wait", LAPSED, wrong="paid_not_issued"),
    Fate("wait", LAPSED, paid="returned"),
    Fate("leave", frozenset(), paid="no", kind="Presale"),
    Fate("leave", frozenset(), wrong="paid_not_issued", kind="Presale"),
]


def _refundable(found, kind):
    ways = {one.direction: one for one in reversed(found)}
    selections = []
    for one in sorted(ways.values(), key=lambda way: way.depart_at):
        tariffs = [each for each in one.tariffs if each.type == kind and not each.roundtrip_locked]
        dearest = max(tariffs, key=lambda tariff: tariff.amount)
        selections.append(one.select(tariff=dearest, place=one.places[0]))
    return selections


@dataclass
class Sale:
    booking_id: str
    fate: Fate
    old_total: Decimal
    total: Decimal
    refund: Decimal = Decimal(0)


class History:
    """Makes bookings, and what becomes of them, with faults and lost replies."""

    def __init__(self, ferry, journal, sandbox, seed):
        self.ferry, self.journal, self.sandbox = ferry, journal, sandbox
        self.sales = []
        self.unknown = str(UUID(int=seed))
        self.random = random.Random(seed)  # noqa: S311 -- no secret

    def create(self, number):
        fates = [FATES[index % len(FATES)] for index in range(number)]
        self.random.shuffle(fates)
        searched = {
            (kind, back): _refundable(self.ferry.availability.search(**search(back=back)), kind)
            for kind, back in {(fate.kind, fate.back) for fate in fates}
        }
        for index, fate in enumerate(fates):
            name = "".join("abcdefghij"[int(digit)] for digit in str(index))
            traveller = TRAVELLER | {"first_name": f"Ada {name}"}
            selections = searched[fate.kind, fate.back]
            if self.random.random() < 0.1:
                self.sandbox.faults.add("lose_reply", "bookings.create")
            try:
                trip = {"availabilities": selections, "passengers": [traveller]}
                booking_id = self.ferry.bookings.create(**trip).booking_id
            except OutcomeUnknownError as error:
                booking_id = self.sandbox.counters.effects_of("bookings.create")[-1].subject
                self.journal.settle(error.entry_id, happened=True, booking_id=booking_id)
            total = self.ferry.bookings.get(booking_id).total_price
            self.sales.append(Sale(booking_id, fate, total, total))

    def act(self):
        for sale in self.random.sample(self.sales, len(self.sales)):
            self._act(sale, sale.fate.first)
            yield sale

    def act_later(self):
        for sale in self.sales:
            self._act(sale, sale.fate.later)

    def _act(self, sale, what):
        bookings, tickets, some_id = self.ferry.bookings, self.ferry.tickets, sale.booking_id
        if what == "raise, confirm":  # the interface has no call by which a company raises a price
            (ticket,) = self.sandbox.service._sales["default"]._bookings[some_id].tickets
            ticket.reprice(Decimal("1.2"), Decimal(1))
            sale.total = self._read(sale).total_price
        match what:
            case "confirm" | "raise, confirm":
                self._lose_some("bookings.confirm")
                bookings.confirm(some_id)
            case "fail":
                self.sandbox.faults.add("ticket_fails", "bookings.confirm")
                with nullcontext() if sale.fate.back else pytest.raises(BookingConfirmError):
                    bookings.confirm(some_id)
            case "cancel":
                self._lose_some("bookings.cancel")
                sale.refund = bookings.cancel_fee(some_id).refund_amount
                bookings.cancel(some_id)
            case "cancel one":
                ticket = self._read(sale).tickets[0]
                sale.refund = tickets.cancel_fee(ticket.id).refund_amount
                self._lose_some("tickets.cancel")
                tickets.cancel(ticket.id)

    def _lose_some(self, operation):
        if self.random.random() < 0.2:
            self.sandbox.faults.add("lose_reply", operation)
        if self.random.random() < 0.3:
            kind = self.random.choice(READ_FAULTS)
            more = {"retry_after": 1} if kind == "rate_limited" else {}
            self.sandbox.faults.add(kind, "bookings.get", **more)

    def _read(self, sale):
        while True:
            pending = self.sandbox.faults.pending
            try:
                return self.ferry.bookings.get(sale.booking_id)
            except FerryError:
                if not pending:
                    raise

    def payments(self):
        found = [{"booking_id": self.unknown, "amount": "9.90", "currency": EUR}]
        for sale in self.sales:
            total, refund = sale.total, sale.refund
            paid = {
                "no": [],
                "total": [{"amount": total}],
                "old total": [{"amount": sale.old_total}],
                "less": [{"amount": total - 3}],
                "dinars": [{"amount": 300, "currency": "TND"}],
                "returned": [{"amount": total, "refunded": total}],
                "twice half": [{"amount": 1}, {"amount": total - 1}],
                "twice, one returned": [{"amount": total}, {"amount": total, "refunded": total}],
                "twice": [{"amount": total}] * 2,
                "refunded": [{"amount": total, "refunded": refund}],
                "refunded short": [{"amount": total, "refunded": refund - 2}],
            }[sale.fate.paid]
            found += [{"booking_id": sale.booking_id, "currency": EUR} | one for one in paid]
        return self.random.sample(found, len(found))

    def discrepancies(self):
        zero, unknown = Decimal(0), ("not_known", self.unknown, Decimal("9.90"), None, EUR)
        found = {unknown}
        for sale in self.sales:
            fate, total = sale.fate, sale.total
            expected, seen, currency = total, zero, EUR
            if not fate.wrong:
                continue
            if fate.wrong == "partly":
                seen = None
            elif fate.wrong == "refunded_short":
                expected, seen = sale.refund, sale.refund - 2
            elif fate.paid == "dinars":
                expected, seen, currency = Decimal(300), None, "TND"
            elif fate.wrong == "total_differs":
                collected = {"old total": sale.old_total, "twice": total * 2, "less": total - 3}
                expected = collected[fate.paid]
                seen = total
            kind = "paid_not_issued" if fate.wrong == "partly" else fate.wrong
            found.add((kind, sale.booking_id, expected, seen, currency))
        return found


def rows_of(report):
    """Return the rows of a report, none of which is there twice."""
    rows = [
        (kind, row.booking_id, row.expected, row.found, row.currency) for kind, row in report.rows()
    ]
    assert len(rows) == len({*rows})
    return {*rows}
