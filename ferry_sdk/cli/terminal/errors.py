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
from ferry_sdk.cli.terminal.output import aside, document, plain
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
    """The user said no, and nothing was done."""


class UnshownError(Exception):
    """A write was done, and nobody could be told on standard output."""


@contextmanager
def shown(done: str, some_id: str) -> Generator[None, None, None]:
    """Show in this block what a write gave: where that fails, it was done all the same.

    Args:
        done: What was done, in words.
        some_id: The booking or the ticket.

    Raises:
        UnshownError: It could not be shown.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        problem = error.strerror or error
        raise UnshownError(f"{some_id}: {done}; it could not be shown ({problem})") from None


def told(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose failures are told in words and by its exit code."""

    @wraps(command)
    def run(**options: object) -> None:
        as_json = bool(options.get("as_json"))
        try:
            command(**options)
            sys.stdout.flush()
        except FerryError as error:
            code = exit_of(error)
            hint = _hint_at_past_day(error, options) or _hint(error)
            _tell(str(error), hint, code, as_json=as_json, about=_facts(error))
        except DeclinedError as error:
            code = Exit.DECLINED
            _tell(str(error), None, code, as_json=as_json)
        except KeyboardInterrupt:
            code = Exit.INTERRUPTED
            _tell("interrupted", None, code, as_json=as_json)
        except EOFError:
            code = Exit.DECLINED
            _tell("no answer; nothing was done", None, code, as_json=as_json)
        except UnshownError as error:
            code = Exit.UNKNOWN
            _tell(str(error), "do not repeat it; `ferry show` shows it", code, as_json=False)
        except BrokenPipeError:
            code = Exit.FAILED
        except (ModuleNotFoundError, OSError) as error:
            code = Exit.FAILED
            _tell(str(error), None, code, as_json=as_json)
        else:
            return
        _let_go()
        raise typer.Exit(code)

    return run


def _let_go() -> None:
    """Where nobody reads on, what is held back must not fail when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(
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
            document({"error": error})
            sys.stdout.flush()
        except OSError:
            pass  # it is told on standard error instead
        else:
            return
    console = aside()
    console.print(Text.assemble(("ferry: ", "red"), plain(message)))
    if hint:
        console.print(Text.assemble("  ", plain(hint)))


def _facts(error: FerryError) -> dict[str, object]:
    """What a program may want to know of an error; no body, no traveller, no token."""
    names = ("correlation_id", "status_code", "code", "request_id", "field", "retry_after")
    known = {name: getattr(error, name, None) for name in names}
    return {
        "type": type(error).__name__,
        "outcome": error.outcome,
        "operation": error.operation,
        **{name: value for name, value in known.items() if value is not None},
    }


def _hint(error: FerryError) -> str | None:
    """What to do now."""
    if exit_of(error) is Exit.UNKNOWN:
        return _hint_at_unknown(error)
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return f"wait {error.retry_after:.0f} seconds, then try again"
    if isinstance(error, RequestTimeoutError) and error.operation == "tickets.wait_pdf":
        return "it is not there yet, or the carrier sends it by e-mail; --wait 120 waits longer"
    return next((words for kind, words in _HINTS if isinstance(error, kind)), None)


def _hint_at_past_day(error: FerryError, options: Mapping[str, object]) -> str | None:
    """The day that the command names, where nothing sails because it is over."""
    if not isinstance(error, AvailabilityError):
        return None
    for option in ("on", "back"):
        said = options.get(option)
        if isinstance(said, str) and (named := parse_day(said)) < date.today():  # noqa: DTZ011 -- the user's today
            return f"--{option}: {named} is past; name a day from today on, such as +30"
    return None


def _hint_at_unknown(error: FerryError) -> str:
    about = f"correlation id {error.correlation_id}"
    subject = error.subject if isinstance(error, OutcomeUnknownError) else {}
    if not subject:
        return f"it may have happened: do not repeat it, ask the service about {about}"
    looked = f"ferry show {next(iter(subject.values()))}"
    return f"it may have happened: do not repeat it before you have looked, `{looked}` ({about})"


_HINTS: tuple[tuple[type[FerryError], str], ...] = (
    (ConfigurationError, "see `ferry doctor`; a token comes from FERRY_TOKEN or --token-file"),
    (AuthenticationError, "the token is wrong or no longer valid; see `ferry doctor`"),
    (PermissionDeniedError, "this token has no right to do it; a token may be read-only"),
    (AvailabilityError, "try another day, or fewer travellers"),
    (UnresolvedWriteError, "find out what became of it, then settle it in the journal"),
    (PriceChangedError, "nothing was confirmed"),
    (PenaltyExceededError, "nothing was cancelled"),
    (APIError, "nothing was changed"),
    (ConnectionFailedError, "nothing was changed; `ferry doctor` looks at the connection"),
)


class Exit(IntEnum):
    """The exit codes.

    Attributes:
        DONE: It was done.
        FAILED: Something of this machine failed: a file, an extra that is missing, a bug.
        USAGE: The command line makes no sense.
        NOT_SENT: Nothing was changed: refused before the wire, no connection, or a read without
            a reply.
        REJECTED: The service refused it.
        UNKNOWN: A write that may have happened.
        DECLINED: The user said no, or a guard did.
        INTERRUPTED: Ctrl-C.
    """

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_SENT = 3
    REJECTED = 4
    UNKNOWN = 5
    DECLINED = 6
    INTERRUPTED = 130


def exit_of(error: FerryError) -> Exit:
    """The code that a command ends with when its call ended in this error."""
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        return Exit.DECLINED
    if error.outcome == "rejected":
        return Exit.REJECTED
    row = SAFETY.get(error.operation)
    may_have_happened = error.outcome == "unknown" and (row is None or not row.is_read)
    return Exit.UNKNOWN if may_have_happened else Exit.NOT_SENT
