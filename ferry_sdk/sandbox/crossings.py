"""A crossing to book, for examples and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from ferry_sdk.models.enums import TariffType
from ferry_sdk.sandbox.network.network import journey_id

if TYPE_CHECKING:
    from ferry_sdk.client import AsyncFerry, Ferry
    from ferry_sdk.models import Availability, SearchPassengerDict, Tariff

# This company sails between these ports several times on every day of the year.
_COMPANY: Final = "BALEARIA"
_DEPART: Final = "ESTRF"
_ARRIVE: Final = "MATNG"


class _Arguments(TypedDict):
    """The arguments of the search."""

    company: str
    depart_code: str
    arrive_code: str
    out_journey_id: str
    out_at: date
    out_time: str
    passengers: list[SearchPassengerDict]


def crossing(ferry: Ferry, *, days: int = 30) -> dict[str, Any]:
    """Return what `bookings.create` takes: a crossing for one traveller, found by a search.

    Args:
        ferry: A client of the local service.
        days: The number of days from today, by the service's clock, to the departure.

    Raises:
        FerryError: The search failed; `NoSailingsError` if nothing sails on that day.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox, crossing

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            booking = ferry.bookings.create(**crossing(ferry))
            print(booking.stage, booking.total_price, booking.currency)
            # > payment_due 16.05 EUR
        ```
    """
    # A reply of any kind has the date of the service, whose clock a test may have moved.
    reply = ferry.with_raw_response.catalogue.vehicle_brands()
    sailings = ferry.availability.search(**_search(reply.headers, days))
    return _booking(sailings)


async def acrossing(ferry: AsyncFerry, *, days: int = 30) -> dict[str, Any]:
    """Return what `bookings.create` takes, as `crossing` does.

    Args:
        ferry: A client of the local service.
        days: The number of days from today, by the service's clock, to the departure.

    Raises:
        FerryError: The search failed; `NoSailingsError` if nothing sails on that day.

    Example:
        ```python
        import anyio
        from ferry_sdk import AsyncFerry
        from ferry_sdk.sandbox import AsyncSandbox, acrossing


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
            ):
                booking = await ferry.bookings.create(**await acrossing(ferry))
                print(booking.stage, booking.total_price, booking.currency)
                # > payment_due 16.05 EUR


        anyio.run(main)
        ```
    """
    reply = await ferry.with_raw_response.catalogue.vehicle_brands()
    sailings = await ferry.availability.search(**_search(reply.headers, days))
    return _booking(sailings)


def _search(headers: Mapping[str, str], days: int) -> _Arguments:
    """Return the arguments of the search, so many days after the date of a reply."""
    # The profile of the service can leave the date out.
    now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)

    return {
        "company": _COMPANY,
        "depart_code": _DEPART,
        "arrive_code": _ARRIVE,
        "out_journey_id": journey_id(_DEPART, _ARRIVE),
        "out_at": now.date() + timedelta(days=days),
        "out_time": "00:00",
        "passengers": [{"type": "Adult", "gender": "Female", "age": 34}],
    }


def _booking(sailings: Sequence[Availability]) -> dict[str, Any]:
    """Return the arguments of a booking: the cheapest sailing, and of two the earlier one."""
    sailing = min(sailings, key=lambda each: _cheapest_ticket(each).amount)
    tariff = _cheapest_ticket(sailing)
    return {
        "availabilities": [sailing.select(tariff=tariff, place=sailing.places[0])],
        "passengers": [{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    }


def _cheapest_ticket(sailing: Availability) -> Tariff:
    tickets = [tariff for tariff in sailing.tariffs if tariff.type == TariffType.TICKET]
    return min(tickets, key=lambda tariff: tariff.amount)
