"""`ferry calendar`: the cheapest fare of every day."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.search import (
    ARRIVE,
    DEPART,
    FareOptions,
    day_option,
)
from ferry_sdk.cli.orders.trips import (
    check_route,
    report_members,
    warn_of_missing,
)
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import (
    amount_member,
    print_json,
    print_table,
    show_progress,
    warn,
)
from ferry_sdk.planning.calendar import CalendarDay, PriceCalendar

_BAR = 16
"""Characters of the longest bar of a calendar."""


def calendar(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    start: Annotated[date, day_option("--from", "First day: 2027-07-01, or +30.")],
    end: Annotated[date, day_option("--to", "Last day.")],
    options: FareOptions,
    common: Common,
) -> Exit:
    """Show the cheapest fare of every day, one way.

    Example: ferry calendar Genoa Tunis --from 2027-07-01 --to 2027-07-31 --adult 34F
    """
    vehicle, party = options.vehicle or None, options.party
    wanted: dict[str, Any] = {**options.members, "vehicle": vehicle, "passengers": party}
    with common.open_client() as ferry, show_progress("Searching"):
        check_route(ferry, origin, destination)
        prices = ferry.trips.calendar(origin, destination, start=start, end=end, **wanted)
    if common.as_json:
        days = [
            to_jsonable_python(day) | {"price": amount_member(day.price, day.currency)}
            for day in prices.values()
        ]
        cheapest = prices.cheapest and prices.cheapest.day.isoformat()
        print_json({"days": days, "cheapest": cheapest, "report": report_members(prices.report)})
    else:
        _print_calendar(prices)
        warn_of_missing(prices.report)
    if not prices.report.asked:
        warn("these days are past")
    return Exit.DONE if prices.cheapest else Exit.REJECTED


def _print_calendar(prices: PriceCalendar) -> None:
    highest = max((day.price for day in prices.values() if day.price), default=None)

    def row(day: CalendarDay) -> list[object]:
        name = f"{day.day:%a %d %b %Y}"
        unreadable = f"{day.unreadable} could not be read" if day.unreadable else None
        if day.price is None or day.currency is None or day.depart_at is None:
            return [name, "no fare", "", "", "", unreadable]
        width = round(_BAR * (day.price / highest)) if highest else 0
        price, bar = money(day.price, day.currency), "█" * max(width, 1)
        remarks = ["cheapest" if day is prices.cheapest else None, unreadable]
        remark = ", ".join(filter(None, remarks))
        return [name, price, bar, day.company, f"{day.depart_at:%H:%M}", remark]

    heads = ("day", "price from", "", "company", "leaves", "")
    rows = [row(day) for day in prices.values()]
    print_table(heads, rows, right=("price from",), title=prices.route)
