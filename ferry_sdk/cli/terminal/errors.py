"""Errors of the commands: messages, hints and exit codes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from enum import IntEnum
from functools import wraps
from typing import Final

import typer
from rich.text import Text

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.data import data_beside
from ferry_sdk.cli.terminal.output import (
    Facts,
    error_console,
    members_of,
    print_json,
    print_result,
    printable,
)
from ferry_sdk.errors import (
    AvailabilityError,
    FerryError,
    OrderError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PriceChangedError,
    RateLimitError,
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


class CommandError(Exception):
    """A command failed, was declined or was interrupted. It is no error of the library.

    Attributes:
        code: The exit code.
        hint: What the user can do.
        fields: Its fields for programs.
    """

    def __init__(self, code: Exit, text: str, /, hint: str | None = None, **fields: object) -> None:
        super().__init__(text)
        self.code: Exit = code
        self.hint: str | None = hint
        self.fields: dict[str, object] = fields


def interrupted_write(written: JournalEntry | OrderRecord) -> CommandError:
    """Return the error of an interruption that left a write that is done or may have happened."""
    if isinstance(written, OrderRecord):
        message = f"interrupted; the {written.kind} is order {written.id}"
        hint = f"its step has ended; do not repeat it, run `ferry orders show {written.id}`"
        if not written.is_finished:
            hint = f"{_DO_NOT_REPEAT}, run `ferry orders resume {written.id}`"
        return CommandError(Exit.INTERRUPTED, message, hint=hint, order_id=written.id)
    message = f"interrupted; {written.operation} is journal entry {written.id}"
    hint = f"it happened; do not repeat it, run `ferry journal show {written.id}`"
    if written.is_unresolved:
        hint = f"{_DO_NOT_REPEAT}, {next_step(written.operation, written.id, written.booking_id)}"
    fields = members_of(written, "operation", "correlation_id", "booking_id")
    return CommandError(Exit.INTERRUPTED, message, hint=hint, **fields, entry_id=written.id)


def print_written(
    done: str, some_id: str, document: Mapping[str, object], facts: Facts, *, as_json: bool
) -> None:
    """Print the result of a write as `print_result` does.

    `done` says what was done, as a sentence, to the booking, ticket or order `some_id`.

    Raises:
        CommandError: The output fails.
    """
    try:
        print_result(document, facts, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        problem = f"{some_id}: {done}, but printing failed ({error.strerror or error})"
        hint = "do not repeat it; run `ferry show`"
        raise CommandError(Exit.UNKNOWN, problem, hint=hint) from None


def report_errors(command: Callable[..., Exit | None]) -> Callable[..., None]:
    """Wrap a command to exit with the code that it returns, or with a message when it fails."""

    @wraps(command)
    def run(**options: object) -> None:
        as_json = bool(options.get("as_json"))
        try:
            result = command(**options)
            sys.stdout.flush()
        except FerryError as error:
            hint, fields = _hint(error, options.get("on")), _error_fields(error)
            failure = CommandError(exit_code_of(error), str(error), hint, **fields)
        except CommandError as error:
            failure = error
        except EOFError:
            failure = CommandError(Exit.DECLINED, "no answer; nothing was changed")
        except KeyboardInterrupt as error:
            failure = _interruption(error)
        except (ModuleNotFoundError, OSError) as error:
            text = "" if isinstance(error, BrokenPipeError) else str(error)
            failure = CommandError(Exit.FAILED, text)
        else:
            raise typer.Exit(result or Exit.DONE)
        if str(failure):
            _print_error(failure, as_json=as_json)
        try:
            sys.stdout.flush()
        except OSError:  # discard the buffer, so that the interpreter's exit does not fail
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(failure.code)

    return run


def _interruption(stop: BaseException) -> CommandError:
    """Return the error of an interruption, with what it leaves if it leaves something."""
    error: BaseException | None = stop
    while error is not None:
        if isinstance(error, FerryError) and exit_code_of(error) is Exit.UNKNOWN:
            return CommandError(Exit.UNKNOWN, f"interrupted: {error}")
        error = error.__cause__ or error.__context__
    return CommandError(Exit.INTERRUPTED, "interrupted")


def _print_error(failure: CommandError, *, as_json: bool) -> None:
    message, hint = str(failure), failure.hint
    if as_json:
        error = {"message": message, "hint": hint, "exit_code": int(failure.code), **failure.fields}
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
    names = ("correlation_id", "entry_id", "booking_id", "status_code", "code", "request_id")
    values = {name: getattr(error, name, None) for name in (*names, "field", "retry_after")}
    if isinstance(error, UnresolvedWriteError):
        values["entry_id"], values["booking_id"] = error.entry.id, error.entry.booking_id
    known = {name: value for name, value in values.items() if value is not None}
    kind = type(error).__name__
    return {"type": kind, "outcome": error.outcome, "operation": error.operation, **known}


def _hint(error: FerryError, on: object) -> str | None:
    """Return what the user can do about an error of a command, which may have a day `on`."""
    if exit_code_of(error) is Exit.UNKNOWN:
        return _hint_at_unknown(error)
    if isinstance(error, AvailabilityError) and isinstance(on, date) and on < date.today():  # noqa: DTZ011 -- the user's today
        return f"--on: {on} is past; choose a future day, such as +30"
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return f"wait {error.retry_after:.0f} seconds, then try again"
    details = (f" {error.operation}", f" {getattr(error, 'field', None)}", "")
    names = (kind.__name__ + detail for kind in type(error).__mro__ for detail in details)
    return next((_HINTS[name] for name in names if name in _HINTS), None)


_DO_NOT_REPEAT = "the write may have happened; do not repeat it"


def _hint_at_unknown(error: FerryError) -> str:
    if isinstance(error, UnresolvedWriteError):
        entry = error.entry
        return f"not sent again; {next_step(entry.operation, entry.id, entry.booking_id)}"
    if isinstance(error, OrderError):
        return f"{_DO_NOT_REPEAT}, run `ferry orders resume {error.order.id}`"
    about = f"correlation id {error.correlation_id}"
    if not isinstance(error, OutcomeUnknownError):
        return f"{_DO_NOT_REPEAT}, ask the service about {about}"
    if error.entry_id:
        step = next_step(error.operation, error.entry_id, error.booking_id)
        return f"{_DO_NOT_REPEAT}, {step} ({about})"

    some_id = error.booking_id or next(iter(error.subject.values()), None)
    if some_id is None:
        return f"{_DO_NOT_REPEAT}, ask the service about {about}"
    # The service may have named it, and a person pastes the command into a shell.
    command = f"ferry show {shlex.quote(some_id)}"
    return f"{_DO_NOT_REPEAT} before you have run `{command}` ({about})"


def next_step(operation: str, entry_id: str, booking_id: str | None = None) -> str:
    """Return what resolves an unresolved write in a journal.

    Args:
        operation: The write.
        entry_id: Its entry.
        booking_id: The booking that it changes, or that the failed reply of a create named.
    """
    row = SAFETY.get(operation)
    is_named = row is not None and row.read_if_named is not None and booking_id is not None
    if row is not None and (row.confirmed_by or is_named):
        return f"run `ferry journal recover {entry_id}`"
    command = f"ferry journal settle {entry_id}"
    return f"ask the service, then run `{command}` with --happened or --not-happened"


_HINTS: Final[Mapping[str, str]] = data_beside(__file__)
"""Hints by the class of an error, and by its operation or field."""


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
