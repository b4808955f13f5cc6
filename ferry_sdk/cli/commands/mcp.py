"""`ferry mcp`: the library's own tools for an agent, over standard input and output."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from ferry_sdk.cli.commands.confirm_cancel import amount
from ferry_sdk.cli.terminal.options import TokenFile

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
