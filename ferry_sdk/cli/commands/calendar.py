"""`ferry calendar`: the cheapest fare of every day."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import (
    amount_member,
    print_json,
    print_table,
    show_progress,
    warn,
)
from ferry_sdk.cli.trips.options import ARRIVE, DEPART, FareOptions, day_option
from ferry_sdk.cli.trips.searches import check_route, report_members, warn_of_missing
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
    wanted: dict[str, Any] = {
        **options.members,
        "vehicle": options.vehicle or None,
        "passengers": options.party,
    }
    with common.open_client() as ferry, show_progress("Searching"):
        check_route(ferry, origin, destination)
        prices = ferry.trips.calendar(origin, destination, start=start, end=end, **wanted)

    if common.as_json:
        print_json(_document(prices))
    else:
        _print_calendar(prices)
        warn_of_missing(prices.report)
    if not prices.report.asked:
        warn("these days are past")
    return Exit.DONE if prices.cheapest else Exit.REJECTED


def _document(prices: PriceCalendar) -> dict[str, object]:
    """Return the JSON document of a calendar."""
    cheapest = None if prices.cheapest is None else prices.cheapest.day.isoformat()
    return {
        "days": [_day_members(day) for day in prices.values()],
        "cheapest": cheapest,
        "report": report_members(prices.report),
    }


def _day_members(day: CalendarDay) -> dict[str, object]:
    members: dict[str, object] = to_jsonable_python(day)
    return members | {"price": amount_member(day.price, day.currency)}


def _print_calendar(prices: PriceCalendar) -> None:
    highest = max((day.price for day in prices.values() if day.price), default=None)
    rows = [
        _cells(day, highest=highest, is_cheapest=day is prices.cheapest) for day in prices.values()
    ]
    heads = ("day", "price from", "", "company", "leaves", "")
    print_table(heads, rows, right=("price from",), title=prices.route)


def _cells(day: CalendarDay, *, highest: Decimal | None, is_cheapest: bool) -> list[object]:
    """Return the row of a day. Its bar is as long as its price is, beside the highest of all."""
    name = f"{day.day:%a %d %b %Y}"
    unreadable = f"{day.unreadable} could not be read" if day.unreadable else ""
    if day.price is None or day.currency is None or day.depart_at is None:
        return [name, "no fare", "", "", "", unreadable]

    width = 0
    if highest:
        width = round(_BAR * (day.price / highest))
    remarks = ["cheapest"] if is_cheapest else []
    if unreadable:
        remarks.append(unreadable)
    return [
        name,
        money(day.price, day.currency),
        "█" * max(width, 1),
        day.company,
        f"{day.depart_at:%H:%M}",
        ", ".join(remarks),
    ]
