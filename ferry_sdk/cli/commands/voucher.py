"""`ferry voucher`: the boarding voucher as a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.formatting import count
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import document, say
from ferry_sdk.cli.terminal.progress import working
from ferry_sdk.models.tickets import Voucher


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
