"""`ferry doctor`: check the setup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.text import Text

from ferry_sdk.cli.checks.environment import Finding, State, configuration, versions
from ferry_sdk.cli.checks.service import connection, service
from ferry_sdk.cli.terminal.connection import open_client
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import print_grid, print_json, show_progress
from ferry_sdk.errors import ConfigurationError

_DEADLINE = 10.0
_STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(
    *, as_json: AsJson = False, base_url: BaseUrl = None, token_file: TokenFile = None
) -> None:
    """Check configuration, connection, token permissions, clock and versions.

    It only reads, and prints no secrets.
    """
    with show_progress("Checking"):
        found = list(_findings(base_url, token_file))
    code = next((one.exit_code for one in found if one.exit_code), Exit.DONE)
    if as_json:
        print_json({"findings": [one.members() for one in found], "exit_code": int(code)})
    else:
        _print_findings(found)
    if code:
        raise typer.Exit(code)


def _findings(base_url: str | None, token_file: Path | None) -> Iterator[Finding]:
    yield from configuration(base_url, token_file)
    try:
        with open_client(base_url, token_file) as ferry:
            url = base_url or os.environ["FERRY_BASE_URL"]
            way = list(connection(url))
            yield from way
            if all(one.state != "fail" for one in way):
                yield from service(ferry.with_options(deadline=_DEADLINE, max_retries=0))
    except ConfigurationError as error:
        yield Finding("configuration", "client", "fail", str(error), Exit.NOT_SENT)
    yield from versions()


def _print_findings(found: list[Finding]) -> None:
    rows = [
        (one.part * (index == 0 or found[index - 1].part != one.part), one)
        for index, one in enumerate(found)
    ]
    print_grid(
        (Text(part, "bold"), Text(one.state, _STYLES[one.state]), one.name, one.value)
        for part, one in rows
    )
