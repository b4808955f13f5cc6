"""Output of the commands: text, tables, JSON documents and progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from threading import Timer

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

_WIDE = 10_000
"""Columns of what is no terminal: nothing is wrapped for a program or a file."""


def screen() -> Console:
    """Standard output, for people."""
    return _console(stderr=False)


def aside() -> Console:
    """Standard error: what is no answer, such as questions, warnings and errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(
        stderr=stderr,
        force_terminal=is_terminal,  # whatever the environment says: a file gets no colours
        width=None if is_terminal else _WIDE,
        highlight=False,
        markup=False,
        emoji=False,
    )


def plain(value: object) -> str:
    """A text of somebody else's without what would command the terminal."""
    return "".join(one if one.isprintable() or one == "\n" else "�" for one in str(value))


def say(text: str) -> None:
    """Print a line of the answer."""
    screen().print(Text(plain(text)))


def note(text: str) -> None:
    """Print what a person may do next; it is no part of the answer."""
    console = aside()
    if console.is_terminal:
        console.print(Text(plain(text), style="dim"))


def warn(text: str) -> None:
    """Print a warning; it is no part of the answer."""
    console = aside()
    console.print(Text.assemble(("warning: ", "yellow"), plain(text)))


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    title: str | None = None,
    on: Console | None = None,
) -> None:
    """Print rows under their heads; where it is no terminal, without lines and a line each.

    Args:
        heads: The heads of the columns.
        rows: The cells, of any type.
        right: The heads of the columns whose cells stand at the right.
        title: What stands above.
        on: Where; else the standard output.
    """
    console = on or screen()
    box, gap = (SIMPLE_HEAD, 1) if console.is_terminal else (None, 2)
    drawn = Table(box=box, pad_edge=False, padding=(0, gap, 0, 0))

    def cell(value: object) -> Text:
        text = plain(value)
        return Text(text if console.is_terminal else text.replace("\n", ", "))

    for head in heads:
        side: JustifyMethod = "right" if head in right else "left"
        drawn.add_column(cell(head), justify=side, header_style="bold", overflow="fold")
    for row in rows:
        drawn.add_row(*map(cell, row))
    if title:
        console.print(cell(title), style="bold")
    _print(drawn, console)


def facts(pairs: Iterable[tuple[str, object]], *, on: Console | None = None) -> None:
    """Print names and values, a line each; what is None or empty is left out."""
    grid(((Text(name, "dim"), value) for name, value in pairs if value not in {None, ""}), on=on)


def grid(rows: Iterable[Sequence[object]], *, on: Console | None = None) -> None:
    """Print rows without heads; a `Text` has a style of its own, anything else none."""
    drawn = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        drawn.add_row(*(one if isinstance(one, Text) else Text(plain(one)) for one in row))
    _print(drawn, on or screen())


def _print(drawn: Table, console: Console) -> None:
    if console.is_terminal:
        console.print(drawn)
        return
    with console.capture() as captured:
        console.print(drawn)
    lines = captured.get().splitlines()
    console.file.write("".join(f"{line.rstrip()}\n" for line in lines))


def document(members: dict[str, object]) -> None:
    """Print the one JSON document of a command."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(members, indent=2, ensure_ascii=not is_unicode) + "\n")


PATIENCE = 0.5
"""Seconds before anything is shown."""


@contextmanager
def working(on: str) -> Generator[Callable[[str], None], None, None]:
    """Show on a terminal what is being done in this block, once it has taken half a second.

    Gives a function that changes the words. Nothing is left of it on the screen.
    """
    console = aside()
    status = console.status(plain(on))
    if not console.is_terminal:
        yield lambda _: None
        return
    timer = Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: status.update(plain(text))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
