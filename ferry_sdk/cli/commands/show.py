"""`ferry show`, `ferry voucher` and `ferry ports`: read-only commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.orders.routes import suggestion
from ferry_sdk.cli.terminal.connection import open_client
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.formats import count
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import print_json, print_table, say, show_progress
from ferry_sdk.cli.terminal.records import print_booking, print_ticket, record_of
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Voucher


def show(
    *,
    some_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a booking or a ticket.")],
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Show a booking or a ticket with its travellers."""
    with open_client(base_url, token_file) as ferry, show_progress("Reading"):
        record = record_of(ferry, some_id)
    if as_json:
        kind = "booking" if isinstance(record, Booking) else "ticket"
        print_json({kind: record.model_dump(mode="json")})
    elif isinstance(record, Booking):
        print_booking(record)
    else:
        print_ticket(record)


def voucher(
    *,
    ticket_id: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's id.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="File or folder; default: the ticket number as .pdf."),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Maximum time to wait for the voucher.")
    ] = 30.0,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Save a ticket's boarding voucher as PDF. An existing file is replaced."""
    with open_client(base_url, token_file) as ferry, show_progress("Fetching the voucher") as now:
        attempts = 0

        def report_progress(_: Voucher) -> None:
            nonlocal attempts
            attempts += 1
            now(f"Waiting for the voucher, {wait:.0f} s at most; {count(attempts, 'attempt')}")

        ticket = ferry.tickets.get(ticket_id)
        if wait:
            ferry.tickets.wait_pdf(ticket_id, deadline=wait, on_progress=report_progress)
        path = to or Path()
        if path.is_dir():
            path /= re.sub(r"[^\w.-]", "_", ticket.ticket_number or ticket_id) + ".pdf"
        saved = ferry.tickets.save_pdf(ticket_id, path)
    size = saved.stat().st_size
    if as_json:
        print_json({"voucher": {"ticket_id": ticket_id, "path": str(saved), "bytes": size}})
    else:
        say(f"Saved {saved} ({size:,} bytes).")


def ports(
    *,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Only ports with this text in code, name or country."),
    ] = "",
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """List the ports."""
    with open_client(base_url, token_file) as ferry, show_progress("Loading the ports"):
        known = ferry.catalogue.ports()
    wanted = text.casefold()
    found = [
        port
        for port in sorted(known, key=lambda port: (port.country, port.name))
        if wanted in f"{port.code}\n{port.name}\n{port.country}".casefold()
    ]
    if as_json:
        print_json({"ports": [port.model_dump(mode="json") for port in found]})
        if known and not found:
            raise typer.Exit(Exit.NOT_SENT)
        return
    if known and not found:
        raise InvalidInputError(
            f"no port has {text!r} in code, name or country; {suggestion(known, text)}"
            "`ferry ports` lists them all",
            field="TEXT",
        )
    print_table(("code", "name", "country"), [(one.code, one.name, one.country) for one in found])
