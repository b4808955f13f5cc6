"""The command line application."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

from ferry_sdk._runtime.version import __version__


class Command(NamedTuple):
    """A command, described without importing it.

    Attributes:
        panel: The section of the help that lists it.
        summary: The first sentence of its help.
        module: The module of its function; None: that of its own name. A module with a family of
            commands has their functions by name in `COMMANDS`.
    """

    panel: str
    summary: str
    module: str | None = None


_TRIPS, _SETUP = "Trips and bookings", "Setup"
COMMANDS: dict[str, Command] = {
    "search": Command(_TRIPS, "Search trips of every company between two places, cheapest first."),
    "calendar": Command(_TRIPS, "Show the cheapest fare of every day, one way."),
    "scan": Command(_TRIPS, "Save the fares of every day as Parquet files."),
    "book": Command(_TRIPS, "Book a crossing."),
    "show": Command(_TRIPS, "Show a booking or a ticket with its travellers."),
    "confirm": Command(_TRIPS, "Confirm and pay a booking, which issues its tickets."),
    "cancel": Command(_TRIPS, "Cancel a booking or a ticket."),
    "change": Command(_TRIPS, "Replace a booking by another one."),
    "voucher": Command(_TRIPS, "Save a ticket's boarding voucher as PDF."),
    "reconcile": Command(_TRIPS, "Compare payments with the bookings on record."),
    "journal": Command(_TRIPS, "Look up the writes on record, recover and settle them."),
    "orders": Command(_TRIPS, "Look up orders of several bookings, and resume them after a crash."),
    "ports": Command(_TRIPS, "Find ports by code, name, city or country.", "catalogue"),
    "companies": Command(_TRIPS, "Find companies by code or a part of the name.", "catalogue"),
    "vehicles": Command(_TRIPS, "Find vehicles by make and model.", "catalogue"),
    "conform": Command(_SETUP, "Compare the service with what the client assumes of it."),
    "sandbox": Command(_SETUP, "Run the local service until Ctrl-C."),
    "openapi": Command(_SETUP, "Print the OpenAPI 3.1 document of the service.", "sandbox"),
    "demo": Command(_SETUP, "Run a complete booking against a local service.", "sandbox"),
    "mcp": Command(_SETUP, "Run an MCP server for agents on standard input and output."),
}


def load_command(name: str) -> Any:  # noqa: ANN401 -- a command of typer's own copy of click
    """Import a command, or a family of commands, and return it as typer runs it."""
    from ferry_sdk.cli.terminal.errors import report_errors  # noqa: PLC0415 -- the help needs none
    from ferry_sdk.cli.terminal.options import expand_options  # noqa: PLC0415 -- the same

    entry = COMMANDS[name]
    module = import_module(f"ferry_sdk.cli.commands.{entry.module or name}")
    is_family = hasattr(module, "COMMANDS")
    functions = module.COMMANDS if is_family else {name: getattr(module, name)}
    family = typer.Typer(
        no_args_is_help=is_family,
        add_completion=is_family,
        pretty_exceptions_enable=False,
        help=entry.summary,
    )
    # Containers set the options of the local service by variables: FERRY_SANDBOX_PORT, ….
    prefix = {"auto_envvar_prefix": "FERRY_SANDBOX"} if name == "sandbox" else {}
    for its_name, its_function in functions.items():
        register = family.command(its_name, context_settings={**_SETTINGS, **prefix})
        register(report_errors(expand_options(its_function)))
    return typer.main.get_command(family)


class LazyGroup(TyperGroup):
    """A group whose help lists its commands without importing them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- as in typer
        """Print the commands, in a screen of 80 by 24, if there is no argument."""
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(_overview())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- as in typer
        """Return the command that the arguments name, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(command.name or "") if command else None, rest


def _overview() -> str:
    lines = ["Usage: ferry COMMAND [OPTIONS]; ferry COMMAND --help explains a command."]
    for panel in (_TRIPS, _SETUP):
        # A terminal of 24 lines cannot show a title of the first section.
        lines += [panel] if panel == _SETUP else []
        commands = [(name, row.summary) for name, row in COMMANDS.items() if row.panel == panel]
        lines += [f"  {name:10} {summary}" for name, summary in commands]
    return "".join(f"{line}\n" for line in lines)


_SETTINGS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}
app: typer.Typer = typer.Typer(
    name="ferry",
    cls=LazyGroup,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def _unloaded() -> None:
    """Stand for a command that is not imported yet."""


for _name, _entry in COMMANDS.items():
    app.command(_name, help=_entry.summary, rich_help_panel=_entry.panel)(_unloaded)


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
