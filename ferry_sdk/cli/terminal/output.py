"""Output of the commands: text, tables, JSON documents and progress.

With `--json`, a command prints one JSON document. Records are complete, and money is a string.
These are its members, by command:

- `search`: `search` (the parameters, as an order file takes them), `trips`, `sailings`, `report`;
  with `--changes 1`, `itineraries` in place of `trips` and `sailings`.
- `calendar`: `days` (`day`, `price`, `currency`, `company`, `depart_at`, `sailings` and
  `unreadable`, which are numbers), `cheapest` (a day or null), `report`.
- `book`: `booking`; with `--changes 1`, `order` as in `change`.
- `show`: `booking`, or `ticket`, whose `ticket_id` is its `id`; for a cancelled booking also
  `cancellation`, what was kept and refunded.
- `find`: `bookings` as in `show`, those in force first, each newest first, and `replaced_by`, the
  id of the booking that a change made instead, or null; `read`, how many were read; `has_more`,
  whether the journal has more of them; `unread`, those that could not be read: `booking_id`,
  `error`.
- `confirm`: `confirmation`; `already_done` if it was confirmed before.
- `cancel`: `cancellation`, `fee`; `already_done` in place of `fee` if it was cancelled before.
- `change`: `order`, whose parts have the new booking first; `booking`, the new one;
  `cancellation`, what was kept and refunded of the old one; the last two are null if they could
  not be read afterwards.
- `orders list`: `orders`; `orders show`, `resume`, and `book` with `--changes 1`: `order`: `id`,
  `kind`, `state`, `parts` (`booking_id`, `role`, `state`, `total`, `currency`, `expires_at`).
- `voucher`: `voucher`: `ticket_id`, `path`, `bytes`.
- `reconcile`: `reconciliation`: `paid_not_issued`, `issued_not_paid`, `refunded_short`,
  `total_differs`, `not_known`, lists of `booking_id`, `expected`, `found`, `currency`, `stage`,
  `references`; `unresolved`, a list of journal entries.
- `ports`, `companies`, `vehicles`: a list of that name; ports with TEXT also have `score` and
  `reason`, vehicles `search_code`, `booking_code` and `score`; `unreadable` as in a report, if
  records could not be read.
- `journal list`, `recover`: `entries`: all fields of a `JournalEntry`, and `next`, what to do if
  it is unresolved; for `recover` also `seen`, what was read instead of the effect.
- `journal show`, `settle`: `entry`.
- `offers add`: `wish`; `list`: `wishes`; `remove`: `key`, `removed`; `history`: `observations`;
  `watch`: a document for each event: `id`, `key`, `kind`, `rule`, `trip`, `price`, `before`,
  `currency`, `seen_at`.
- `scan`: `folder`, `report`: `size`, `answered`, `nothing`, `failed`, `unreadable`, which are
  numbers of searches, and `reasons`, a number for each reason of a failure.
- `conform`: `conformance`: `rows` (`id`, `assumption`, `verdict`, `seen`), `requests`, `left` (a
  sentence or null), `profile`.
- any, on failure, except with exit code 2: `error`: `message`, `hint`, `exit_code`; for a failed
  call also `type`, `outcome`, `operation` and, if known, `correlation_id`, `entry_id`,
  `booking_id`, `status_code`, `code`, `request_id`, `field`, `retry_after`; after an interruption,
  `entry_id` or `order_id` of what the journal has of the write.

A trip has `price`, `currency`, `companies`, `depart_at` and `arrive_at` of the way out,
`outward_id` and `back_id` (ids of `sailings`; null one way) and `fares`, cheapest first: `kind`
(`single`, `round_trip`, `two_singles`), `amount`, `currency`, `expires_at`, `reservation_type`,
and `availabilities` with the first place of each way.

An itinerary has `price` and `currency` (null if its legs have several currencies), `prices` (by
currency), `companies`, `via` (the port of the change), `wait_minutes`, `depart_at`, `arrive_at` and
`legs`, which are trips.

A report has `asked`, `answered`, `nothing`, `failed` and `not_asked`, lists of `company`,
`depart_code`, `arrive_code` and `day` (`failed` also `error`: `type`, `message`), `unreadable`, a
list of `search` (null for a catalogue), `operation` and `records` (`index`, `field`, `problem`;
empty if a whole list could not be read), and `calls`, `seconds`, `has_route` (null if it is not
known), `left_out`, `is_complete`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from threading import Timer
from typing import Final, cast
from unicodedata import category

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from ferry_sdk._runtime.money import exact_amount
from ferry_sdk.models.bookings import WithActions

Details = Iterable[tuple[str, object]]
"""Names and values."""

_NARROW = 50
_WIDE = 10_000
"""Columns when the output is not a terminal, so that no line is wrapped."""


_progress_consoles: Final[list[Console]] = []
"""The consoles that show a progress indicator now, the innermost last."""


def error_console() -> Console:
    """Return a console on standard error, for questions, warnings and errors."""
    if _progress_consoles:
        return _progress_consoles[-1]  # it prints above its indicator, and not into the same line
    return _console(stderr=True)


def _console(*, stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream.isatty()
    return Console(
        stderr=stderr,
        force_terminal=is_terminal,  # no colours in a file, whatever the environment says
        width=None if is_terminal else _WIDE,
        highlight=False,
        markup=False,
        emoji=False,
    )


def printable(value: object) -> str:
    """Format a value on one line, without characters that control the terminal.

    Otherwise a value of the service could look like other lines of the output.
    """
    line = " ".join(str(value).splitlines())
    return "".join(_printable_character(char) for char in line)


def _printable_character(char: str) -> str:
    # `isprintable` refuses every space but the usual one, such as a no-break space.
    if char.isprintable() or category(char) == "Zs":
        return char
    return "�"


def _lines(value: object) -> str:
    """Format a value on one line, or each member of a tuple on its own line; None is empty."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "\n".join(printable(member) for member in cast("tuple[object, ...]", value))
    return printable(value)


