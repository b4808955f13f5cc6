"""`ferry offers add`: store a wish."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final

from ferry_sdk import offers
from ferry_sdk.cli.commands.offers.output import KEY_HELP, wish_details, wish_members
from ferry_sdk.cli.terminal.options import (
    AsJson,
    JournalUrl,
    open_journal,
    option,
    parse_time,
)
from ferry_sdk.cli.terminal.output import print_result
from ferry_sdk.cli.trips.options import ARRIVE, DEPART, PartyOptions, day_option
from ferry_sdk.cli.trips.searches import parse_reservation_type
from ferry_sdk.resources.arguments import ReservationTypeName

_AMOUNT: Final = re.compile(r"([0-9.]+) ?([A-Za-z]{3})", re.ASCII)
_PERCENT: Final = re.compile(r"([0-9.]+) ?%", re.ASCII)


def _parse_below(value: str) -> offers.Below:
    """Parse an amount with its currency, such as "90 EUR"; raise ValueError otherwise."""
    amount = _AMOUNT.fullmatch(value)
    if amount is None:
        raise ValueError("expected an amount and its currency, such as '90 EUR'")
    return offers.Below(amount[1], amount[2])


def _parse_drop(value: str) -> offers.Drop:
    """Parse a percentage, or an amount with its currency; raise ValueError otherwise."""
    percent = _PERCENT.fullmatch(value)
    if percent is not None:
        return offers.Drop(percent=percent[1])
    amount = _AMOUNT.fullmatch(value)
    if amount is None:
        raise ValueError("expected a percentage or an amount, such as 10% or '5 EUR'")
    return offers.Drop(amount=amount[1], currency=amount[2])


def _parse_opens(value: str) -> offers.Opens:
    """Parse the type or the code of a place; "any" is any place."""
    place = None if value == "any" else value
    return offers.Opens(place)


@dataclass(frozen=True)
class WishOptions:
    """The options of a wish, besides those of the travellers.

    Attributes:
        below: The cheapest trip costs at most so much, such as "90 EUR"; repeatable.
        drop: The price drops by so much, such as 10% or "5 EUR"; repeatable.
        opens: A place of this type or code is offered again, or any; repeatable.
        after: Earliest time of departure.
        before: Latest time of departure.
        reservation_type: Fares to look for: ticket, presale, option or all.
    """

    below: Annotated[list[offers.Below] | None, option("AMOUNT", parse=_parse_below)] = None
    drop: Annotated[list[offers.Drop] | None, option("DROP", parse=_parse_drop)] = None
    opens: Annotated[list[offers.Opens] | None, option("PLACE", parse=_parse_opens)] = None
    after: Annotated[str | None, option("HH:MM", parse=parse_time)] = None
    before: Annotated[str | None, option("HH:MM", parse=parse_time)] = None
    reservation_type: Annotated[
        ReservationTypeName | None, option("TYPE", parse=parse_reservation_type)
    ] = "TICKET"

    @property
    def rules(self) -> list[offers.Below | offers.Drop | offers.Opens]:
        """The rules."""
        return [*(self.below or ()), *(self.drop or ()), *(self.opens or ())]


def add_wish(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    start: Annotated[date, day_option("--from", "First day: 2027-07-01, or +30.")],
    end: Annotated[date, day_option("--to", "Last day.")],
    key: Annotated[str, option("KEY", help=KEY_HELP)],
    journal: JournalUrl,
    party: PartyOptions,
    options: WishOptions,
    as_json: AsJson = False,
) -> None:
    """Store a wish, or replace the one with its key; ferry offers watch looks for it.

    Example: ferry offers add Genoa Tunis --from +30 --to +37 --adult 34F --below "90 EUR" --key a1
    """
    wish = offers.Wish(
        origin,
        destination,
        days=(start, end),
        passengers=party.party,
        vehicle=party.vehicle,
        companies=party.companies,
        depart_between=(options.after, options.before),
        reservation_type=options.reservation_type,
        rules=options.rules,
    )
    with open_journal(journal, may_be_new=True) as record:
        offers.add(record, wish, key=key)
    print_result({"wish": wish_members(key, wish)}, wish_details(key, wish), as_json=as_json)
