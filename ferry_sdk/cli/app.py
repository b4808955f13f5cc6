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

from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.version import __version__


class Command(NamedTuple):
    """A command, described without importing it.

    Attributes:
        panel: The section of the help that lists it.
        summary: The first sentence of its help.
        module: The module of its function; None: that of its own name. A module with a family of
            commands has their functions in `COMMANDS`; the first word of each is its name.
    """

    panel: str
    summary: str
    module: str | None = None


COMMANDS: dict[str, Command] = {name: Command(**row) for name, row in data_beside(__file__).items()}


def load_command(name: str) -> Any:  # noqa: ANN401 -- a command of typer's own copy of click
    """Import a command, or a family of commands, and return it as typer runs it."""
    from ferry_sdk.cli.terminal.errors import report_errors  # noqa: PLC0415 -- the help needs none
    from ferry_sdk.cli.terminal.options import expand_options  # noqa: PLC0415 -- the same

    entry = COMMANDS[name]
    module = import_module(f"ferry_sdk.cli.commands.{entry.module or name}")
    is_family = hasattr(module, "COMMANDS")
    functions = module.COMMANDS if is_family else (getattr(module, name),)
    family = typer.Typer(
        no_args_is_help=is_family,
        add_completion=is_family,
        pretty_exceptions_enable=False,
        help=entry.summary,
    )
    # Containers set the options of the local service by variables: FERRY_SANDBOX_PORT, ….
    prefix = {"auto_envvar_prefix": "FERRY_SANDBOX"} if name == "sandbox" else {}
    for function in functions:
        its_name = function.__name__.partition("_")[0]
        register = family.command(its_name, context_settings={**_SETTINGS, **prefix})
        register(report_errors(expand_options(function)))
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
    for name, row in COMMANDS.items():
        if name == "conform":
            # A terminal of 24 lines cannot show a title of the first section.
            lines.append(row.panel)
        lines.append(f"  {name:10} {row.summary}")
    return "".join(f"{line}\n" for line in lines)


_SETTINGS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}
app: typer.Typer = typer.Typer(
    name="ferry", cls=LazyGroup, pretty_exceptions_enable=False, context_settings=_SETTINGS
)


def _unloaded() -> None:
    """Stand for a command that is not imported yet."""


for _name, _entry in COMMANDS.items():
    app.command(_name, help=_entry.summary, rich_help_panel=_entry.panel)(_unloaded)


def _print_version(is_requested: bool) -> None:  # noqa: FBT001 -- called by typer
    if is_requested:
        sys.stdout.write(f"ferry_sdk {__version__}\n")
        raise typer.Exit


_VERSION = typer.Option(callback=_print_version, is_eager=True, help="Print the version.")


@app.callback()
def ferry(*, version: Annotated[bool, _VERSION] = False) -> None:
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