def moment(value: datetime | str | None) -> str:
    """Format a moment in its own time zone; name UTC, and return a text unchanged."""
    if not isinstance(value, datetime):
        return value or ""
    zone = " UTC" if value.tzname() == "UTC" else ""
    return f"{value:%a %d %b %Y %H:%M}{zone}"


def next_of(record: WithActions) -> tuple[str, ...]:
    """Return the next actions in words."""
    lines: list[str] = []
    for action in record.next_actions():
        line = action.name
        if not action.is_mandatory:
            line += " (optional)"
        if limit := moment(action.time_limit):
            line += f", by {limit}"
        lines.append(line)
    return tuple(lines)


def time_of(value: datetime, on: datetime) -> str:
    """Format the time of day, and how many days after `on` it is."""
    days = (value.date() - on.date()).days
    if days:
        return f"{value:%H:%M} {days:+}"
    return f"{value:%H:%M}"


_UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60))
"""Units of time, and the seconds in each."""


def age(began: datetime) -> str:
    """Format how long ago a moment was, in its largest unit."""
    seconds = int((datetime.now(UTC) - began).total_seconds())
    for unit, size in _UNITS:
        if seconds >= size:
            return count(seconds // size, unit)
    return count(max(seconds, 0), "second")


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    ending = "" if number == 1 else "s"
    return f"{number} {noun}{ending}"


def say(text: str) -> None:
    """Print a line on standard output."""
    _console().print(Text(printable(text)))


def note(text: str) -> None:
    """Print a hint on standard error, if that is a terminal."""
    console = error_console()
    if console.is_terminal:
        console.print(Text(printable(text), style="dim"))


def say_on_stderr(text: str) -> None:
    """Print a line on standard error, such as that a list is empty."""
    error_console().print(Text(printable(text)))


def warn(text: str) -> None:
    """Print a warning on standard error."""
    console = error_console()
    # Yellow, the usual colour, is hard to read on a light background.
    console.print(Text.assemble(("warning: ", "magenta"), printable(text)))


def print_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    title: str | None = None,
    on: Console | None = None,
) -> None:
    """Print a table; outside a terminal without rules, and with each row on one line.

    In a terminal, each member of a tuple has a line of its own. In a terminal of less than 50
    columns, each value has one.

    Args:
        heads: The headings of the columns.
        rows: The rows.
        right: The headings of the columns that are right-aligned.
        title: A line above the table.
        on: The console; None: that of standard output.
    """
    console = on or _console()
    if title:
        console.print(Text(printable(title), style="bold"))
    if console.is_terminal and console.width < _NARROW:
        for row in rows:
            print_details(*zip(heads, row, strict=True), on=console)
            console.print()
        return

    if console.is_terminal:
        grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    else:
        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        side: JustifyMethod = "right" if head in right else "left"
        grid.add_column(_cell(head, console), justify=side, header_style="bold", overflow="fold")
    for row in rows:
        grid.add_row(*[_cell(value, console) for value in row])
    _print(grid, console)


