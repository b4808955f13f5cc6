"""What the tools of an MCP server give, in the interface's shapes, and calls that ask for it."""

from tests.support import samples
from tests.support.trip import search_arguments

TICKET = samples.TICKET | {"id": "t1"}
BOOKING = samples.BOOKING_CREATED | {"booking_id": "b1"}
PASSENGERS = [{"type": "Adult", "first_name": "Ada", "last_name": "Okonkwo", "age": 34}]
SELECTION = [{"availability_id": "a1", "tariff_id": "a1.STANDARD", "place_id": "a1.SEAT"}]


def availability(name="a1", ship_name="Tanit"):
    """Return a sailing as a search finds it."""
    return samples.AVAILABILITY | {"id": name, "ship_name": ship_name}


def failure(code="TICKET_NOT_FOUND", message="No such ticket"):
    """Return the error of a tool."""
    return {"error": True, "code": code, "message": message}


def search(ferry):
    """Search for the trip of the tests."""
    return ferry.mcp.search_availability(**search_arguments())


def view(ferry):
    """View the ticket."""
    return ferry.mcp.view_ticket("t1")


def book(ferry):
    """Book the sailing."""
    return ferry.mcp.create_booking(availabilities=SELECTION, passengers=PASSENGERS)
