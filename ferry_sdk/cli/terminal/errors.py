"""Errors of the commands: messages, hints and exit codes.

`report_errors` wraps every command. It makes a `CommandError` of what the command raises, prints
it as text or as JSON, and exits with its code. For example, `ferry show b-1` raises a
`NotFoundError`:

1. `exit_code_of` returns `Exit.REJECTED`, by the error's `outcome`.
2. `_hint` finds the first row of `_HINTS` that fits: "expected an id, not a reference ...".
3. `error_fields` returns what programs get, such as the id of the request.

A write that may have happened has a hint of its own, `_hint_at_unknown`, which says what resolves
it. An interruption is one if its error says so: `_interruption`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from enum import IntEnum
from functools import wraps
from typing import TYPE_CHECKING, Final, NamedTuple

import typer
from rich.padding import Padding
from rich.text import Text

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.cli.terminal.output import (
    Details,
    error_console,
    members_of,
    print_json,
    print_result,
    printable,
)
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    NotFoundError,
    OrderError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    RequestTimeoutError,
    UnresolvedWriteError,
)
from ferry_sdk.types import JournalEntry, OrderRecord

if TYPE_CHECKING:
    from ferry_sdk.orders import Order


class Exit(IntEnum):
    """The exit codes.

    Attributes:
        DONE: The command succeeded.
        FAILED: A local failure: a missing extra, output that cannot be written, a bug.
        USAGE: The command line is invalid.
        NOT_SENT: Nothing was changed: rejected before sending, no connection, or a read without
            a reply.
        REJECTED: The service rejected the request, or nothing sails.
        UNKNOWN: A write may have happened, or an order is half done.
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


_DO_NOT_REPEAT: Final = "the write may have happened; do not repeat it"


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


def interrupted_write(record: JournalEntry | OrderRecord) -> CommandError:
    """Return the error of an interruption that left a write that is done or may have happened."""
    if isinstance(record, OrderRecord):
        return _interrupted_order(record)

    message = f"interrupted; {record.operation} is journal entry {record.id}"
    if record.is_unresolved:
        step = next_step(record.operation, record.id, record.booking_id)
        hint = f"{_DO_NOT_REPEAT}, {step}"
    else:
        hint = f"it happened; do not repeat it, run `ferry journal show {record.id}`"
    fields = members_of(record, "operation", "correlation_id", "booking_id")
    return CommandError(Exit.INTERRUPTED, message, hint=hint, **fields, entry_id=record.id)


def _interrupted_order(record: OrderRecord) -> CommandError:
    message = f"interrupted; the {record.kind} is order {record.id}"
    if record.is_finished:
        hint = f"its step has ended; do not repeat it, run `ferry orders show {record.id}`"
    else:
        hint = f"{_DO_NOT_REPEAT}, run `ferry orders resume {record.id}`"
    return CommandError(Exit.INTERRUPTED, message, hint=hint, order_id=record.id)


