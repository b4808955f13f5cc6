"""`ferry reconcile`: compare a file of payments with the bookings on record."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import ValidationError

from ferry_sdk import aftersales
from ferry_sdk._runtime.money import money
from ferry_sdk.aftersales import Payment, Reconciliation
from ferry_sdk.aftersales.payments import KINDS, Discrepancy
from ferry_sdk.cli.commands.journal.output import entry_members
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import (
    Common,
    JournalUrl,
    csv_delimiter,
    open_journal,
    read_input,
)
from ferry_sdk.cli.terminal.output import (
    count,
    members_of,
    print_json,
    print_table,
    say,
    show_progress,
    warn,
)
from ferry_sdk.errors import ConfigurationError, InvalidInputError
from ferry_sdk.models.base import path_of

if TYPE_CHECKING:
    from decimal import Decimal

    from ferry_sdk.journal import Journal

_FILE = "CSV with booking_id, amount, currency; also reference, refunded. - is stdin."
_AMOUNTS: Final = ("amount", "refunded")
_DECIMAL_COMMA: Final = re.compile(r"-?\d+,\d+", re.ASCII)
_THOUSANDS: Final = re.compile(r"\d[.,'\u2019\s]\d{3}(?!\d)")
_NAMES = tuple(Payment.model_fields)
_REQUIRED = tuple(name for name, field in Payment.model_fields.items() if field.is_required())


def reconcile(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=_FILE)],
    journal: JournalUrl,
    common: Common,
) -> Exit:
    """Compare payments with the bookings on record.

    Exits with 1 if something does not agree, or if a write in the journal is unresolved.
    """
    payments = [*_read(file)]
    with (
        _open(journal) as record,
        common.open_client() as ferry,
        show_progress("Reading the bookings"),
    ):
        report = aftersales.reconcile(ferry, record, payments)

    if report.unresolved:
        writes = count(len(report.unresolved), "unresolved write")
        warn(f"{writes} in the journal; run `ferry journal list --state unresolved`")
    rows = report.rows()
    if common.as_json:
        print_json({"reconciliation": _document(report)})
    elif rows:
        heads = ("problem", "booking", "expected", "found")
        table = [_cells(kind, discrepancy) for kind, discrepancy in rows]
        print_table(heads, table, right=("expected", "found"))
    else:
        say(f"{count(len(payments), 'payment')}, no discrepancy.")
    return Exit.DONE if report.is_clean else Exit.FAILED


def _open(url: str) -> Journal:
    try:
        return open_journal(url)
    except ModuleNotFoundError as error:  # its exit code would be that of a discrepancy
        raise ConfigurationError(str(error)) from None


def _read(file: Path) -> Iterator[Payment]:
    """Read the payments of a CSV file.

    Raises:
        InvalidInputError: The file cannot be read; the message names the line and the column.
    """
    content = read_input(file)
    delimiter = csv_delimiter(content)
    reader = csv.DictReader(StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [name.strip().lower() for name in reader.fieldnames or ()]
        problems = [f"no column {name}" for name in _REQUIRED if name not in columns]
        problems += [f"two columns {name}" for name in _NAMES if columns.count(name) > 1]
        if problems:
            raise InvalidInputError(problems[0], field=f"{file}: line 1")
        reader.fieldnames = columns
        for row in reader:
            where = f"{file}: line {reader.line_num}"
            yield _parse(row, where, has_decimal_commas=delimiter == ";")
    except csv.Error as error:
        raise InvalidInputError(str(error), field=f"{file}: line {reader.line_num}") from None


def _parse(
    row: Mapping[str | None, str | None], where: str, *, has_decimal_commas: bool
) -> Payment:
    if None in row:
        raise InvalidInputError("more values than columns", field=where)
    members = {name: row.get(name) or None for name in _NAMES}
    if has_decimal_commas:
        for name in _AMOUNTS:
            amount = members[name]
            if amount is not None and _DECIMAL_COMMA.fullmatch(amount):
                members[name] = amount.replace(",", ".")
    try:
        return Payment.model_validate(members)
    except ValidationError as error:
        column, problem = path_of(error)
    value = members[column]
    if value is None:
        problem = "expected a value"
    elif column in _AMOUNTS and _THOUSANDS.search(value):
        problem = "expected an amount without thousands separators"
    raise InvalidInputError(problem, field=f"{where}, column {column}")


def _document(report: Reconciliation) -> dict[str, list[dict[str, object]]]:
    document = {kind: _members(getattr(report, kind)) for kind in KINDS}
    document["unresolved"] = [entry_members(entry) for entry in report.unresolved]
    return document


def _members(discrepancies: Iterable[Discrepancy]) -> list[dict[str, object]]:
    names = Discrepancy.__dataclass_fields__
    return [members_of(discrepancy, *names) for discrepancy in discrepancies]


def _cells(kind: str, discrepancy: Discrepancy) -> tuple[str, ...]:
    """Return a row of the table."""
    seen = _amount(discrepancy.found, discrepancy.currency)
    if kind == "total_differs" and discrepancy.found is None:
        seen = "another currency"
    return (
        kind.replace("_", " "),
        discrepancy.booking_id,
        _amount(discrepancy.expected, discrepancy.currency),
        seen,
    )


def _amount(value: Decimal | None, currency: str | None) -> str:
    if value is None:
        return "not known"
    return money(value, currency or "")
