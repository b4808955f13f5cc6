"""Questions on a terminal. An invalid answer is explained, and the question repeated."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import typer
from rich.text import Text

from ferry_sdk.cli.terminal.errors import DeclinedError
from ferry_sdk.cli.terminal.options import problem_of
from ferry_sdk.cli.terminal.output import error_console, note, printable

T = TypeVar("T")


def is_interactive() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin.isatty()


def ask(question: str, read: Callable[[str], T], *, default: str | None = None) -> T:
    """Ask a question, and return the answer as `read` parses it; its ValueError is explained."""
    console = error_console()
    shown = f" [{default}]" if default else ""
    while True:
        prompt = Text.assemble((printable(question), "bold"), (printable(shown), "dim"), ": ")
        try:
            line = console.input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            console.print()  # the next output starts on a new line
            raise
        except UnicodeDecodeError:
            line = "\N{REPLACEMENT CHARACTER}"
        try:
            return read(line or default or "")
        except ValueError as error:
            console.print(Text(f"  {printable(problem_of(error))}", style="yellow"))


def ask_text(question: str) -> str:
    """Ask for a text that is not empty."""

    def read(value: str) -> str:
        if not value:
            raise ValueError("a value is required")
        return value

    return ask(question, read)


def ask_number(question: str, last: int) -> int:
    """Ask for a number from 1 to `last` and return it counted from 0."""
    if last == 1:
        note(f"{question}: only one available.")
        return 0

    def read(value: str) -> int:
        if not value.isdecimal() or not 1 <= int(value) <= last:
            raise ValueError(f"expected a number from 1 to {last}")
        return int(value) - 1

    return ask(f"{question} (1 to {last})", read, default="1")


def ask_consent(question: str, *, yes: bool) -> None:
    """Return if the user agrees, or has passed --yes; raise DeclinedError otherwise."""
    if yes:
        return
    if not is_interactive():
        raise typer.BadParameter("no terminal to ask on: pass --yes", param_hint="'--yes'")

    def read(value: str) -> bool:
        if value.casefold() not in {"y", "yes", "n", "no", ""}:
            raise ValueError("expected y or n")
        return value.casefold() in {"y", "yes"}

    if sys.platform != "win32":
        import termios  # noqa: PLC0415 -- not available on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # ignore what was typed before the question
    if not ask(f"{question} [y/N]", read):
        raise DeclinedError("declined; nothing was changed")