def print_write(
    summary: str,
    some_id: str,
    *,
    document: Mapping[str, object],
    details: Details,
    as_json: bool,
) -> None:
    """Print the result of a write as `print_result` does.

    Args:
        summary: What was done, such as "it was booked", for the error if the output fails.
        some_id: The booking, ticket or order.
        document: The JSON document.
        details: The names and values for people.
        as_json: Whether to print the document.

    Raises:
        CommandError: The output fails. The write is done, and must not be repeated.
    """
    try:
        print_result(document, details, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        problem = f"{some_id}: {summary}, but printing failed ({error.strerror or error})"
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
            hint = _hint(error, options.get("on"))
            failure = CommandError(exit_code_of(error), str(error), hint, **error_fields(error))
        except CommandError as error:
            failure = error
        except EOFError:
            failure = CommandError(Exit.DECLINED, "no answer; nothing was changed")
        except KeyboardInterrupt as error:
            failure = _interruption(error)
        except (ModuleNotFoundError, OSError) as error:
            # After a closed pipe, as in `ferry ports | head -1`, nobody reads a message.
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


def _interruption(interrupt: BaseException) -> CommandError:
    """Return the error of an interruption.

    If a write may have happened, the client raises the interruption from its error, whose message
    the user needs.
    """
    error: BaseException | None = interrupt
    while error is not None:
        if isinstance(error, FerryError) and exit_code_of(error) is Exit.UNKNOWN:
            return CommandError(Exit.UNKNOWN, f"interrupted: {error}")
        error = error.__cause__ or error.__context__
    return CommandError(Exit.INTERRUPTED, "interrupted")


def _print_error(failure: CommandError, *, as_json: bool) -> None:
    if as_json:
        error = {
            "message": str(failure),
            "hint": failure.hint,
            "exit_code": int(failure.code),
            **failure.fields,
        }
        with suppress(OSError):  # print on standard error instead
            print_json({"error": error})
            sys.stdout.flush()
            return

    console = error_console()
    console.print(Text.assemble(("ferry: ", "red"), printable(str(failure))))
    if failure.hint:
        hint = Text(printable(failure.hint))
        # Without a terminal, the padding would go on to the end of a very long line.
        console.print(Padding(hint, (0, 0, 0, 2), expand=console.is_terminal))


_FIELDS: Final = (
    "correlation_id",
    "entry_id",
    "booking_id",
    "status_code",
    "code",
    "request_id",
    "field",
    "retry_after",
)
"""The attributes of errors that programs get: no bodies, travellers or tokens."""


def error_fields(error: FerryError) -> dict[str, object]:
    """Return the fields of an error for programs."""
    values = {name: getattr(error, name, None) for name in _FIELDS}
    if isinstance(error, UnresolvedWriteError):
        values["entry_id"] = error.entry.id
        values["booking_id"] = error.entry.booking_id

    fields: dict[str, object] = {
        "type": type(error).__name__,
        "outcome": error.outcome,
        "operation": error.operation,
    }
    return fields | {name: value for name, value in values.items() if value is not None}


class _Hint(NamedTuple):
    """What the user can do about an error.

    Attributes:
        error: The class of the error.
        text: The hint.
        operation: The operation that fails; None: any.
        field: The field that is invalid; None: any.
        words: Words of its message; empty: any.
    """

    error: type[FerryError]
    text: str
    operation: str | None = None
    field: str | None = None
    words: str = ""

    def fits(self, error: FerryError) -> bool:
        """Return whether the hint is about an error."""
        return (
            isinstance(error, self.error)
            and self.operation in {None, error.operation}
            and self.field in {None, getattr(error, "field", None)}
            and self.words in str(error)
        )


_ID_EXPECTED: Final = "expected an id, not a reference or a ticket number; `ferry find` finds it"
_HINTS: Final = (
    _Hint(
        InvalidInputError,
        "pass --company, such as --company GNV",
        field="companies",
    ),
    _Hint(
        NotFoundError,
        "correct --base-url, or FERRY_BASE_URL; nothing was changed",
        words="base_url ends in",
    ),
    _Hint(NotFoundError, _ID_EXPECTED, operation="bookings.get"),
    _Hint(
        NotFoundError,
        "expected a ticket's id; with --journal, `ferry show NUMBER` prints that of a number",
        operation="tickets.get",
    ),
    _Hint(
        RequestTimeoutError,
        "not available yet, or the company sends it by e-mail; --wait 120 waits longer",
        operation="tickets.wait_pdf",
    ),
    _Hint(
        ConfigurationError,
        "set FERRY_BASE_URL, and FERRY_TOKEN or --token-file; `ferry sandbox` prints such settings",
        words="missing: ",
    ),
    _Hint(
        AuthenticationError,
        "the token is invalid or expired: that of --token-file, FERRY_TOKEN_FILE or FERRY_TOKEN",
    ),
    _Hint(PermissionDeniedError, "the token lacks the permission; it may be read-only"),
    _Hint(PriceChangedError, "nothing was confirmed"),
    _Hint(PenaltyExceededError, "nothing was cancelled"),
    _Hint(APIError, "nothing was changed"),
    _Hint(ConnectionFailedError, "nothing was changed; `ferry sandbox` starts a local service"),
)
"""The hints. The first that fits is shown, so a special one stands before a general one."""


def _hint(error: FerryError, on: object) -> str | None:
    """Return what the user can do about an error of a command, which may have a day `on`."""
    if exit_code_of(error) is Exit.UNKNOWN:
        return _hint_at_unknown(error)
    if isinstance(error, AvailabilityError) and isinstance(on, date) and on < date.today():  # noqa: DTZ011 -- the user's today
        return f"--on: {on} is past; choose a future day, such as +30"
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return f"wait {error.retry_after:.0f} seconds, then try again"
    return next((hint.text for hint in _HINTS if hint.fits(error)), None)


def _hint_at_unknown(error: FerryError) -> str:
    """Return what the user can do after a write that may have happened."""
    if isinstance(error, UnresolvedWriteError):
        entry = error.entry
        return f"not sent again; {next_step(entry.operation, entry.id, entry.booking_id)}"
    if isinstance(error, OrderError):
        return _hint_at_order(error.order)

    call = f"correlation id {error.correlation_id}"
    if not isinstance(error, OutcomeUnknownError):
        return f"{_DO_NOT_REPEAT}, ask the service about {call}"
    if error.entry_id:
        step = next_step(error.operation, error.entry_id, error.booking_id)
        return f"{_DO_NOT_REPEAT}, {step} ({call})"

    some_id = error.booking_id or next(iter(error.subject.values()), None)
    if some_id is None:
        return f"{_DO_NOT_REPEAT}, ask the service about {call}"
    # The id may come from the service, and a person pastes the command into a shell.
    command = f"ferry show {shlex.quote(some_id)}"
    return f"{_DO_NOT_REPEAT} before you have run `{command}` ({call})"


def _hint_at_order(order: Order) -> str:
    """Return what the user can do after an order that is not known, or that is half done."""
    resume = f"run `ferry orders resume {order.id}`"
    if order.state == "unknown":
        return f"{_DO_NOT_REPEAT}, {resume}"
    if order.kind != "change":
        return f"some bookings stand; do not repeat it, {resume}"

    new, old = order.parts
    cancel = f"`ferry cancel {shlex.quote(str(old.booking_id))}`"
    return (
        f"both bookings stand; do not repeat it, {resume}; "
        f"if both still stand, run {cancel} once {new.booking_id} is ticketed"
    )


def next_step(operation: str, entry_id: str, booking_id: str | None = None) -> str:
    """Return what resolves an unresolved write in a journal.

    Args:
        operation: The write.
        entry_id: Its entry.
        booking_id: The booking that it changes, or that the failed reply of a create named.
    """
    row = SAFETY.get(operation)
    if row is not None:
        names_booking = row.read_if_named is not None and booking_id is not None
        if row.confirmed_by or names_booking:
            return f"run `ferry journal recover {entry_id}`"
    return settle_step(operation, entry_id)


def settle_step(operation: str, entry_id: str) -> str:
    """Return how to record what the service has told of an unresolved write."""
    row = SAFETY.get(operation)
    command = f"ferry journal settle {entry_id}"
    happened = "--happened"
    if row is not None and row.read_if_named is not None:  # a create
        happened = "--happened --booking ID"
    return f"ask the service, then run `{command}` with {happened} or --not-happened"


def exit_code_of(error: FerryError) -> Exit:
    """Return the exit code for an error of a call."""
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        return Exit.DECLINED
    if isinstance(error, UnresolvedWriteError):
        return Exit.UNKNOWN
    if isinstance(error, OrderError) and error.order.state == "partial":
        return Exit.UNKNOWN
    if error.outcome == "rejected":
        return Exit.REJECTED

    row = SAFETY.get(error.operation)
    is_read = row is not None and row.is_read
    if error.outcome == "unknown" and not is_read:
        return Exit.UNKNOWN
    return Exit.NOT_SENT
