"""Find the cheapest day of a month, with one search for each day, five at a time."""

from __future__ import annotations

import asyncio
from calendar import monthrange
from datetime import date, timedelta

from ferry_sdk import AsyncFerry, Availability, AvailabilityError, Tariff
from ferry_sdk.sandbox import AsyncSandbox

AT_A_TIME = 5


def cheapest_ticket(sailings: list[Availability]) -> tuple[Tariff, Availability] | None:
    """Return the cheapest one-way ticket, or None if there is none."""
    offers = [
        (tariff, sailing)
        for sailing in sailings
        for tariff in sailing.tariffs
        if tariff.type == "Ticket" and not tariff.roundtrip_locked
    ]
    return min(offers, key=lambda offer: offer[0].amount, default=None)


async def sailings_on(ferry: AsyncFerry, journey_id: str, day: date) -> list[Availability]:
    """Search the sailings from Genoa to Palermo on a day; there may be none."""
    try:
        found = await ferry.availability.search(
            company="GNV",
            depart_code="ITGOA",
            arrive_code="ITPMO",
            out_journey_id=journey_id,
            out_at=day,
            out_time="00:00",
            passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            vehicle={"code": "FIAT__500"},
        )
    except AvailabilityError:
        return []
    return list(found)


async def main() -> None:
    """Search every day of a future month."""
    first = (date.today().replace(day=1) + timedelta(days=62)).replace(day=1)
    days = [first + timedelta(days=n) for n in range(monthrange(first.year, first.month)[1])]
    turn = asyncio.Semaphore(AT_A_TIME)
    async with (
        AsyncSandbox() as sandbox,
        AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
    ):
        journeys = await ferry.catalogue.journeys()
        journey_id = next(one.journey_id for one in journeys if one.route == "Genoa → Palermo")

        async def search(day: date) -> list[Availability]:
            async with turn:
                return await sailings_on(ferry, journey_id, day)

        found = await asyncio.gather(*map(search, days))

    for day, sailings in zip(days, found, strict=True):
        if ticket := cheapest_ticket(sailings):
            print(f"{day:%a %d %b}  {ticket[0].amount:8} {ticket[0].currency}")
    if best := cheapest_ticket([sailing for sailings in found for sailing in sailings]):
        tariff, sailing = best
        print(
            f"The cheapest: {tariff.amount} {tariff.currency}, {sailing.depart_at:%a %d %b %H:%M}"
        )


if __name__ == "__main__":
    asyncio.run(main())
