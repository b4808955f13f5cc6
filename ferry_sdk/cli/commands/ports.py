"""`ferry ports`: the ports, by code, name and country."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.cli.orders.routes import similar
from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.exit_codes import Exit
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import document, table
from ferry_sdk.cli.terminal.progress import working
from ferry_sdk.errors import InvalidInputError


def ports(
    *,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Only those with this in code, name or country."),
    ] = "",
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """List the ports."""
    with connected(base_url, token_file) as ferry, working("Asking for the ports"):
        known = ferry.catalogue.ports()
    wanted = text.casefold()
    found = [
        port
        for port in sorted(known, key=lambda port: (port.country, port.name))
        if wanted in f"{port.code}\n{port.name}\n{port.country}".casefold()
    ]
    if as_json:
        document({"ports": [port.model_dump(mode="json") for port in found]})
        if known and not found:
            raise typer.Exit(Exit.NOT_SENT)
        return
    if known and not found:
        raise InvalidInputError(
            f"no port has {text!r} in code, name or country; {similar(known, text)}"
            "`ferry ports` lists them all",
            field="TEXT",
        )
    table(("code", "name", "country"), [(one.code, one.name, one.country) for one in found])
