"""The question before a command changes something."""

from __future__ import annotations

import sys

import typer
from rich.text import Text

from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.output import error_console, printable


def require_terminal(*, yes: bool) -> None:
    """Raise BadParameter if nobody can be asked and --yes is missing."""
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("no terminal to ask on: pass --yes", param_hint="'--yes'")


def ask_consent(question: str, *, yes: bool) -> None:
    """Return if the user agrees, or has passed --yes; raise CommandError otherwise.

    An invalid answer is explained, and the question repeated.
    """
    if yes:
        return
    require_terminal(yes=yes)
    if sys.platform != "win32":
        import termios  # noqa: PLC0415 -- not available on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # ignore what was typed before the question
    console = error_console()
    prompt = Text.assemble((f"{printable(question)} [y/N]", "bold"), ": ")
    while True:
        try:
            answer = console.input(prompt).strip().casefold()
        except (EOFError, KeyboardInterrupt):
            console.print()  # the next output starts on a new line
            raise
        except UnicodeDecodeError:
            answer = "\N{REPLACEMENT CHARACTER}"
        if answer in {"y", "yes"}:
            return
        if answer in {"n", "no", ""}:
            raise CommandError(Exit.DECLINED, "declined; nothing was changed")
        console.print(Text("  expected y or n"))
