"""Options that several commands share, how they are parsed, and the client that they configure.

A command takes a group of options as one argument, whose class is a dataclass such as `Common`:

    def show(*, some_id: RecordId, common: Common) -> None:

typer knows single options only. So `expand_options` wraps the command:

1. It replaces `common` by the fields of `Common` in the signature that typer reads:
   `(*, some_id, as_json, base_url, …)`. The help of a field is its description under "Attributes"
   in the docstring of the dataclass.
2. typer parses the command line, and calls the wrapper with a value for each of these.
3. The wrapper makes `Common(as_json=…, base_url=…, …)`, and calls the command with it.

A token is never an argument, because other users of the machine can read those.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args

import typer
from pydantic import TypeAdapter, ValidationError

from ferry_sdk._engine.token_file import FileToken, file_of, has_other_readers
from ferry_sdk._engine.validation import folder
from ferry_sdk._runtime.files import read_file
from ferry_sdk.cli.terminal.errors import Exit, interrupted_write
from ferry_sdk.cli.terminal.output import printable, warn
from ferry_sdk.client import Ferry
from ferry_sdk.errors import FerryError, InvalidInputError, JournalError
from ferry_sdk.models.base import Money, path_of
from ferry_sdk.models.docstrings import field_descriptions
from ferry_sdk.types import RateLimiter, Recorder

if TYPE_CHECKING:
    from ferry_sdk.cli.terminal.command_journal import CommandJournal

T = TypeVar("T")


def option(
    metavar: str,
    *names: str,
    parse: Callable[[str], object] | None = None,
    **more: Any,  # noqa: ANN401 -- whatever typer takes
) -> Any:  # noqa: ANN401 -- what typer returns
    """Return an option with a value.

    Args:
        metavar: What the help shows in place of the value.
        names: The names of the option; by default `--` with the name of the argument.
        parse: Reads the value. If it raises a ValueError, the command line is invalid.
        more: Further arguments of `typer.Option`.
    """
    parser = None if parse is None else _reject_value_errors(parse)
    return typer.Option(*names, metavar=metavar, parser=parser, **more)


def _reject_value_errors(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Wrap a parser, so that typer explains its ValueErrors to the user."""

    @wraps(parse)
    def run(value: str) -> T:
        try:
            return parse(value)
        except ValueError as error:
            raise typer.BadParameter(f"{value!r}: {problem_of(error)}") from None

    return run


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
RecordId = Annotated[str, typer.Argument(metavar="ID", help="Id of a booking or a ticket.")]
_JOURNAL = option("URL", help="A journal, such as sqlite:///ferry.db.", envvar="FERRY_JOURNAL")
JournalUrl = Annotated[str, _JOURNAL]
OptionalJournalUrl = Annotated[str | None, _JOURNAL]

_COMPLETION_TIMEOUT: Final = 1.0
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_AHEAD: Final = re.compile(r"\+(\d{1,3})", re.ASCII)
_AGO: Final = re.compile(r"-(\d{1,4})", re.ASCII)


@dataclass(frozen=True)
class Common:
    """The options of every command that reads or writes something; see `expand_options`.

    Attributes:
        base_url: Service address; default: FERRY_BASE_URL.
        allow_http: Accept plain http to another machine, as FERRY_ALLOW_HTTP=1.
        token_file: File with the token; default: FERRY_TOKEN_FILE, then FERRY_TOKEN.
    """

    as_json: AsJson = False
    base_url: Annotated[str | None, option("URL")] = None
    allow_http: Annotated[bool, typer.Option("--allow-http")] = False
    token_file: Annotated[Path | None, option("PATH")] = None

    def open_client(
        self, *, journal: Recorder | None = None, limiter: RateLimiter | None = None
    ) -> Ferry:
        """Return a client whose warnings are printed, such as the id of an interrupted write."""
        token = _token_of(self.token_file)
        logging.getLogger("ferry_sdk").addHandler(_WarningHandler(logging.WARNING))
        return Ferry(
            token,
            base_url=self.base_url,
            allow_http=self.allow_http,
            journal=journal,
            limiter=limiter,
            route_cache=_cache_folder(),
        )


class _WarningHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def expand_options(command: Callable[..., Exit | None]) -> Callable[..., Exit | None]:
    """Replace each argument that is a dataclass of options by its fields, for typer."""
    own = signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {}  # the dataclasses, by the names of their arguments
    parameters: list[Parameter] = []
    for name, parameter in own.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
            parameters += _options_of(kind)
        else:
            parameters.append(parameter)

    @wraps(command)
    def run(**values: Any) -> Exit | None:  # noqa: ANN401 -- parsed by typer
        for name, group in groups.items():
            members = {member.name: values.pop(member.name) for member in fields(group)}
            values[name] = group(**members)
        return command(**values)

    # Only arguments by keyword may follow each other with and without a default.
    by_keyword = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(run)["__signature__"] = own.replace(parameters=by_keyword)
    return run


def _options_of(group: type) -> list[Parameter]:
    """Return the fields of a dataclass as parameters that typer knows how to describe."""
    annotated: Any = Annotated  # type checkers accept no variables in its brackets
    descriptions = field_descriptions(group)
    options: list[Parameter] = []
    for name, parameter in signature(group, eval_str=True).parameters.items():
        value_type, shared = get_args(parameter.annotation)
        described = copy(shared)  # several groups may share it
        described.help = shared.help or descriptions.get(name)
        options.append(parameter.replace(annotation=annotated[value_type, described]))
    return options


