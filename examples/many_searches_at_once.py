"""Search several companies of a route concurrently, and list the cheapest sailings."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

from ferry_sdk import AsyncFerry, Availability, AvailabilityError
from ferry_sdk.sandbox import AsyncSandbox

COMPANIES = ("BALEARIA", "AML", "FRSIBERIA", "ARMAS")


async def sailings(ferry: AsyncFerry, company: str, journey_id: str) -> list[Availability]:
    """Search the sailings of one company; there may be none."""
    try:
        found = await ferry.availability.search(
            company=company,
            depart_code="ESALG",
            arrive_code="MAPTM",
            out_journey_id=journey_id,
            out_at=date.today() + timedelta(days=30),
            out_time="12:00",
            passengers=[{"type": "Adult", "gender": "Female", "age": 27}],
        )
    except AvailabilityError:
        return []
    return list(found)


async def main() -> None:
    """Search, and print the five cheapest sailings."""
    async with (
        AsyncSandbox() as sandbox,
        AsyncFerry(sandbox.token, base_url=sandbox.base_url, language="es") as ferry,
    ):
        journeys = await ferry.catalogue.journeys()
        ports = {port.code: port.name for port in await ferry.catalogue.ports()}
        route = f"{ports['ESALG']} → {ports['MAPTM']}"
        journey_id = next(one.journey_id for one in journeys if one.route == route)
        found = await asyncio.gather(*(sailings(ferry, one, journey_id) for one in COMPANIES))
        offers = [
            (min(tariff.amount for tariff in sailing.tariffs), sailing)
            for company in found
            for sailing in company
        ]
        for price, sailing in sorted(offers, key=lambda offer: offer[0])[:5]:
            print(f"{price:8} EUR  {sailing.depart_at:%H:%M}  {sailing.company.name}")


if __name__ == "__main__":
    asyncio.run(main())
