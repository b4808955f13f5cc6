"""The progress of a scan, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec

from ferry_sdk.scan.report import ScanReport


@contextmanager
def show_progress(
    report: Callable[[], ScanReport],
) -> Generator[Callable[[], None], None, None]:
    """Show the searches that are done, the rate, the remaining time and what went wrong.

    Yields a function that shows what the report is now. Nothing is shown where standard error is
    not a terminal, or rich is not installed.
    """
    # A program may have replaced standard error by an object without `isatty`, or by None.
    is_terminal = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
    if not is_terminal or find_spec("rich") is None:
        yield _show_nothing
        return

    from rich import progress  # noqa: PLC0415 -- an extra's
    from rich.console import Console  # noqa: PLC0415 -- the same

    with progress.Progress(
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]:.1f}/s"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[failed]} failed"),
        progress.TextColumn("{task.fields[unreadable]}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        first = report()
        task = bar.add_task(
            "", total=first.size, completed=first.done, failed=0, unreadable="", rate=0
        )

        def show() -> None:
            now = report()
            bar.update(
                task,
                completed=now.done + now.failed,
                failed=now.failed,
                unreadable=f"{now.unreadable} unreadable" if now.unreadable else "",
                rate=bar.tasks[0].speed or 0,
            )

        yield show


def _show_nothing() -> None:
    """Show nothing."""
