"""Searches as a program makes them by hand, with which a calendar and a scan are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from decimal import Decimal

    from ferry_sdk import Availability, Route, SearchPassengerDict

PASSENGERS: Final[list[SearchPassengerDict]] = [{"type": "Adult", "gender": "Female", "age": 34}]


def arguments_of_searches(route: Route, days: Iterable[date]) -> list[dict[str, Any]]:
    """Return the arguments of a search for each day and each company of a route."""
    searches: list[dict[str, Any]] = []
    for day in days:
        for company in route.companies:
            arguments = {
                "company": company,
                "depart_code": route.depart_code,
                "arrive_code": route.arrive_code,
                "out_journey_id": route.journey_id,
                "out_at": day,
                "out_time": "00:00",
                "passengers": PASSENGERS,
            }
            searches.append(arguments)
    return searches


def lowest_price(sailings: Iterable[Availability]) -> Decimal:
    """Return the price of the cheapest tariff."""
    prices: list[Decimal] = []
    for sailing in sailings:
        prices += [tariff.amount for tariff in sailing.tariffs]
    return min(prices)
