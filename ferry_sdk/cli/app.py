"""The command line application.

`ferry --help` and the completion of a command's name read the table of commands and import none of
them. `ferry search …` goes this way:

1. `LazyGroup.resolve_command` finds the name in the table.
2. `load_command` imports `commands/search.py` and takes its function `search`.
3. `expand_options` gives typer a function whose arguments are single options.
4. `report_errors` makes an exit code and a message of what the function returns or raises.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from ferry_sdk._runtime.docstrings import docstring_of
from ferry_sdk._runtime.version import __version__
from ferry_sdk.cli.command_table import COMMANDS


def load_command(name: str) -> Any:  # noqa: ANN401 -- a command of typer's own copy of click
    """Import a command, or a family of commands, and return it as typer runs it."""
    # Both import the client, which the help does not need.
    from ferry_sdk.cli.terminal.errors import report_errors  # noqa: PLC0415 -- not for the help
    from ferry_sdk.cli.terminal.options import expand_options  # noqa: PLC0415 -- the same

    row = COMMANDS[name]
    module = import_module(f"ferry_sdk.cli.commands.{name}")
    functions = module.COMMANDS if row.is_family else {name: getattr(module, name)}

    settings = _SETTINGS
    if name == "sandbox":
        # Containers set the options of the local service by variables: FERRY_SANDBOX_PORT, ….
        settings = {**_SETTINGS, "auto_envvar_prefix": "FERRY_SANDBOX"}

    application = typer.Typer(
        cls=Family,
        no_args_is_help=row.is_family,
        add_completion=row.is_family,
        pretty_exceptions_enable=False,
        help=row.summary,
    )
    for command_name, function in functions.items():
        register = application.command(
            command_name,
            cls=LeafCommand,
            help=_help_of(function),
            context_settings=settings,
        )
        register(report_errors(expand_options(function)))
    return typer.main.get_command(application)


def _help_of(function: Callable[..., object]) -> str:
    """Return a docstring with each paragraph on one line, so that the terminal wraps it."""
    paragraphs = docstring_of(function).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_HELP_STYLES: Final = {
    "STYLE_OPTION": "bold",
    "STYLE_SWITCH": "bold",
    "STYLE_METAVAR": "none",  # of older versions of typer
    "STYLE_TYPES": "none",
    "STYLE_USAGE": "bold",
    "STYLE_OPTION_ENVVAR": "dim",
    "STYLE_COMMANDS_TABLE_FIRST_COLUMN": "bold",
}
"""The styles of typer's help. Its own are yellow and cyan, which a light background hides."""


def _show_readably(ctx: Any, parameters: list[Any]) -> list[Any]:  # noqa: ANN401 -- as in typer
    """Change parameters so that their help leaves room for the descriptions at 80 columns."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # instead of <bool>
        if ctx.auto_envvar_prefix:
            parameter.show_envvar = False  # the text above the options names the variables
    return parameters


def _set_help_styles() -> None:
    """Have typer show its help so that it can be read on a light and on a dark background."""
    rich_utils = import_module("typer.rich_utils")
    vars(rich_utils).update(_HELP_STYLES)


class LeafCommand(TyperCommand):
    """A command that is no family."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401 -- as in typer
        """Return the options and arguments."""
        return _show_readably(ctx, super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- as in typer
        """Print the help."""
        _set_help_styles()
        super().format_help(ctx, formatter)


class Family(TyperGroup):
    """A command that consists of others."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401 -- as in typer
        """Return the options."""
        return _show_readably(ctx, super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- as in typer
        """Print the help."""
        _set_help_styles()
        super().format_help(ctx, formatter)


class LazyGroup(Family):
    """A group whose help lists its commands without importing them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- as in typer
        """Print the overview if there is no argument."""
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(_overview())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- as in typer
        """Return the command that the arguments name, imported."""
        name, placeholder, rest = super().resolve_command(ctx, args)
        if placeholder is None:  # while a shell completes a word that is no command yet
            return name, None, rest
        return name, load_command(placeholder.name or ""), rest


def _overview() -> str:
    """Return the commands, in a screen of 80 by 24."""
    lines = ["Usage: ferry COMMAND [OPTIONS]; ferry COMMAND --help explains a command."]
    # The sections of the help have no titles here, because 24 lines have no room for them.
    lines += [f"  {row.name:10} {row.summary}" for row in COMMANDS.values()]
    return "".join(f"{line}\n" for line in lines)


_SETTINGS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}
app: typer.Typer = typer.Typer(
    name="ferry", cls=LazyGroup, pretty_exceptions_enable=False, context_settings=_SETTINGS
)


def _placeholder() -> None:
    """Stand for a command that is not imported yet."""


for _row in COMMANDS.values():
    app.command(_row.name, help=_row.summary, rich_help_panel=_row.panel)(_placeholder)


def _print_version(is_requested: bool) -> None:  # noqa: FBT001 -- called by typer
    if is_requested:
        sys.stdout.write(f"ferry_sdk {__version__}\n")
        raise typer.Exit


_VERSION = typer.Option(
    "--version", callback=_print_version, is_eager=True, help="Print the version."
)


def _ferry(*, version: Annotated[bool, _VERSION] = False) -> None:
    """Search, book and cancel ferry crossings.

    The service's address comes from FERRY_BASE_URL, the token from FERRY_TOKEN or a file.
    """


app.callback(help=docstring_of(_ferry))(_ferry)


def run() -> None:
    """Run the command line."""
    _open_closed_streams()

    # Treat SIGTERM as Ctrl-C, so that an interrupted write is reported.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # replace characters that the terminal cannot show
    app(prog_name="ferry")


def _open_closed_streams() -> None:
    """Open the streams that were closed before the start, such as by `ferry … >&-`, on nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))
