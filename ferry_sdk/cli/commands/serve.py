"""`ferry sandbox` and `ferry mcp`: commands that serve until they are stopped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.commands.confirm_cancel import amount
from ferry_sdk.cli.terminal.options import TokenFile

_TOKEN = "A made-up token of the local service; random if left out."  # noqa: S105 -- words
Token = Annotated[str | None, typer.Option(metavar="TEXT", help=_TOKEN)]
_MOMENT = ["%Y-%m-%dT%H:%M%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]


def _check_moment(moment: datetime | None) -> datetime | None:
    from ferry_sdk.sandbox import Clock  # noqa: PLC0415 -- only where it is asked for

    try:
        Clock(moment)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return moment


def sandbox(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    seed: Annotated[
        int | None,
        typer.Option(help="What times, prices and ids follow from; ids are random if left out."),
    ] = None,
    token: Token = None,
    read_only_token: Token = None,
    organisation_token: Token = None,
    now: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT",
            help="When its clock begins, as 2027-03-01T09:00:00+01:00; real time if left out.",
            formats=_MOMENT,
            callback=_check_moment,
        ),
    ] = None,
    frozen: Annotated[bool, typer.Option("--frozen", help="Its clock stands still.")] = False,
) -> None:
    """Run the local service until Ctrl-C. It prints its address and tokens first."""
    from ferry_sdk.sandbox import serve  # noqa: PLC0415 -- an extra, only where it is asked for

    serve(
        port,
        host=host,
        seed=seed,
        token=token,
        read_only_token=read_only_token,
        organisation_token=organisation_token,
        now=now,
        frozen=frozen,
    )


def demo(
    *,
    folder: Annotated[Path, typer.Option(help="Where vouchers go.")] = Path("vouchers"),
) -> None:
    """Make the whole journey against a local service, by REST and by MCP."""
    from ferry_sdk.cli.demo import run  # noqa: PLC0415 -- the same

    run(folder)


Limit = Annotated[
    list[str] | None,
    typer.Option(metavar="EUR=500", help="At the most, in a currency; may be repeated."),
]


def mcp(
    *,
    writes: Annotated[bool, typer.Option("--writes", help="Offer what books and cancels.")] = False,
    spend_limit: Limit = None,
    penalty_limit: Limit = None,
    token_file: TokenFile = None,
) -> None:
    """Serve an agent over standard input and output; without --writes it can only read."""
    spend, penalty = (
        _limits(spend_limit, "--spend-limit"),
        _limits(penalty_limit, "--penalty-limit"),
    )
    try:
        serve = import_module("ferry_sdk.agents.stdio").serve
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'the server for agents needs an extra: pip install "ferry-sdk[agents]" '
            f"(there is no {error.name})",
            name=error.name,
        ) from error
    serve(writes=writes, spend_limit=spend, penalty_limit=penalty, token_file=token_file)


def _limits(said: Sequence[str] | None, option: str) -> dict[str, str] | None:
    """The limits by currency.

    Raises:
        BadParameter: One is no amount in a currency.
    """
    limits: dict[str, str] = {}
    for one in said or ():
        currency, _, most = one.partition("=")
        if len(currency) != len("EUR") or not currency.isalpha():
            raise typer.BadParameter(f"{one!r}: say it as EUR=500", param_hint=f"'{option}'")
        limits[currency.upper()] = str(amount(most, option))
    return limits or None
