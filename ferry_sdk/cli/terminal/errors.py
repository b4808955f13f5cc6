"""Errors of the commands: messages, hints and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from enum import IntEnum
from functools import wraps
from typing import Final

import typer
from rich.text import Text

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.data import data_beside
from ferry_sdk.cli.terminal.output import error_console, print_json, printable
from ferry_sdk.errors import (
    AvailabilityError,
    FerryError,
    InvalidInputError,
    NotFoundError,
    OrderError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PriceChangedError,
    RateLimitError,
    RequestTimeoutError,
    UnresolvedWriteError,
)
from ferry_sdk.types import JournalEntry, OrderRecord


class Exit(IntEnum):
    """The exit codes.

    Attributes:
        DONE: The command succeeded.
        FAILED: A local failure: a file, a missing extra, a bug.
        USAGE: The command line is invalid.
        NOT_SENT: Nothing was changed: rejected before sending, no connection, or a read without
            a reply.
        REJECTED: The service rejected the request, or nothing sails.
        UNKNOWN: A write that may have happened.
        DECLINED: The user or a guard declined.
        INTERRUPTED: Ctrl-C or SIGTERM.
    """

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_SENT = 3
    REJECTED = 4
    UNKNOWN = 5
    DECLINED = 6
    INTERRUPTED = 130


class DeclinedError(Exception):
    """The user declined; nothing was changed."""


class NoTripsError(Exception):
    """Nothing sails."""


class OutputError(Exception):
    """A write succeeded, but its result could not be printed on standard output."""


class WriteInterruptedError(KeyboardInterrupt):
    """An interruption left a write or an order in the journal that is done, or may have happened.

    Attributes:
        hint: What the user can do.
        fields: Its fields for programs.
    """

    def __init__(self, written: JournalEntry | OrderRecord) -> None:
        if isinstance(written, OrderRecord):
            super().__init__(f"interrupted; the {written.kind} is order {written.id}")
            self.hint: str = _hint_at_order(written)
            self.fields: dict[str, object] = {"order_id": written.id}
        else:
            super().__init__(f"interrupted; {written.operation} is journal entry {written.id}")
            self.hint = _hint_at_entry(written)
            self.fields = {
                "operation": written.operation,
                "correlation_id": written.correlation_id,
                "entry_id": written.id,
            }


@contextmanager
def report_output_failure(done: str, some_id: str) -> Generator[None, None, None]:
    """Print the result of a write in this block; raise OutputError if the output fails.

    `done` says what was done, as a sentence, to the booking or ticket `some_id`.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        problem = error.strerror or error
        raise OutputError(f"{some_id}: {done}, but printing failed ({problem})") from None


_FAILURES: tuple[tuple[type[BaseException], Exit, str | None], ...] = (
    (DeclinedError, Exit.DECLINED, None),
    (NoTripsError, Exit.REJECTED, None),
    (WriteInterruptedError, Exit.INTERRUPTED, None),
    (KeyboardInterrupt, Exit.INTERRUPTED, "interrupted"),
    (EOFError, Exit.DECLINED, "no answer; nothing was changed"),
    (OutputError, Exit.UNKNOWN, None),
    (BrokenPipeError, Exit.FAILED, ""),
    (ModuleNotFoundError, Exit.FAILED, None),
    (OSError, Exit.FAILED, None),
)
"""Exit code and message of each exception that is not the library's; None: its own text."""


