"""Options that several commands share: declarations, completion, days and times."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from ferry_sdk.cli.terminal.connection import token_of
from ferry_sdk.cli.terminal.output import printable
from ferry_sdk.client import Ferry
from ferry_sdk.errors import FerryError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Service address; default: FERRY_BASE_URL."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="PATH",
        help="File with the token; default: FERRY_TOKEN_FILE, then FERRY_TOKEN.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


_COMPLETION_TIMEOUT = 1.0


def ports(incomplete: str) -> list[tuple[str, str]]:
    """Return codes and names of ports; none if the service does not answer within a second."""
    try:
        with Ferry(token_of(None), deadline=_COMPLETION_TIMEOUT, max_retries=0) as ferry:
            known = ferry.catalogue.ports()
    except FerryError:
        return []
    return [
        (printable(one.code), printable(one.name))
        for one in known
        if one.code.startswith(incomplete)
    ]


_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_AHEAD: Final = re.compile(r"\+(\d{1,3})", re.ASCII)


def parse_day(value: str) -> date:
    """Parse a day: YYYY-MM-DD, or +30 for thirty days from today.

    Raises:
        ValueError: The text has another form.
    """
    if ahead := _AHEAD.fullmatch(value):
        return date.today() + timedelta(days=int(ahead[1]))  # noqa: DTZ011 -- the user's today
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("expected a day, such as 2027-03-01, or +30 for days ahead") from None


def parse_day_option(value: str | None, option: str) -> date | None:
    """Parse the day of an option.

    Raises:
        BadParameter: The value is invalid.
    """
    try:
        return None if value is None else parse_day(value)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'") from None


def parse_time(value: str) -> str:
    """Check the time of an option.

    Raises:
        BadParameter: The value is invalid.
    """
    if _TIME.fullmatch(value) is None:
        raise typer.BadParameter("expected a time of day, such as 08:30")
    return value
