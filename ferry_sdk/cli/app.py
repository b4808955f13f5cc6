"""The command line application."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final, NamedTuple, cast

import typer
from typer.core import TyperGroup

from ferry_sdk._runtime.version import __version__


class Command(NamedTuple):
    """A command, described without importing it.

    Attributes:
        function: The function, or the functions of a family by name, as ``module:name``.
        panel: The section of the help that lists it.
        summary: The first sentence of its help.
    """

    function: str
    panel: str
    summary: str


_TRIPS, _SETUP = "Trips and bookings", "Setup"
_SUMMARIES: Final = {
    _TRIPS: {
        "search": "Search trips of every company between two places, cheapest first.",
        "calendar": "Show the cheapest fare of every day, one way.",
        "scan": "Save the fares of every day as Parquet files.",
        "book": "Book a crossing.",
        "show": "Show a booking or a ticket with its travellers.",
        "confirm": "Confirm and pay a booking, which issues its tickets.",
        "cancel": "Cancel a booking or a ticket.",
        "change": "Replace a booking by another one.",
        "voucher": "Save a ticket's boarding voucher as PDF.",
        "reconcile": "Compare payments with the bookings on record.",
        "journal": "Look up the writes on record, recover and settle them.",
        "orders": "Look up orders of several bookings, and resume them after a crash.",
        "ports": "Find ports by code, name, city or country.",
        "companies": "Find companies by code or a part of the name.",
        "vehicles": "Find vehicles by make and model.",
    },
    _SETUP: {
        "conform": "Compare the service with what the client assumes of it.",
        "sandbox": "Run the local service until Ctrl-C.",
        "openapi": "Print the OpenAPI 3.1 document of the service.",
        "demo": "Run a complete booking against a local service.",
        "mcp": "Run an MCP server for agents on standard input and output.",
    },
}
_FUNCTIONS: Final = {
    "journal": "journal:COMMANDS",
    "orders": "orders:COMMANDS",
    "ports": "catalogue:ports",
    "companies": "catalogue:companies",
    "vehicles": "catalogue:vehicles",
    "openapi": "sandbox:openapi",
    "demo": "sandbox:demo",
}
"""The functions of commands that are not in a module of their own."""
COMMANDS: dict[str, Command] = {
    name: Command(_FUNCTIONS.get(name, f"{name}:{name}"), panel, summary)
    for panel, summaries in _SUMMARIES.items()
    for name, summary in summaries.items()
}


def load_command(name: str) -> Any:  # noqa: ANN401 -- a command of typer's own copy of click
    """Import a command, or a family of commands, and return it as typer runs it."""
    from ferry_sdk.cli.terminal.errors import report_errors  # noqa: PLC0415 -- the help needs none
    from ferry_sdk.cli.terminal.options import expand_options  # noqa: PLC0415 -- the same

    entry = COMMANDS[name]
    module, _, attribute = entry.function.partition(":")
    function = getattr(import_module(f"ferry_sdk.cli.commands.{module}"), attribute)
    if isinstance(function, dict):
        family = typer.Typer(
            no_args_is_help=True, pretty_exceptions_enable=False, help=entry.summary
        )
        for its_name, its_function in cast("dict[str, Callable[..., None]]", function).items():
            family.command(its_name)(report_errors(expand_options(its_function)))
        return typer.main.get_command(family)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    # Containers set the options of the local service by variables: FERRY_SANDBOX_PORT, ….
    prefix = {"auto_envvar_prefix": "FERRY_SANDBOX"} if name == "sandbox" else {}
    settings = {**_SETTINGS, **prefix}
    single.command(name, context_settings=settings)(report_errors(expand_options(function)))
    return typer.main.get_command(single)


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
        commands = [(name, row.summary) for name, row in COMMANDS.items() if row.panel == panel]
        # A terminal of 24 lines cannot show a title of the first section.
        lines += [panel] if panel == _SETUP else []
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
