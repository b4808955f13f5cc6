"""List the tools and resources of the MCP server, and book with its tools."""

from __future__ import annotations

from datetime import date, timedelta

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox


def main(ferry: Ferry) -> None:
    """Search, book and confirm over MCP."""
    print("tools:", ", ".join(tool.name for tool in ferry.mcp.list_tools()))
    print("resources:", ", ".join(resource.uri for resource in ferry.mcp.list_resources()))
    departure = next(
        one
        for one in ferry.mcp.departures()
        if (one.depart_code, one.arrive_code) == ("ESTRF", "MATNG") and one.journey_id
    )
    offer = ferry.mcp.search_availability(
        company="BALEARIA",
        depart_code="ESTRF",
        arrive_code="MATNG",
        out_journey_id=departure.journey_id or "",
        out_at=date.today() + timedelta(days=30),
        out_time="08:00",
        passengers=[{"type": "Adult", "gender": "Female", "age": 61}],
    )[0]
    booking = ferry.mcp.create_booking(
        availabilities=[offer.select(tariff=offer.tariffs[0], place=offer.places[0])],
        passengers=[{"type": "Adult", "first_name": "Nadia", "last_name": "Amrani"}],
    )
    confirmation = ferry.mcp.confirm_booking(booking.booking_id)
    ticket = ferry.mcp.view_ticket(confirmation.ticket_id)
    print(f"{ticket.ticket_number}: {ticket.status}")


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
