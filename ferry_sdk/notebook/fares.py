"""A chart of fares by day."""

# matplotlib leaves its keyword arguments without types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from math import inf

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.display.cheapest import cheapest_ticket
from ferry_sdk.models.display.html import money
from ferry_sdk.notebook.charts import Axes, Figure, days_as_places, named_by_day, started

_Fare = tuple[date, Tariff]


def fares_by_day(sailings: Iterable[Availability]) -> Figure:
    """The cheapest ticket of every sailing by the day it leaves, and the cheapest of each day.

    Days are those of the departure port. Each route has a line of its own; the cheapest ticket
    of all is named. Sailings without a ticket that can be had for one way are left out.

    Args:
        sailings: Sailings of any number of searches, in one currency.

    Returns:
        The figure, 9 by 4.8 inches. pyplot knows nothing of it, so nothing has to be closed.

    Raises:
        InvalidInputError: The fares are in several currencies.
        ModuleNotFoundError: matplotlib is not installed.
    """
    routes: dict[str, list[_Fare]] = {}
    for sailing in sailings:
        if ticket := cheapest_ticket(sailing):
            route = f"{sailing.depart_name} → {sailing.arrive_name}"
            routes.setdefault(route, []).append((sailing.depart_at.date(), ticket))
    currencies = sorted({ticket.currency for fares in routes.values() for _, ticket in fares})
    if len(currencies) > 1:
        raise InvalidInputError(f"fares in {', '.join(currencies)}", field="sailings")
    if not routes:
        figure, axes = started("Fares by day")
        axes.set_axis_off()
        axes.text(0.5, 0.5, "No sailings with a ticket", ha="center", transform=axes.transAxes)
        return figure

    figure, axes = started(next(iter(routes)) if len(routes) == 1 else "Fares by day")
    for number, (route, fares) in enumerate(routes.items()):
        label = "cheapest of the day" + (f", {route}" if len(routes) > 1 else "")
        _draw(axes, label, fares, f"C{number % 10}")
    _name(axes, min((fare for fares in routes.values() for fare in fares), key=_price))
    named_by_day(axes)
    axes.set_xlabel("Day of departure")
    axes.set_ylabel(f"Ticket ({currencies[0]})")
    axes.margins(y=0.18)
    for text in axes.legend(frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)
    return figure


def _price(fare: _Fare) -> float:
    return float(fare[1].amount)


def _draw(axes: Axes, label: str, fares: list[_Fare], colour: str) -> None:
    lowest: dict[date, float] = {}
    for fare in sorted(fares, key=lambda fare: fare[0]):
        lowest[fare[0]] = min(_price(fare), lowest.get(fare[0], inf))
    every = [*map(_price, fares)]
    axes.plot(
        days_as_places(day for day, _ in fares), every, "o", color=colour, alpha=0.3, markersize=4
    )
    cheapest = [*lowest.values()]
    axes.plot(days_as_places(lowest), cheapest, "o-", color=colour, markersize=5, label=label)


def _name(axes: Axes, fare: _Fare) -> None:
    day, ticket = fare
    axes.annotate(
        f"{money(ticket.amount, ticket.currency)} on {day}",
        (day, _price(fare)),
        xytext=(0, -14),
        textcoords="offset points",
        ha="center",
        va="top",
        fontweight="bold",
    )
