"""`ferry voucher`: save the voucher of a ticket."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from ferry_sdk.cli.commands.show import record_of
from ferry_sdk.cli.terminal.options import Common, option
from ferry_sdk.cli.terminal.output import print_json, say, show_progress
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.models.tickets import Ticket

_LONGEST_NUMBER: Final = 64


@dataclass(frozen=True)
class FileOptions:
    """The options of which file is written, and when.

    Attributes:
        to: File or folder; default: ticket-NUMBER.pdf.
        force: Replace a file that --to does not name.
        wait: Maximum time to wait for the voucher.
    """

    to: Annotated[Path | None, option("PATH")] = None
    force: Annotated[bool, typer.Option("--force")] = False
    wait: Annotated[float, option("SECONDS", min=0)] = 30.0


def voucher(
    *,
    ticket_id: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket's id.")],
    options: FileOptions,
    common: Common,
) -> None:
    """Save a ticket's boarding voucher as PDF. A file that --to names is replaced."""
    with common.open_client() as ferry, show_progress("Fetching the voucher") as update:
        ticket = _ticket_of(ferry, ticket_id)
        if ticket.status in {TicketStatus.CANCELED, TicketStatus.EXPIRED}:
            raise InvalidInputError(f"it is {ticket.status} and has no voucher", field="TICKET")

        path = options.to or Path()
        if path.is_dir():
            path /= _file_name(ticket)
            if not options.force and (path.exists() or path.is_symlink()):
                raise InvalidInputError(f"{path} exists; --force replaces it", field="--to")

        if options.wait:
            update(f"Waiting for the voucher, {options.wait:.0f} s at most")
            ferry.tickets.wait_pdf(ticket_id, deadline=options.wait)
        saved = ferry.tickets.save_pdf(ticket_id, path)

    size = saved.stat().st_size
    if common.as_json:
        print_json({"voucher": {"ticket_id": ticket_id, "path": str(saved), "bytes": size}})
    else:
        say(f"Saved {saved} ({size:,} bytes).")


def _ticket_of(ferry: Ferry, ticket_id: str) -> Ticket:
    """Return the ticket with this id; raise an error that lists the tickets of a booking."""
    record = record_of(ferry, ticket_id, ticket_first=True)
    if isinstance(record, Ticket):
        return record
    tickets = [
        f"`ferry voucher {ticket.id}` ({ticket.direction}, {ticket.status})"
        for ticket in record.tickets
    ]
    advice = f"run {' or '.join(tickets)}" if tickets else "it has no tickets"
    raise InvalidInputError(f"this is the id of a booking; {advice}", field="TICKET")


def _file_name(ticket: Ticket) -> str:
    """Return a name for the voucher. The service writes the number, so only a few letters pass."""
    number = re.sub(r"[^A-Za-z0-9-]", "_", ticket.ticket_number or ticket.id)
    return f"ticket-{number[:_LONGEST_NUMBER]}.pdf"
