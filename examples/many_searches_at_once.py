"""Search every company of a route at once, and show the trips as the companies answer."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

from ferry_sdk import AsyncFerry, Trip
from ferry_sdk.sandbox import AsyncSandbox


async def main() -> None:
    """Search, name the companies that are missing, and print the five cheapest trips."""
    async with (
        AsyncSandbox() as sandbox,
        AsyncFerry(sandbox.token, base_url=sandbox.base_url, language="es", deadline=20) as ferry,
    ):
        stream = ferry.trips.stream(
            "Algeciras",
            "Tánger Med",
            on=date.today() + timedelta(days=30),
            passengers=[{"type": "Adult", "gender": "Female", "age": 27}],
        )
        trips: list[Trip] = []
        async for trip in stream:
            if trip.companies not in {found.companies for found in trips}:
                print("answered:", *trip.companies)
            trips.append(trip)
        for failed in stream.report.failed:
            print("no answer:", failed.company, failed.error)
        for trip in sorted(trips, key=lambda trip: trip.price)[:5]:
            print(f"{trip.price:8} {trip.currency}  {trip.depart_at:%H:%M}  {trip.companies[0]}")


if __name__ == "__main__":
    asyncio.run(main())
