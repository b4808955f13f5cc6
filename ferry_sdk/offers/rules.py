"""The rules of a wish, as users write them. `verdicts` says when each fires."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from typing import Final, Literal

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.resources.arguments import currency_of, money, text

RuleEvent = Literal["below", "dropped", "opened"]
WHOLE: Final = 100
"""Percent."""


@dataclass(frozen=True, slots=True)
class Below:
    """Fires when the cheapest trip costs at most an amount; arms again when an answer shows more.

    Attributes:
        amount: The amount: a `Decimal`, an int or a text, but no float.
        currency: ISO 4217. Trips in another currency are ignored.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
    """

    amount: Decimal | int | str
    currency: str

    def __post_init__(self) -> None:
        """Validate the arguments."""
        amount = money(self.amount, "amount")
        object.__setattr__(self, "amount", amount)
        object.__setattr__(self, "currency", _currency(self.currency, amount))


@dataclass(frozen=True, slots=True)
class Drop:
    """Fires when the cheapest trip is so much below the highest price since it fired last.

    The price at which it fires is the first of those that the next ones are compared with.

    Attributes:
        percent: The drop in percent of the highest price, above 0 and at most 100; or None. Its
            currency is that of the first price of a search.
        amount: The drop as an amount, above 0; or None.
        currency: The currency of the amount, ISO 4217; None with a percentage.

    Raises:
        InvalidInputError: An argument is invalid, or not exactly one of `percent` and `amount` is
            given; `field` names it.
    """

    _: KW_ONLY
    percent: Decimal | int | str | None = None
    amount: Decimal | int | str | None = None
    currency: str | None = None

    def __post_init__(self) -> None:
        """Validate the arguments."""
        if (self.percent is None) == (self.amount is None):
            raise InvalidInputError("expected either percent or amount", field="percent")
        if self.percent is not None:
            percent = money(self.percent, "percent")
            if not 0 < percent <= WHOLE:
                raise InvalidInputError("expected more than 0 and at most 100", field="percent")
            if self.currency is not None:
                raise InvalidInputError("a percentage has no currency", field="currency")
            object.__setattr__(self, "percent", percent)
            return

        amount = money(self.amount, "amount")
        if amount <= 0:
            raise InvalidInputError("expected more than 0", field="amount")
        object.__setattr__(self, "amount", amount)
        object.__setattr__(self, "currency", _currency(self.currency, amount))


@dataclass(frozen=True, slots=True)
class Opens:
    """Fires when a trip is offered after an answer that had none; arms when an answer has none.

    Attributes:
        place: The type or the code of a place, such as Cabin, that the trip must have; None: any.

    Raises:
        InvalidInputError: The place is no text.
    """

    place: str | None = None

    def __post_init__(self) -> None:
        """Validate the argument."""
        if self.place is not None:
            text(self.place, "place")


Rule = Below | Drop | Opens


def _currency(currency: object, amount: Decimal) -> str:
    """Return a currency that must be given."""
    code = currency_of(currency, amount)
    if code is None:
        raise InvalidInputError("expected a currency, such as EUR", field="currency")
    return code
