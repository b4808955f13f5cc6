"""`ferry sandbox`, `ferry demo` and `ferry mcp`: commands around the two servers."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ferry_sdk.cli.orders.files import read_travellers
from ferry_sdk.cli.terminal.options import (
    OptionalJournalUrl,
    TokenFile,
    open_journal,
    parse_amount,
    parser,
)
from ferry_sdk.cli.terminal.output import note

_MOMENT = ["%Y-%m-%dT%H:%M%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]


def _text_option(help_text: str) -> object:
    return typer.Option(metavar="TEXT", help=help_text)


def _check_moment(moment: datetime | None) -> datetime | None:
    from ferry_sdk.sandbox import Clock  # noqa: PLC0415 -- only where it is asked for

    try:
        Clock(moment)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return moment


def sandbox(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 selects a free one.")] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    seed: Annotated[
        int | None, typer.Option(help="Seed of times, prices and ids; ids are random by default.")
    ] = None,
    token: Annotated[str | None, _text_option("Access token; random by default.")] = None,
    read_only_token: Annotated[
        str | None, _text_option("Token that can only read; random by default.")
    ] = None,
    organisation_token: Annotated[
        str | None, _text_option("Token of the organisation; random by default.")
    ] = None,
    control_token: Annotated[
        str | None,
        _text_option("Token that opens /_sandbox/… to other machines; closed by default."),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Behave as this file of assumptions and values says."),
    ] = None,
    now: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT",
            help="Start of its clock, such as 2027-03-01T09:00:00+01:00; default: real time.",
            formats=_MOMENT,
            callback=_check_moment,
        ),
    ] = None,
    frozen: Annotated[bool, typer.Option("--frozen", help="Stop its clock.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep bookings and clock in this private file."),
    ] = None,
    inventory: Annotated[
        bool, typer.Option("--inventory", help="Let bookings take places, which then run out.")
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line for each request to standard error.")
    ] = False,
) -> None:
    """Run the local service until Ctrl-C. Prints its address and tokens first."""
    from ferry_sdk.sandbox import serve  # noqa: PLC0415 -- an extra, only where it is asked for

    try:
        serve(
            port,
            host=host,
            seed=seed,
            token=token,
            read_only_token=read_only_token,
            organisation_token=organisation_token,
            control_token=control_token,
            profile=profile,
            now=now,
            frozen=frozen,
            state=state,
            inventory=inventory,
            log=log,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def openapi() -> None:
    """Print the OpenAPI 3.1 document of the service. Other languages make clients of it."""
    sandbox = import_module("ferry_sdk.sandbox")
    document = sandbox.load("ferry_sdk.sandbox.api.openapi.document")
    sys.stdout.write(document.document_text())


def demo(
    *,
    folder: Annotated[Path, typer.Option(help="Folder for the vouchers.")] = Path("vouchers"),
) -> None:
    """Run a complete booking against a local service. It uses REST and MCP."""
    from ferry_sdk.cli.demo import run  # noqa: PLC0415 -- the same

    run(folder)


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
    return typer.Option(metavar="EUR=500", help=help_text, parser=parser(_parse_limit))


def mcp(
    *,
    tools: Annotated[
        str,
        typer.Option(
            metavar="journey|all|NAMES", help="Tools to offer; names are separated by commas."
        ),
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
        Path | None,
        typer.Option(
            metavar="FILE", help="Append a line of JSON for each call to this private file."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep ids, spending and writes here for other processes."
        ),
    ] = None,
    journal: OptionalJournalUrl = None,
    travellers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Book these travellers, a JSON list or CSV, as t1, t2 and so on."
        ),
    ] = None,
) -> None:
    """Run an MCP server for agents on standard input and output.

    Without --writes, it only reads; without a journal, it changes no bookings.
    """
    from ferry_sdk.agents.stdio import serve  # noqa: PLC0415 -- the same

    if sys.stdin.isatty():
        note("Waiting for an MCP client, which normally starts this command; Ctrl-C ends it.")
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
