"""The command line application."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from ferry_sdk._version import __version__
from ferry_sdk.cli.commands.catalogue import companies, ports, vehicles
from ferry_sdk.cli.commands.confirm_cancel import cancel, confirm
from ferry_sdk.cli.commands.doctor import doctor
from ferry_sdk.cli.commands.journal import list_entries, settle_entry, show_entry
from ferry_sdk.cli.commands.reconcile import reconcile
from ferry_sdk.cli.commands.scan import scan
from ferry_sdk.cli.commands.search_book import book, calendar, search
from ferry_sdk.cli.commands.serve import demo, mcp, openapi, sandbox
from ferry_sdk.cli.commands.show import show, voucher
from ferry_sdk.cli.terminal.errors import report_errors

COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Trips and bookings": (
        search,
        calendar,
        scan,
        book,
        show,
        confirm,
        cancel,
        voucher,
        reconcile,
    ),
    "Names and codes": (ports, companies, vehicles),
    "Setup": (doctor, sandbox, openapi, demo, mcp),
}
JOURNAL_COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_entries,
    "show": show_entry,
    "settle": settle_entry,
}
app: typer.Typer = typer.Typer(
    name="ferry",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        # Containers set the options of the local service by variables: FERRY_SANDBOX_PORT, ….
        _settings = {"auto_envvar_prefix": "FERRY_SANDBOX"} if _command is sandbox else None
        app.command(_command.__name__, rich_help_panel=_panel, context_settings=_settings)(
            report_errors(_command)
        )

_journal = typer.Typer(no_args_is_help=True, help="Look up the writes on record, and settle them.")
for _name, _command in JOURNAL_COMMANDS.items():
    _journal.command(_name)(report_errors(_command))
app.add_typer(_journal, name="journal", rich_help_panel="Trips and bookings")


def _print_version(is_requested: bool) -> None:  # noqa: FBT001 -- called by typer
    if is_requested:
        sys.stdout.write(f"ferry_sdk {__version__}\n")
        raise typer.Exit


@app.callback()
def ferry(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Search, book and cancel ferry crossings.

    The service's address comes from FERRY_BASE_URL, the token from FERRY_TOKEN or a file.
    """


def run() -> None:
    """Run the command line."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed before the start
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))
    # Treat SIGTERM as Ctrl-C, so that an interrupted write is reported.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # replace characters that the terminal cannot show
    app(prog_name="ferry")