def open_journal(url: str, *, may_be_new: bool = False) -> CommandJournal:
    """Open a journal. If it is new, and may be new, print a warning.

    Raises:
        InvalidInputError: The URL is invalid, or its file does not exist.
        ModuleNotFoundError: The extra is not installed.
    """
    from ferry_sdk.cli.terminal.command_journal import CommandJournal  # noqa: PLC0415 -- an extra
    from ferry_sdk.journal.engines import missing_file  # noqa: PLC0415 -- the same

    journal = CommandJournal(url)  # checks the URL before anything is looked for
    missing = missing_file(url)
    if missing is not None and not may_be_new:
        raise InvalidInputError(f"there is no file {missing}", field="journal")
    if missing is not None:
        warn(f"the journal {missing} is new: it knows no earlier write")
    return journal


@contextmanager
def open_command_journal(
    url: str, *, may_be_new: bool = True
) -> Generator[CommandJournal, None, None]:
    """Open the journal of a command that writes, as `open_journal` does.

    Raises:
        InvalidInputError: The URL is invalid, or its file does not exist.
        ModuleNotFoundError: The extra is not installed.
        CommandError: The command was interrupted, and its write may have happened.
    """
    with open_journal(url, may_be_new=may_be_new) as journal:
        try:
            yield journal
        except KeyboardInterrupt:
            with suppress(JournalError):  # without the journal, the message is that of any command
                record = journal.possible_write()
                if record is not None:
                    raise interrupted_write(record) from None
            raise


def open_recorder(url: str | None) -> AbstractContextManager[CommandJournal | None]:
    """Open the journal of a command that writes, if it has one."""
    if url is None:
        return nullcontext()
    return open_command_journal(url)


def _cache_folder() -> Path | None:
    """Return the folder in which commands keep the routes for a day; None: there can be none."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    path = Path(os.path.expanduser(base), "ferry-sdk")  # noqa: PTH111 -- never fails
    if not path.is_absolute():
        return None
    with suppress(InvalidInputError):
        return folder(path, "route_cache")
    return None


def _token_of(token_file: Path | None) -> Callable[[], str] | None:
    """Return a function that reads the token file, or None to let the client find the token.

    The client calls the function again when the service rejects the token.
    """
    file = file_of(token_file)
    if file is None:
        return None
    if has_other_readers(file):
        warn(f"other users can read the token in {file}; run: chmod 600 {file}")
    return FileToken(file)


def complete_port() -> list[tuple[str, str]]:
    """Return codes and names of ports, of which typer shows those that begin as what is typed.

    Returns none if the service does not answer within a second.
    """
    try:
        with Ferry(_token_of(None), deadline=_COMPLETION_TIMEOUT, max_retries=0) as ferry:
            ports = ferry.catalogue.ports()
    except FerryError:
        return []
    return [(printable(port.code), printable(port.name)) for port in ports]


def problem_of(error: ValueError) -> str:
    """Return what is wrong with a value, without the value and without the name of its field."""
    if isinstance(error, InvalidInputError):
        return str(error).removeprefix(f"{error.field}: ")
    if isinstance(error, ValidationError):
        _, problem = path_of(error)
        return problem
    return str(error)


def read_input(file: Path) -> str:
    """Return the text of a file, or of standard input if it is ``-``, in UTF-8.

    Raises:
        InvalidInputError: It cannot be read, or is not UTF-8.
    """
    try:
        # Bytes of standard input too, because the terminal may have another encoding.
        content = sys.stdin.buffer.read() if str(file) == "-" else read_file(file)
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(error.strerror or "cannot be read", field=str(file)) from None
    except UnicodeDecodeError:
        raise InvalidInputError("not UTF-8", field=str(file)) from None


def csv_delimiter(text: str) -> str:
    """Return what separates the columns of a CSV file: a comma, a semicolon or a tab.

    Spreadsheets write semicolons where a comma separates the decimals of a number.
    """
    head = text.lstrip().partition("\n")[0]
    return max(",;\t", key=head.count)


def parse_day(value: str) -> date:
    """Parse a day, YYYY-MM-DD, or +30 for thirty days from today; raise ValueError otherwise."""
    if ahead := _AHEAD.fullmatch(value):
        return date.today() + timedelta(days=int(ahead[1]))  # noqa: DTZ011 -- the user's today
    with suppress(ValueError):
        return date.fromisoformat(value)
    raise ValueError("expected a day, such as 2027-03-01, or +30 for days ahead")


def parse_moment(value: str) -> datetime:
    """Parse a moment or a day, in the zone of this machine if it has none, or -7 for days ago.

    Raises:
        ValueError: It is none of these.
    """
    if ago := _AGO.fullmatch(value):
        day = date.today() - timedelta(days=int(ago[1]))  # noqa: DTZ011 -- the user's today
        value = day.isoformat()
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(value).astimezone()
    raise ValueError("expected a moment, such as 2027-03-01, 2027-03-01T08:30Z or -7 for days ago")


def parse_moment_with_zone(value: str) -> datetime:
    """Parse a moment with its time zone.

    Raises:
        ValueError: It is none.
    """
    # Not a format of `strptime`: since Python 3.15, its %z also stands for no time zone.
    with suppress(ValueError):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            return moment
    raise ValueError("expected a moment with its time zone, such as 2027-03-01T18:00+01:00")


def parse_time(value: str) -> str:
    """Return a time of day, HH:MM, unchanged; raise ValueError otherwise."""
    if _TIME.fullmatch(value) is None:
        raise ValueError("expected a time of day, such as 08:30")
    return value


parse_amount: Final = TypeAdapter[Decimal](Money).validate_python
"""Parses an amount of money; raises ValidationError if it is none."""
