"""Payments, and the report of what does not agree with the service."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Final, Required

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ferry_sdk._runtime.values import is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import Currency, Identifier, Money
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.inputs import Input, parse_input
from ferry_sdk.types import JournalEntry

if TYPE_CHECKING:
    from ferry_sdk.notebook.frames import DataFrame, MoneyAs

_NonNegative = Annotated[Money, Field(ge=0)]


class Payment(Input):
    """A payment that you collected for a booking.

    Attributes:
        booking_id: The booking.
        amount: What the customer paid, in `currency`.
        currency: ISO 4217.
        reference: Your own reference.
        refunded: What was paid back of it; None: nothing.
    """

    booking_id: Identifier
    amount: _NonNegative
    currency: Currency
    reference: str | None = None
    refunded: _NonNegative | None = None


class PaymentDict(TypedDict, total=False):
    """A `Payment` as a dict."""

    booking_id: Required[str]
    amount: Required[Decimal | int | str]
    currency: Required[str]
    reference: str | None
    refunded: Decimal | int | str | None


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A booking whose payments do not agree with the service.

    Attributes:
        booking_id: The booking.
        expected: The amount that should be found; None if there was no payment.
        found: The amount that was found; None if the service does not say.
        currency: Of both amounts, ISO 4217; None without amounts.
        stage: The booking's stage; None if the service does not show the booking.
        references: The references of its payments in this currency.
    """

    booking_id: str
    expected: Decimal | None
    found: Decimal | None
    currency: str | None
    stage: Stage | None = None
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The bookings whose payments do not agree with the service.

    Attributes:
        paid_not_issued: You hold money for a booking without tickets, or for one with only some of
            its tickets. `expected`: the money that you hold. `found`: 0, or None if some tickets
            are issued.
        issued_not_paid: Tickets are issued and you hold no money. `expected`: the booking's total.
            `found`: the money that you hold.
        refunded_short: You refunded less than the cancellation of the tickets. `expected`: the
            refund of the service, at most what was paid. `found`: what you refunded.
        total_differs: You collected another amount than the booking's total, and what you gave
            back does not explain the difference. `expected`: what you collected. `found`: the
            total; None if it is in another currency.
        not_known: The service does not show the booking, or not what its cancellation refunded.
            `expected`: what you collected. `found`: None.
        unresolved: The writes in the journal whose outcome is unknown, oldest first: you may have
            to pay for what they made. An ``open`` one may be in progress.
        is_clean: Whether there is no discrepancy and no unresolved write.
    """

    paid_not_issued: tuple[Discrepancy, ...] = ()
    issued_not_paid: tuple[Discrepancy, ...] = ()
    refunded_short: tuple[Discrepancy, ...] = ()
    total_differs: tuple[Discrepancy, ...] = ()
    not_known: tuple[Discrepancy, ...] = ()
    unresolved: tuple[JournalEntry, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether there is no discrepancy and no unresolved write."""
        return not self.rows() and not self.unresolved

    def rows(self) -> tuple[tuple[str, Discrepancy], ...]:
        """Return all discrepancies, each with the name of its list; empty if all agrees.

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
                for kind, discrepancy in reconcile(ferry, journal, []).rows():
                    print(kind, discrepancy.found)
                    # > issued_not_paid 0
            ```
        """
        rows: list[tuple[str, Discrepancy]] = []
        for kind in KINDS:
            discrepancies: tuple[Discrepancy, ...] = getattr(self, kind)
            rows += [(kind, discrepancy) for discrepancy in discrepancies]
        return tuple(rows)

    def to_frame(self, *, money: MoneyAs = "decimal") -> DataFrame:
        """Return a pandas frame with a row for each discrepancy.

        Args:
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: The option has another value.
            ModuleNotFoundError: pandas is not installed.

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
                frame = reconcile(ferry, journal, []).to_frame()
                print(list(frame["kind"]))
                # > ['issued_not_paid']
            ```
        """
        from ferry_sdk.notebook.frames import (  # noqa: PLC0415 -- loads pandas
            check_options,
            frame_of_columns,
        )

        check_options("record", money)
        kinds = [kind for kind, _ in self.rows()]
        discrepancies = [discrepancy for _, discrepancy in self.rows()]
        return frame_of_columns(
            {
                "kind": ("string", kinds),
                "booking_id": ("string", [each.booking_id for each in discrepancies]),
                "expected": ("money", [each.expected for each in discrepancies]),
                "found": ("money", [each.found for each in discrepancies]),
                "currency": ("string", [each.currency for each in discrepancies]),
                "stage": ("string", [each.stage for each in discrepancies]),
                "references": ("object", [each.references for each in discrepancies]),
            },
            money,
        )


KINDS: Final = tuple(name for name in Reconciliation.__slots__ if name != "unresolved")
"""The lists of discrepancies of a report."""


def parse_payments(payments: Iterable[Payment | PaymentDict]) -> Generator[Payment, None, None]:
    """Validate payments.

    Raises:
        InvalidInputError: A payment is invalid; `field` names it.
    """
    if isinstance(payments, str | Mapping | BaseModel) or not is_iterable(payments):
        raise InvalidInputError("expected a list of payments", field="payments")
    for index, value in enumerate(payments):
        yield parse_input(Payment, value, "payments", index=index)
