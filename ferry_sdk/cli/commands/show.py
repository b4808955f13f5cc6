"""`ferry show`: a booking or a ticket as it is now."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import document
from ferry_sdk.cli.terminal.progress import working
from ferry_sdk.cli.terminal.records import record_of, show_booking, show_ticket
from ferry_sdk.models.bookings import Booking


def show(
    *,
    some_id: Annotated[str, typer.Argument(metavar="ID", help="Of a booking or of a ticket.")],
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Show a booking or a ticket, its travellers included."""
    with connected(base_url, token_file) as ferry, working("Reading"):
        record = record_of(ferry, some_id)
    if as_json:
        kind = "booking" if isinstance(record, Booking) else "ticket"
        document({kind: record.model_dump(mode="json")})
    elif isinstance(record, Booking):
        show_booking(record)
    else:
        show_ticket(record)