def _cell(value: object, console: Console) -> Text:
    text = _lines(value)
    if not console.is_terminal:
        text = text.replace("\n", ", ")
    return Text(text)


def print_blocks(rows: Sequence[Sequence[tuple[str, object]]], *, heading: int) -> None:
    """Print rows of names and values; in a terminal, each as a block, without empty values.

    A block breaks no id at the end of a line. Its first line has the first `heading` values.
    Outside a terminal, the rows are a table.
    """
    console = _console()
    if not console.is_terminal:
        names = [name for name, _ in rows[0]]
        print_table(names, [_values(row) for row in rows])
        return

    for row in rows:
        heads = [printable(value) for value in _values(row[:heading]) if value]
        console.print(Text("  ".join(heads), "bold"))
        indented = [(f"  {name}", value) for name, value in row[heading:]]
        print_details(*indented, on=console)
        console.print()


def _values(pairs: Details) -> list[object]:
    return [value for _, value in pairs]


def print_details(*pairs: tuple[str, object], on: Console | None = None) -> None:
    """Print names and values, one pair a line, without values that are None or empty.

    Each member of a tuple has a line of its own. No value is cut off.
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, value in pairs:
        if value not in {None, "", ()}:
            grid.add_row(Text(name, "dim"), Text(_lines(value)))
    for column in grid.columns:
        column.overflow = "fold"
    _print(grid, on or _console())


def print_result(document: Mapping[str, object], details: Details, *, as_json: bool) -> None:
    """Print the result of a command: its JSON document, or else names and values."""
    if as_json:
        print_json(document)
    else:
        print_details(*details)


def _print(grid: Table, console: Console) -> None:
    if console.is_terminal:
        console.print(grid)
        return
    with console.capture() as captured:
        console.print(grid)
    lines = captured.get().splitlines()
    console.file.write("".join(f"{line.rstrip()}\n" for line in lines))


def print_json(members: Mapping[str, object]) -> None:
    """Print the JSON document of a command, with characters that control a terminal escaped."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    document = json.dumps(members, indent=2, ensure_ascii=not is_unicode)
    # A line of the document is never part of a value: JSON escapes the line breaks of a value.
    sys.stdout.writelines(f"{_escape(line)}\n" for line in document.split("\n"))


def members_of(record: object, *names: str) -> dict[str, object]:
    """Return these attributes of a record as the members of a JSON object.

    Amounts are in the record's `currency`.
    """
    members: dict[str, object] = {}
    for name in names:
        value: object = getattr(record, name)
        if isinstance(value, Decimal):
            value = amount_member(value, getattr(record, "currency", None))
        elif isinstance(value, datetime):
            value = value.isoformat()
        members[name] = value
    return members


def words(*parts: object) -> str:
    """Return the parts that are not None or empty, separated by spaces."""
    return " ".join(str(part) for part in parts if part not in {None, ""})


def amount_member(amount: Decimal | None, currency: str | None) -> str | None:
    """Return an amount as a member of a JSON object, with the decimals of its currency."""
    if amount is None:
        return None
    return exact_amount(amount, currency or "")


def _escape(line: str) -> str:
    """Escape what controls the terminal as JSON escapes it, by its number."""
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)


PROGRESS_DELAY = 0.5
"""Seconds before the progress indicator appears."""


@contextmanager
def show_progress(on: str) -> Generator[Callable[[str], None], None, None]:
    """Show a progress indicator on a terminal if the block takes more than half a second.

    Yields a function that changes its text. The indicator is removed at the end.
    """
    console = _console(stderr=True)
    status = console.status(printable(on))

    def update(text: str) -> None:
        status.update(printable(text))

    if not console.is_terminal:
        yield update  # of an indicator that never appears
        return

    timer = Timer(PROGRESS_DELAY, status.start)
    timer.daemon = True
    timer.start()
    _progress_consoles.append(console)
    try:
        yield update
    finally:
        timer.cancel()
        timer.join()
        status.stop()
        _progress_consoles.remove(console)
