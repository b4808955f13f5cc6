"""Errors of the commands: messages, hints and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import date
from enum import IntEnum
from functools import wraps

import typer
from rich.text import Text

from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.cli.terminal.output import error_console, print_json, printable
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    OutcomeUnknownError,
    PenaltyExceededError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    RequestTimeoutError,
    UnresolvedWriteError,
)
from ferry_sdk.safety import SAFETY


class DeclinedError(Exception):
    """The user declined; nothing was changed."""


class OutputError(Exception):
    """A write succeeded, but its result could not be printed on standard output."""


@contextmanager
def report_output_failure(done: str, some_id: str) -> Generator[None, None, None]:
    """Print the result of a write in this block; report a failed output as a completed write.

    Args:
        done: What was done, as a sentence.
        some_id: The booking or ticket.

    Raises:
        OutputError: The output failed.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        problem = error.strerror or error
        raise OutputError(f"{some_id}: {done}, but printing failed ({problem})") from None


def report_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command to print a message and exit with the right code when it fails."""

    @wraps(command)
    def run(**options: object) -> None:
        as_json = bool(options.get("as_json"))
        try:
            command(**options)
            sys.stdout.flush()
        except FerryError as error:
            code = exit_code_of(error)
            hint = _hint_at_past_day(error, options) or _hint(error)
            _print_error(str(error), hint, code, as_json=as_json, about=_error_fields(error))
        except DeclinedError as error:
            code = Exit.DECLINED
            _print_error(str(error), None, code, as_json=as_json)
        except KeyboardInterrupt:
            code = Exit.INTERRUPTED
            _print_error("interrupted", None, code, as_json=as_json)
        except EOFError:
            code = Exit.DECLINED
            _print_error("no answer; nothing was changed", None, code, as_json=as_json)
        except OutputError as error:
            code = Exit.UNKNOWN
            _print_error(str(error), "do not repeat it; run `ferry show`", code, as_json=False)
        except BrokenPipeError:
            code = Exit.FAILED
        except (ModuleNotFoundError, OSError) as error:
            code = Exit.FAILED
            _print_error(str(error), None, code, as_json=as_json)
        else:
            return
        _flush_or_discard()
        raise typer.Exit(code)

    return run


def _flush_or_discard() -> None:
    """Flush standard output, or discard its buffer so that the interpreter's exit does not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(
    message: str,
    hint: str | None,
    code: Exit,
    *,
    as_json: bool,
    about: dict[str, object] | None = None,
) -> None:
    if as_json:
        error = {"message": message, "hint": hint, "exit_code": int(code), **(about or {})}
        try:
            print_json({"error": error})
            sys.stdout.flush()
        except OSError:
            pass  # print on standard error instead
        else:
            return
    console = error_console()
    console.print(Text.assemble(("ferry: ", "red"), printable(message)))
    if hint:
        console.print(Text.assemble("  ", printable(hint)))


def _error_fields(error: FerryError) -> dict[str, object]:
    """Return the fields of an error for programs, without bodies, travellers or tokens."""
    names = ("correlation_id", "status_code", "code", "request_id", "field", "retry_after")
    known = {name: getattr(error, name, None) for name in names}
    return {
        "type": type(error).__name__,
        "outcome": error.outcome,
        "operation": error.operation,
        **{name: value for name, value in known.items() if value is not None},
    }


def _hint(error: FerryError) -> str | None:
    """Return what the user can do about an error."""
    if exit_code_of(error) is Exit.UNKNOWN:
        return _hint_at_unknown(error)
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return f"wait {error.retry_after:.0f} seconds, then try again"
    if isinstance(error, RequestTimeoutError) and error.operation == "tickets.wait_pdf":
        return "not available yet, or the company sends it by e-mail; --wait 120 waits longer"
    return next((words for kind, words in _HINTS if isinstance(error, kind)), None)


def _hint_at_past_day(error: FerryError, options: Mapping[str, object]) -> str | None:
    """Return a hint if there is no sailing because the requested day is past."""
    if not isinstance(error, AvailabilityError):
        return None
    for option in ("on", "back"):
        value = options.get(option)
        if isinstance(value, str) and (named := parse_day(value)) < date.today():  # noqa: DTZ011 -- the user's today
            return f"--{option}: {named} is past; choose a future day, such as +30"
    return None


def _hint_at_unknown(error: FerryError) -> str:
    about = f"correlation id {error.correlation_id}"
    subject = error.subject if isinstance(error, OutcomeUnknownError) else {}
    if not subject:
        return f"the write may have happened; do not repeat it, ask the service about {about}"
    command = f"ferry show {next(iter(subject.values()))}"
    return (
        f"the write may have happened; do not repeat it before you have run `{command}` ({about})"
    )


_HINTS: tuple[tuple[type[FerryError], str], ...] = (
    (ConfigurationError, "run `ferry doctor`; set the token with FERRY_TOKEN or --token-file"),
    (AuthenticationError, "the token is invalid or expired; run `ferry doctor`"),
    (PermissionDeniedError, "the token lacks the permission; it may be read-only"),
    (AvailabilityError, "try another day, or fewer travellers"),
    (UnresolvedWriteError, "check its outcome, then resolve it in the journal"),
    (PriceChangedError, "nothing was confirmed"),
    (PenaltyExceededError, "nothing was cancelled"),
    (APIError, "nothing was changed"),
    (ConnectionFailedError, "nothing was changed; `ferry doctor` checks the connection"),
)


class Exit(IntEnum):
    """The exit codes.

    Attributes:
        DONE: The command succeeded.
        FAILED: A local failure: a file, a missing extra, a bug.
        USAGE: The command line is invalid.
        NOT_SENT: Nothing was changed: rejected before sending, no connection, or a read without
            a reply.
        REJECTED: The service rejected the request.
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


def exit_code_of(error: FerryError) -> Exit:
    """Return the exit code for an error of a call."""
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        return Exit.DECLINED
    if error.outcome == "rejected":
        return Exit.REJECTED
    row = SAFETY.get(error.operation)
    may_have_happened = error.outcome == "unknown" and (row is None or not row.is_read)
    return Exit.UNKNOWN if may_have_happened else Exit.NOT_SENT
