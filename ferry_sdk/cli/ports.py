"""`ferry ports`: the ports, by code, name and country."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.errors import InvalidInputError

from .connecting import connected
from .exits import Exit
from .options import AsJson, BaseUrl, TokenFile
from .output import document, table
from .routes import similar
from .waiting import working


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
