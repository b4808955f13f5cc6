"""Find bookings of a journal by reference, ticket number or a traveller's name.

A journal stores ids and no traveller's data, so the bookings are read from the service:

1. `CommandJournal.newest_bookings` gives the ids, newest first.
2. `read_bookings` reads some of them at the same time, and the next ones when those are read.
3. `matches` compares words without accents, case and punctuation, in any order. A word may be the
   beginning of another one: "nunez ze" finds Zélie Núñez. "mueller" finds Müller, and the digits of
   a ticket number find it without its letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ferry_sdk._engine.batch import Batch, BatchAnswer, Plan, all_answers
from ferry_sdk.client.functions import plan_function
from ferry_sdk.errors import (
    AuthenticationError,
    ConfigurationError,
    PermissionDeniedError,
    TransportError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.planning.names import fold
from ferry_sdk.resources.bookings import BookingsGroup

if TYPE_CHECKING:
    from ferry_sdk._engine.effects import Flow
    from ferry_sdk._engine.settings import Settings
    from ferry_sdk.client import Ferry

BookingAnswer = BatchAnswer[str, Booking]
MOST_READS: Final = 50
"""How many bookings are read, unless the user sets another number."""

_CHUNK: Final = 16
"""How many bookings are read at the same time."""
_OF_EVERY_READ: Final = (AuthenticationError, PermissionDeniedError, ConfigurationError)
"""The errors that all other reads would meet as well."""


_AS_TWO_LETTERS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
"""How passports and keyboards without these letters write them."""
_LONGEST_TEXT: Final = 300
"""Characters that are compared, because the time of `unicodedata.normalize` can be quadratic."""
_FEWEST_DIGITS: Final = 4
"""Fewer digits of a ticket number would match too many."""


def read_bookings(ferry: Ferry, ids: Sequence[str]) -> Iterator[BookingAnswer]:
    """Read bookings, and yield each with its id, or the error of its read, in the order of the ids.

    Raises:
        FerryError: The service cannot be reached, or refuses the token.
    """
    for start in range(0, len(ids), _CHUNK):
        answers = _read_chunk(ferry, ids[start : start + _CHUNK])
        first_error = answers[0].error
        if first_error is not None and all(
            isinstance(answer.error, TransportError) for answer in answers
        ):
            raise first_error
        for answer in answers:
            if isinstance(answer.error, _OF_EVERY_READ):
                raise answer.error
        yield from answers


@plan_function
def _read_chunk(ferry: Ferry, ids: Sequence[str]) -> Plan[list[BookingAnswer]]:
    """Read bookings at the same time."""
    del ferry

    def steps(settings: Settings) -> Flow[list[BookingAnswer]]:
        del settings
        batch = Batch[str, Booking]()
        for booking_id in ids:
            batch.add(booking_id, BookingsGroup.get(None, booking_id))
        return (yield from all_answers(batch))

    return Plan(steps)


def matches(booking: Booking, text: str) -> bool:
    """Return whether a reference, a ticket number or a traveller's name is what a text means."""
    texts = _numbers_of(booking)
    if any(_has_digits(number, text) for number in texts):
        return True

    for ticket in booking.tickets:
        texts += [f"{who.first_name} {who.last_name}" for who in ticket.passengers]
    wanted = [fold(spelling).split() for spelling in _spellings(text)]
    for each in texts:
        for spelling in _spellings(each):
            if any(_has_words(spelling, words) for words in wanted):
                return True
    return False


def _spellings(text: str) -> set[str]:
    """Return a text as it is, and with two letters for each umlaut."""
    # Some systems write an umlaut as two characters, which are made one.
    composed = unicodedata.normalize("NFC", text[:_LONGEST_TEXT]).lower()
    return {text, composed.translate(_AS_TWO_LETTERS)}


def _has_digits(number: str, text: str) -> bool:
    """Return whether a text consists of digits, with which those of a number begin."""
    wanted = "".join(text.split())
    digits = "".join(char for char in number if char.isdecimal())
    return wanted.isdecimal() and len(wanted) >= _FEWEST_DIGITS and digits.startswith(wanted)


def _has_words(name: str, wanted: Sequence[str]) -> bool:
    """Return whether each wanted word begins a word of a name, or all of them the name itself."""
    words = fold(name).split()
    if "".join(words).startswith("".join(wanted)):  # CTN0001 is CTN-0001
        return True
    words += [fold(part).replace(" ", "") for part in name.split()]  # obrien is O'Brien

    def begins_a_word(start: str) -> bool:
        return any(word.startswith(start) for word in words)

    return all(begins_a_word(start) for start in wanted)


def has_number(booking: Booking, text: str) -> bool:
    """Return whether a text is the whole reference or ticket number of a booking."""
    wanted = fold(text).replace(" ", "")
    return any(fold(number).replace(" ", "") == wanted for number in _numbers_of(booking))


def _numbers_of(booking: Booking) -> list[str]:
    """Return the reference of a booking and the numbers of its tickets."""
    numbers = [booking.booking_reference]
    numbers += [ticket.ticket_number or "" for ticket in booking.tickets]
    return [number for number in numbers if fold(number)]
