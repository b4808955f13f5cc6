"""Questions on a terminal; an answer that makes no sense is asked for again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import typer
from pydantic import ValidationError
from rich.text import Text

from ferry_sdk.cli.terminal.errors import DeclinedError
from ferry_sdk.cli.terminal.output import aside, note, plain
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import path_of

T = TypeVar("T")


def can_ask() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def answer(question: str, read: Callable[[str], T], *, default: str | None = None) -> T:
    """What the user says, read by a function whose ValueError says what is expected.

    Args:
        question: The words before the answer.
        read: Makes the value of the text.
        default: What an empty line stands for; None: it is read like any other.
    """
    console = aside()
    shown = f" [{default}]" if default else ""
    while True:
        prompt = Text.assemble((plain(question), "bold"), (plain(shown), "dim"), ": ")
        try:
            text = console.input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            console.print()  # what comes next has a line of its own
            raise
        except UnicodeDecodeError:
            text = "\N{REPLACEMENT CHARACTER}"
        try:
            return read(text or default or "")
        except ValidationError as error:
            problem = path_of(error)[1]
        except InvalidInputError as error:
            problem = str(error).removeprefix(f"{error.field}: ")
        except ValueError as error:
            problem = str(error)
        console.print(Text(f"  {plain(problem)}", style="yellow"))


def text(question: str) -> str:
    """A text that is not empty."""

    def read(said: str) -> str:
        if not said:
            raise ValueError("it cannot be left out")
        return said

    return answer(question, read)


def number(question: str, last: int) -> int:
    """The place in a list, from 0, of what the user calls 1 to `last`."""
    if last == 1:
        note(f"{question}: the only one.")
        return 0

    def read(said: str) -> int:
        if not said.isdecimal() or not 1 <= int(said) <= last:
            raise ValueError(f"a number from 1 to {last} is expected")
        return int(said) - 1

    return answer(f"{question} (1 to {last})", read, default="1")


def agreed(question: str, *, yes: bool) -> None:
    """Go on only where the user says yes, or has said so on the command line.

    Raises:
        DeclinedError: The user said no.
    """
    if yes:
        return
    if not can_ask():
        raise typer.BadParameter("nobody can be asked here: say --yes", param_hint="'--yes'")

    def read(said: str) -> bool:
        if said.casefold() not in {"y", "yes", "n", "no", ""}:
            raise ValueError("y or n is expected")
        return said.casefold() in {"y", "yes"}

    if sys.platform != "win32":
        import termios  # noqa: PLC0415 -- there is none on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before is no yes to this
    if not answer(f"{question} [y/N]", read):
        raise DeclinedError("declined; nothing was done")
