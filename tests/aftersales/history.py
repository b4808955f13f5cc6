"""A generated history of bookings, and what has to be found of it afterwards."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import pytest

from ferry_sdk import BookingConfirmError, FerryError, OutcomeUnknownError
from tests.support.summer import TRAVELLER, search

if TYPE_CHECKING:
    from ferry_sdk import Ferry
    from ferry_sdk.journal import Journal
    from ferry_sdk.sandbox import Sandbox

EUR = "EUR"
READ_FAULTS = [
    ("server_error", {}),
    ("cut_before", {}),
    ("lose_reply", {}),
    ("not_json", {}),
    ("rate_limited", {"retry_after": 1}),
]


class Fate(NamedTuple):
    """What becomes of a booking.

    Attributes:
        first: What is done with it while it is watched.
        events: What the watch has to report of that.
        later: What is done once it has come to rest.
        paid: What the caller collects, as a part of the total, and what else the payment is.
        wrong: The discrepancy: its kind, what was expected and what is found.
        kind: Of its tariff.
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
    Fate("confirm", TICKETED, later="cancel", paid="refunded"),
    Fate("confirm", TICKETED, later="cancel", paid="refunded short", wrong="refunded_short"),
    Fate("confirm", TICKETED, later="cancel one", paid="refunded", back=True),
    Fate("confirm", TICKETED, "cancel one", "refunded short", "refunded_short", back=True),
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
    """The dearest tariff of a kind, with the first place of one sailing each way."""
    ways = {one.direction: one for one in reversed(found)}
    return [
        one.select(
            tariff=max(
                (
                    tariff
                    for tariff in one.tariffs
                    if tariff.type == kind and not tariff.roundtrip_locked
                ),
                key=lambda tariff: tariff.amount,
            ),
            place=one.places[0],
        )
        for one in sorted(ways.values(), key=lambda way: way.depart_at)
    ]


@dataclass
class Sale:
    """A booking, its fate and its money."""

    booking_id: str
    fate: Fate
    old_total: Decimal
    total: Decimal
    refund: Decimal = Decimal(0)


