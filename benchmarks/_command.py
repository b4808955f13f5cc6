"""The command: it measures rows one after another, prints their lines and judges their bars."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from ._clients import MissingPeerError
from ._lines import Line, table
from ._measure import Effort

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROWS: Final = (
    "import_time",
    "help_text",
    "client_built",
    "first_search",
    "big_answer",
    "big_answer_openai",
    "small_search",
    "long_number",
    "async_big_answer",
    "memory",
    "memory_in_flight",
    "small_call",
    "own_work",
    "in_flight_core",
    "in_flight_fastest",
    "flatness",
    "mcp_big_answer",
    "event_stream",
    "planning",
    "calendar_in_flight",
    "rate",
    "scan",
    "watch",
    "journal_write",
    "journal_entries",
)


def main(arguments: Sequence[str]) -> int:
    """Measure the rows that are named, or all; return 1 if a bar does not hold or is not judged."""
    parser = _parser()
    given = parser.parse_args(arguments)
    for row in given.rows:
        if row not in ROWS:
            parser.error(f"there is no row {row!r}; there are {', '.join(ROWS)}")

    lines: list[tuple[str, Line]] = []
    failed: list[str] = []
    for row in given.rows or ROWS:
        began = monotonic()
        try:
            lines += [(row, line) for line in _measure_in_process(row, Effort(is_tiny=given.tiny))]
        except MissingPeerError as error:
            failed.append(f"{row} is not measured: {error}")
        except Exception as error:  # noqa: BLE001 -- a row that fails is not the end of the others
            traceback.print_exc()
            failed.append(f"{row} failed: {type(error).__name__}: {error}")
        sys.stderr.write(f"{row}: {monotonic() - began:.1f} s\n")

    sys.stdout.write(table(lines, is_judged=not given.tiny) + "\n")
    sys.stdout.writelines(f"{words}\n" for words in failed)
    if given.json is not None:
        Path(given.json).write_text(json.dumps(_figures(lines), indent=2) + "\n", encoding="utf-8")

    all_hold = given.tiny or all(line.holds for _, line in lines)
    return 0 if all_hold and not failed else 1


def _measure_in_process(row: str, effort: Effort) -> list[Line]:
    """Measure a row in a process of its own, so that no other row has an effect on it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure_row, row, effort).result()


def _measure_row(row: str, effort: Effort) -> list[Line]:
    """Measure a row by the function `measure` of its module."""
    measure: Callable[[Effort], list[Line]] = import_module(f"{__package__}.{row}").measure
    return measure(effort)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="What the library costs beside a floor and peers."
    )
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"one or more of: {', '.join(ROWS)}; all if none"
    )
    parser.add_argument("--tiny", action="store_true", help="see that all runs, and judge nothing")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file as well")
    return parser


def _figures(lines: Sequence[tuple[str, Line]]) -> list[Mapping[str, object]]:
    return [{"row": row, **asdict(line), "holds": line.holds} for row, line in lines]
