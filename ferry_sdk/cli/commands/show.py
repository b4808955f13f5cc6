"""`ferry show`, `ferry voucher` and `ferry ports`: commands that only read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.orders.routes import similar
from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.formatting import count
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import document, say, table, working
from ferry_sdk.cli.terminal.records import record_of, show_booking, show_ticket
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Voucher


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


def voucher(
    *,
    ticket_id: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's id.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="File or folder; else the ticket's number, as .pdf."),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for it.")
    ] = 30.0,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Save a ticket's boarding voucher, as PDF. A file that is there is replaced."""
    with connected(base_url, token_file) as ferry, working("Fetching the voucher") as now:
        asked = 0

        def still(_: Voucher) -> None:
            nonlocal asked
            asked += 1
            now(f"Waiting for the voucher, {wait:.0f} s at most; asked {count(asked, 'time')}")

        ticket = ferry.tickets.get(ticket_id)
        if wait:
            ferry.tickets.wait_pdf(ticket_id, deadline=wait, on_progress=still)
        path = to or Path()
        if path.is_dir():
            path /= re.sub(r"[^\w.-]", "_", ticket.ticket_number or ticket_id) + ".pdf"
        saved = ferry.tickets.save_pdf(ticket_id, path)
    size = saved.stat().st_size
    if as_json:
        document({"voucher": {"ticket_id": ticket_id, "path": str(saved), "bytes": size}})
    else:
        say(f"Saved {saved} ({size:,} bytes).")


def ports(
    *,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Only those with this in code, name or country."),
    ] = "",
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """List the ports."""
    with connected(base_url, token_file) as ferry, working("Asking for the ports"):
        known = ferry.catalogue.ports()
    wanted = text.casefold()
    found = [
        port
        for port in sorted(known, key=lambda port: (port.country, port.name))
        if wanted in f"{port.code}\n{port.name}\n{port.country}".casefold()
    ]
    if as_json:
        document({"ports": [port.model_dump(mode="json") for port in found]})
        if known and not found:
            raise typer.Exit(Exit.NOT_SENT)
        return
    if known and not found:
        raise InvalidInputError(
            f"no port has {text!r} in code, name or country; {similar(known, text)}"
            "`ferry ports` lists them all",
            field="TEXT",
        )
    table(("code", "name", "country"), [(one.code, one.name, one.country) for one in found])
