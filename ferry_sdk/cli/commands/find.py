"""`ferry find`: find bookings by reference, ticket number or a traveller's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.show import booking_members, names_of, sailings_of
from ferry_sdk.cli.lookup import MOST_READS, BookingAnswer, matches, read_bookings
from ferry_sdk.cli.terminal.errors import CommandError, Exit, error_fields, exit_code_of
from ferry_sdk.cli.terminal.options import (
    Common,
    JournalUrl,
    open_journal,
    option,
    parse_moment,
)
from ferry_sdk.cli.terminal.output import (
    count,
    print_blocks,
    print_json,
    say_on_stderr,
    show_progress,
    warn,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.orders.progress import find_replacements
from ferry_sdk.planning.names import fold

_TEXT = typer.Argument(
    metavar="TEXT", help="A reference, a ticket number or a name; a beginning is enough."
)
_SINCE = option(
    "MOMENT",
    help="Only bookings with a write since then; -7: seven days ago.",
    parse=parse_moment,
)
_ENDED: Final = {Stage.VOIDED, Stage.LAPSED}
_LIMIT = option("N", help="Read at most so many bookings, the newest.", min=1)


def find(
    *,
    text: Annotated[list[str], _TEXT],
    journal: JournalUrl,
    since: Annotated[datetime | None, _SINCE] = None,
    limit: Annotated[int, _LIMIT] = MOST_READS,
    common: Common,
) -> None:
    """Find bookings on record by reference, ticket number or name.

    Reads the bookings that the journal names, the newest ones, and shows those in force first.
    Accents, case and the order of words do not matter.

    Example: ferry find nunez zelie
    """
    wanted = " ".join(text)
    if not fold(wanted):
        raise typer.BadParameter("expected letters or digits", param_hint="TEXT")

    with open_journal(journal) as record:
        ids = record.newest_bookings(since=since, limit=limit + 1)
        replacements = find_replacements(record)
    has_more = len(ids) > limit
    ids = ids[:limit]

    answers: list[BookingAnswer] = []
    with common.open_client() as ferry, show_progress(_progress(0, ids)) as update:
        for answer in read_bookings(ferry, ids):
            answers.append(answer)
            update(_progress(len(answers), ids))

    bookings = [answer.value for answer in answers if answer.value is not None]
    unread = [answer for answer in answers if answer.error is not None]
    if unread and not bookings:
        raise _none_read(unread[0], ids)
    if unread:
        first = unread[0]
        number = count(len(unread), "booking")
        warn(f"{number} could not be read, such as {first.key}: {first.error}")

    found = [booking for booking in bookings if matches(booking, wanted)]
    found.sort(key=lambda booking: booking.stage in _ENDED)  # those in force are first
    if common.as_json:
        print_json(
            {
                "bookings": [_members(booking, replacements) for booking in found],
                "read": len(bookings),
                "has_more": has_more,
                "unread": [_unread_members(answer) for answer in unread],
            }
        )
        return

    references = {booking.booking_id: booking.booking_reference for booking in bookings}
    # The id names a new booking that was not read.
    names = {old: references.get(new) or new for old, new in replacements.items()}
    if found:
        details = [_details(booking, names.get(booking.booking_id)) for booking in found]
        print_blocks(details, heading=3)
    say_on_stderr(_summary(len(found), len(bookings), limit=limit, has_more=has_more))


def _progress(number: int, ids: Sequence[str]) -> str:
    return f"Reading the bookings, {number}/{len(ids)}"


def _none_read(answer: BookingAnswer, ids: Sequence[str]) -> CommandError:
    """Return the error of a list of which no booking could be read, made from its first answer."""
    number = count(len(ids), "booking")
    message = f"none of the {number} on record could be read, such as {answer.key}: {answer.error}"
    if answer.error is None:
        return CommandError(Exit.FAILED, message)
    hint = "the address or the token may be another one than that of the journal's bookings"
    code = exit_code_of(answer.error)
    return CommandError(code, message, hint, **error_fields(answer.error))


def _unread_members(answer: BookingAnswer) -> dict[str, object]:
    problem = {"type": type(answer.error).__name__, "message": str(answer.error)}
    return {"booking_id": answer.key, "error": problem}


def _members(booking: Booking, replacements: Mapping[str, str]) -> dict[str, object]:
    """Return a booking of a list as a JSON object."""
    return {**booking_members(booking), "replaced_by": replacements.get(booking.booking_id)}


def _details(booking: Booking, replaced_by: str | None) -> list[tuple[str, object]]:
    """Return a booking of a list as names and values."""
    numbers = [ticket.ticket_number for ticket in booking.tickets if ticket.ticket_number]
    return [
        ("reference", booking.booking_reference),
        ("stage", booking.stage),
        ("total", money(booking.total_price, booking.currency)),
        ("replaced by", replaced_by),
        ("sailings", tuple(sailings_of(booking.tickets))),
        ("travellers", ", ".join(names_of(booking.tickets))),
        ("tickets", ", ".join(numbers)),
        ("booking", booking.booking_id),
    ]


def _summary(found: int, read: int, *, limit: int, has_more: bool) -> str:
    """Return how many bookings were read, and how many of them match."""
    number = count(read, "booking")
    result = f"found {found}" if found else "found none"
    advice = "" if found else " The beginning of a word matches, its middle does not."
    if has_more:
        more = f"--limit {limit * 4} reads more"
        return f"Read the newest {number} on record, {result}; {more}.{advice}"
    return f"Read {number} on record, {result}.{advice}"
