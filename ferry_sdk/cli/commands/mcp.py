"""`ferry mcp`: an MCP server for agents."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.cli.terminal.options import (
    OptionalJournalUrl,
    open_journal,
    option,
    parse_amount,
    parse_moment_with_zone,
)
from ferry_sdk.cli.terminal.output import note
from ferry_sdk.cli.trips.files import read_travellers


class Limit(NamedTuple):
    """A limit in one currency, as the command line gives it."""

    currency: str
    amount: str


def _parse_limit(value: str) -> Limit:
    """Parse a limit such as EUR=500; raise ValueError otherwise."""
    currency, _, amount = value.partition("=")
    if len(currency) != len("EUR") or not currency.isalpha():
        raise ValueError("use the form EUR=500")
    return Limit(currency.upper(), str(parse_amount(amount)))


def _parse_price(value: str) -> Limit:
    """Parse a price such as 200 EUR; raise ValueError otherwise."""
    amount, _, currency = value.strip().partition(" ")
    if len(currency) != len("EUR") or not currency.isalpha():
        raise ValueError("use the form 200 EUR")
    return Limit(currency.upper(), str(parse_amount(amount)))


_Limits = Annotated[list[Limit] | None, option("EUR=500", parse=_parse_limit)]
_File = Annotated[Path | None, option("FILE")]


@dataclass(frozen=True)
class ServerOptions:
    """The options of `ferry mcp`, which are those of `agents.mcp_server.serve`.

    Attributes:
        tools: Tools to offer; names are separated by commas.
        writes: Also offer tools that book and cancel.
        spend_limit: The most that all bookings may cost; repeatable.
        penalty_limit: The most that cancelling a booking may cost; repeatable.
        per_booking: The most that one booking may cost; repeatable.
        until: Refuse to book and cancel from this moment on.
        token_file: File with the token; default: FERRY_TOKEN_FILE, then FERRY_TOKEN.
        audit: Append a line of JSON for each call to this private file.
        state: Keep ids, spending and writes here for other processes.
        travellers: Book these travellers, a JSON list or CSV, as t1, t2 and so on.
        approval: How a person approves a write; auto: the best way of the host.
        http: Serve over HTTP at this address, such as 8000.
        secret_file: File with the secret that HTTP requests must send.
    """

    tools: Annotated[str, option("journey|all|NAMES")] = "journey"
    writes: Annotated[bool, typer.Option("--writes")] = False
    spend_limit: _Limits = None
    penalty_limit: _Limits = None
    per_booking: Annotated[list[Limit] | None, option("'200 EUR'", parse=_parse_price)] = None
    until: Annotated[datetime | None, option("MOMENT", parse=parse_moment_with_zone)] = None
    token_file: Annotated[Path | None, option("PATH")] = None
    audit: _File = None
    state: _File = None
    journal: OptionalJournalUrl = None
    travellers: _File = None
    approval: Annotated[ApprovalWay, option("auto|card|form|code|none")] = "auto"
    http: Annotated[str | None, option("[HOST:]PORT")] = None
    secret_file: _File = None


def mcp(*, options: ServerOptions) -> None:
    """Run an MCP server for agents, over pipes or HTTP.

    Without --writes, it only reads; without a journal, it changes no bookings.
    """
    from ferry_sdk.agents.mcp_server import serve  # noqa: PLC0415 -- of an extra

    if options.http is None:
        _check_for_stdio(options)

    party = read_travellers(options.travellers) if options.travellers else ()
    journal = open_journal(options.journal, may_be_new=True) if options.journal else nullcontext()
    with journal as record:
        parsed: dict[str, Any] = {
            "tools": _parse_tools(options.tools),
            "spend_limit": dict(options.spend_limit or ()) or None,
            "penalty_limit": dict(options.penalty_limit or ()) or None,
            "per_booking": dict(options.per_booking or ()) or None,
            "journal": record,
            "travellers": {f"t{number}": who for number, who in enumerate(party, 1)} or None,
        }
        serve(**vars(options) | parsed)


def _check_for_stdio(options: ServerOptions) -> None:
    """Check that nothing else uses stdin, and that no option is of the other transport."""
    if options.secret_file is not None:
        raise typer.BadParameter("requires --http", param_hint="'--secret-file'")
    if str(options.travellers) == "-":
        raise typer.BadParameter("standard input is the client's", param_hint="'--travellers'")
    if sys.stdin.isatty():
        note("Waiting for an MCP client, which normally starts this command; Ctrl-C ends it.")


def _parse_tools(value: str) -> str | list[str]:
    """Return "journey" or "all", or the names of tools, which commas separate."""
    if value in {"journey", "all"}:
        return value
    return value.split(",")
