"""Compare payments with what the service says of the bookings.

`Reconciler` takes these steps:

1. It lists the bookings: those of the payments, and those that the journal names.
2. It reads each booking, and the fees of its cancelled tickets, which say what was refunded.
3. `_Comparison` finds the discrepancies of a booking, for example of one of 100 EUR: no payment
   though its tickets are issued, a payment of 90 EUR, or a refund that is less than the service's.
4. Bookings that could not be read are read again, in at most four attempts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ferry_sdk._engine.batch import CONCURRENCY, Batch, Plan, all_answers
from ferry_sdk._engine.effects import Flow, RunBlocking, Sleep
from ferry_sdk._engine.retry import failure_kind, longest_retry_after
from ferry_sdk._engine.settings import Settings
from ferry_sdk.aftersales.events import is_unreadable
from ferry_sdk.aftersales.payments import (
    KINDS,
    Discrepancy,
    Payment,
    PaymentDict,
    Reconciliation,
    parse_payments,
)
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.client.functions import plan_function
from ferry_sdk.errors import (
    AuthenticationError,
    ConfigurationError,
    FerryError,
    UnexpectedResponseError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.models.sums import exact_difference, exact_sum
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.tickets import TicketsGroup

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal
    from ferry_sdk.types import JournalEntry

logger: logging.Logger = logging.getLogger("ferry_sdk")

_ATTEMPTS: Final = 4
_PAGE: Final = 1000
"""The entries of the journal that are read at once."""
_LONGEST_PAUSE: Final = 60.0
"""Seconds between two attempts, also if the service asks for more."""
_ZERO: Final = Decimal(0)

_ISSUED: Final = frozenset({Stage.TICKETED, Stage.PARTIALLY_TICKETED, Stage.PARTIALLY_VOIDED})
"""The stages in which a booking has tickets."""
_WITHOUT_SALE: Final = frozenset({Stage.VOIDED, Stage.LAPSED, Stage.REJECTED})
"""The stages in which nothing was sold, unless a cancellation cost something."""


@plan_function
def reconcile(
    ferry: Ferry | AsyncFerry, journal: Journal, payments: Iterable[Payment | PaymentDict]
) -> Plan[Reconciliation]:
    """Compare payments with what the service says of the bookings on record. Nothing is changed.

    The bookings are those of the payments, and those that writes in the journal named, unless
    the write was refused or not sent. Several payments of one booking are added. Bookings whose
    tickets are being issued count as neither issued nor not issued.

    What a cancellation refunded is read as the fee of the cancelled tickets, because the journal
    stores no amounts. Interface: GET /api/booking/{id}, POST /api/booking/cancel-fee.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        journal: The journal of the client that made the bookings.
        payments: The payments. Include those of all bookings in the journal: a booking without a
            payment counts as not paid.

    Returns:
        The discrepancies, and the unresolved writes of the journal. A booking that cannot be read
        in several attempts, or of which a field cannot be read, is `not_known`; a warning in the
        log says why.

    Raises:
        InvalidInputError: A payment is invalid; `field` names it.
        JournalError: The journal cannot be read.
        FerryError: No booking could be read.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.aftersales import reconcile
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
        ):
            booking = ferry.bookings.create(**crossing(ferry))
            ferry.bookings.confirm(booking.booking_id)
            report = reconcile(ferry, journal, [])
            print(report.is_clean, len(report.issued_not_paid))
            # > False 1
        ```
    """
    return Plan(Reconciler(journal, payments).steps)


@dataclass(slots=True)
class _Paid:
    """The sums of the payments of a booking in one currency, and their references."""

    amount: Decimal = _ZERO
    refunded: Decimal = _ZERO
    references: tuple[str, ...] = ()

    @property
    def held(self) -> Decimal:
        """What was paid and not refunded."""
        return exact_difference(self.amount, self.refunded)

    def add(self, payment: Payment) -> None:
        """Add a payment."""
        self.amount = exact_sum((self.amount, payment.amount))
        self.refunded = exact_sum((self.refunded, payment.refunded or _ZERO))
        if payment.reference is not None:
            self.references += (payment.reference,)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A booking, and what was paid for it.

    Attributes:
        booking_id: The id that the payments name.
        booking: The booking.
        paid: The payments in the booking's currency.
        foreign: The payments in other currencies, which cannot be compared with its total.
        fees: The fees of its cancelled tickets.
    """

    booking_id: str
    booking: Booking
    paid: _Paid
    foreign: Mapping[str, _Paid]
    fees: Sequence[CancellationFee]

    @property
    def refund(self) -> Decimal:
        """What the service refunded for cancelled tickets, at most what was paid."""
        return min(exact_sum(fee.refund_amount for fee in self.fees), self.paid.amount)

    @property
    def was_charged(self) -> bool:
        """Whether a cancellation refunded or cost something, so that there was a sale."""
        return any(fee.refund_amount or fee.penalty_amount for fee in self.fees)

    def discrepancies(self) -> Iterator[tuple[str, Discrepancy]]:
        """Yield what does not agree, each with the name of its list."""
        for currency, paid in self.foreign.items():
            yield (
                "total_differs",
                Discrepancy(
                    booking_id=self.booking_id,
                    expected=paid.amount,
                    found=None,
                    currency=currency,
                    stage=self.booking.stage,
                    references=paid.references,
                ),
            )

        if self.paid.refunded < self.refund:
            yield "refunded_short", self._discrepancy(self.refund, self.paid.refunded)
        yield from self._compare_tickets()
        yield from self._compare_total()

    def _compare_tickets(self) -> Iterator[tuple[str, Discrepancy]]:
        """Compare whether tickets are issued with whether money is held."""
        stage = self.booking.stage
        held = self.paid.held
        if stage == Stage.IN_PROGRESS:
            return

        is_any_issued = any(ticket.status == TicketStatus.ISSUED for ticket in self.booking.tickets)
        if stage in _ISSUED or is_any_issued:
            total = self.booking.total_price
            if held <= 0 and total > 0 and not self.foreign:
                yield "issued_not_paid", self._discrepancy(total, held)
            elif stage == Stage.PARTIALLY_TICKETED and held > 0:
                yield "paid_not_issued", self._discrepancy(held, None)
        elif held > 0 and not self.was_charged:
            yield "paid_not_issued", self._discrepancy(held, _ZERO)

    def _compare_total(self) -> Iterator[tuple[str, Discrepancy]]:
        """Compare what was paid with the booking's total."""
        is_sale = self.booking.stage not in _WITHOUT_SALE or self.was_charged
        if self.paid.held <= 0 or not is_sale or self.foreign:
            return

        total = self.booking.total_price
        surplus = exact_difference(self.paid.amount, total)
        # A surplus may have been given back, in addition to the refund of the cancellation.
        given_back = exact_difference(self.paid.refunded, self.refund)
        is_even = surplus == 0 or 0 < surplus == given_back
        if not is_even:
            yield "total_differs", self._discrepancy(self.paid.amount, total)

    def _discrepancy(self, expected: Decimal, found: Decimal | None) -> Discrepancy:
        """Return a discrepancy in the booking's currency."""
        return Discrepancy(
            booking_id=self.booking_id,
            expected=expected,
            found=found,
            currency=self.booking.currency,
            stage=self.booking.stage,
            references=self.paid.references,
        )


class Reconciler:
    """The decisions of a reconciliation.

    Args:
        journal: Names bookings.
        payments: The payments.
    """

    def __init__(self, journal: Journal, payments: Iterable[Payment | PaymentDict]) -> None:
        self._journal = journal
        self._discrepancies: dict[str, list[Discrepancy]] = {kind: [] for kind in KINDS}
        self._unresolved: list[JournalEntry] = []

        self._paid: dict[str, dict[str, _Paid]] = {}  # by booking and currency
        for payment in parse_payments(payments):
            by_currency = self._paid.setdefault(payment.booking_id, {})
            by_currency.setdefault(payment.currency, _Paid()).add(payment)

    def steps(self, settings: Settings) -> Flow[Reconciliation]:
        """Read the bookings, and return the report."""
        del settings
        all_ids = yield from RunBlocking(self._list_bookings, may_be_interrupted=True)

        ids = all_ids
        errors: dict[str, FerryError] = {}
        for attempt in range(_ATTEMPTS):
            errors = yield from self._read(ids)
            ids = [booking_id for booking_id, error in errors.items() if _may_succeed(error)]
            for booking_id, error in errors.items():
                if not _may_succeed(error):
                    self._add_not_known(booking_id, error)
            if not ids:
                break
            if attempt < _ATTEMPTS - 1:
                yield from Sleep(_pause_after(attempt, errors.values()))

        if ids and len(ids) == len(all_ids):
            raise errors[ids[0]]
        for booking_id in ids:
            self._add_not_known(booking_id, errors[booking_id])
        return self._report(all_ids)

    def _report(self, ids: Sequence[str]) -> Reconciliation:
        """Return the report, with the discrepancies of each list in the order of the bookings."""
        order = {booking_id: index for index, booking_id in enumerate(ids)}
        lists = {
            kind: tuple(sorted(found, key=lambda discrepancy: order[discrepancy.booking_id]))
            for kind, found in self._discrepancies.items()
        }
        return Reconciliation(**lists, unresolved=tuple(self._unresolved))

    def _list_bookings(self) -> list[str]:
        """Return the ids of the payments, then those of the journal. Keep its unresolved writes."""
        ids = dict.fromkeys(self._paid)
        last: JournalEntry | None = None
        while page := self._journal.entries(since=last, limit=_PAGE):
            for entry in page:
                if entry.booking_id is not None and entry.state not in {"rejected", "not_sent"}:
                    ids[entry.booking_id] = None
            self._unresolved += [entry for entry in page if entry.is_unresolved]
            last = page[-1]
        return [*ids]

    def _read(self, ids: list[str]) -> Flow[dict[str, FerryError]]:
        """Read and compare bookings; return the errors of those that could not be read."""
        errors: dict[str, FerryError] = {}
        for start in range(0, len(ids), CONCURRENCY):
            batch = Batch[str, Booking]()
            for booking_id in ids[start : start + CONCURRENCY]:
                batch.add(booking_id, BookingsGroup.get(None, booking_id))

            for answer in (yield from all_answers(batch)):
                error = answer.error
                if answer.value is not None:
                    error = yield from self._compare(answer.key, answer.value)
                if isinstance(error, AuthenticationError | ConfigurationError):
                    raise error
                if error is not None:
                    errors[answer.key] = error
        return errors

    def _compare(self, booking_id: str, booking: Booking) -> Flow[FerryError | None]:
        """Add what does not agree; return the error if a fee cannot be read or compared."""
        sums = self._paid.get(booking_id, {})
        paid = sums.get(booking.currency, _Paid())
        foreign = {
            currency: other for currency, other in sums.items() if currency != booking.currency
        }

        batch = Batch[str, CancellationFee]()
        if paid.held > 0:
            for ticket in booking.tickets:
                if ticket.status == TicketStatus.CANCELED:
                    batch.add(ticket.id, TicketsGroup.cancel_fee(None, ticket.id))
        fees: list[CancellationFee] = []
        for answer in (yield from all_answers(batch)):
            if answer.error is not None:
                return answer.error
            if answer.value is None:
                continue
            if answer.value.currency != booking.currency:
                # Its amounts can neither be added to those of other tickets nor compared.
                return UnexpectedResponseError(
                    f"the fee of a ticket is in {answer.value.currency}", field="currency"
                )
            fees.append(answer.value)

        comparison = _Comparison(booking_id, booking, paid=paid, foreign=foreign, fees=fees)
        for kind, discrepancy in comparison.discrepancies():
            self._discrepancies[kind].append(discrepancy)
        return None

    def _add_not_known(self, booking_id: str, error: FerryError) -> None:
        """Add a booking that could not be read."""
        problem = type(error).__name__
        if isinstance(error, UnexpectedResponseError) and error.field is not None:
            problem += f", field {error.field}"
        logger.warning("booking %s is not known: %s", booking_id, problem)

        sums = self._paid.get(booking_id, {})
        if not sums:
            unpaid = Discrepancy(booking_id, expected=None, found=None, currency=None)
            self._discrepancies["not_known"].append(unpaid)
        for currency, paid in sums.items():
            self._discrepancies["not_known"].append(
                Discrepancy(
                    booking_id=booking_id,
                    expected=paid.amount,
                    found=None,
                    currency=currency,
                    references=paid.references,
                )
            )


def _pause_after(attempt: int, errors: Iterable[FerryError]) -> float:
    """Return the seconds to wait after an attempt: as long as the service asks, within limits."""
    pause = max(2.0**attempt, longest_retry_after(errors))
    return min(pause, _LONGEST_PAUSE)


def _may_succeed(error: FerryError) -> bool:
    """Return whether a further attempt may succeed. A field that cannot be read stays so."""
    return failure_kind(error) is not None and not is_unreadable(error)
