"""`ferry conform`: compare the service with what the client assumes of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk._transport.sync import save
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common, Yes, option, parse_amount, problem_of
from ferry_sdk.cli.terminal.output import (
    count,
    moment,
    print_json,
    print_table,
    say,
    show_progress,
    warn,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.cli.trips.searches import unreadable_members
from ferry_sdk.conformance import ConformanceReport, check, check_with_booking
from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.planning.results import describe_unreadable


@dataclass(frozen=True)
class CheckOptions:
    """The options of what is read and written.

    Attributes:
        booking: Also read the fields of this booking.
        ticket: Also read the fields of this ticket.
        profile: Write what differs, for the local service.
        book: Also make an unpaid booking, and cancel it.
        max_price: With --book: the highest price.
        currency: The currency of --max-price.
    """

    booking: Annotated[str | None, option("ID")] = None
    ticket: Annotated[str | None, option("ID")] = None
    profile: Annotated[Path | None, option("FILE")] = None
    book: Annotated[bool, typer.Option("--book")] = False
    max_price: Annotated[Decimal | None, option("AMOUNT", parse=parse_amount)] = None
    currency: Annotated[str, typer.Option()] = "EUR"


def conform(*, options: CheckOptions, yes: Yes = False, common: Common) -> Exit:
    """Compare the service with what the client assumes of it. Exits with 1 if it differs.

    It only reads, except with --book: then it makes one booking, never pays it, and cancels it.
    """
    _check(options)
    with common.open_client() as ferry:
        if options.max_price is not None:
            report = check_with_booking(
                ferry,
                max_price=options.max_price,
                currency=options.currency,
                approve=partial(_approve, yes=yes),
            )
        else:
            with show_progress("Reading"):
                report = check(
                    ferry,
                    booking_id=options.booking,
                    ticket_id=options.ticket,
                )

    if options.profile is not None:
        _write(options.profile, report)
    if common.as_json:
        print_json({"conformance": _members(report)})
    else:
        _print(report)
    if report.left is not None:
        return Exit.UNKNOWN
    return Exit.FAILED if report.differs else Exit.DONE


def _check(options: CheckOptions) -> None:
    """Raise BadParameter if the options exclude each other."""
    if options.book != (options.max_price is not None):
        raise typer.BadParameter("--book and --max-price require each other")
    if options.book and (options.booking or options.ticket):
        raise typer.BadParameter("--book has a booking of its own, so omit --booking and --ticket")


def _approve(sailing: Availability, tariff: Tariff, *, yes: bool) -> None:
    price = money(tariff.amount, tariff.currency)
    where = f"{sailing.depart_name} to {sailing.arrive_name}, {moment(sailing.depart_at)}"
    ask_consent(f"Book {where}, from {price}, unpaid, and cancel it?", yes=yes)


def _members(report: ConformanceReport) -> dict[str, object]:
    """Return a report as a JSON object."""
    return {
        **asdict(report),
        "unreadable": unreadable_members(report.unreadable),
        "profile": report.profile(),
    }


def _write(file: Path, report: ConformanceReport) -> None:
    try:
        save(file, f"{json.dumps(report.profile(), indent=2)}\n".encode())
    except InvalidInputError as error:
        raise InvalidInputError(problem_of(error), field=str(file)) from None


def _print(report: ConformanceReport) -> None:
    """Print the rows that a check can show, and what is assumed instead of what differs."""
    can_be_seen = {assumption.id for assumption in ASSUMPTIONS if assumption.probe in PROBES}
    rows = [row for row in report.rows if row.id in can_be_seen]
    heads = ("assumption", "verdict", "seen")
    print_table(heads, [(row.id, row.verdict, row.seen) for row in rows])
    for row in rows:
        if row.verdict == "differs":
            say(f"{row.id}: {row.seen}, but assumed: {row.assumption}")

    if report.unreadable:
        warn(f"{describe_unreadable(report.unreadable)}: the rows tell of the others alone")
    verdicts = Counter(row.verdict for row in rows)
    numbers = [f"{verdicts[verdict]} {verdict}" for verdict in ("holds", "differs", "not seen")]
    say(f"{', '.join(numbers)}; {count(report.requests, 'request')}.")
