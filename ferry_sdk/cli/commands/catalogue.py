"""`ferry ports`, `ferry companies` and `ferry vehicles`: find the names and codes of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ferry_sdk.cli.orders.trips import unreadable_members
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import print_json, print_table, show_progress, warn
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.planning.names import PlaceMatch, fold
from ferry_sdk.planning.results import (
    Matches,
    UnreadableAnswer,
    describe_unreadable,
    unreadable_answers,
)

_MOST = 10
_PORT: tuple[str, ...] = ("code", "name", "country")
_Text = Annotated[str, typer.Argument(metavar="TEXT", help="What to find; default: all.")]


def ports(*, text: _Text = "", common: Common) -> Exit:
    """Find ports by code, name, city or country.

    Names are known in several languages. Without TEXT, all ports are listed.

    Example: ferry ports genova
    """
    with common.open_client() as ferry, show_progress("Loading the ports"):
        every_port = ferry.catalogue.ports()
        matches = ferry.places.find(text, limit=_MOST) if text else Matches[PlaceMatch]()
    listed = sorted(every_port, key=lambda port: (port.country, port.name))
    unreadable = matches.unreadable or unreadable_answers("catalogue.ports", every_port)
    records = [port.model_dump(mode="json") for port in listed]
    heads = _PORT
    if text:
        ranked = [(match.port, match.score, str(match.reason)) for match in matches]
        ranked += [(port, 1.0, "country") for port in listed if fold(port.country) == fold(text)]
        ranked.sort(key=lambda row: -row[1])
        records = [
            {**port.model_dump(mode="json"), "score": score, "reason": reason}
            for port, score, reason in ranked
        ]
        heads = (*_PORT, "score", "reason")
    return _print_found("ports", records, heads, text, unreadable, common)


def companies(*, text: _Text = "", common: Common) -> Exit:
    """Find companies by code or a part of the name. Without TEXT, list all."""
    with common.open_client() as ferry, show_progress("Loading the companies"):
        every_company = ferry.mcp.companies()
    wanted = fold(text) or text
    records = [
        {**company.model_dump(mode="json"), "code": company.code or company.id}
        for company in sorted(every_company, key=lambda company: fold(company.name or ""))
        if wanted in fold(company.name or "") or wanted == fold(company.code or "")
    ]
    unreadable = unreadable_answers("mcp.companies", every_company)
    return _print_found("companies", records, ("code", "name"), text, unreadable, common)


def vehicles(
    *,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A make, a model or a code.")],
    common: Common,
) -> Exit:
    """Find vehicles by make and model.

    Each has the code of a search and the code of a booking.

    Example: ferry vehicles golf
    """
    with common.open_client() as ferry, show_progress("Loading the vehicles"):
        matches = ferry.vehicles.find(text, limit=_MOST)
    records: list[dict[str, Any]] = []
    for match in matches:
        codes = {"search_code": match.query.code, "booking_code": match.booking().code}
        records.append({**match.model.model_dump(mode="json"), **codes, "score": match.score})
    heads = ("brand", "model", "search_code", "booking_code", "score")
    return _print_found("vehicles", records, heads, text, matches.unreadable, common)


def _print_found(
    name: str,
    records: Sequence[dict[str, Any]],
    members: Sequence[str],
    text: str,
    unreadable: Sequence[UnreadableAnswer],
    common: Common,
) -> Exit:
    """Print records as JSON, or these members of them as a table. Return the exit code.

    Raises:
        InvalidInputError: The text finds nothing.
    """
    is_missing = bool(text) and not records
    document: dict[str, object] = {name: [*records]}
    if unreadable:
        document["unreadable"] = unreadable_members(unreadable)
    if common.as_json:
        print_json(document)
        return Exit.NOT_SENT if is_missing else Exit.DONE
    if unreadable:
        warn(describe_unreadable(unreadable))
    if is_missing:
        known = "nothing that could be read" if unreadable else "nothing"
        raise InvalidInputError(f"{known} is called {text!r}", field="TEXT")
    heads = [member.replace("_", " ") for member in members]
    rows = [[record[member] for member in members] for record in records]
    print_table(heads, rows, right=("score",))
    return Exit.DONE
