"""The app: every command with its name, and how it tells of failures."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from ferry_sdk._version import __version__
from ferry_sdk.cli.commands.book import book
from ferry_sdk.cli.commands.confirm_cancel import cancel, confirm
from ferry_sdk.cli.commands.doctor import doctor
from ferry_sdk.cli.commands.search import search
from ferry_sdk.cli.commands.serve import demo, mcp, sandbox
from ferry_sdk.cli.commands.show import ports, show, voucher
from ferry_sdk.cli.terminal.errors import told

COMMANDS: tuple[Callable[..., None], ...] = (
    search,
    book,
    show,
    confirm,
    cancel,
    voucher,
    ports,
    doctor,
    sandbox,
    demo,
    mcp,
)
app: typer.Typer = typer.Typer(
    name="ferry",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in COMMANDS:
    app.command(_command.__name__)(told(_command))


def _version(is_asked: bool) -> None:  # noqa: FBT001 -- typer's way of calling it
    if is_asked:
        sys.stdout.write(f"ferry_sdk {__version__}\n")
        raise typer.Exit


@app.callback()
def ferry(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Name the version.")
    ] = False,
) -> None:
    """Search, book and cancel ferry crossings.

    The service's address comes from FERRY_BASE_URL, the token from FERRY_TOKEN or a file.
    """


def run() -> None:
    """Run the command line."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed before the start
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))
    # Told to end, as by Ctrl-C: a write that is under way is warned of.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows another
    app(prog_name="ferry")