def report_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command to print a message and exit with the right code when it fails."""

    @wraps(command)
    def run(**options: object) -> None:
        as_json = bool(options.get("as_json"))
        hint: str | None = None
        about: dict[str, object] = {}
        try:
            command(**options)
            sys.stdout.flush()
        except FerryError as error:
            code, message, about = exit_code_of(error), str(error), _error_fields(error)
            hint = _hint_at_past_day(error, options) or _hint(error)
        except tuple(kind for kind, _, _ in _FAILURES) as error:
            code, text = next(
                (code, text) for kind, code, text in _FAILURES if isinstance(error, kind)
            )
            message = str(error) if text is None else text
            if isinstance(error, OutputError):
                as_json, hint = False, "do not repeat it; run `ferry show`"
            elif isinstance(error, WriteInterruptedError):
                about, hint = error.fields, error.hint
            elif isinstance(error, KeyboardInterrupt) and (left := _left_by(error)) is not None:
                code, message = Exit.UNKNOWN, f"{text}: {left}"
        else:
            return
        if message:
            _print_error(message, hint, code, about, as_json=as_json)
        try:
            sys.stdout.flush()
        except OSError:  # discard the buffer, so that the interpreter's exit does not fail
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(code)

    return run


def _left_by(stop: BaseException) -> FerryError | None:
    """Return the error that tells what an interruption leaves; None if it leaves nothing."""
    error: BaseException | None = stop
    while error is not None:
        if isinstance(error, FerryError) and exit_code_of(error) is Exit.UNKNOWN:
            return error
        error = error.__cause__ or error.__context__
    return None


def _print_error(
    message: str, hint: str | None, code: Exit, about: dict[str, object], *, as_json: bool
) -> None:
    if as_json:
        error = {"message": message, "hint": hint, "exit_code": int(code), **about}
        with suppress(OSError):  # print on standard error instead
            print_json({"error": error})
            sys.stdout.flush()
            return
    console = error_console()
    console.print(Text.assemble(("ferry: ", "red"), printable(message)))
    if hint:
        console.print(Text.assemble("  ", printable(hint)))


def _error_fields(error: FerryError) -> dict[str, object]:
    """Return the fields of an error for programs, without bodies, travellers or tokens."""
    names = ("correlation_id", "entry_id", "status_code", "code", "request_id", "field")
    values = {name: getattr(error, name, None) for name in (*names, "retry_after")}
    return {
        "type": type(error).__name__,
        "outcome": error.outcome,
        "operation": error.operation,
        **({"entry_id": error.entry.id} if isinstance(error, UnresolvedWriteError) else {}),
        **{name: value for name, value in values.items() if value is not None},
    }


def _hint(error: FerryError) -> str | None:
    """Return what the user can do about an error."""
    if exit_code_of(error) is Exit.UNKNOWN:
        return _hint_at_unknown(error)
    if isinstance(error, InvalidInputError) and error.field == "companies":
        return "pass --company, such as --company GNV"
    if isinstance(error, NotFoundError) and error.operation in {"bookings.get", "tickets.get"}:
        return "an id is expected, not a booking's reference or a ticket's number"
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return f"wait {error.retry_after:.0f} seconds, then try again"
    if isinstance(error, RequestTimeoutError) and error.operation == "tickets.wait_pdf":
        return "not available yet, or the company sends it by e-mail; --wait 120 waits longer"
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_HINTS[name] for name in names if name in _HINTS), None)


_DO_NOT_REPEAT = "the write may have happened; do not repeat it"


def _hint_at_entry(entry: JournalEntry) -> str:
    if entry.is_unresolved:
        return f"{_DO_NOT_REPEAT}, {next_step(entry.operation, entry.id)}"
    return f"it happened; do not repeat it, run `ferry journal show {entry.id}`"


def _hint_at_order(order: OrderRecord) -> str:
    if order.is_finished:
        return f"its step has ended; do not repeat it, run `ferry orders show {order.id}`"
    return f"{_DO_NOT_REPEAT}, run `ferry orders resume {order.id}`"


def _hint_at_unknown(error: FerryError) -> str:
    if isinstance(error, UnresolvedWriteError):
        return f"not sent again; {next_step(error.entry.operation, error.entry.id)}"
    if isinstance(error, OrderError):
        return f"{_DO_NOT_REPEAT}, run `ferry orders resume {error.order.id}`"
    about = f"correlation id {error.correlation_id}"
    advice = _DO_NOT_REPEAT
    if not isinstance(error, OutcomeUnknownError) or not (error.entry_id or error.subject):
        return f"{advice}, ask the service about {about}"
    if error.entry_id:
        return f"{advice}, {next_step(error.operation, error.entry_id)} ({about})"
    command = f"ferry show {next(iter(error.subject.values()))}"
    return f"{advice} before you have run `{command}` ({about})"


def next_step(operation: str, entry_id: str) -> str:
    """Return what resolves an unresolved write in a journal."""
    row = SAFETY.get(operation)
    if row is not None and row.confirmed_by:
        return f"run `ferry journal recover {entry_id}`"
    return (
        f"ask the service, then run `ferry journal settle {entry_id}` "
        "with --happened or --not-happened"
    )


def _hint_at_past_day(error: FerryError, options: Mapping[str, object]) -> str | None:
    """Return a hint if there is no sailing because the requested day is past."""
    if not isinstance(error, AvailabilityError):
        return None
    for option in ("on", "back"):
        day = options.get(option)
        if isinstance(day, date) and day < date.today():  # noqa: DTZ011 -- the user's today
            return f"--{option}: {day} is past; choose a future day, such as +30"
    return None


_HINTS: Final[Mapping[str, str]] = data_beside(__file__)
"""Hints by the class of an error."""


def exit_code_of(error: FerryError) -> Exit:
    """Return the exit code for an error of a call."""
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        return Exit.DECLINED
    if isinstance(error, UnresolvedWriteError):
        return Exit.UNKNOWN
    if error.outcome == "rejected":
        return Exit.REJECTED
    row = SAFETY.get(error.operation)
    may_have_happened = error.outcome == "unknown" and (row is None or not row.is_read)
    return Exit.UNKNOWN if may_have_happened else Exit.NOT_SENT
