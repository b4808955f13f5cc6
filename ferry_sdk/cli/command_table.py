"""The commands of `ferry`, described without importing them.

The command `ferry search` is the function `search` of the module `commands/search.py`. It is
imported only when it runs or explains itself, so that `ferry --help` stays fast; until then, this
table is all that is known of it. A family, such as `ferry journal list`, is a package in
`commands/`, which has its functions in `COMMANDS`.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """A row of the table.

    Attributes:
        name: What the user types, and the name of its module and of its function.
        panel: The section of the help that lists it.
        summary: The first sentence of its help.
        is_family: Whether it consists of other commands.
    """

    name: str
    panel: str
    summary: str
    is_family: bool = False


_TRIPS: Final = "Trips and bookings"
_SETUP: Final = "Setup"

_ROWS: Final = (
    Command("search", _TRIPS, "Search trips of every company between two places, cheapest first."),
    Command("calendar", _TRIPS, "Show the cheapest fare of every day, one way."),
    Command("scan", _TRIPS, "Save the fares of every day as Parquet files."),
    Command("book", _TRIPS, "Book a crossing."),
    Command("find", _TRIPS, "Find bookings on record by reference, ticket number or name."),
    Command("show", _TRIPS, "Show a booking or a ticket with its travellers."),
    Command("confirm", _TRIPS, "Confirm and pay a booking, which issues its tickets."),
    Command("cancel", _TRIPS, "Cancel a booking or a ticket."),
    Command("change", _TRIPS, "Replace a booking by another one."),
    Command("voucher", _TRIPS, "Save a ticket's boarding voucher as PDF."),
    Command("reconcile", _TRIPS, "Compare payments with the bookings on record."),
    Command(
        "journal",
        _TRIPS,
        "Look up the writes on record, recover and settle them.",
        is_family=True,
    ),
    Command(
        "orders",
        _TRIPS,
        "Look up orders of several bookings, and resume them.",
        is_family=True,
    ),
    Command(
        "offers",
        _TRIPS,
        "Watch prices and places over time.",
        is_family=True,
    ),
    Command("ports", _TRIPS, "Find ports by code, name, city or country."),
    Command("companies", _TRIPS, "Find companies by code or a part of the name."),
    Command("vehicles", _TRIPS, "Find vehicles by make and model."),
    Command("conform", _SETUP, "Compare the service with what the client assumes of it."),
    Command("sandbox", _SETUP, "Run the local service until Ctrl-C."),
    Command("openapi", _SETUP, "Print the OpenAPI 3.1 document of the service."),
    Command("demo", _SETUP, "Run a complete booking against a local service."),
    Command("mcp", _SETUP, "Run an MCP server for agents, over pipes or HTTP."),
)

COMMANDS: Final = {row.name: row for row in _ROWS}
"""The commands by their names, in the order of the help."""
