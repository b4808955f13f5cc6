"""`ferry mcp`: an MCP server for agents."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ferry_sdk.cli.orders.files import read_travellers
from ferry_sdk.cli.terminal.options import (
    OptionalJournalUrl,
    TokenFile,
    open_journal,
    option,
    parse_amount,
)
from ferry_sdk.cli.terminal.output import note


class Limit(NamedTuple):
    """A limit in one currency, as the command line gives it."""

    currency: str
    amount: str


def _parse_limit(value: str) -> Limit:
    currency, _, most = value.partition("=")
    if len(currency) != len("EUR") or not currency.isalpha():
        raise ValueError("use the form EUR=500")
    return Limit(currency.upper(), str(parse_amount(most)))


def _limit_option(help_text: str) -> object:
    return option("EUR=500", help_text, parse=_parse_limit)


def mcp(
    *,
    tools: Annotated[
        str, option("journey|all|NAMES", "Tools to offer; names are separated by commas.")
    ] = "journey",
    writes: Annotated[
        bool, typer.Option("--writes", help="Also offer tools that book and cancel.")
    ] = False,
    spend_limit: Annotated[
        list[Limit] | None, _limit_option("The most that all bookings may cost; repeatable.")
    ] = None,
    penalty_limit: Annotated[
        list[Limit] | None,
        _limit_option("The most that cancelling a booking may cost; repeatable."),
    ] = None,
    token_file: TokenFile = None,
    audit: Annotated[
        Path | None, option("FILE", "Append a line of JSON for each call to this private file.")
    ] = None,
    state: Annotated[
        Path | None, option("FILE", "Keep ids, spending and writes here for other processes.")
    ] = None,
    journal: OptionalJournalUrl = None,
    travellers: Annotated[
        Path | None,
        option("FILE", "Book these travellers, a JSON list or CSV, as t1, t2 and so on."),
    ] = None,
) -> None:
    """Run an MCP server for agents on standard input and output.

    Without --writes, it only reads; without a journal, it changes no bookings.
    """
    from ferry_sdk.agents.stdio import serve  # noqa: PLC0415 -- the same

    if sys.stdin.isatty():
        note("Waiting for an MCP client, which normally starts this command; Ctrl-C ends it.")
    if str(travellers) == "-":
        raise typer.BadParameter("standard input is the client's", param_hint="'--travellers'")
    party = read_travellers(travellers) if travellers else ()
    with open_journal(journal, may_be_new=True) if journal else nullcontext() as record:
        serve(
            tools=tools if tools in {"journey", "all"} else tools.split(","),
            writes=writes,
            spend_limit=dict(spend_limit) if spend_limit else None,
            penalty_limit=dict(penalty_limit) if penalty_limit else None,
            token_file=token_file,
            audit=audit,
            state=state,
            journal=record,
            travellers={f"t{number}": one for number, one in enumerate(party, 1)} or None,
        )