@dataclass
class History:
    """Makes bookings, and what becomes of them, with faults and lost replies."""

    ferry: Ferry
    journal: Journal
    sandbox: Sandbox
    seed: int
    sales: list[Sale] = field(default_factory=list)

    def __post_init__(self):
        self.random = random.Random(self.seed)  # noqa: S311 -- no secret

    def create(self, number):
        """Make bookings, at least one of each fate; some replies are lost."""
        fates = [FATES[index % len(FATES)] for index in range(number)]
        self.random.shuffle(fates)
        searched = {
            (kind, back): _refundable(self.ferry.availability.search(**search(back=back)), kind)
            for kind, back in {(fate.kind, fate.back) for fate in fates}
        }
        for index, fate in enumerate(fates):
            name = "".join("abcdefghij"[int(digit)] for digit in str(index))
            traveller = TRAVELLER | {"first_name": f"Ada {name}"}
            booking_id = self._create(searched[fate.kind, fate.back], traveller)
            total = self.ferry.bookings.get(booking_id).total_price
            self.sales.append(Sale(booking_id, fate, total, total))

    def _create(self, selections, traveller):
        if self.random.random() < 0.1:
            self.sandbox.faults.add("lose_reply", "bookings.create")
        trip = {"availabilities": selections, "passengers": [traveller]}
        try:
            return self.ferry.bookings.create(**trip).booking_id
        except OutcomeUnknownError as error:
            made = self.sandbox.counters.effects_of("bookings.create")[-1].subject
            self.journal.settle(error.entry_id or "", happened=True, booking_id=made)
            return made

    def act(self):
        """Do with each booking what its fate says, in any order."""
        for sale in self.random.sample(self.sales, len(self.sales)):
            getattr(self, f"_{sale.fate.first.replace(', ', '_')}")(sale)
            yield sale

    def act_later(self):
        """Do what follows once the bookings have come to rest."""
        for sale in self.sales:
            if sale.fate.later:
                getattr(self, f"_{sale.fate.later.replace(' ', '_')}")(sale)

    def _lose_some(self, operation):
        if self.random.random() < 0.2:
            self.sandbox.faults.add("lose_reply", operation)
        if self.random.random() < 0.3:
            kind, more = self.random.choice(READ_FAULTS)
            self.sandbox.faults.add(kind, "bookings.get", **more)

    def _wait(self, sale):
        pass

    _leave = _wait

    def _confirm(self, sale):
        self._lose_some("bookings.confirm")
        self.ferry.bookings.confirm(sale.booking_id)

    def _raise_confirm(self, sale):
        self.raise_total(sale)
        self._confirm(sale)

    def raise_total(self, sale):
        """Let the company raise the price, which the interface has no call for."""
        (ticket,) = self.sandbox.service._sales._bookings[sale.booking_id].tickets
        ticket.reprice(Decimal("1.2"), Decimal(1))
        sale.total = self._read(sale).total_price

    def _read(self, sale):
        """Read a booking; the faults that were planted for the watch may meet this read."""
        while True:
            pending = self.sandbox.faults.pending
            try:
                return self.ferry.bookings.get(sale.booking_id)
            except FerryError:
                if not pending:
                    raise

    def _fail(self, sale):
        self.sandbox.faults.add("ticket_fails", "bookings.confirm")
        if sale.fate.back:
            self.ferry.bookings.confirm(sale.booking_id)
        else:
            with pytest.raises(BookingConfirmError):
                self.ferry.bookings.confirm(sale.booking_id)

    def _cancel(self, sale):
        self._lose_some("bookings.cancel")
        sale.refund = self.ferry.bookings.cancel_fee(sale.booking_id).refund_amount
        self.ferry.bookings.cancel(sale.booking_id)

    def _cancel_one(self, sale):
        ticket = self._read(sale).tickets[0]
        sale.refund = self.ferry.tickets.cancel_fee(ticket.id).refund_amount
        self._lose_some("tickets.cancel")
        self.ferry.tickets.cancel(ticket.id)

    def payments(self):
        """What the caller collected, in any order; one of a booking that nobody has."""
        unknown = str(UUID(int=self.seed))
        found = [{"booking_id": unknown, "amount": "9.90", "currency": EUR}]
        for sale in self.sales:
            one = {"booking_id": sale.booking_id, "currency": EUR}
            match sale.fate.paid:
                case "total":
                    found.append(one | {"amount": sale.total})
                case "old total":
                    found.append(one | {"amount": sale.old_total})
                case "less":
                    found.append(one | {"amount": sale.total - 3})
                case "dinars":
                    found.append(one | {"amount": 300, "currency": "TND"})
                case "returned":
                    found.append(one | {"amount": sale.total, "refunded": sale.total})
                case "twice half":
                    found += [one | {"amount": 1}, one | {"amount": sale.total - 1}]
                case "refunded":
                    found.append(one | {"amount": sale.total, "refunded": sale.refund})
                case "refunded short":
                    found.append(one | {"amount": sale.total, "refunded": sale.refund - 2})
        return self.random.sample(found, len(found))

    def discrepancies(self):
        """The rows that a report has to have."""
        zero = Decimal(0)
        found = {("not_known", str(UUID(int=self.seed)), Decimal("9.90"), None, EUR)}
        for sale in self.sales:
            expected: Any
            match sale.fate.wrong:
                case "":
                    continue
                case "issued_not_paid" | "paid_not_issued" as kind:
                    expected = (kind, sale.total, zero, EUR)
                case "partly":
                    expected = ("paid_not_issued", sale.total, None, EUR)
                case "refunded_short" as kind:
                    expected = (kind, sale.refund, sale.refund - 2, EUR)
                case kind if sale.fate.paid == "dinars":
                    expected = (kind, Decimal(300), None, "TND")
                case kind:
                    paid = sale.old_total if sale.fate.paid == "old total" else sale.total - 3
                    expected = (kind, paid, sale.total, EUR)
            found.add((expected[0], sale.booking_id, *expected[1:]))
        return found
