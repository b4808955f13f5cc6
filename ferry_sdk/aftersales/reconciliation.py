"""Compare payments with what the service says of the bookings."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ferry_sdk._engine.batch import CONCURRENCY, Batch, Plan, all_answers
from ferry_sdk._engine.effects import Flow, RunBlocking, Sleep
from ferry_sdk._engine.retry import failure_kind
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
    APIError,
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
_ZERO: Final = Decimal(0)

_ISSUED: Final = frozenset({Stage.TICKETED, Stage.PARTIALLY_TICKETED, Stage.PARTIALLY_VOIDED})
_WITHOUT_SALE: Final = frozenset({Stage.VOIDED, Stage.LAPSED, Stage.REJECTED})


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
        from ferry_sdk.sandbox import Sandbox

        from crossing import crossing

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
        return exact_difference(self.amount, self.refunded)

    def add(self, payment: Payment) -> None:
        self.amount = exact_sum((self.amount, payment.amount))
        self.refunded = exact_sum((self.refunded, payment.refunded or _ZERO))
        if payment.reference is not None:
            self.references += (payment.reference,)


class Reconciler:
    """The decisions of a reconciliation.

    Args:
        journal: Names bookings.
        payments: The payments.
    """

    def __init__(self, journal: Journal, payments: Iterable[Payment | PaymentDict]) -> None:
        self._journal = journal
        self._paid: dict[str, dict[str, _Paid]] = {}
        for payment in parse_payments(payments):
            by_currency = self._paid.setdefault(payment.booking_id, {})
            by_currency.setdefault(payment.currency, _Paid()).add(payment)
        self._found: dict[str, list[Discrepancy]] = {kind: [] for kind in KINDS}
        self._unresolved: list[JournalEntry] = []

    def steps(self, settings: Settings) -> Flow[Reconciliation]:
        """Read the bookings, and return the report."""
        del settings
        all_ids = yield from RunBlocking(self._list_bookings, may_be_interrupted=True)
        ids, errors = all_ids, dict[str, FerryError]()
        for attempt in range(_ATTEMPTS):
            errors = yield from self._read(ids)
            ids = [booking_id for booking_id, error in errors.items() if _may_succeed(error)]
            self._add_not_known(
                {booking_id: error for booking_id, error in errors.items() if booking_id not in ids}
            )
            if not ids:
                break
            if attempt < _ATTEMPTS - 1:
                waits = [each.retry_after for each in errors.values() if isinstance(each, APIError)]
                pause = max([2.0**attempt, *(seconds for seconds in waits if seconds is not None)])
                yield from Sleep(min(pause, _LONGEST_PAUSE))
        if ids and len(ids) == len(all_ids):
            raise errors[ids[0]]
        self._add_not_known({booking_id: errors[booking_id] for booking_id in ids})
        order = {booking_id: index for index, booking_id in enumerate(all_ids)}
        discrepancies = {
            kind: tuple(sorted(some, key=lambda discrepancy: order[discrepancy.booking_id]))
            for kind, some in self._found.items()
        }
        return Reconciliation(**discrepancies, unresolved=tuple(self._unresolved))

    def _list_bookings(self) -> list[str]:
        """Return the ids of the payments, then those of the journal; note its unresolved writes."""
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
        """Add what does not agree; return the error if a fee could not be read."""
        sums = self._paid.get(booking_id, {})
        foreign = {name: paid for name, paid in sums.items() if name != booking.currency}
        paid = sums.get(booking.currency, _Paid())
        cancelled = [
            ticket.id for ticket in booking.tickets if ticket.status == TicketStatus.CANCELED
        ]
        batch = Batch[str, CancellationFee]()
        for ticket_id in cancelled if paid.held > 0 else ():
            batch.add(ticket_id, TicketsGroup.cancel_fee(None, ticket_id))
        answers = yield from all_answers(batch)
        if error := next((answer.error for answer in answers if answer.error is not None), None):
            return error
        fees = [answer.value for answer in answers if answer.value is not None]
        stage, total = booking.stage, booking.total_price
        self._found["total_differs"] += [
            Discrepancy(booking_id, other.amount, None, currency, stage, other.references)
            for currency, other in foreign.items()
        ]

        def add(kind: str, *, expected: Decimal, found: Decimal | None) -> None:
            amounts = expected, found, booking.currency
            self._found[kind].append(Discrepancy(booking_id, *amounts, stage, paid.references))

        refund = min(exact_sum(fee.refund_amount for fee in fees), paid.amount)
        was_charged = any(fee.refund_amount or fee.penalty_amount for fee in fees)
        if paid.refunded < refund:
            add("refunded_short", expected=refund, found=paid.refunded)
        is_issued = any(ticket.status == TicketStatus.ISSUED for ticket in booking.tickets)
        if stage in _ISSUED or (is_issued and stage != Stage.IN_PROGRESS):
            if paid.held <= 0 and total > 0 and not foreign:
                add("issued_not_paid", expected=total, found=paid.held)
            elif stage == Stage.PARTIALLY_TICKETED and paid.held > 0:
                add("paid_not_issued", expected=paid.held, found=None)
        elif paid.held > 0 and stage != Stage.IN_PROGRESS and not was_charged:
            add("paid_not_issued", expected=paid.held, found=_ZERO)
        is_sale = stage not in _WITHOUT_SALE or was_charged
        # A surplus may have been given back, in addition to the refund of the cancellation.
        surplus = exact_difference(paid.amount, total)
        is_even = surplus == 0 or 0 < surplus == exact_difference(paid.refunded, refund)
        if paid.held > 0 and not is_even and is_sale and not foreign:
            add("total_differs", expected=paid.amount, found=total)
        return None

    def _add_not_known(self, errors: Mapping[str, FerryError]) -> None:
        for booking_id, error in errors.items():
            problem = type(error).__name__
            if isinstance(error, UnexpectedResponseError) and error.field is not None:
                problem += f", field {error.field}"
            logger.warning("booking %s is not known: %s", booking_id, problem)
            self._found["not_known"] += [
                Discrepancy(booking_id, paid.amount, None, currency, None, paid.references)
                for currency, paid in self._paid.get(booking_id, {}).items()
            ] or [Discrepancy(booking_id, None, None, None)]


def _may_succeed(error: FerryError) -> bool:
    """Return whether a further attempt may succeed. A field that cannot be read stays so."""
    return failure_kind(error) is not None and not is_unreadable(error)
