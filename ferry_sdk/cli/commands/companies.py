"""`ferry companies`: find the names and codes of companies."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.cli.trips.name_lists import print_names
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.results import unreadable_answers


def companies(
    *,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to find; default: all.")] = "",
    common: Common,
) -> Exit:
    """Find companies by code or a part of the name. Without TEXT, list all."""
    with common.open_client() as ferry, show_progress("Loading the companies"):
        every_company = ferry.mcp.companies()

    wanted = fold(text) or text  # of a text without letters, such as "!!!", nothing would be left
    records = [
        {**company.model_dump(mode="json"), "code": company.code or company.id}
        for company in sorted(every_company, key=lambda company: fold(company.name or ""))
        if wanted in fold(company.name or "") or wanted == fold(company.code or "")
    ]
    return print_names(
        "companies",
        records,
        members=("code", "name"),
        text=text,
        unreadable=unreadable_answers("mcp.companies", every_company),
        as_json=common.as_json,
    )
