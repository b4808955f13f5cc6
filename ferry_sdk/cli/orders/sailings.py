"""Print sailings as a numbered table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ferry_sdk.cli.orders.order import tariffs_of
from ferry_sdk.cli.terminal.formats import duration, money, time_of
from ferry_sdk.cli.terminal.output import print_table
from ferry_sdk.models.availability import Availability, Tariff


def by_direction(sailings: Sequence[Availability]) -> list[list[Availability]]:
    """Group the sailings: outward first, then return if there are any."""
    ways = dict.fromkeys(one.direction for one in sailings)
    return [[one for one in sailings if one.direction == way] for way in ways]


def print_sailings(
    sailings: Sequence[Availability], *, is_round: bool, on: Console | None = None
) -> None:
    """Print the sailings of one direction, with the lowest price of each tariff type."""
    on_day = sailings[0].depart_at
    companies = {one.company.name for one in sailings}
    prices = [
        {str(tariff.type): tariff for tariff in reversed(tariffs_of(one, is_round=is_round))}
        for one in sailings
    ]
    types = list(dict.fromkeys(type_ for lowest in prices for type_ in reversed(lowest)))
    currencies = {tariff.currency for lowest in prices for tariff in lowest.values()}
    rows = [
        (
            number,
            time_of(one.depart_at, on_day),
            time_of(one.arrive_at, on_day),
            duration(one.travel_time),
            one.ship_name + (f"\n{one.company.name}" if len(companies) > 1 else ""),
            *(_price(lowest.get(type_), is_short=len(currencies) == 1) for type_ in types),
            "\n".join(dict.fromkeys(str(place.type) for place in one.places)),
        )
        for number, (one, lowest) in enumerate(zip(sailings, prices, strict=True), 1)
    ]
    heads = ["#", "leaves", "arrives", "takes", "ship", *types, "places"]
    print_table(
        heads, rows, right=("#", "takes", *types), title=_title(sailings, currencies), on=on
    )


def _title(sailings: Sequence[Availability], currencies: set[str]) -> str:
    first = sailings[0]
    parts = [f"{first.depart_name} → {first.arrive_name}, {first.depart_at:%A %d %B %Y}"]
    for known in ({one.company.name for one in sailings}, currencies):
        parts += known if len(known) == 1 else ()
    return ", ".join(parts)


def _price(tariff: Tariff | None, *, is_short: bool) -> str:
    if tariff is None:
        return ""
    return f"{tariff.amount:,.2f}" if is_short else money(tariff.amount, tariff.currency)
