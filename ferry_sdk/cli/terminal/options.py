"""Options of several commands: their declarations, completion, and days and times as typed."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from ferry_sdk.cli.terminal.connection import token_of
from ferry_sdk.cli.terminal.output import plain
from ferry_sdk.client import Ferry
from ferry_sdk.errors import FerryError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="The service's address; else FERRY_BASE_URL."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="PATH",
        help="A file with the token; else FERRY_TOKEN_FILE, else the token in FERRY_TOKEN.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


_A_MOMENT = 1.0


def ports(incomplete: str) -> list[tuple[str, str]]:
    """Codes of ports with their names; none where the service is not asked within a second."""
    try:
        with Ferry(token_of(None), deadline=_A_MOMENT, max_retries=0) as ferry:
            known = ferry.catalogue.ports()
    except FerryError:
        return []
    return [(plain(one.code), plain(one.name)) for one in known if one.code.startswith(incomplete)]


_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_AHEAD: Final = re.compile(r"\+(\d{1,3})", re.ASCII)


def parse_day(said: str) -> date:
    """A day: YYYY-MM-DD, or +30 for thirty days from today.

    Raises:
        ValueError: It is neither.
    """
    if ahead := _AHEAD.fullmatch(said):
        return date.today() + timedelta(days=int(ahead[1]))  # noqa: DTZ011 -- the user's today
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise ValueError("a day is expected, as 2027-03-01, or as +30 for days ahead") from None


def parse_day_option(said: str | None, option: str) -> date | None:
    """The day that an option says.

    Raises:
        BadParameter: It is none.
    """
    try:
        return None if said is None else parse_day(said)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"'{option}'") from None


def parse_time(said: str) -> str:
    """A time of the day, as an option says it.

    Raises:
        BadParameter: It is none.
    """
    if _TIME.fullmatch(said) is None:
        raise typer.BadParameter("a time of the day is expected, such as 08:30")
    return said
